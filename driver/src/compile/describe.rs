//! The description of a module in the manifest.

use super::ranges::Ranges;
use crate::{flops, inspect};
use halite_bundle::{Buffer, BufferRole, ModuleEntry, ModuleRole, Port, PortRole, Statistics, model_elements, sha256};
use halite_hlo::graph::Graph;
use halite_ir::{FuncResult, Function, Layout, Module, NamedParams, Param, ParamRole, ResultRole, TensorType, aliases};
use halite_recipe::{Recipe, batch_ranks};
use halite_support::Diagnostic;
use halite_tensor::{Mesh, Sharding};
use indexmap::{IndexMap, IndexSet};

/// An entry with the layout of its parameters and results on the mesh.
#[derive(Clone, Copy)]
pub(super) struct Laid<'a> {
    pub(super) entry: &'a Function,
    pub(super) layout: Option<&'a Layout>,
}

impl<'a> Laid<'a> {
    /// The type of a whole parameter, and its sharding.
    fn param(self, param: &Param) -> (TensorType, Option<&'a Sharding>) {
        let sharding = self.layout.and_then(|layout| layout.of_param(param));
        (Layout::whole(sharding, self.entry.ty(param.value)), sharding)
    }

    fn result(self, result: &FuncResult) -> (TensorType, Option<&'a Sharding>) {
        let sharding = self.layout.and_then(|layout| layout.of_result(result));
        (Layout::whole(sharding, self.entry.ty(result.value)), sharding)
    }
}

fn port(name: &str, (ty, sharding): (TensorType, Option<&Sharding>), role: PortRole, alias: Option<usize>) -> Port {
    let (shape, sharding) = (ty.shape().to_vec(), sharding.cloned());
    Port { name: name.to_owned(), dtype: ty.dtype(), shape, role, alias, ranges: Vec::new(), sharding }
}

/// The name of a module, its role, and the stage of a pipeline that runs it, where it is a program of one.
#[derive(Clone, Copy)]
pub(super) struct Called<'a> {
    pub(super) name: &'a str,
    pub(super) role: &'a ModuleRole,
    pub(super) stage: Option<usize>,
}

pub(super) fn module_entry(called: Called<'_>, laid: Laid<'_>, mut ranges: Ranges, bytes: &[u8]) -> ModuleEntry {
    let Called { name, role, stage } = called;
    let entry = laid.entry;
    let mut replaced = vec![None; entry.results.len()];
    for (parameter, output) in aliases(entry) {
        replaced[output] = Some(parameter);
    }
    // Stages hand on what ranks hold, also of state that is whole on no rank.
    let value = |name: &str, laid: (TensorType, Option<&Sharding>)| {
        let port = port(name, laid, PortRole::Value, None);
        Port { shape: port.local_shape().to_vec(), sharding: None, ..port }
    };
    let input = |param: &Param| match (&param.role, stage) {
        (ParamRole::Argument, Some(_)) => value(&param.name, laid.param(param)),
        _ => Port {
            ranges: ranges.swap_remove(&*param.name).unwrap_or_default(),
            ..port(&param.name, laid.param(param), PortRole::Buffer, None)
        },
    };
    let output = |(index, result): (usize, &FuncResult)| {
        let role = match result.role {
            ResultRole::Value if stage.is_some() => {
                return value(&result.name, laid.result(result));
            }
            ResultRole::State(_) => PortRole::Buffer,
            ResultRole::Probe => PortRole::Probe,
            ResultRole::Gradient(_) => PortRole::Gradient,
            _ => PortRole::Metric,
        };
        port(&result.name, laid.result(result), role, replaced[index])
    };
    ModuleEntry {
        name: name.to_owned(),
        role: role.clone(),
        file: format!("{name}.hlo.pb"),
        sha256: sha256(bytes),
        inputs: entry.params.iter().map(input).collect(),
        outputs: entry.results.iter().enumerate().map(output).collect(),
        estimate: None,
        decompositions: Vec::new(),
        stage: stage.unwrap_or(0),
    }
}

/// The number of micro-batches that an entry takes at a time, given the entry of the model as it was built.
pub(super) fn micro_batches(built: &Function, laid: Laid<'_>) -> usize {
    let times = |param: &Param| {
        let own = built.params.iter().find(|own| own.name == param.name)?;
        laid.param(param).0.shape().first()?.checked_div(*built.ty(own.value).shape().first()?)
    };
    let batches = laid.entry.params.iter().filter(|param| param.role == ParamRole::Batch);
    batches.filter_map(times).next().unwrap_or(1).max(1)
}

