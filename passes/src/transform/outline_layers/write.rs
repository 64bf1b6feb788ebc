//! Writing the functions and their calls.

use super::group::{Class, Group};
use super::region::{Region, Regions};
use halite_ir::ops::Call;
use halite_ir::{FuncId, Function, Module, Registry, Rewriter, Value, Values};
use halite_support::{Diagnostic, Name, Names, Result};
use rustc_hash::FxHashMap;

/// An instruction or a call that is written next.
#[derive(Clone, Copy)]
enum Step<'a> {
    Inst(usize),
    /// A call of the function of a class.
    Call(usize, &'a Group),
}

/// Replaces the groups of the entry by calls.
///
/// # Errors
/// None but bugs.
pub(super) fn write(
    module: &mut Module,
    registry: &Registry,
    entry: &Function,
    (regions, levels): (&Regions, &[usize]),
    classes: &[Class],
) -> Result<()> {
    let steps = steps(entry, regions, levels, classes);
    let mut names = module.names();
    let mut b = Rewriter::new(module, registry, entry);
    let mut functions: Vec<Option<FuncId>> = vec![None; classes.len()];
    for step in steps {
        match step {
            Step::Inst(at) => b.copy(entry, &entry.insts[at])?,
            Step::Call(class, group) => {
                let region = &regions.all[group.region];
                let callee = match functions[class] {
                    Some(callee) => callee,
                    None => *functions[class].insert(outlined(&mut b, &mut names, entry, region, group)?),
                };
                let inputs: Vec<Value> = group.inputs.iter().copied().collect();
                let args = b.values(&inputs)?;
                let outer = b.set_loc(region.site);
                let results = b.emit_all(Call { callee }, &args)?;
                b.set_loc(outer);
                for (&old, &new) in group.outputs.iter().zip(&results) {
                    if let Some(hint) = &entry.values[old.index()].hint {
                        b.name_value(new, hint.clone());
                    }
                    b.replace(old, new);
                }
            }
        }
    }
    b.finish(entry)?;
    Ok(())
}

/// The instructions that stay and the calls, what is read before what reads it: level by level, calls last.
fn steps<'a>(entry: &Function, regions: &Regions, levels: &[usize], classes: &'a [Class]) -> Vec<Step<'a>> {
    let mut gone = vec![false; entry.insts.len()];
    let calls = classes.iter().enumerate();
    let calls: Vec<(usize, &Group)> =
        calls.flat_map(|(class, own)| own.calls.iter().map(move |group| (class, group))).collect();
    for at in calls.iter().flat_map(|(_, group)| &group.insts).filter(|&&at| !regions.copied[at]) {
        gone[*at] = true;
    }
    let needed = needed(entry, &gone, regions, &calls);
    let insts = (0..entry.insts.len()).filter(|&at| needed[at]).map(|at| (levels[at], false, at, Step::Inst(at)));
    let calls = calls.iter().map(|&(class, group)| (group.level, true, group.insts[0], Step::Call(class, group)));
    let mut steps: Vec<_> = insts.chain(calls).collect();
    steps.sort_by_key(|&(level, is_call, at, _)| (level, is_call, at));
    steps.into_iter().map(|(.., step)| step).collect()
}

/// For each instruction, whether it stays: those that are copied do where something else reads them.
fn needed(entry: &Function, gone: &[bool], regions: &Regions, calls: &[(usize, &Group)]) -> Vec<bool> {
    let mut wanted = vec![false; entry.values.len()];
    entry.results.iter().for_each(|result| wanted[result.value.index()] = true);
    calls.iter().flat_map(|(_, group)| &group.inputs).for_each(|input| wanted[input.index()] = true);
    let mut needed = vec![false; entry.insts.len()];
    for (at, inst) in entry.insts.iter().enumerate().rev() {
        let read = inst.results.iter().any(|result| wanted[result.index()]);
        needed[at] = !gone[at] && (read || !regions.copied[at]);
        if needed[at] {
            inst.args.iter().for_each(|arg| wanted[arg.index()] = true);
        }
    }
    needed
}

/// The function of a group.
fn outlined(
    b: &mut Rewriter<'_>,
    names: &mut Names,
    entry: &Function,
    region: &Region,
    group: &Group,
) -> Result<FuncId> {
    let name = names.unused(&region.function);
    let mut inner = b.nested(name);
    inner.set_noinline(true);
    let mut map: FxHashMap<Value, Value> = FxHashMap::default();
    for &input in &group.inputs {
        let name = relative(entry, region, input).unwrap_or_else(|| "x".into());
        let value = inner.argument(&name, entry.ty(input).clone());
        map.insert(input, value);
    }
    for (&at, &loc) in group.insts.iter().zip(&group.locs) {
        let inst = &entry.insts[at];
        inner.set_loc(loc);
        let args = inst.args.iter().map(|arg| map.get(arg).copied()).collect::<Option<Values>>().ok_or_else(lost)?;
        let results = inner.emit_like(inst, &args)?;
        for (&old, new) in inst.results.iter().zip(results) {
            map.insert(old, new);
            if let Some(name) = relative(entry, region, old) {
                inner.name_value(new, name);
            }
        }
    }
    for output in &group.outputs {
        inner.result(*map.get(output).ok_or_else(lost)?);
    }
    Ok(inner.finish())
}

fn lost() -> Diagnostic {
    Diagnostic::bug("an instruction of a group reads what is not there")
}

/// The name of a value without the path of the layer.
fn relative(entry: &Function, region: &Region, value: Value) -> Option<Name> {
    let hint = entry.values[value.index()].hint.as_ref()?;
    Some(hint.replacen(&format!("{}.", region.layer), "", 1).into())
}
