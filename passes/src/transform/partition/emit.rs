//! The functions of one rank, from plans.

use super::fact::Placement;
use super::plan::{Key, Plan, Plans, Step};
use super::reshard::Reshard;
use halite_ir::composites::Transfer;
use halite_ir::{Builder, FuncId, Function, Inst, Layout, Module, Registry, Shards, TensorType, Value, Values};
use halite_support::{Diagnostic, Names, Result};
use halite_tensor::Sharding;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// Replaces the functions of a module by those that a rank runs: each function that is called becomes one for each set of placements of
/// its operands.
///
/// # Errors
/// When a plan does not hold, which is a bug.
pub(super) fn emit(
    module: &mut Module,
    registry: &Registry,
    reshard: Reshard<'_>,
    (plans, entry): (&Plans, &Key),
) -> Result<()> {
    let sources = std::mem::take(&mut module.functions);
    let (needed, mut names) = (plans.needed(entry), Names::default());
    let mut made: FxHashMap<Rc<Key>, FuncId> = FxHashMap::default();
    for (key, plan) in plans.done.iter().filter(|(key, _)| needed.contains(key)) {
        let source = &sources[key.function.index()];
        let mut b = Builder::new(module, registry, names.unused(&source.name));
        b.set_noinline(source.noinline);
        b.set_rounds(source.rounds);
        let stores = plan.facts.iter().any(|fact| !fact.stored.is_empty());
        let id = Emit {
            b,
            source,
            plan,
            reshard,
            made: &made,
            at: FxHashMap::default(),
            stores,
            dropped: FxHashSet::default(),
            last: None,
            is_staged: source.insts.iter().any(|inst| Transfer::ends(&inst.op).is_some()),
        }
        .function()?;
        made.insert(key.clone(), id);
    }
    let plan = plans.get(entry).ok_or_else(|| Diagnostic::bug("the entry has no plan"))?;
    let source = &sources[entry.function.index()];
    let params = source.params.iter().zip(&entry.params).map(|(param, fact)| (param.name.clone(), fact));
    let results = source.results.iter().zip(&plan.results).map(|(result, fact)| (result.name.clone(), fact));
    let named = results.chain(params).filter(|(name, _)| !name.is_empty());
    let places: Vec<_> = named.map(|(name, fact)| (name, fact.place.clone())).collect();
    let terms = places.iter().filter(|(_, place)| !place.is_whole());
    let terms = terms.map(|(name, place)| (name.clone(), place.partial.to_vec())).collect();
    let shardings = places.into_iter().map(|(name, place)| (name, place.sharding));
    let shardings = shardings.filter(|(_, sharding)| !sharding.is_replicated()).collect();
    module.layout = Some(Arc::new(Layout { mesh: reshard.mesh.clone(), shardings, terms }));
    Ok(())
}

/// A function under way.
struct Emit<'a> {
    b: Builder<'a>,
    source: &'a Function,
    plan: &'a Plan,
    reshard: Reshard<'a>,
    made: &'a FxHashMap<Rc<Key>, FuncId>,
    /// Each value at each placement at which it was asked for so far.
    at: FxHashMap<(Value, Placement), Value>,
    /// Whether there are weights that ranks store parts of.
    stores: bool,
    /// The weights that were gathered in another layer, and are not kept.
    dropped: FxHashSet<Value>,
    /// A result of the last layer.
    last: Option<Value>,
    /// Whether it has the parts of a pipeline.
    is_staged: bool,
}

