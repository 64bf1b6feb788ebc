//! Writing the functions of parts and their calls.

use super::owners::Owners;
use super::stage::{Half, Stage};
use halite_ir::composites::Transfer;
use halite_ir::ops::Call;
use halite_ir::{Builder, FuncId, Function, Module, Registry, ResultRole, Rewriter, StageTask, Value, Values};
use halite_support::{Diagnostic, Name, Names, Result};
use rustc_hash::FxHashMap;

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
    let mut writer = Writer { b, entry };
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
    pub(in crate::transform) entry: &'a Function,
}

impl Writer<'_, '_> {
    /// Puts what a part has made for another in the place of the transfers between them.
    fn hand_on(&mut self, from: usize, to: usize) -> Result<()> {
        for inst in self.entry.insts.iter().filter(|inst| Transfer::ends(&inst.op) == Some((from, to))) {
            let value = self.b.value(inst.args[0])?;
            self.b.replace(inst.results[0], value);
        }
        Ok(())
    }

    /// Writes a function and its call, unless it has nothing to return. What it returns stands for the values of the entry.
    pub(in crate::transform) fn half(&mut self, names: &mut Names, task: StageTask, half: &Half) -> Result<()> {
        if half.outputs.is_empty() {
            return Ok(());
        }
        let name = match task {
            StageTask::Forward { part } => format!("part_{part}_forward"),
            StageTask::Backward { part } => format!("part_{part}_backward"),
            StageTask::Update { stage, round } => format!("stage_{stage}_update_{round}"),
        };
        let callee = function(&mut self.b, self.entry, (names.unused(&name), task), half)?;
        let inputs: Vec<Value> = half.inputs.iter().copied().collect();
        let args = self.b.values(&inputs)?;
        let results = self.b.emit_all(Call { callee }, &args)?;
        for (&old, &new) in half.outputs.iter().chain(&half.residuals).zip(&results) {
            if let Some(hint) = &self.entry.values[old.index()].hint {
                self.b.name_value(new, hint.clone());
            }
            self.b.replace(old, new);
        }
        Ok(())
    }
}

/// Writes a function of a part of an entry.
fn function(b: &mut Builder<'_>, entry: &Function, (name, task): (Name, StageTask), half: &Half) -> Result<FuncId> {
    let mut inner = b.nested(name);
    inner.set_noinline(true);
    inner.set_task(Some(task));
    let mut map: FxHashMap<Value, Value> = FxHashMap::default();
    for &input in &half.inputs {
        let name = entry.params.iter().find(|param| param.value == input).map(|param| param.name.clone());
        let name = name.or_else(|| entry.values[input.index()].hint.clone()).unwrap_or_else(|| "x".into());
        map.insert(input, inner.argument(&name, entry.ty(input).clone()));
    }
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
    Ok(inner.finish())
}

fn lost() -> Diagnostic {
    Diagnostic::bug("a part of the model reads what is not there")
}
