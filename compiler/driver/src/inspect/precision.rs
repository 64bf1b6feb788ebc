//! Element types: of the state, and of what computes with little to spare.

use crate::compile::for_role;
use crate::pipelines;
use crate::session::Session;
use crate::source::Source;
use halite_ir::{Function, Inst, Module, Op, OpClass, ParamRole, Registry};
use halite_passes::{PassCx, Pipeline, PrecisionUse, Runner, RunnerOptions, Stage, family, precision_uses};
use halite_spec::{BufferSlot, Manifest, ModuleRole};
use halite_support::{Diagnostic, Diagnostics};
use halite_tensor::{DType, Shape};
use indexmap::IndexMap;
use serde::Serialize;

/// The element types of a training step.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct PrecisionSummary {
    /// The state, layers folded together.
    pub state: Vec<StateRow>,
    /// Elements of all weights.
    pub parameters: u64,
    /// Bytes of the state by slot.
    pub bytes: IndexMap<String, u64>,
    /// Sensitive ops and sums, layers folded together, in the order of the module.
    pub ops: Vec<OpRow>,
    /// How many converts between float types there are, by `from -> to`.
    pub converts: IndexMap<String, u64>,
}

/// The state of weights that are alike.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StateRow {
    /// Their name, numbers as `*`.
    pub parameter: String,
    /// How many there are.
    pub count: u64,
    /// Elements of all of them.
    pub elements: u64,
    /// The element type of each slot that they have.
    pub slots: IndexMap<String, DType>,
    /// Bytes of all slots.
    pub bytes: u64,
}

/// Instructions that are alike.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct OpRow {
    /// Where in the model, numbers as `*`.
    pub scope: String,
    /// The op or composite.
    pub op: String,
    /// What kind of op it is.
    pub class: &'static str,
    /// Types of its float operands, each once.
    pub operands: Vec<DType>,
    /// What it computes in, when it is sensitive.
    pub compute: Option<DType>,
    /// What it sums in, when it sums.
    pub accumulate: Option<DType>,
    /// Types of its float results, each once.
    pub results: Vec<DType>,
    /// How many there are.
    pub count: u64,
}

/// A piece of state: slot, the weight it belongs to, type, shape.
type Piece<'a> = (&'a str, &'a str, DType, &'a Shape);

impl Session {
    /// The element types of one module of a recipe, as mixed precision leaves them: before composites are expanded.
    ///
    /// # Errors
    /// When the recipe does not compile so far.
    pub fn precision(&self, source: &Source, role: ModuleRole) -> Result<PrecisionSummary, Diagnostics> {
        let mut module = for_role(&self.elaborate(source)?.module, role);
        let mut run = || {
            let pipeline = up_to_check(self.passes.pipeline(pipelines::pipeline(role))?);
            let cx = PassCx { registry: &self.registry, recipe: Some(&source.recipe), findings: None };
            Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx)?;
            summarize(&module, &self.registry)
        };
        run().map_err(|error| vec![error])
    }
}

/// The passes before the first `check-precision`.
fn up_to_check(pipeline: Pipeline) -> Pipeline {
    let is_check = |stage: &Stage| matches!(stage, Stage::Once(pass) if pass.info().name == "check-precision");
    Pipeline { stages: pipeline.stages.into_iter().take_while(|stage| !is_check(stage)).collect() }
}

