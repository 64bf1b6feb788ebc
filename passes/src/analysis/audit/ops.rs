//! Sensitive ops and sums, instruction by instruction.

use super::context::AuditCx;
use super::demand::Demand;
use super::narrower;
use super::report::{Evidence, Report};
use crate::transform::expand_composites::Bodies;
use halite_ir::{Follows, Function, InferCx, Inst, Module, Op, OpClass, Registry, TensorType};
use halite_support::{Diagnostic, Result};
use halite_tensor::DType;
use smallvec::SmallVec;

/// An operation of an instruction that needs precision.
struct Need {
    demand: Demand,
    /// The narrowest type in which it does so.
    dtype: DType,
    /// The primitives that do so in a narrow type: what is left of a composite once it is expanded.
    narrow: Vec<String>,
}

impl Need {
    fn new(demand: Demand, dtype: DType) -> Self {
        Self { demand, dtype, narrow: Vec::new() }
    }

    /// The need of a primitive.
    fn of(primitive: &Op, demand: Demand, dtype: DType) -> Self {
        let narrow = dtype.is_narrow().then(|| primitive.name().to_owned());
        Self { narrow: narrow.into_iter().collect(), ..Self::new(demand, dtype) }
    }

    fn add(&mut self, other: Need) {
        self.dtype = narrower(self.dtype, other.dtype);
        self.narrow.extend(other.narrow);
    }
}

type Needs = SmallVec<[Need; 2]>;

/// Reports sensitive ops that compute, and sums that are made, in narrow types. What updates compute is another finding.
pub(super) fn check(cx: &AuditCx<'_>, report: &mut Report<'_>) -> Result<()> {
    let mut reader = Reader { infer: cx.infer, bodies: Bodies::default() };
    for inst in cx.function.insts.iter().filter(|inst| !cx.is_update(inst)) {
        let located =
            |error: Diagnostic| error.or_at(cx.module.locs.span(inst.loc), format!("in this `{}`", inst.op.name()));
        for Need { demand, dtype, narrow } in reader.needs(cx.function, inst).map_err(located)? {
            report.count(cx.id, demand);
            if dtype.is_narrow() {
                let op = inst.op.name();
                let evidence = Evidence { code: demand.code(), loc: inst.loc, what: op, op, dtype };
                report.add(cx.id, evidence, demand.key(), &narrow);
            }
        }
    }
    Ok(())
}

/// Reads what instructions do; looks into composites.
struct Reader<'a> {
    infer: InferCx<'a>,
    bodies: Bodies,
}

impl Reader<'_> {
    /// The needs of an instruction, each demand once.
    fn needs(&mut self, function: &Function, inst: &Inst) -> Result<Needs> {
        let mut needs = Needs::new();
        let Op::Composite(composite) = &inst.op else {
            needs.extend(primitive(&self.infer, function, inst));
            return Ok(needs);
        };
        let policy = inst.op.def().policy(&self.infer);
        let stated = composite.attrs.compute();
        if policy.class == OpClass::Sensitive || policy.compute == Follows::Sensitive {
            let own =
                (policy.class == OpClass::Sensitive).then(|| widest(inst.args.iter().map(|&arg| function.ty(arg))));
            needs.extend(stated.or(own.flatten()).map(|dtype| Need::new(Demand::Sensitive, dtype)));
        }
        if policy.class == OpClass::Accumulate {
            let results = inst.results.iter().map(|&result| function.ty(result).dtype());
            let dtype = results.chain(stated).reduce(narrower);
            needs.extend(dtype.map(|dtype| Need::new(sum(policy.accumulate), dtype)));
        }
        let types: Vec<TensorType> = inst.args.iter().map(|&arg| function.ty(arg).clone()).collect();
        let body = self.bodies.get(self.infer.registry, composite, types)?;
        for inner in &body.insts {
            let Some(need) = primitive(&self.infer, &body, inner) else { continue };
            match needs.iter_mut().find(|known| known.demand == need.demand) {
                Some(known) => known.add(need),
                None => needs.push(need),
            }
        }
        Ok(needs)
    }
}

fn primitive(infer: &InferCx<'_>, function: &Function, inst: &Inst) -> Option<Need> {
    let policy = inst.op.def().policy(infer);
    match policy.class {
        OpClass::Sensitive => {
            let dtype = widest(inst.args.iter().map(|&arg| function.ty(arg)))?;
            Some(Need::of(&inst.op, Demand::Sensitive, dtype))
        }
        OpClass::Matmul | OpClass::Accumulate => {
            let dtype = widest(inst.results.iter().map(|&result| function.ty(result)))?;
            Some(Need::of(&inst.op, sum(policy.accumulate), dtype))
        }
        OpClass::Elementwise | OpClass::Storage | OpClass::Integer => None,
    }
}

fn sum(accumulate: Option<Follows>) -> Demand {
    match accumulate {
        Some(Follows::Gradient) => Demand::Gradient,
        Some(Follows::Reduce) => Demand::Reduce,
        _ => Demand::Sum,
    }
}

fn widest<'t>(types: impl Iterator<Item = &'t TensorType>) -> Option<DType> {
    types.map(TensorType::dtype).filter(|dtype| dtype.is_float()).max_by_key(|dtype| dtype.size())
}

/// The operations of an instruction of the entry that need precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PrecisionUse {
    /// The position of the instruction in the entry.
    pub inst: usize,
    /// The type it computes in, when it is sensitive.
    pub sensitive: Option<DType>,
    /// The narrowest type it sums in, when it sums.
    pub sum: Option<DType>,
}

/// The instructions of the entry that are sensitive or sum, composites read through their decompositions.
///
/// # Errors
/// When a composite cannot be decomposed.
pub fn precision_uses(module: &Module, registry: &Registry) -> Result<Vec<PrecisionUse>> {
    let Some(entry) = module.entry() else { return Ok(Vec::new()) };
    let infer = InferCx { functions: &module.functions, registry };
    let mut reader = Reader { infer, bodies: Bodies::default() };
    let mut uses = Vec::new();
    for (inst, instruction) in entry.insts.iter().enumerate() {
        let needs = reader.needs(entry, instruction)?;
        let of = |sensitive: bool| {
            let alike = needs.iter().filter(|need| (need.demand == Demand::Sensitive) == sensitive);
            alike.map(|need| need.dtype).reduce(narrower)
        };
        if !needs.is_empty() {
            uses.push(PrecisionUse { inst, sensitive: of(true), sum: of(false) });
        }
    }
    Ok(uses)
}
