//! `inline`.

use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::graph::decompositions;
use halite_ir::ops::Call;
use halite_ir::{FuncId, Function, InferCx, Inst, LocId, Module, Op, Rewriter, Value, Values, rewrite_planned};
use halite_support::{Diagnostic, Result, codes};

/// The most instructions and calls that are copied.
const MAX_INSTS: u64 = 1 << 20;

/// Replaces every call in every function by the body of its callee and drops what is no longer reached, so that the entry,
/// the decompositions of its kernels and what is marked `noinline` are the only functions left.
/// A module of which that makes more than a million instructions is refused.
///
/// ```text
/// func @f(%x: f32[4]) -> (f32[4]) {
///   %y = negate %x : f32[4]
///   return %y
/// }                                                =>    func @main(%x: f32[4]) -> (f32[4]) {
/// func @main(%x: f32[4]) -> (f32[4]) {                     %y = negate %x : f32[4]
///   %0 = call %x {callee = @f} : f32[4]                    return %y
///   return %0                                            }
/// }
/// ```
#[derive(Debug)]
pub(crate) struct Inline;

impl Pass for Inline {
    fn info(&self) -> PassInfo {
        PassInfo::new("inline", "replace calls by the bodies of their callees", Relation::Identical).required()
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let mut insts = module.functions.iter().flat_map(|function| &function.insts);
        if !insts.any(|inst| inlined(&module.functions, inst).is_some()) {
            return Ok(Changed::when(module.drop_unreached()));
        }
        let stays = stays(module);
        check_size(module, &stays)?;
        let callees = module.functions.clone();
        let mut stays = stays.into_iter();
        let plan = |_: InferCx<'_>, function: &Function| {
            let stays = stays.next().unwrap_or_default();
            (stays && function.insts.iter().any(|inst| inlined(&callees, inst).is_some())).then_some(())
        };
        let inlined = rewrite_planned(module, cx.registry, plan, |rewriter, source, ()| {
            for inst in &source.insts {
                let Some(call) = inlined(&callees, inst) else {
                    rewriter.copy(source, inst)?;
                    continue;
                };
                let args = rewriter.values(&inst.args)?;
                let results = write_body(rewriter, &callees, call.callee, &args, inst.loc)?;
                rewriter.replace_all(inst, &results);
            }
            Ok(())
        })?;
        Ok(Changed::when(inlined | module.drop_unreached()))
    }
}

/// The call that an instruction is, if it is to be replaced.
fn inlined<'a>(callees: &[Function], inst: &'a Inst) -> Option<&'a Call> {
    let Op::Call(call) = &inst.op else { return None };
    callees.get(call.callee.index()).filter(|callee| !callee.noinline).map(|_| call)
}

/// Which functions are left: the entry, what is marked, and the decompositions of the kernels that the entry reaches.
fn stays(module: &Module) -> Vec<bool> {
    let mut stays: Vec<bool> = module.functions.iter().map(|function| function.noinline).collect();
    decompositions(module).into_iter().for_each(|decomposition| stays[decomposition.index()] = true);
    if let Some(entry) = stays.last_mut() {
        *entry = true;
    }
    stays
}

/// A function that calls another twice doubles it, so that a short text can stand for more than any machine holds.
///
/// # Errors
/// When more than [`MAX_INSTS`] instructions and calls would be copied.
fn check_size(module: &Module, stays: &[bool]) -> Result<()> {
    let mut sizes: Vec<u64> = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let size = |inst: &Inst| {
            inlined(&module.functions, inst).map_or(1, |call| sizes[call.callee.index()].saturating_add(1))
        };
        sizes.push(function.insts.iter().map(size).fold(0, u64::saturating_add));
    }
    let left = sizes.iter().zip(stays).filter(|(_, stays)| **stays);
    if left.fold(0, |sum: u64, (size, _)| sum.saturating_add(*size)) <= MAX_INSTS {
        return Ok(());
    }
    let entry = module.entry().map_or("", |entry| &*entry.name);
    let largest = sizes.last().copied().unwrap_or_default();
    let found = if largest == u64::MAX { "2^64 or more".to_owned() } else { largest.to_string() };
    let message = format!(
        "replacing the calls of `@{entry}` copies {found} instructions and calls, at most {MAX_INSTS} are copied"
    );
    let call = module.entry().and_then(|entry| entry.insts.iter().find(|inst| matches!(inst.op, Op::Call(_))));
    let span = call.and_then(|call| module.locs.span(call.loc));
    let error = Diagnostic::error(codes::LIMIT, message).or_at(span, "a call that is replaced by what it calls");
    Err(error.help("call functions that call others less often: each call becomes a copy of the whole body"))
}

/// A call that is being replaced.
struct Frame<'f> {
    callee: &'f Function,
    /// The next instruction of the callee.
    next: usize,
    /// What stands for its values so far.
    map: Vec<Option<Value>>,
    /// Where the call stands.
    site: LocId,
}

impl<'f> Frame<'f> {
    fn new(callee: &'f Function, args: &[Value], site: LocId) -> Self {
        let mut map = vec![None; callee.values.len()];
        for (param, &arg) in callee.params.iter().zip(args) {
            map[param.value.index()] = Some(arg);
        }
        Self { callee, next: 0, map, site }
    }

    fn values(&self, values: impl IntoIterator<Item = Value>) -> Result<Values> {
        let undefined = |value| Diagnostic::bug(format!("{value:?} of `@{}` is not defined", self.callee.name));
        values.into_iter().map(|value| self.map[value.index()].ok_or_else(|| undefined(value))).collect()
    }

    fn define(&mut self, old: &[Value], new: &[Value]) {
        for (&old, &new) in old.iter().zip(new) {
            self.map[old.index()] = Some(new);
        }
    }
}

/// Writes the body of a callee, and in it those of what it calls, however deep: calls under way stand in a list.
fn write_body(
    b: &mut Rewriter<'_>,
    callees: &[Function],
    callee: FuncId,
    args: &[Value],
    site: LocId,
) -> Result<Values> {
    let mut open: Vec<Frame<'_>> = Vec::new();
    let mut frame = Frame::new(&callees[callee.index()], args, site);
    loop {
        let callee = frame.callee;
        let Some(inst) = callee.insts.get(frame.next) else {
            let results = frame.values(callee.results.iter().map(|result| result.value))?;
            let Some(caller) = open.pop() else { return Ok(results) };
            frame = caller;
            frame.define(&frame.callee.insts[frame.next - 1].results, &results);
            continue;
        };
        frame.next += 1;
        let args = frame.values(inst.args.iter().copied())?;
        let outer = b.enter_call(inst.loc, frame.site);
        if let Some(call) = inlined(callees, inst) {
            let inner = Frame::new(&callees[call.callee.index()], &args, b.loc());
            open.push(std::mem::replace(&mut frame, inner));
        } else {
            let results = b.emit_like(inst, &args)?;
            frame.define(&inst.results, &results);
        }
        b.set_loc(outer);
    }
}
