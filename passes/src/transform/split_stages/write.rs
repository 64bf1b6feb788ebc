//! Writing the functions of parts and their calls.

use super::owners::Owners;
use super::stage::{Half, Stage};
use halite_ir::composites::Transfer;
use halite_ir::ops::Call;
use halite_ir::{Builder, Def, Function, Module, Registry, ResultRole, Rewriter, StageTask, TensorType, Value, Values};
use halite_support::{Diagnostic, Name, Names, Result};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Writes the entry as calls of the functions of its parts.
///
/// # Errors
/// None but bugs.
pub(super) fn write(
    module: &mut Module,
    registry: &Registry,
    entry: &Function,
    (owners, stages): (&Owners, &[Stage]),
) -> Result<()> {
    let mut names = module.names();
    let b = Rewriter::new(module, registry, entry);
    let mut writer = Writer::new(b, entry);
    for (part, stage) in stages.iter().enumerate() {
        if let Some(before) = part.checked_sub(1) {
            writer.hand_on(before, part)?;
        }
        writer.half(&mut names, StageTask::Forward { part }, &stage.forward)?;
    }
    for (part, stage) in stages.iter().enumerate().rev() {
        writer.hand_on(part + 1, part)?;
        writer.half(&mut names, StageTask::Backward { part }, &stage.backward)?;
    }
    let mut b = writer.b;
    for (inst, _) in entry.insts.iter().zip(&owners.joins).filter(|(_, joins)| **joins) {
        b.copy(entry, inst)?;
    }
    b.finish(entry)?;
    Ok(())
}

pub(in crate::transform) struct Writer<'a, 'b> {
    pub(in crate::transform) b: Rewriter<'b>,
    entry: &'a Function,
    /// The numbers that functions made, each with the vector of the entry that has it, and its place there.
    vectors: FxHashMap<Value, (Value, usize)>,
}

impl<'a, 'b> Writer<'a, 'b> {
    pub(in crate::transform) fn new(b: Rewriter<'b>, entry: &'a Function) -> Self {
        Self { b, entry, vectors: FxHashMap::default() }
    }

    /// Puts what a part has made for another in the place of the transfers between them.
    fn hand_on(&mut self, from: usize, to: usize) -> Result<()> {
        for inst in self.entry.insts.iter().filter(|inst| Transfer::ends(&inst.op) == Some((from, to))) {
            let value = self.b.value(inst.args[0])?;
            self.b.replace(inst.results[0], value);
        }
        Ok(())
    }

    /// Writes a function and its call, unless it has nothing to return. What it returns stands for the values of the entry, but for
    /// parameters that an update returns, which others read as they are. Gives each value that it returns with the result of the call.
    pub(in crate::transform) fn half(
        &mut self,
        names: &mut Names,
        task: StageTask,
        half: &Half,
    ) -> Result<FxHashMap<Value, Value>> {
        if half.outputs.is_empty() && half.numbers.is_empty() {
            return Ok(FxHashMap::default());
        }
        let mut args = Args::default();
        let mut given = Vec::with_capacity(half.inputs.len());
        for &input in &half.inputs {
            let vector = self.vectors.get(&input).copied();
            let outer = vector.map_or_else(|| self.b.value(input), |(vector, _)| Ok(vector))?;
            let name = if vector.is_some() { "numbers".into() } else { name_of(self.entry, input) };
            let arg = args.insert_full(outer, name).0;
            given.push(Given { input, arg, number: vector.map(|(_, number)| number) });
        }
        let results = Written { task, source: self.entry, half }.call(&mut self.b, names, args, &given)?;
        let mut returned = FxHashMap::default();
        for (&old, &new) in half.outputs.iter().chain(&half.residuals).zip(&results) {
            let data = &self.entry.values[old.index()];
            if let Some(hint) = &data.hint {
                self.b.name_value(new, hint.clone());
            }
            let is_kept = matches!((task, data.def), (StageTask::Update { .. }, Def::Param(_)));
            if !is_kept {
                self.b.replace(old, new);
            }
            returned.insert(old, new);
        }
        let vectors = &results[half.outputs.len() + half.residuals.len()..];
        for (numbers, &vector) in half.numbers.iter().zip(vectors) {
            self.vectors.extend(numbers.iter().enumerate().map(|(at, &number)| (number, (vector, at))));
        }
        Ok(returned)
    }
}

