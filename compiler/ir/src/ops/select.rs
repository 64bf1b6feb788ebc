//! `select`.

use super::class::repeat_scalar;
use super::special::real_pairs;
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx, arity, dtype_error, require_same, shape_error};
use crate::shards::Linear;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use smallvec::smallvec;

described! {
    /// Element-wise choice between two tensors of one type: elements of `x` where `p` holds, of `y` elsewhere. `p` has
    /// their shape or is a scalar that chooses one of them whole.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Select;
}

impl OpDef for Select {
    fn name(&self) -> &str {
        "select"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [p, x, y] = arity("select", args)?;
        if p.dtype() != DType::Pred {
            return Err(dtype_error("select", "a `pred` to choose by", p));
        }
        require_same("select", x, y)?;
        if p.rank() != 0 && p.shape() != x.shape() {
            let help = "broadcast it with `broadcast_in_dim`";
            return Err(shape_error(format!("`select` cannot choose between elements of `{x}` by `{p}`")).help(help));
        }
        Ok(smallvec![x.clone()])
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (p, x, y) = (args[0].bytes(), args[1], args[2]);
        let size = x.dtype().size();
        let elements = x.bytes().chunks(size).zip(y.bytes().chunks(size));
        let chosen = elements.zip(p.iter().cycle()).flat_map(|((x, y), &p)| if p == 0 { y } else { x });
        let result = HostTensor::from_bytes(x.dtype(), x.shape().clone(), chosen.copied().collect());
        Ok(vec![result.expect("one element for each position")])
    }

    /// The cotangent goes where the element came from; none to `p`.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let ct = present(cx.ct())?;
        let p = cx.args[0];
        let zero = b.splat_like(ct, 0.0)?;
        let dx = cx.want(1, || b.select(p, ct, zero))?;
        let dy = cx.want(2, || b.select(p, zero, ct))?;
        Ok(Vjp::of([None, dx, dy]))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        Linear::Rest
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let p = repeat_scalar(cx, args[0])?;
        cx.one(|hlo| hlo.select(p, args[1], args[2]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let p = |values: &[f64]| SampleArg::listed(DType::Pred, [2, 3], values);
        let scalar = |value: f64| SampleArg::listed(DType::Pred, [], &[value]);
        let [x, y] = [-1.0, 2.0].map(|low| SampleArg::uniform(float, [2, 3], low, low + 1.0));
        let whole = [SampleArg::whole(DType::S64, [2, 3], -9, 9), SampleArg::whole(DType::S64, [2, 3], -9, 9)];
        let choose = |label, p, [x, y]: [SampleArg; 2]| Sample::new(label, Select, [p, x, y]);
        vec![
            choose("elements", p(&[1.0, 0.0, 0.0, 1.0]), [x.clone(), y.clone()]),
            choose("all", scalar(1.0), [x.clone(), y.clone()]),
            choose("none", scalar(0.0), [x, y]),
            choose("special", SampleArg::listed(DType::Pred, [72], &[1.0, 0.0, 1.0, 1.0, 0.0]), real_pairs(float)),
            choose("integers", p(&[0.0, 1.0]), whole),
        ]
    }
}

impl Builder<'_> {
    /// `x` where `p` holds, `y` elsewhere.
    ///
    /// # Errors
    /// When `p` is not a fitting `pred` or the types of `x` and `y` differ.
    pub fn select(&mut self, p: Value, x: Value, y: Value) -> Result<Value> {
        self.emit(Select, &[p, x, y])
    }
}
