//! What the manifest says of a module.

use super::ranges::Ranges;
use crate::{flops, inspect, packed};
use halite_bundle::{Buffer, BufferContent, ModuleEntry, ModuleRole, Port, PortRole, Statistics, sha256};
use halite_hlo::graph::Graph;
use halite_ir::{Function, Module, Param, ParamRole, ResultRole, StateInfo, TensorType, aliases};
use halite_recipe::Recipe;
use halite_support::Diagnostic;
use halite_tensor::{BufferSlot, Init};

fn port(name: &str, ty: &TensorType, role: PortRole, alias: Option<usize>) -> Port {
    let shape = ty.shape().to_vec();
    Port { name: name.to_owned(), dtype: ty.dtype(), shape, role, alias, ranges: Vec::new() }
}

pub(super) fn module_entry(role: ModuleRole, entry: &Function, mut ranges: Ranges, bytes: &[u8]) -> ModuleEntry {
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
            _ => PortRole::Metric,
        };
        port(&result.name, entry.ty(result.value), role, replaced[index])
    };
    let name = role.name();
    ModuleEntry {
        name: name.to_owned(),
        role,
        file: format!("{name}.hlo.pb"),
        sha256: sha256(bytes),
        inputs: entry.params.iter().map(input).collect(),
        outputs: entry.results.iter().enumerate().map(output).collect(),
        estimate: None,
        decompositions: Vec::new(),
    }
}

/// The buffers that a module reads.
pub(super) fn buffers(entry: &Function) -> Vec<Buffer> {
    entry.params.iter().map(|param| buffer(entry, param)).collect()
}

fn buffer(entry: &Function, param: &Param) -> Buffer {
    let (slot, of, init) = match &param.role {
        ParamRole::Argument | ParamRole::Batch | ParamRole::CausalMask => (BufferSlot::Batch, None, None),
        ParamRole::Weight(info) => (BufferSlot::Weight, None, Some(info.init)),
        ParamRole::State(info) => {
            let of = info.of.as_ref().map(ToString::to_string);
            (BufferSlot::State(info.slot), of, Some(state_init(entry, info)))
        }
    };
    let ty = entry.ty(param.value);
    let packing = entry.packing(param).cloned();
    let content = (param.role == ParamRole::CausalMask).then_some(BufferContent::Causal);
    Buffer {
        name: param.name.to_string(),
        dtype: ty.dtype(),
        shape: ty.shape().to_vec(),
        slot,
        content,
        of,
        init,
        packing,
    }
}

/// How state starts: as its slot says, given its weight.
fn state_init(entry: &Function, info: &StateInfo) -> Init {
    let weight = entry.params.iter().find(|param| Some(&param.name) == info.of.as_ref());
    let weight = match weight.map(|param| &param.role) {
        Some(ParamRole::Weight(weight)) => weight.init,
        _ => Init::Zeros,
    };
    info.slot.init(weight)
}

pub(super) fn statistics(
    recipe: &Recipe,
    ir: &Module,
    entry: &Function,
    hlo: &Graph,
) -> Result<Statistics, Diagnostic> {
    let size = |stated: Option<usize>| stated.map_or(1, |size| size as u64);
    let tokens = size(recipe.batch) * size(recipe.seq);
    let mut statistics = Statistics { tokens_per_step: tokens, ..Statistics::default() };
    for param in &entry.params {
        let ty = entry.ty(param.value);
        match param.role {
            ParamRole::Weight(_) => {
                statistics.parameters += packed::elements(entry, param);
                statistics.state_bytes += ty.bytes();
            }
            ParamRole::State(_) => statistics.state_bytes += ty.bytes(),
            ParamRole::Argument | ParamRole::Batch | ParamRole::CausalMask => {}
        }
    }
    statistics.matmul_flops_per_token = flops::matmul_flops(&ir.functions) / tokens.max(1);
    statistics.hlo_instructions = inspect::hlo::num_instructions(hlo)?;
    Ok(statistics)
}
