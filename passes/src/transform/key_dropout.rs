//! `key-dropout`.

mod sites;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::micro_batch::micro_batch;
use crate::transform::scalar_state::scalar_state;
use crate::transform::streams::{by_part, stream_keys};
use halite_ir::composites::Transfer;
use halite_ir::ops::{Or, ShiftLeft};
use halite_ir::{
    Attr, Composite, Function, InferCx, Inst, Module, Op, Phase, Rewriter, TensorType, Value, Values, rewrite_planned,
};
use halite_support::{Diagnostic, Result};
use halite_tensor::{DType, STEP, StateSpec, StreamKeys};
use rustc_hash::FxHashMap;
use sites::{counts, drawn, streams};
use std::iter::repeat_n;

/// The name of the pass.
const PASS: &str = "key-dropout";

/// The scope of what all dropout shares.
const SCOPE: &str = "dropout";

/// Gives each dropout of a model random bits, for a module that trains; without them it does nothing.
///
/// A dropout draws from a stream that is named after its scope, under the seed of the run, at the number of the update, and of the
/// micro-batch where updates are made of several. The entry makes the words of all streams, one for each dropout that it
/// runs, in callees or not; a callee is given those of its own and the number. So layers that are one function differ, and a dropout
/// has the bits that it would have if all were written in place.
///
/// Where the model is cut into the parts of a pipeline, the keys of each part are a parameter, `{batch, keys = [..], seed = ..}`: parts that are
/// equal but for the names of their streams are one program.
///
/// ```text
/// func @block(%x: f32[4]) -> (f32[4]) {
///   %y = dropout %x {rate = 0.1} : f32[4]
///   return %y
/// }
/// func @main(%x: f32[4] {batch}) -> (..) {
///   %0 = call %x {callee = @block} : f32[4]
/// =>
/// func @block(%x: f32[4], %draw: s32[], %dropout_words: u32[1]) -> (f32[4]) {
///   %0 = slice %dropout_words {start = [0], limit = [1], stride = [1]} : u32[1]
///   %word = reshape %0 : u32[]
///   %rows = coordinate_words %draw {dim = 0, size = 4} : u32[4]
///   %y = keyed_dropout %x, %word, %rows {rate = 0.1} : f32[4]
///   return %y
/// }
/// func @main(%x: f32[4] {batch}, %step: s32[] {state = step}) -> (..) {
///   %one = constant 1 : s32[]
///   %update = add %step, %one : s32[]
///   %keys = constant [2654435769] : u32[1]
///   %dropout_words = stream_words %keys, %update : u32[1]
///   %0 = slice %dropout_words {start = [0], limit = [1], stride = [1]} : u32[1]
///   %1 = call %x, %update, %0 {callee = @block} : f32[4]
/// ```
#[derive(Debug)]
pub(crate) struct KeyDropout;

impl Pass for KeyDropout {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "give each dropout its random bits", Relation::Defines)
            .required()
            .needs(Phase::Built..=Phase::Built)
            .example(golden!("key_dropout" @ "plain"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe(PASS)?;
        let counts = counts(module)?;
        let Some(entry) = counts.len().checked_sub(1) else { return Ok(Changed::No) };
        let streams = streams(module, &counts);
        let steps = recipe.sizes()?.accumulate;
        let mut at = 0..counts.len();
        let plan = |_: InferCx<'_>, _: &Function| at.next().filter(|&at| counts[at] > 0);
        let changed = rewrite_planned(module, cx.registry, plan, |b, source, at| {
            let bits = if at == entry {
                let all = StreamKeys::new(streams.iter().cloned(), recipe.train.seed)?;
                Bits::of_entry(b, by_part(&all, parts(source, &counts))?, steps)?
            } else {
                Bits::of_callee(b, counts[at])
            };
            Keyed { bits, counts: &counts, at: 0, next: 0, along: FxHashMap::default() }.body(b, source)
        })?;
        Ok(Changed::when(changed))
    }
}

/// The part of a pipeline that each stream of an entry is drawn from in, in the order in which they are; none where the model is not cut into
/// parts. An instruction is of the last part that something was handed on to before it.
fn parts(entry: &Function, counts: &[usize]) -> Vec<Option<usize>> {
    let ends = |inst: &Inst| Transfer::ends(&inst.op);
    let is_cut = entry.insts.iter().any(|inst| ends(inst).is_some());
    let mut part = 0;
    let drawn = |inst: &Inst| {
        part = ends(inst).map_or(part, |(_, to)| part.max(to));
        repeat_n(is_cut.then_some(part), drawn(inst, counts))
    };
    entry.insts.iter().flat_map(drawn).collect()
}

/// The values that the random bits of a function are made of.
struct Bits {
    /// The number of the draw, `s32[]`.
    draw: Value,
    /// The words of the streams, `u32[n]`, in the order in which they are drawn from: in an entry those of each part of a pipeline.
    words: Vec<Value>,
}

