//! Element types of the state, and of sensitive ops and sums.

use crate::compile::for_role;
use crate::session::Session;
use crate::source::Source;
use halite_bundle::{Manifest, ModuleRole};
use halite_ir::paths::family;
use halite_ir::{Function, Inst, Module, NamedParams, Op, OpClass, ParamRole, Registry};
use halite_passes::{Pipeline, PrecisionUse, Runner, RunnerOptions, Stage, precision_uses};
use halite_support::{Diagnostic, Diagnostics};
use halite_tensor::{DType, Packing, Part};
use indexmap::IndexMap;
use serde::Serialize;

/// The element types of a training step.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct PrecisionSummary {
    /// The state, layers folded together.
    pub state: Vec<StateRow>,
    /// Elements of all weights of the model.
    pub parameters: u64,
    /// Bytes of the state by slot.
    pub bytes: IndexMap<String, u64>,
    /// Sensitive ops and sums, layers folded together, in the order of the module.
    pub ops: Vec<OpRow>,
    /// The number of converts between float types, by `from -> to`.
    pub converts: IndexMap<String, u64>,
}

/// The state of weights that are alike.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct StateRow {
    /// Their name, numbers as `*`.
    pub parameter: String,
    /// The number of these weights.
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
#[non_exhaustive]
pub struct OpRow {
    /// The scope in the model, numbers as `*`.
    pub scope: String,
    /// The op or composite.
    pub op: String,
    /// The class of the op.
    pub class: &'static str,
    /// Types of its float operands, each once.
    pub operands: Vec<DType>,
    /// The type that it computes in, when it is sensitive.
    pub compute: Option<DType>,
    /// The type that it sums in, when it sums.
    pub accumulate: Option<DType>,
    /// Types of its float results, each once.
    pub results: Vec<DType>,
    /// The number of these instructions.
    pub count: u64,
}

/// State of one weight of the model.
struct Piece<'a> {
    slot: &'a str,
    weight: &'a str,
    dtype: DType,
    elements: u64,
    /// The number of copies that are stored.
    copies: u64,
}

/// The weights of the model, or parts of them, that a buffer of the slot of `weight` holds.
fn pieces<'a>(
    slot: &'a str,
    weight: &'a str,
    dtype: DType,
    shape: &[usize],
    packing: Option<&'a Packing>,
) -> Vec<Piece<'a>> {
    let count = |shape: &[usize]| shape.iter().map(|&size| size as u64).product::<u64>();
    let Some(packing) = packing else { return vec![Piece { slot, weight, dtype, elements: count(shape), copies: 1 }] };
    let piece = |part: &'a Part| Piece {
        slot,
        weight: &part.name,
        dtype,
        elements: count(&part.shape),
        copies: part.copies as u64,
    };
    packing.parts.iter().map(piece).collect()
}

impl Session {
    /// The element types of one module of a recipe, as mixed precision leaves them: before composites are expanded.
    ///
    /// # Errors
    /// When the recipe does not compile so far.
    pub fn precision(&self, source: &Source, role: &ModuleRole) -> Result<PrecisionSummary, Diagnostics> {
        let mut module = for_role(&self.elaborate(source)?.module, self.roles.get(role)?);
        let pipeline = up_to_check(self.pipeline(role)?);
        let cx = self.pass_cx(Some(&source.recipe), None)?;
        Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx)?;
        Ok(summarize(&module, &self.registry)?)
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
    let named = NamedParams::of(entry);
    let mut summary = state(entry.params.iter().flat_map(|param| {
        let (slot, weight) = match &param.role {
            ParamRole::Weight(_) => ("weight", Some(&*param.name)),
            ParamRole::State(spec) => (&*spec.kind, spec.of.as_deref()),
            ParamRole::Argument | ParamRole::Batch | ParamRole::Known(_) => ("batch", None),
        };
        let ty = entry.ty(param.value);
        let of = |weight| pieces(slot, weight, ty.dtype(), ty.shape(), named.packing(param));
        weight.map(of).unwrap_or_default()
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
    state(manifest.buffers.iter().flat_map(|buffer| {
        let weight = if buffer.is_weight() { Some(buffer.name.as_str()) } else { buffer.of() };
        let of = |weight| pieces(buffer.role.word(), weight, buffer.dtype, &buffer.shape, buffer.packing.as_ref());
        weight.map(of).unwrap_or_default()
    }))
}

fn state<'a>(pieces: impl Iterator<Item = Piece<'a>>) -> PrecisionSummary {
    let mut summary = PrecisionSummary::default();
    let mut weights: IndexMap<&str, StateRow> = IndexMap::new();
    for Piece { slot, weight, dtype, elements, copies } in pieces {
        let bytes = elements * copies * dtype.size() as u64;
        *summary.bytes.entry(slot.to_owned()).or_default() += bytes;
        let row = weights.entry(weight).or_insert_with(|| StateRow {
            parameter: family(weight),
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