/// The buffers that a module reads which takes `micro_batches` micro-batches at a time.
pub(super) fn buffers(laid: Laid<'_>, micro_batches: usize, is_of_stage: bool) -> Vec<Buffer> {
    let named = NamedParams::of(laid.entry);
    let held = laid.entry.params.iter().filter(|param| !is_of_stage || param.role != ParamRole::Argument);
    held.map(|param| buffer(laid, &named, param, micro_batches)).collect()
}

fn buffer(laid: Laid<'_>, named: &NamedParams<'_>, param: &Param, micro_batches: usize) -> Buffer {
    let role = match &param.role {
        ParamRole::Argument | ParamRole::Batch => BufferRole::Batch(None),
        ParamRole::Known(content) => BufferRole::Batch(Some(content.clone())),
        ParamRole::Weight(info) => BufferRole::Weight(info.init),
        ParamRole::State(spec) => BufferRole::State(spec.clone()),
    };
    let (ty, sharding) = laid.param(param);
    let mut shape = ty.shape().to_vec();
    if let (ParamRole::Batch, Some(first)) = (&param.role, shape.first_mut()) {
        *first /= micro_batches;
    }
    let (packing, sharding) = (named.packing(param).cloned(), sharding.cloned());
    Buffer { name: param.name.to_string(), dtype: ty.dtype(), shape, role, packing, sharding }
}

/// The figures of one module.
#[derive(Clone, Copy)]
pub(super) struct Figures {
    /// Floating-point operations of the matrix products of one call on all ranks, which may be more than 64 bits hold.
    pub(super) matmul_flops: u128,
    pub(super) hlo_instructions: u64,
}

pub(super) fn figures(ir: &Module, laid: Laid<'_>, hlo: &Graph) -> Result<Figures, Diagnostic> {
    let ranks = laid.layout.map_or(1, |layout| layout.mesh.num_ranks() as u64);
    Ok(Figures {
        matmul_flops: u128::from(flops::matmul_flops(ir)?) * u128::from(ranks),
        hlo_instructions: inspect::hlo::num_instructions(hlo)?,
    })
}

/// The figures of a bundle whose update makes these calls, each of a module with its figures, which read buffers by name, on ranks of this peak
/// rate; the model asks for so many operations for a micro-batch of all ranks.
///
/// # Errors
/// When the sizes of the recipe do not agree.
pub(super) fn statistics(
    recipe: &Recipe,
    (calls, model_flops): (&[(Figures, usize)], u128),
    (buffers, read): (&IndexMap<String, Buffer>, &IndexSet<String>),
    mesh: &Mesh,
    peak_flops: Option<u64>,
) -> Result<Statistics, Diagnostic> {
    let weights = buffers.values().filter(|buffer| buffer.is_weight() && read.contains(&buffer.name));
    let elements = |buffer: &Buffer| match &buffer.packing {
        Some(packing) => model_elements(packing),
        None => buffer.shape.iter().product::<usize>() as u64,
    };
    let size = |stated: Option<usize>| stated.map_or(1, |size| size as u64);
    let micro_batch = size(recipe.batch) * size(recipe.seq) * batch_ranks(mesh) as u64;
    let tokens = micro_batch * recipe.sizes()?.accumulate;
    let state = buffers.values().filter(|buffer| !matches!(buffer.role, BufferRole::Batch(_)));
    let bytes = |buffer: &Buffer| (buffer.dtype.size() * buffer.shape.iter().product::<usize>()) as u64;
    let flops: u128 = calls.iter().map(|(figures, repeat)| figures.matmul_flops * *repeat as u128).sum();
    let of_token = |flops: u128, tokens: u64| u64::try_from(flops / u128::from(tokens.max(1))).unwrap_or(u64::MAX);
    Ok(Statistics {
        parameters: weights.map(elements).sum(),
        state_bytes: state.map(bytes).sum(),
        tokens_per_step: tokens,
        peak_flops,
        matmul_flops_per_token: of_token(flops, tokens),
        model_flops_per_token: of_token(model_flops, micro_batch),
        hlo_instructions: calls.iter().map(|(figures, _)| figures.hlo_instructions).sum(),
    })
}
