//! A function with its collectives in their new places.

use super::gathers::{Gathers, handed};
use super::places::Places;
use super::scatters::sums;
use halite_ir::{Function, Inst, Op, ParamRole, Rewriter, Value, Values};
use halite_support::Result;
use rustc_hash::{FxHashMap, FxHashSet};

/// Writes the instructions of a function, each in its place.
///
/// # Errors
/// When something is read before it is written, which is a bug.
pub(super) fn write(b: &mut Rewriter<'_>, source: &Function, places: Places) -> Result<()> {
    let moved = moved(&places);
    let (read, computed) = (read(source, &moved), computed(source));
    let mut last = None;
    for (at, inst) in source.insts.iter().enumerate() {
        if let Some(moves) = places.moves.get(&at) {
            for group in &moves.gathers {
                write_gathers(b, source, (group, last.filter(|_| at < group.first_read)))?;
            }
            for &scatter in &moves.scatters {
                b.copy(source, &source.insts[scatter])?;
            }
        }
        match &inst.op {
            _ if moved.contains(&at) => write_rest(b, source, inst)?,
            Op::OptimizationBarrier(_) => write_barrier(b, inst, &read)?,
            _ => b.copy(source, inst)?,
        }
        let is_read = |result: &&Value| computed[result.index()] && read[result.index()];
        last = inst.results.iter().find(is_read).and_then(|&result| b.get(result)).or(last);
    }
    Ok(())
}

/// Writes what is made of weights before they are gathered, where no gather that moved needed it so far: something else may read it.
fn write_rest(b: &mut Rewriter<'_>, source: &Function, inst: &Inst) -> Result<()> {
    let is_collective = is_gather(inst) || sums(inst);
    let is_there = |arg: &Value| b.get(handed(source, *arg)).is_some();
    let is_due = !is_collective && b.get(inst.results[0]).is_none() && inst.args.iter().all(is_there);
    if is_due { write_of(b, source, inst, &FxHashMap::default()) } else { Ok(()) }
}

/// Whether each value follows from what is fed, and not from the state alone.
fn computed(source: &Function) -> Vec<bool> {
    let mut computed = vec![false; source.values.len()];
    for param in &source.params {
        computed[param.value.index()] = !matches!(param.role, ParamRole::Weight(_) | ParamRole::State(_));
    }
    for inst in &source.insts {
        if matches!(inst.op, Op::OptimizationBarrier(_)) {
            let each = inst.results.iter().zip(&inst.args);
            each.for_each(|(result, arg)| computed[result.index()] = computed[arg.index()]);
            continue;
        }
        let follows = inst.args.iter().any(|arg| computed[arg.index()]);
        inst.results.iter().for_each(|result| computed[result.index()] = follows);
    }
    computed
}

/// The positions of what is written elsewhere.
fn moved(places: &Places) -> FxHashSet<usize> {
    let all = places.moves.values();
    all.flat_map(|moves| moves.gathers.iter().flat_map(|group| &group.insts).chain(&moves.scatters)).copied().collect()
}

/// Whether each value is read by something that stays in its place, or by a scatter.
fn read(source: &Function, moved: &FxHashSet<usize>) -> Vec<bool> {
    let mut read = vec![false; source.values.len()];
    let is_weights = |at: usize| moved.contains(&at) && !sums(&source.insts[at]);
    let stays = source.insts.iter().enumerate().filter(|(at, _)| !is_weights(*at));
    stays.flat_map(|(_, inst)| &inst.args).for_each(|arg| read[arg.index()] = true);
    source.results.iter().for_each(|result| read[result.value.index()] = true);
    read
}

/// Writes the gathers of a layer, of operands that wait for a value.
fn write_gathers(b: &mut Rewriter<'_>, source: &Function, (group, last): (&Gathers, Option<Value>)) -> Result<()> {
    let insts = group.insts.iter().map(|&at| &source.insts[at]).filter(|inst| b.get(inst.results[0]).is_none());
    let insts: Vec<&Inst> = insts.collect();
    // What is made of a gathered weight comes after the gather.
    let mut gathered: FxHashSet<Value> = FxHashSet::default();
    for inst in &insts {
        if is_gather(inst) || inst.args.iter().any(|&arg| gathered.contains(&handed(source, arg))) {
            gathered.extend(&inst.results);
        }
    }
    let is_before = |inst: &Inst| !gathered.contains(&inst.results[0]);
    for inst in insts.iter().filter(|inst| is_before(inst)) {
        write_of(b, source, inst, &FxHashMap::default())?;
    }
    let operands = insts.iter().filter(|inst| is_gather(inst)).flat_map(|inst| &inst.args);
    let operands: Vec<Value> =
        operands.map(|&arg| handed(source, arg)).filter(|value| !gathered.contains(value)).collect();
    let mut held = FxHashMap::default();
    if let (Some(last), Some(first)) = (last, insts.iter().find(|inst| is_gather(inst))) {
        let mut args = b.values(&operands)?;
        args.push(last);
        let results = barrier(b, first, &args)?;
        held.extend(operands.iter().copied().zip(results));
    }
    insts.iter().filter(|inst| !is_before(inst)).try_for_each(|inst| write_of(b, source, inst, &held))
}

fn is_gather(inst: &Inst) -> bool {
    matches!(inst.op, Op::AllGather(_))
}

/// A barrier of these values, where an instruction is from.
fn barrier(b: &mut Rewriter<'_>, at: &Inst, args: &[Value]) -> Result<Values> {
    let outer = b.set_loc(at.loc);
    let results = b.optimization_barrier(args)?;
    b.set_loc(outer);
    Ok(results)
}

/// Writes an instruction of values that barriers handed on in the place of what they were given, or of those that wait.
fn write_of(b: &mut Rewriter<'_>, source: &Function, inst: &Inst, held: &FxHashMap<Value, Value>) -> Result<()> {
    let arg = |&arg: &Value| {
        let value = handed(source, arg);
        held.get(&value).map_or_else(|| b.value(value), |&held| Ok(held))
    };
    let args = inst.args.iter().map(arg).collect::<Result<Values>>()?;
    let outer = b.set_loc(inst.loc);
    let results = b.emit_like(inst, &args)?;
    b.set_loc(outer);
    b.keep_names(source, inst, &results);
    b.replace_all(inst, &results);
    Ok(())
}

/// Writes a barrier of what is still read behind it.
fn write_barrier(b: &mut Rewriter<'_>, inst: &Inst, read: &[bool]) -> Result<()> {
    let kept: Vec<usize> = (0..inst.args.len()).filter(|&at| read[inst.results[at].index()]).collect();
    if kept.is_empty() {
        return Ok(());
    }
    let args: Values = kept.iter().map(|&at| b.value(inst.args[at])).collect::<Result<_>>()?;
    let results = barrier(b, inst, &args)?;
    kept.iter().zip(&results).for_each(|(&at, &result)| b.replace(inst.results[at], result));
    Ok(())
}
