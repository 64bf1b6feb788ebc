//! The counts of a module.

use halite::compile::CompiledModule;
use halite_ir::ops::Reduction;
use halite_ir::{Derivation, Function, Inst, LocKind, Module, Op, ParamRole, Value};
use std::collections::BTreeMap;

/// The name of a row and the function that writes its cells.
type Row = (&'static str, fn(&Counts) -> String);

/// The rows of the table. Layers are what has a number in its scope; where they differ, the least and the most is shown.
pub(super) const ROWS: [Row; 15] = [
    ("weights", |counts| counts.weights.to_string()),
    ("layers", |counts| counts.layers.len().to_string()),
    ("projections of a layer, forward", |counts| counts.of_layers(|layer| layer.projections.forward)),
    ("projections of a layer, backward", |counts| counts.of_layers(|layer| layer.projections.backward)),
    ("attention products of a layer, forward", |counts| counts.of_layers(|layer| layer.attention.forward)),
    ("attention products of a layer, backward", |counts| counts.of_layers(|layer| layer.attention.backward)),
    ("softmaxes of a layer", |counts| counts.of_layers(|layer| layer.softmaxes)),
    ("other products, forward", |counts| counts.outside.projections.forward.to_string()),
    ("other products, backward", |counts| counts.outside.projections.backward.to_string()),
    ("causal predicates", |counts| counts.predicates.to_string()),
    ("cosines", |counts| counts.cosines.to_string()),
    ("sines", |counts| counts.sines.to_string()),
    ("literals larger than 1 KiB", |counts| counts.literals.to_string()),
    ("HLO computations", |counts| counts.computations.to_string()),
    ("HLO instructions of the entry", |counts| counts.instructions.to_string()),
];

/// Bytes from which a literal is large.
const LARGE: usize = 1024;

/// The counts of one module.
#[derive(Default)]
pub(super) struct Counts {
    weights: usize,
    layers: BTreeMap<usize, Part>,
    outside: Part,
    predicates: usize,
    cosines: usize,
    sines: usize,
    literals: usize,
    computations: usize,
    instructions: usize,
}

/// The counts of a layer, or of the rest of a module.
#[derive(Default)]
struct Part {
    projections: Products,
    /// Products with batch dimensions.
    attention: Products,
    /// Searches for the largest element, of which each softmax has one.
    softmaxes: usize,
}

#[derive(Default)]
struct Products {
    forward: usize,
    backward: usize,
}

impl Counts {
    pub(super) fn of(compiled: &CompiledModule) -> Self {
        let (module, hlo) = (&compiled.ir, &compiled.hlo);
        let mut counts = Self { computations: hlo.computations.len(), ..Self::default() };
        let entry = hlo.computations.iter().find(|computation| computation.id == hlo.entry_computation_id);
        counts.instructions = entry.map_or(0, |entry| entry.instructions.len());
        let Some(function) = module.entry() else { return counts };
        counts.weights = function.params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_))).count();
        for inst in &function.insts {
            counts.add(module, function, inst);
        }
        counts
    }

    fn add(&mut self, module: &Module, function: &Function, inst: &Inst) {
        let scope = module.locs.scope(inst.loc);
        let part = match scope.split('.').find_map(|word| word.parse().ok()) {
            Some(layer) => self.layers.entry(layer).or_default(),
            None => &mut self.outside,
        };
        let is_iota = |value: Value| matches!(function.def(value), Some(Inst { op: Op::Iota(_), .. }));
        match &inst.op {
            Op::DotGeneral(dot) => {
                let products = if dot.batch.0.is_empty() { &mut part.projections } else { &mut part.attention };
                let is_vjp = |kind: &LocKind| matches!(kind, LocKind::Derived(Derivation::Vjp));
                let backward = module.locs.chain(inst.loc).any(is_vjp);
                *(if backward { &mut products.backward } else { &mut products.forward }) += 1;
            }
            Op::Reduce(reduce) if reduce.kind == Reduction::Max => part.softmaxes += 1,
            Op::Compare(_) if inst.args.iter().all(|&arg| is_iota(arg)) => self.predicates += 1,
            Op::Cosine(_) if function.ty(inst.results[0]).rank() > 0 => self.cosines += 1,
            Op::Sine(_) => self.sines += 1,
            Op::Constant(constant) if constant.value.bytes().len() > LARGE => self.literals += 1,
            _ => {}
        }
    }

    fn of_layers(&self, number: fn(&Part) -> usize) -> String {
        let numbers = || self.layers.values().map(number);
        match (numbers().min(), numbers().max()) {
            (Some(least), Some(most)) if least < most => format!("{least}..{most}"),
            (least, _) => least.unwrap_or_default().to_string(),
        }
    }
}