/// The arguments of a call, each with its name in the callee.
pub(in crate::transform) type Args = IndexMap<Value, Name, FxBuildHasher>;

/// A function of a part that is written.
pub(in crate::transform) struct Written<'a> {
    pub(in crate::transform) task: StageTask,
    /// The function whose instructions it runs.
    pub(in crate::transform) source: &'a Function,
    pub(in crate::transform) half: &'a Half,
}

impl Written<'_> {
    /// Writes the function and its call. Returns its results: what it makes for others, its residuals, its vectors of numbers.
    pub(in crate::transform) fn call(
        self,
        b: &mut Builder<'_>,
        names: &mut Names,
        args: Args,
        given: &[Given],
    ) -> Result<Values> {
        let name = match self.task {
            StageTask::Forward { part } => format!("part_{part}_forward"),
            StageTask::Backward { part } => format!("part_{part}_backward"),
            StageTask::BackwardInput { part } => format!("part_{part}_backward_input"),
            StageTask::BackwardWeights { part } => format!("part_{part}_backward_weights"),
            StageTask::Update { stage, round } => format!("stage_{stage}_update_{round}"),
        };
        let params: Vec<(Name, TensorType)> =
            args.iter().map(|(&arg, name)| (name.clone(), b.ty(arg).clone())).collect();
        let args: Vec<Value> = args.into_keys().collect();
        let mut inner = b.nested(names.unused(&name));
        inner.set_noinline(true);
        inner.set_task(Some(self.task));
        let params: Vec<Value> = params.into_iter().map(|(name, ty)| inner.argument(&name, ty)).collect();
        let mut map = read(&mut inner, given, &params)?;
        write_body(&mut inner, self.source, self.half, &mut map)?;
        let callee = inner.finish();
        b.emit_all(Call { callee }, &args)
    }
}

/// The name of a value.
pub(in crate::transform) fn name_of(function: &Function, value: Value) -> Name {
    let name = match function.values[value.index()].def {
        Def::Param(at) => Some(function.params[at as usize].name.clone()),
        Def::Inst(..) => function.values[value.index()].hint.clone(),
    };
    name.unwrap_or_else(|| "x".into())
}

/// An input of a function: an argument of it, or a number of one.
pub(in crate::transform) struct Given {
    pub(in crate::transform) input: Value,
    pub(in crate::transform) arg: usize,
    pub(in crate::transform) number: Option<usize>,
}

/// Reads the inputs of a function from its parameters.
fn read(b: &mut Builder<'_>, given: &[Given], params: &[Value]) -> Result<FxHashMap<Value, Value>> {
    let mut map = FxHashMap::default();
    for given in given {
        let own = *params.get(given.arg).ok_or_else(lost)?;
        let own = match given.number {
            None => own,
            Some(at) => {
                let number = b.slice_dim(own, 0, at, at + 1)?;
                b.reshape(number, [])?
            }
        };
        map.insert(given.input, own);
    }
    Ok(map)
}

/// Writes the instructions and results of a function.
fn write_body(inner: &mut Builder<'_>, entry: &Function, half: &Half, map: &mut FxHashMap<Value, Value>) -> Result<()> {
    for &at in &half.insts {
        let inst = &entry.insts[at];
        inner.set_loc(inst.loc);
        let args = inst.args.iter().map(|arg| map.get(arg).copied()).collect::<Option<Values>>();
        let results = inner.emit_like(inst, &args.ok_or_else(lost)?)?;
        for (&old, new) in inst.results.iter().zip(results) {
            map.insert(old, new);
            if let Some(hint) = &entry.values[old.index()].hint {
                inner.name_value(new, hint.clone());
            }
        }
    }
    for output in &half.outputs {
        inner.result(*map.get(output).ok_or_else(lost)?);
    }
    for residual in &half.residuals {
        inner.named_result(*map.get(residual).ok_or_else(lost)?, Name::default(), ResultRole::Residual);
    }
    for numbers in &half.numbers {
        let mut items = Vec::with_capacity(numbers.len());
        for number in numbers {
            items.push(inner.reshape(*map.get(number).ok_or_else(lost)?, [1])?);
        }
        let vector = inner.concatenate(&items, 0)?;
        inner.result(vector);
    }
    Ok(())
}

fn lost() -> Diagnostic {
    Diagnostic::bug("a part of the model reads what is not there")
}
