//! What the manifest says of a module.

use super::ranges::Ranges;
use crate::{flops, inspect, packed};
use halite_bundle::{Buffer, BufferContent, BufferRole, ModuleEntry, ModuleRole, Port, PortRole, Statistics, sha256};
use halite_hlo::graph::Graph;
use halite_ir::{Function, Module, Param, ParamRole, ResultRole, TensorType, aliases};
use halite_recipe::Recipe;
use halite_support::Diagnostic;
use indexmap::IndexMap;

fn port(name: &str, ty: &TensorType, role: PortRole, alias: Option<usize>) -> Port {
    let shape = ty.shape().to_vec();
    Port { name: name.to_owned(), dtype: ty.dtype(), shape, role, alias, ranges: Vec::new() }
}

pub(super) fn module_entry(role: &ModuleRole, entry: &Function, mut ranges: Ranges, bytes: &[u8]) -> ModuleEntry {
    let mut replaced = vec![None; entry.results.len()];
    for (parameter, output) in aliases(entry) {
        replaced[output] = Some(parameter);
    }
    let input = |param: &Param| Port {
        ranges: ranges.swap_remove(&*param.name).unwrap_or_default(),
        ..port(&param.name, entry.ty(param.value), PortRole::Buffer, None)
    };
    let output = |(index, result): (usize, &halite_ir::FuncResult)| {
        let role = match result.role {
            ResultRole::State(_) => PortRole::Buffer,
            ResultRole::Probe => PortRole::Probe,
            ResultRole::Gradient(_) => PortRole::Gradient,
            _ => PortRole::Metric,
        };
        port(&result.name, entry.ty(result.value), role, replaced[index])
    };
    let name = role.name();
    ModuleEntry {
        name: name.to_owned(),
        role: role.clone(),
        file: format!("{name}.hlo.pb"),
        sha256: sha256(bytes),
        inputs: entry.params.iter().map(input).collect(),
        outputs: entry.results.iter().enumerate().map(output).collect(),
        estimate: None,
        decompositions: Vec::new(),
    }
}

/// How many micro-batches an entry takes at a time, given that of the model as it was built.
pub(super) fn micro_batches(built: &Function, entry: &Function) -> usize {
    let first = |entry: &Function, param: &Param| entry.ty(param.value).shape().first().copied();
    let times = |param: &Param| {
        let own = built.params.iter().find(|own| own.name == param.name)?;
        first(entry, param)?.checked_div(first(built, own)?)
    };
    let batches = entry.params.iter().filter(|param| param.role == ParamRole::Batch);
    batches.filter_map(times).next().unwrap_or(1).max(1)
}

/// The buffers that a module reads, which takes so many micro-batches at a time.
pub(super) fn buffers(entry: &Function, micro_batches: usize) -> Vec<Buffer> {
    entry.params.iter().map(|param| buffer(entry, param, micro_batches)).collect()
}

fn buffer(entry: &Function, param: &Param, micro_batches: usize) -> Buffer {
    let role = match &param.role {
        ParamRole::Argument | ParamRole::Batch => BufferRole::Batch(None),
        ParamRole::CausalMask => BufferRole::Batch(Some(BufferContent::Causal)),
        ParamRole::Weight(info) => BufferRole::Weight(info.init),
        ParamRole::State(spec) => BufferRole::State(spec.clone()),
    };
    let ty = entry.ty(param.value);
    let mut shape = ty.shape().to_vec();
    if let (ParamRole::Batch, Some(first)) = (&param.role, shape.first_mut()) {
        *first /= micro_batches;
    }
    let packing = entry.packing(param).cloned();
    Buffer { name: param.name.to_string(), dtype: ty.dtype(), shape, role, packing }
}

/// The figures of one module.
#[derive(Clone, Copy)]
pub(super) struct Figures {
    /// Elements of all weights of the model that it reads.
    pub(super) parameters: u64,
    /// Floating-point operations of the matrix products of one call.
    pub(super) matmul_flops: u64,
    pub(super) hlo_instructions: u64,
}

pub(super) fn figures(ir: &Module, entry: &Function, hlo: &Graph) -> Result<Figures, Diagnostic> {
    let weights = entry.params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_)));
    Ok(Figures {
        parameters: weights.map(|param| packed::elements(entry, param)).sum(),
        matmul_flops: flops::matmul_flops(ir)?,
        hlo_instructions: inspect::hlo::num_instructions(hlo)?,
    })
}

/// The figures of a bundle whose update makes these calls: each of a module with its figures.
///
/// # Errors
/// When the sizes of the recipe do not agree.
pub(super) fn statistics(
    recipe: &Recipe,
    calls: &[(Figures, usize)],
    buffers: &IndexMap<String, Buffer>,
) -> Result<Statistics, Diagnostic> {
    let size = |stated: Option<usize>| stated.map_or(1, |size| size as u64);
    let tokens = size(recipe.batch) * size(recipe.seq) * recipe.sizes()?.accumulate;
    let state = buffers.values().filter(|buffer| !matches!(buffer.role, BufferRole::Batch(_)));
    let bytes = |buffer: &Buffer| (buffer.dtype.size() * buffer.shape.iter().product::<usize>()) as u64;
    let flops = calls.iter().map(|(figures, repeat)| figures.matmul_flops.saturating_mul(*repeat as u64));
    Ok(Statistics {
        parameters: calls.iter().map(|(figures, _)| figures.parameters).max().unwrap_or_default(),
        state_bytes: state.map(bytes).sum(),
        tokens_per_step: tokens,
        matmul_flops_per_token: flops.fold(0, u64::saturating_add) / tokens.max(1),
        hlo_instructions: calls.iter().map(|(figures, _)| figures.hlo_instructions).sum(),
    })
}