/// The element types of a module.
///
/// # Errors
/// When the module has no function, or a composite cannot be decomposed.
pub fn summarize(module: &Module, registry: &Registry) -> halite_support::Result<PrecisionSummary> {
    let entry = module.entry().ok_or_else(|| Diagnostic::bug("a verified module without functions"))?;
    let mut summary = state(entry.params.iter().filter_map(|param| {
        let ty = entry.ty(param.value);
        match &param.role {
            ParamRole::Weight(_) => Some(("weight", &*param.name, ty.dtype(), ty.shape())),
            ParamRole::State(info) => Some((info.slot.name(), info.of.as_deref()?, ty.dtype(), ty.shape())),
            ParamRole::Argument | ParamRole::Batch => None,
        }
    }));
    let mut rows: IndexMap<OpRow, u64> = IndexMap::new();
    let infer = halite_ir::InferCx { functions: &module.functions, registry };
    for used in precision_uses(module, registry)? {
        let inst = &entry.insts[used.inst];
        let path = module.locs.path(inst.loc);
        let scope = if path.is_empty() { "(none)".to_owned() } else { family(&path) };
        *rows.entry(row(entry, inst, scope, inst.op.def().policy(&infer).class, used)).or_default() += 1;
    }
    summary.ops = rows.into_iter().map(|(row, count)| OpRow { count, ..row }).collect();
    summary.converts = converts(entry);
    Ok(summary)
}

/// The element types of the state of a bundle, which is all that a bundle tells without its model.
pub fn summarize_bundle(manifest: &Manifest) -> PrecisionSummary {
    let shapes: Vec<Shape> = manifest.buffers.iter().map(|buffer| Shape::from(buffer.shape.as_slice())).collect();
    state(manifest.buffers.iter().zip(&shapes).filter_map(|(buffer, shape)| {
        let of = buffer.of.as_deref();
        let (slot, of) = match buffer.slot {
            BufferSlot::Weight => ("weight", buffer.name.as_str()),
            BufferSlot::M => ("m", of?),
            BufferSlot::V => ("v", of?),
            BufferSlot::Master => ("master", of?),
            BufferSlot::Step | BufferSlot::Batch => return None,
        };
        Some((slot, of, buffer.dtype, shape))
    }))
}

fn state<'a>(pieces: impl Iterator<Item = Piece<'a>>) -> PrecisionSummary {
    let mut summary = PrecisionSummary::default();
    let mut weights: IndexMap<&str, StateRow> = IndexMap::new();
    for (slot, of, dtype, shape) in pieces {
        let elements = shape.num_elements() as u64;
        let bytes = elements * dtype.size() as u64;
        *summary.bytes.entry(slot.to_owned()).or_default() += bytes;
        let row = weights.entry(of).or_insert_with(|| StateRow {
            parameter: family(of),
            count: 1,
            elements,
            slots: IndexMap::new(),
            bytes: 0,
        });
        row.slots.insert(slot.to_owned(), dtype);
        row.bytes += bytes;
    }
    summary.parameters = weights.values().map(|row| row.elements).sum();
    for row in weights.into_values() {
        let alike = |known: &&mut StateRow| known.parameter == row.parameter && known.slots == row.slots;
        match summary.state.iter_mut().find(alike) {
            Some(known) => {
                known.count += 1;
                known.elements += row.elements;
                known.bytes += row.bytes;
            }
            None => summary.state.push(row),
        }
    }
    summary
}

fn row(entry: &Function, inst: &Inst, scope: String, class: OpClass, used: PrecisionUse) -> OpRow {
    let floats = |values: &[halite_ir::Value]| {
        let mut dtypes: Vec<DType> = values.iter().map(|&value| entry.ty(value).dtype()).collect();
        dtypes.retain(|dtype| dtype.is_float());
        dtypes.sort();
        dtypes.dedup();
        dtypes
    };
    OpRow {
        scope,
        op: inst.op.name().to_owned(),
        class: class.name(),
        operands: floats(&inst.args),
        compute: used.sensitive,
        accumulate: used.sum,
        results: floats(&inst.results),
        count: 0,
    }
}

fn converts(entry: &Function) -> IndexMap<String, u64> {
    let mut counts: IndexMap<String, u64> = IndexMap::new();
    for inst in entry.insts.iter().filter(|inst| matches!(inst.op, Op::Convert(_))) {
        let (from, to) = (entry.ty(inst.args[0]).dtype(), entry.ty(inst.results[0]).dtype());
        if from.is_float() && to.is_float() {
            *counts.entry(format!("{from} -> {to}")).or_default() += 1;
        }
    }
    counts.sort_keys();
    counts
}
