//! Writing the functions of parts and their calls.

use super::owners::Owners;
use super::stage::{Half, Stage};
use halite_ir::composites::Transfer;
use halite_ir::ops::Call;
use halite_ir::{FuncId, Function, Module, Registry, ResultRole, Rewriter, Value, Values};
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
    let mut writer = Writer { b, entry, origins: origins(entry) };
    for (part, stage) in stages.iter().enumerate() {
        writer.half(&mut names, (part, "forward"), &stage.forward)?;
    }
    for (part, stage) in stages.iter().enumerate().rev() {
        writer.half(&mut names, (part, "backward"), &stage.backward)?;
    }
    let mut b = writer.b;
    // What the entry itself reads of a transfer is what was handed to it.
    for inst in entry.insts.iter().filter(|inst| Transfer::ends(&inst.op).is_some()) {
        if let (None, Some(value)) = (b.get(inst.results[0]), b.get(inst.args[0])) {
            b.replace(inst.results[0], value);
        }
    }
    for (inst, _) in entry.insts.iter().zip(&owners.joins).filter(|(_, joins)| **joins) {
        b.copy(entry, inst)?;
    }
    b.finish(entry)?;
    Ok(())
}

/// For each value, what it was before it was transferred.
fn origins(entry: &Function) -> FxHashMap<Value, Value> {
    let transfers = entry.insts.iter().filter(|inst| Transfer::ends(&inst.op).is_some());
    transfers.flat_map(|inst| inst.results.iter().map(|&result| (result, inst.args[0]))).collect()
}

struct Writer<'a, 'b> {
    b: Rewriter<'b>,
    entry: &'a Function,
    origins: FxHashMap<Value, Value>,
}

impl Writer<'_, '_> {
    /// Writes a function and its call, unless it has nothing to return.
    fn half(&mut self, names: &mut Names, (part, word): (usize, &str), half: &Half) -> Result<()> {
        if half.outputs.is_empty() {
            return Ok(());
        }
        let name = names.unused(&format!("part_{part}_{word}"));
        let callee = self.function(name, half)?;
        // What came from another part is there once that part has run; it is known here by the transfer that brought it.
        for input in &half.inputs {
            let mut from = *input;
            while let Some(&before) = self.origins.get(&from).filter(|_| self.b.get(*input).is_none()) {
                from = before;
                if let Some(value) = self.b.get(from) {
                    self.b.replace(*input, value);
                }
            }
        }
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

    fn function(&mut self, name: Name, half: &Half) -> Result<FuncId> {
        let entry = self.entry;
        let mut inner = self.b.nested(name);
        inner.set_noinline(true);
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
}

fn lost() -> Diagnostic {
    Diagnostic::bug("a part of the model reads what is not there")
}
