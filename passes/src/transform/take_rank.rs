//! `take-rank`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::framework::target::RankSource;
use halite_ir::{Function, InferCx, Inst, Module, Op, ParamRole, Rewriter, TensorType, Value, rewrite_planned};
use halite_support::{Name, Result};
use halite_tensor::{Content, DType, DimShard, Mesh, Sharding, SubAxis};
use std::sync::Arc;

/// The name of the pass.
const PASS: &str = "take-rank";

/// The name of the parameter in the entry.
const RANKS: &str = "ranks";

/// Gives each rank its number by a parameter of the step, in the place of `replica_id`, where the target knows no other way. All ranks
/// run one program.
///
/// ```text
/// func @main(%x: f32[4] {batch}) -> (u32[]) {
///   %rank = replica_id : u32[]
///   return %rank
/// => on a mesh of two ranks
/// func @main(%x: f32[4] {batch}, %ranks: s32[1] {batch, ranks}) -> (u32[]) {
///   %0 = reshape %ranks : s32[]
///   %1 = constant 0 : s32[]
///   %2 = constant 1 : s32[]
///   %3 = clamp %1, %0, %2 : s32[]
///   %rank = convert %3 : u32[]
///   return %rank
/// ```
#[derive(Debug)]
pub(crate) struct TakeRank;

impl Pass for TakeRank {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "have ranks told their numbers", Relation::Defines)
            .required()
            .example(golden!("take_rank" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let reads = readers(module);
        let (Some(layout), Some(true)) = (&module.layout, reads.last()) else { return Ok(Changed::No) };
        if cx.target.ranks != Some(RankSource::Input) {
            return Ok(Changed::No);
        }
        let (mesh, entry) = (layout.mesh.clone(), reads.len() - 1);
        let mut at = 0..reads.len();
        let plan = |_: InferCx<'_>, _: &Function| at.next().filter(|&at| reads[at]);
        rewrite_planned(module, cx.registry, plan, |b, source, at| {
            let name = source.param_names().unused(RANKS);
            let rank = if at == entry { told(b, name, &mesh)? } else { passed(b, name) };
            source.insts.iter().try_for_each(|inst| rewrite(b, source, inst, (rank, &reads)))
        })?;
        note(module, &mesh);
        Ok(Changed::Yes)
    }
}

/// For each function whether it reads the number of the rank, or calls one that does.
fn readers(module: &Module) -> Vec<bool> {
    let mut reads = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let read = |inst: &Inst| match &inst.op {
            Op::ReplicaId(_) => true,
            _ => inst.calls().any(|edge| reads[edge.callee.index()]),
        };
        let any = function.insts.iter().any(read);
        reads.push(any);
    }
    reads
}

/// The number of the rank, from the parameter of the entry, `u32[]`. It is clamped to the ranks that there are, so that arithmetic on
/// it is known to be exact.
fn told(b: &mut Rewriter<'_>, name: Name, mesh: &Mesh) -> Result<Value> {
    let own = b.param(name, TensorType::new(DType::S32, [1]), ParamRole::Known(Content::Ranks));
    let own = b.reshape(own, [])?;
    let (first, last) = (b.splat_like(own, 0.0)?, b.splat_like(own, (mesh.num_ranks() - 1) as f64)?);
    let rank = b.clamp(first, own, last)?;
    b.convert(rank, DType::U32)
}

/// The number of the rank as callers pass it on, `u32[]`.
fn passed(b: &mut Rewriter<'_>, name: Name) -> Value {
    b.param(name, TensorType::scalar(DType::U32), ParamRole::Argument)
}

/// An instruction where the number of the rank is a value.
fn rewrite(b: &mut Rewriter<'_>, source: &Function, inst: &Inst, (rank, reads): (Value, &[bool])) -> Result<()> {
    match &inst.op {
        Op::ReplicaId(_) => b.replace(inst.results[0], rank),
        _ if inst.calls().any(|edge| reads[edge.callee.index()]) => {
            let mut args = b.values(&inst.args)?;
            args.push(rank);
            let outer = b.set_loc(inst.loc);
            let results = b.emit_like(inst, &args)?;
            b.set_loc(outer);
            b.keep_names(source, inst, &results);
            b.replace_all(inst, &results);
        }
        _ => b.copy(source, inst)?,
    }
    Ok(())
}

/// Says that each rank has its own of the numbers that the entry is told.
fn note(module: &mut Module, mesh: &Mesh) {
    let entry = module.entry().and_then(|entry| entry.params.last());
    let Some((name, layout)) = entry.map(|param| param.name.clone()).zip(module.layout.as_mut()) else { return };
    let digit = |(sub_axis, own): (usize, &SubAxis)| DimShard { sub_axis, size: own.size, stride: own.stride };
    let digits = mesh.sub_axes().iter().enumerate().map(digit);
    let sharding = digits.fold(Sharding::replicated(1), |sharding, digit| sharding.with(0, digit));
    Arc::make_mut(layout).shardings.insert(name, sharding);
}
