//! `optimization_barrier`.

use crate::attr::AttrVisitor;
use crate::build::{Builder, Values};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor};

described! {
    /// The operands unchanged; none of the results is available before all operands are, and nothing is merged, folded or
    /// moved across.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct OptimizationBarrier;
}

impl OpDef for OptimizationBarrier {
    fn name(&self) -> &str {
        "optimization_barrier"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        if args.is_empty() {
            return Err(Diagnostic::error(codes::ARITY, "`optimization_barrier` takes at least 1 operand, found 0"));
        }
        Ok(args.iter().map(|&ty| ty.clone()).collect())
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(args.iter().map(|&arg| arg.clone()).collect())
    }

    /// A barrier for the cotangents that are there; symbolic zeros stay symbolic.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let wanted = |(&ct, &wanted): (&Option<Value>, &bool)| ct.filter(|_| wanted);
        let mut cts: Vec<_> = cx.cts.iter().zip(cx.wanted).map(wanted).collect();
        let held: Vec<_> = cts.iter().flatten().copied().collect();
        if !held.is_empty() {
            let released = b.optimization_barrier(&held)?;
            for (ct, value) in cts.iter_mut().flatten().zip(released) {
                *ct = value;
            }
        }
        Ok(Vjp::of(cts))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn effect(&self, _: &InferCx<'_>) -> Effect {
        Effect::BARRIER
    }

    /// Nothing is moved.
    fn cost(&self, _: &InferCx<'_>, _: &[&TensorType], _: &[TensorType]) -> Cost {
        Cost::default()
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        for (position, ty) in args.iter().enumerate() {
            for (dim, &size) in ty.shape().iter().enumerate() {
                let factor = map.factor(size, FactorKind::Parallel);
                map.operands[position][dim].push(factor);
                map.results[position][dim].push(factor);
            }
        }
        map
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        Ok(cx.hlo.optimization_barrier(args)?.into())
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let x = || SampleArg::uniform(float, [2, 3], -1.0, 1.0);
        vec![
            Sample::new("one", OptimizationBarrier, [x()]),
            Sample::new("two", OptimizationBarrier, [x(), SampleArg::whole(DType::S32, [2], -9, 9)]),
        ]
    }
}

impl Builder<'_> {
    /// `values` unchanged, each available only when all are.
    ///
    /// # Errors
    /// When there is none.
    pub fn optimization_barrier(&mut self, values: &[Value]) -> Result<Values> {
        self.emit_all(OptimizationBarrier, values)
    }
}