impl Emit<'_> {
    fn function(mut self) -> Result<FuncId> {
        for param in &self.source.params {
            let place = self.plan.facts[param.value.index()].place.clone();
            let ty = local(self.source.ty(param.value), &place.sharding);
            let value = self.b.param(param.name.clone(), ty, param.role.clone());
            self.at.insert((param.value, place), value);
        }
        for (inst, step) in self.source.insts.iter().zip(&self.plan.steps) {
            self.b.set_loc(inst.loc);
            self.inst(inst, step)?;
        }
        for (result, fact) in self.source.results.iter().zip(&self.plan.results) {
            let value = self.value(result.value, &fact.place)?;
            self.b.named_result(value, result.name.clone(), result.role.clone());
        }
        Ok(self.b.finish())
    }

    fn inst(&mut self, inst: &Inst, step: &Step) -> Result<()> {
        let decision = &step.decision;
        let operands = inst.args.iter().zip(&decision.operands);
        let args = operands.map(|(&arg, place)| self.value(arg, place)).collect::<Result<Values>>()?;
        let mut results = match &step.callee {
            Some(callee) => self.call(callee, &args)?,
            None => self.op(inst, (&decision.operands, &decision.results), &args)?,
        };
        if let Some((kind, sub_axes)) = &decision.reduce {
            for result in &mut results {
                *result = self.reshard.all_reduce(&mut self.b, *kind, *result, sub_axes)?;
            }
        }
        for ((&old, new), place) in inst.results.iter().zip(results).zip(&decision.results) {
            self.check(old, new, place)?;
            if let Some(hint) = &self.source.values[old.index()].hint {
                self.b.name_value(new, hint.clone());
            }
            self.at.insert((old, place.clone()), new);
            // A sum is made as soon as it can be, so that its terms need not be kept.
            if let Some(materialized) = self.plan.materialized[old.index()].clone() {
                self.value_settled(old, &materialized)?;
            }
        }
        Ok(())
    }

    fn call(&mut self, callee: &Rc<Key>, args: &[Value]) -> Result<Values> {
        let id = self.made.get(callee).ok_or_else(|| Diagnostic::bug("a call of a function that is not made yet"))?;
        let results = self.b.call(*id, args)?;
        // Layers are calls.
        if self.stores {
            self.last = results.first().copied().or(self.last);
            self.drop_gathered();
        }
        Ok(results)
    }

    /// Forgets weights that were gathered: what is read in another layer is gathered again.
    fn drop_gathered(&mut self) {
        let (plan, dropped) = (self.plan, &mut self.dropped);
        self.at.retain(|(value, place), _| {
            let fact = &plan.facts[value.index()];
            let is_kept = fact.stored.is_empty() || *place == fact.place;
            if !is_kept {
                dropped.insert(*value);
            }
            is_kept
        });
    }

    /// A weight that is about to be gathered. Where it was before, it waits for the last layer: else the two gathers would be one, and
    /// what it gives would be kept all along. In a pipeline the last layer may be on another stage, and forward and backward are programs of
    /// their own.
    fn released(&mut self, value: Value, x: Value) -> Result<Value> {
        match self.last.filter(|_| self.dropped.contains(&value) && !self.is_staged) {
            Some(last) => Ok(self.b.optimization_barrier(&[x, last])?[0]),
            None => Ok(x),
        }
    }

    fn op(&mut self, inst: &Inst, (operands, results): (&[Placement], &[Placement]), args: &[Value]) -> Result<Values> {
        let types = |values: &[Value]| -> Vec<TensorType> {
            values.iter().map(|&value| self.source.ty(value).clone()).collect()
        };
        let shardings =
            |places: &[Placement]| -> Vec<Sharding> { places.iter().map(|place| place.sharding.clone()).collect() };
        let (operands, results) = (shardings(operands), shardings(results));
        let (whole, types) = (types(&inst.args), types(&inst.results));
        let shards =
            Shards { mesh: self.reshard.mesh, args: &whole, operands: &operands, results: &results, types: &types };
        match inst.op.def().on_shards(&mut self.b, &shards, args)? {
            Some(results) => Ok(results),
            None => self.b.emit_like(inst, args),
        }
    }

    /// A value at a placement: a sum is made once, where it is materialized.
    fn value(&mut self, value: Value, place: &Placement) -> Result<Value> {
        if let Some(&there) = self.at.get(&(value, place.clone())) {
            return Ok(there);
        }
        if let Some(inst) = self.source.def(value).filter(|inst| inst.args.is_empty()) {
            return self.anew(inst, place);
        }
        let fact = &self.plan.facts[value.index()];
        let from = match self.plan.materialized[value.index()].clone() {
            Some(materialized) if place.partial == materialized.partial && materialized != *place => materialized,
            _ => fact.place.clone(),
        };
        let x = if from == fact.place { self.made_at(value, &from)? } else { self.value_settled(value, &from)? };
        let from = if fact.zero { Placement { partial: place.partial.clone(), ..from } } else { from };
        let x = if fact.stored.is_empty() { x } else { self.released(value, x)? };
        let there = self.reshard.go(&mut self.b, x, &from, place)?;
        self.at.insert((value, place.clone()), there);
        Ok(there)
    }

    /// Makes an instruction without operands where it is read; as terms of a sum, on one of the ranks that share it.
    fn anew(&mut self, inst: &Inst, place: &Placement) -> Result<Value> {
        let whole = Placement::of(place.sharding.clone());
        let made = self.op(inst, (&[], std::slice::from_ref(&whole)), &[])?[0];
        let terms = if self.plan.facts[inst.results[0].index()].zero { &[][..] } else { &place.partial };
        let there = self.reshard.as_terms(&mut self.b, made, terms)?;
        self.at.insert((inst.results[0], place.clone()), there);
        Ok(there)
    }

    fn value_settled(&mut self, value: Value, materialized: &Placement) -> Result<Value> {
        if let Some(&there) = self.at.get(&(value, materialized.clone())) {
            return Ok(there);
        }
        let from = self.plan.facts[value.index()].place.clone();
        let x = self.made_at(value, &from)?;
        let there = self.reshard.go(&mut self.b, x, &from, materialized)?;
        self.at.insert((value, materialized.clone()), there);
        Ok(there)
    }

    fn made_at(&self, value: Value, place: &Placement) -> Result<Value> {
        let there = self.at.get(&(value, place.clone())).copied();
        there.ok_or_else(|| Diagnostic::bug(format!("{value:?} was read before it was placed")))
    }

    /// # Errors
    /// When what an op gives on a rank is not what the plan says.
    fn check(&self, old: Value, new: Value, place: &Placement) -> Result<()> {
        let (expected, found) = (local(self.source.ty(old), &place.sharding), self.b.ty(new));
        if expected == *found {
            return Ok(());
        }
        let name = &self.source.name;
        Err(Diagnostic::bug(format!("{old:?} of `@{name}` is `{found}` on a rank, planned as `{expected}`")))
    }
}

/// The type of what a rank holds.
fn local(ty: &TensorType, sharding: &Sharding) -> TensorType {
    ty.with_shape(sharding.local_shape(ty.shape()))
}