impl Bits {
    fn of_entry(b: &mut Rewriter<'_>, keys: Vec<(Option<usize>, StreamKeys)>, steps: u64) -> Result<Self> {
        let draw = draw(b, steps)?;
        let outer = b.enter_scope(SCOPE);
        let mut words = Vec::with_capacity(keys.len());
        for (part, keys) in keys {
            let keys = stream_keys(b, keys, SCOPE, part)?;
            let own = b.composite("stream_words", &[], &[keys, draw])?[0];
            b.name_value(own, "dropout_words");
            words.push(own);
        }
        b.set_loc(outer);
        Ok(Self { draw, words })
    }

    fn of_callee(b: &mut Rewriter<'_>, count: usize) -> Self {
        let draw = b.argument("draw", TensorType::scalar(DType::S32));
        Self { draw, words: vec![b.argument("dropout_words", TensorType::new(DType::U32, [count]))] }
    }
}

/// The number of the draw that an entry makes: that of the update, from 1, and in the lowest bits that of the micro-batch. The number
/// of the completed updates is read once, as nothing may read it after its replacement.
fn draw(b: &mut Rewriter<'_>, steps: u64) -> Result<Value> {
    let completed = scalar_state(b, DType::S32, StateSpec::new(STEP))?;
    let micro = (steps > 1).then(|| micro_batch(b));
    let outer = b.enter_scope(SCOPE);
    let mut draw = b.add_scalar(completed, 1.0)?;
    b.name_value(draw, "update");
    if let Some(micro) = micro {
        let bits = b.splat_like(draw, f64::from(u64::BITS - (steps - 1).leading_zeros()))?;
        let update = b.emit(ShiftLeft, &[draw, bits])?;
        draw = b.emit(Or, &[update, micro])?;
        b.name_value(draw, "draw");
    }
    b.set_loc(outer);
    Ok(draw)
}

/// A function whose dropout is being given bits.
struct Keyed<'a> {
    bits: Bits,
    /// The number of streams that each function of the module draws from.
    counts: &'a [usize],
    /// The vector of words that is drawn from.
    at: usize,
    /// The next word of it.
    next: usize,
    /// The words along a dimension of a size.
    along: FxHashMap<(usize, usize), Value>,
}

impl Keyed<'_> {
    fn body(mut self, b: &mut Rewriter<'_>, source: &Function) -> Result<()> {
        source.insts.iter().try_for_each(|inst| {
            let outer = b.set_loc(inst.loc);
            self.inst(b, source, inst)?;
            b.set_loc(outer);
            Ok(())
        })
    }

    fn inst(&mut self, b: &mut Rewriter<'_>, source: &Function, inst: &Inst) -> Result<()> {
        let keyed = if let Op::Composite(composite) = &inst.op { composite.keyed_dropout() } else { None };
        let streams = drawn(inst, self.counts);
        let results = match keyed {
            Some(keyed) => self.dropout(b, keyed, inst)?,
            None if streams > 0 => {
                let mut args = b.values(&inst.args)?;
                let words = self.take(b, streams)?;
                args.extend([self.bits.draw, words]);
                b.emit_like(inst, &args)?
            }
            None => return b.copy(source, inst),
        };
        b.keep_names(source, inst, &results);
        b.replace_all(inst, &results);
        Ok(())
    }

    /// The words of the next streams.
    fn take(&mut self, b: &mut Rewriter<'_>, count: usize) -> Result<Value> {
        let ended = || Diagnostic::bug("`key-dropout` has fewer words than dropouts");
        let mut words = *self.bits.words.get(self.at).ok_or_else(ended)?;
        if self.next == b.shape(words)[0] {
            self.at += 1;
            self.next = 0;
            words = *self.bits.words.get(self.at).ok_or_else(ended)?;
        }
        let start = self.next;
        self.next += count;
        if b.shape(words)[0] == count { Ok(words) } else { b.slice_dim(words, 0, start, start + count) }
    }

    fn dropout(&mut self, b: &mut Rewriter<'_>, keyed: Composite, inst: &Inst) -> Result<Values> {
        let mut args = b.values(&inst.args)?;
        let [x] = args[..] else { return Err(Diagnostic::bug("`dropout` has one operand")) };
        let word = self.take(b, 1)?;
        args.push(b.reshape(word, [])?);
        for (dim, size) in b.shape(x).clone().iter().copied().enumerate() {
            args.push(self.along(b, dim, size)?);
        }
        b.emit_all(keyed, &args)
    }

    /// The words along a dimension.
    fn along(&mut self, b: &mut Rewriter<'_>, dim: usize, size: usize) -> Result<Value> {
        if let Some(&known) = self.along.get(&(dim, size)) {
            return Ok(known);
        }
        let attrs = [("dim", Attr::Int(dim as i64)), ("size", Attr::Int(size as i64))];
        let words = b.composite("coordinate_words", &attrs, &[self.bits.draw])?[0];
        self.along.insert((dim, size), words);
        Ok(words)
    }
}
