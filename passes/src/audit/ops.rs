//! Sensitive ops and sums, instruction by instruction, in every function.

use super::mend::RecipeKey;
use super::report::{Evidence, Report};
use super::scene::Scene;
use super::{is_narrow, narrower};
use crate::expand_composites::Bodies;
use halite_ir::{Follows, Function, InferCx, Inst, Module, Op, OpClass, Registry, TensorType};
use halite_support::{Code, Result, codes};
use halite_tensor::DType;
use smallvec::SmallVec;

/// What an op does that needs precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Demand {
    /// Loses its meaning at low precision.
    Sensitive,
    /// Sums many elements.
    Sum,
    /// Adds gradients.
    Gradient,
    /// Sums over ranks.
    Reduce,
}

impl Demand {
    fn code(self) -> Code {
        match self {
            Demand::Sensitive => codes::SENSITIVE_NARROW,
            Demand::Sum => codes::ACCUMULATE_NARROW,
            Demand::Gradient | Demand::Reduce => codes::GRADIENT_NARROW,
        }
    }

    fn key(self) -> RecipeKey {
        match self {
            Demand::Sensitive => RecipeKey::SENSITIVE,
            Demand::Sum => RecipeKey::ACCUMULATE,
            Demand::Gradient => RecipeKey::GRADIENT,
            Demand::Reduce => RecipeKey::REDUCE,
        }
    }
}

/// What an instruction does that needs precision, and in which types it does so.
type Demands = SmallVec<[(Demand, DType); 2]>;

/// Reports sensitive ops that compute, and sums that are made, in narrow types. What updates compute is another finding.
pub(super) fn check(scene: &Scene<'_>, report: &mut Report<'_>) -> Result<()> {
    let mut reader = Reader { infer: scene.infer, bodies: Bodies::default() };
    for function in &scene.module.functions {
        let is_entry = std::ptr::eq(function, scene.entry);
        for inst in &function.insts {
            if is_entry && scene.is_update(inst) {
                continue;
            }
            for (demand, dtype) in reader.demands(function, inst)? {
                report.count(demand);
                if is_narrow(dtype) {
                    let evidence = Evidence { code: demand.code(), loc: inst.loc, what: inst.op.name(), dtype };
                    report.add(evidence, demand.key());
                }
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
    /// The demands of an instruction, each once, in the narrowest type.
    fn demands(&mut self, function: &Function, inst: &Inst) -> Result<Demands> {
        let mut demands = Demands::new();
        let Op::Composite(composite) = &inst.op else {
            demands.extend(primitive(&self.infer, function, inst));
            return Ok(demands);
        };
        let policy = inst.op.def().policy(&self.infer);
        let stated = composite.attrs.compute();
        if policy.class == OpClass::Sensitive || policy.compute == Follows::Sensitive {
            let own =
                (policy.class == OpClass::Sensitive).then(|| widest(inst.args.iter().map(|&arg| function.ty(arg))));
            demands.extend(stated.or(own.flatten()).map(|dtype| (Demand::Sensitive, dtype)));
        }
        if policy.class == OpClass::Accumulate {
            let results = inst.results.iter().map(|&result| function.ty(result).dtype());
            let dtype = results.chain(stated).reduce(narrower);
            demands.extend(dtype.map(|dtype| (sum(policy.accumulate), dtype)));
        }
        let types: Vec<TensorType> = inst.args.iter().map(|&arg| function.ty(arg).clone()).collect();
        let body = self.bodies.get(self.infer.registry, composite, types)?;
        for inner in &body.insts {
            let Some((demand, dtype)) = primitive(&self.infer, &body, inner) else { continue };
            match demands.iter_mut().find(|(known, _)| *known == demand) {
                Some((_, known)) => *known = narrower(*known, dtype),
                None => demands.push((demand, dtype)),
            }
        }
        Ok(demands)
    }
}

fn primitive(infer: &InferCx<'_>, function: &Function, inst: &Inst) -> Option<(Demand, DType)> {
    let policy = inst.op.def().policy(infer);
    match policy.class {
        OpClass::Sensitive => {
            let dtype = widest(inst.args.iter().map(|&arg| function.ty(arg)))?;
            Some((Demand::Sensitive, dtype))
        }
        OpClass::Matmul | OpClass::Accumulate => {
            let dtype = widest(inst.results.iter().map(|&result| function.ty(result)))?;
            Some((sum(policy.accumulate), dtype))
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

/// What an instruction of the entry does that needs precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrecisionUse {
    /// Its position.
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
        let demands = reader.demands(entry, instruction)?;
        let of = |sensitive: bool| {
            let alike = demands.iter().filter(|(demand, _)| (*demand == Demand::Sensitive) == sensitive);
            alike.map(|(_, dtype)| *dtype).reduce(narrower)
        };
        if !demands.is_empty() {
            uses.push(PrecisionUse { inst, sensitive: of(true), sum: of(false) });
        }
    }
    Ok(uses)
}
