//! `collective_permute`.

use super::ranks::{alone, require_ranks};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::FactorMap;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, attr_error};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use crate::wire::Wire;
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, Dims, HostTensor};
use smallvec::smallvec;

described! {
    /// The operand of each source rank on its target rank; zeros on ranks that are no target.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct CollectivePermute {
        /// Source ranks and their targets, pairwise; no rank twice on either side.
        pub pairs: (Dims, Dims),
    }
}

impl OpDef for CollectivePermute {
    fn name(&self) -> &str {
        "collective_permute"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("pairs", &mut self.pairs);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x] = arity("collective_permute", args)?;
        let (sources, targets) = &self.pairs;
        if sources.len() != targets.len() {
            let (left, right) = (sources.len(), targets.len());
            return Err(attr_error(format!("`collective_permute` has {left} sources and {right} targets")));
        }
        for (name, ranks) in [("source", sources), ("target", targets)] {
            if let Some(at) = (0..ranks.len()).find(|&at| ranks[..at].contains(&ranks[at])) {
                let rank = ranks[at];
                return Err(attr_error(format!("`collective_permute` names rank {rank} as {name} twice")));
            }
        }
        Ok(smallvec![x.clone()])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        alone(self, cx, args)
    }

    fn eval_ranks(&self, cx: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        let (sources, targets) = &self.pairs;
        let highest = sources.iter().chain(targets).max().map_or(0, |rank| rank + 1);
        require_ranks("collective_permute", highest.max(args.len()), args.len())?;
        let zeros = HostTensor::zeros(cx.result().dtype(), cx.result().shape().clone());
        let mut results = vec![vec![zeros]; args.len()];
        for (&source, &target) in sources.iter().zip(targets) {
            results[target] = vec![args[source][0].clone()];
        }
        Ok(results)
    }

    /// Sends cotangents back from targets to sources.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let (sources, targets) = self.pairs.clone();
        Ok(Vjp::one(b.emit(CollectivePermute { pairs: (targets, sources) }, &[ct])?))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn effect(&self, _: &InferCx<'_>) -> Effect {
        Effect::COLLECTIVE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn wire<'a>(&'a self, args: &[&TensorType], _: &[&TensorType]) -> Option<Wire<'a>> {
        Some(Wire { groups: None, bytes: args[0].bytes() })
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let pairs: Vec<_> = self.pairs.0.iter().copied().zip(self.pairs.1.iter().copied()).collect();
        cx.one(|hlo| hlo.collective_permute(args[0], &pairs))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let op = |sources: &[usize], targets: &[usize]| CollectivePermute { pairs: (sources.into(), targets.into()) };
        let x = || [SampleArg::uniform(float, [2, 3], -1.0, 1.0)];
        let ints = [SampleArg::whole(DType::S32, [4], -9, 9)];
        vec![
            Sample::new("ring", op(&[0, 1, 2, 3], &[1, 2, 3, 0]), x()).ranks(4),
            Sample::new("shift", op(&[0, 1, 2], &[1, 2, 3]), x()).ranks(4),
            Sample::new("integers", op(&[0, 1], &[1, 0]), ints).ranks(2),
        ]
    }
}

impl Builder<'_> {
    /// `x` of each source rank on its target rank, zeros elsewhere; `pairs` are `(source, target)`.
    ///
    /// # Errors
    /// When a rank is a source or a target twice.
    pub fn collective_permute(&mut self, x: Value, pairs: &[(usize, usize)]) -> Result<Value> {
        let pairs = pairs.iter().copied().unzip();
        self.emit(CollectivePermute { pairs }, &[x])
    }
}
