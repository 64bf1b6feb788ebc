//! The values of a function that are replaced, and their layouts.

use super::folded::is_folded;
use super::halves::{Halves, halves, of_positions};
use super::layout::Layout;
use halite_analysis::{Facts, Mask};
use halite_ir::composites::CausalMask;
use halite_ir::ops::Constant;
use halite_ir::{FuncId, Function, InferCx, Module, Op, ParamRole, Registry, Rewriter, Value, graph};
use halite_support::Result;
use halite_tensor::{Content, DType, HostTensor};
use std::sync::Arc;

/// A value that looks like a causal mask and is none.
pub(super) enum NearMiss {
    /// A mask that this pass does not make.
    Mask(Mask),
    /// Some predicate of positions.
    Unknown,
}

/// The plan for a function: the masks that are replaced.
pub(super) struct Plan {
    facts: Facts,
    /// The elements of values that are causal masks or all alike.
    halves: Vec<Option<Halves>>,
    /// For each value, whether it is made of positions and constants alone.
    of_positions: Vec<bool>,
    /// For each instruction, whether the results need it.
    live: Vec<bool>,
    /// The layout of each value that is replaced.
    layouts: Vec<Option<Layout>>,
}

impl Plan {
    /// The plan for a function; `None` for one in which no mask can be.
    ///
    /// # Errors
    /// When a composite cannot be decomposed.
    pub(super) fn of(module: &Module, id: FuncId, registry: &Registry) -> Result<Option<Self>> {
        let function = module.function(id);
        if !may_have_masks(function) {
            return Ok(None);
        }
        let facts = Facts::of(module, id, registry)?;
        let cx = InferCx { functions: &module.functions, registry };
        let of_positions = of_positions(cx, function);
        let halves = halves(cx, function, &facts, &of_positions);
        let layout = |(value, halves): (usize, &Option<Halves>)| {
            let halves = halves.as_ref().filter(|halves| !halves.has_nan())?;
            halves.axes?.layout(function.ty(Value::new(value)).shape())
        };
        let mut layouts: Vec<_> = halves.iter().enumerate().map(layout).collect();
        let live = graph::live_insts(&cx, function);
        let last = outermost(function, &live, |value| layouts[value.index()].is_some());
        for (index, layout) in layouts.iter_mut().enumerate() {
            if !last[index] || is_folded(function, Value::new(index)) {
                *layout = None;
            }
        }
        Ok(Some(Self { facts, halves, of_positions, live, layouts }))
    }

    /// Whether some value is replaced.
    pub(super) fn changes_anything(&self) -> bool {
        self.layouts.iter().any(Option::is_some)
    }

    /// The elements of a value that is replaced.
    pub(super) fn replaced(&self, value: Value) -> Option<&Halves> {
        self.layouts[value.index()].as_ref()?;
        self.halves[value.index()].as_ref()
    }

    /// The near miss of each value of a function that is read as a mask and is none.
    pub(super) fn near_misses(&self, function: &Function) -> Vec<Option<NearMiss>> {
        let near = |value: Value| {
            if self.lays_out(function, value) || self.facts.constant(value).is_some() {
                return None;
            }
            let unknown = self.of_positions[value.index()] && function.ty(value).dtype() == DType::Pred;
            let unknown = (unknown && function.ty(value).rank() >= 2).then_some(NearMiss::Unknown);
            self.facts.mask(value).map(NearMiss::Mask).or(unknown)
        };
        let last = outermost(function, &self.live, |value| self.lays_out(function, value) || near(value).is_some());
        last.iter().enumerate().map(|(index, &last)| near(Value::new(index)).filter(|_| last)).collect()
    }

    fn lays_out(&self, function: &Function, value: Value) -> bool {
        let axes = self.halves[value.index()].as_ref().and_then(|halves| halves.axes);
        axes.is_some_and(|axes| axes.layout(function.ty(value).shape()).is_some())
    }

    /// Copies a function with the masks replaced.
    pub(super) fn write(&self, b: &mut Rewriter<'_>, source: &Function) -> Result<()> {
        for param in &source.params {
            self.replace(b, source, param.value)?;
        }
        for inst in &source.insts {
            let replaced = inst.results.iter().any(|result| self.layouts[result.index()].is_some());
            if !replaced {
                b.copy(source, inst)?;
                continue;
            }
            let outer = b.set_loc(inst.loc);
            inst.results.iter().try_for_each(|&result| self.replace(b, source, result))?;
            b.set_loc(outer);
            let new = b.values(&inst.results)?;
            b.keep_names(source, inst, &new);
        }
        Ok(())
    }

    /// Says what stands for a value that is replaced.
    fn replace(&self, b: &mut Rewriter<'_>, source: &Function, value: Value) -> Result<()> {
        let (Some(layout), Some(halves)) = (&self.layouts[value.index()], &self.halves[value.index()]) else {
            return Ok(());
        };
        let Some(axes) = halves.axes else { return Ok(()) };
        let shape = source.ty(value).shape();
        let sees = layout.write(b, axes.size(), shape)?;
        let is_true = |element: &HostTensor| element.f64s()[0] != 0.0;
        let new = if source.ty(value).dtype() == DType::Pred {
            if is_true(&halves.seen) { sees } else { b.not(sees)? }
        } else {
            let fill = |element: &HostTensor| Constant { value: Arc::new(element.clone()), shape: shape.clone() };
            let (seen, unseen) = (b.emit(fill(&halves.seen), &[])?, b.emit(fill(&halves.unseen), &[])?);
            b.select(sees, seen, unseen)?
        };
        b.replace(value, new);
        Ok(())
    }
}

/// Whether a function may have masks: it has something that positions could be compared in, or a mask that is given.
fn may_have_masks(function: &Function) -> bool {
    let is_source = |op: &Op| match op {
        Op::Iota(_) => true,
        Op::Constant(constant) => !constant.is_splat(),
        Op::Composite(composite) => composite.is(&CausalMask),
        _ => false,
    };
    let is_declared = |role: &ParamRole| *role == ParamRole::Known(Content::Causal);
    function.insts.iter().any(|inst| is_source(&inst.op))
        || function.params.iter().any(|param| is_declared(&param.role))
}

/// Of the values that `inside` picks, those that are returned or that a live instruction reads whose results are not
/// picked.
fn outermost(function: &Function, live: &[bool], inside: impl Fn(Value) -> bool) -> Vec<bool> {
    let mut read = vec![false; function.values.len()];
    for result in &function.results {
        read[result.value.index()] = true;
    }
    let live = function.insts.iter().zip(live).filter(|(_, live)| **live);
    for (inst, _) in live.filter(|(inst, _)| !inst.results.iter().all(|&result| inside(result))) {
        inst.args.iter().for_each(|arg| read[arg.index()] = true);
    }
    read.iter().enumerate().map(|(index, &read)| read && inside(Value::new(index))).collect()
}
