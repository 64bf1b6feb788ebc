//! `dynamic_update_slice`.

use super::movement::{link_result, offset, place};
use super::starts::{clamp_starts, first_offset, require_inside, require_starts};
use crate::attr::AttrVisitor;
use crate::build::{Builder, present};
use crate::described;
use crate::dims::{FactorKind, FactorMap};
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, SampleArg, Vjp, VjpCx};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::Id;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, HostTensor};
use smallvec::smallvec;

described! {
    /// A tensor with another, the second operand, written over the part that starts at positions known only at run time: one
    /// `s32` scalar operand for each dimension. A start is clamped so that the part lies inside.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct DynamicUpdateSlice;
}

impl OpDef for DynamicUpdateSlice {
    fn name(&self) -> &str {
        "dynamic_update_slice"
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let x = require_starts("dynamic_update_slice", 2, args)?;
        let update = args[1];
        if update.dtype() != x.dtype() {
            let message = format!("`dynamic_update_slice` writes `{update}` into `{x}`: the element types differ");
            return Err(Diagnostic::error(codes::DTYPE, message).help("convert one operand with `convert`"));
        }
        require_inside("dynamic_update_slice", x, update.shape())?;
        Ok(smallvec![x.clone()])
    }

    fn eval(&self, _: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let (x, update, strides) = (args[0], args[1], args[0].shape().strides());
        let first = first_offset(x.shape(), update.shape(), &args[2..]);
        Ok(vec![place(x, update, |index| Some(first + offset(index, &strides)))])
    }

    /// The operand's cotangent is zero at the overwritten positions. The update's cotangent is the slice at these positions.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        let (ct, update, starts) = (present(cx.ct())?, cx.args[1], &cx.args[2..]);
        let mut cts = vec![None; cx.args.len()];
        if cx.wanted[0] {
            let zeros = b.splat_like(update, 0.0)?;
            cts[0] = Some(b.dynamic_update_slice(ct, zeros, starts)?);
        }
        if cx.wanted[1] {
            let shape = b.shape(update).clone();
            cts[1] = Some(b.dynamic_slice(ct, starts, shape)?);
        }
        Ok(Vjp::of(cts))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::STORAGE
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::new(0, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        let mut map = FactorMap::new(args, results);
        for (dim, (&size, &written)) in args[0].shape().iter().zip(args[1].shape().iter()).enumerate() {
            if size == written {
                map.link(size, FactorKind::Parallel, &[(0, dim), (1, dim)], Some(dim));
            } else {
                map.link(size, FactorKind::Mixed, &[(0, dim)], None);
                map.link(written, FactorKind::Mixed, &[(1, dim)], None);
                link_result(&mut map, size, FactorKind::Mixed, dim);
            }
        }
        map
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        let (whole, part) = (cx.hlo.array(args[0])?.shape.clone(), cx.hlo.array(args[1])?.shape.clone());
        let starts = clamp_starts(&mut cx.hlo, &whole, &part, &args[2..])?;
        cx.one(|hlo| hlo.dynamic_update_slice(args[0], args[1], &starts))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let at = |low, high| SampleArg::whole(DType::S32, [], low, high);
        let arg = |shape: [usize; 2]| SampleArg::uniform(float, shape, -1.0, 1.0);
        let int = |size| SampleArg::whole(DType::S32, [size], -9, 9);
        let (x, update) = (|| arg([4, 5]), || arg([2, 3]));
        vec![
            Sample::new("inside", DynamicUpdateSlice, [x(), update(), at(0, 2), at(0, 2)]),
            Sample::new("clamped", DynamicUpdateSlice, [x(), update(), at(-7, -1), at(3, 99)]),
            Sample::new("integers", DynamicUpdateSlice, [int(5), int(2), at(0, 3)]),
        ]
    }
}

impl Builder<'_> {
    /// `x` with `update` written at `starts`, one `s32` scalar for each dimension, clamped so that it fits.
    ///
    /// # Errors
    /// When `update` does not fit in `x` or a start is of another type.
    pub fn dynamic_update_slice(&mut self, x: Value, update: Value, starts: &[Value]) -> Result<Value> {
        let args: Vec<_> = [x, update].into_iter().chain(starts.iter().copied()).collect();
        self.emit(DynamicUpdateSlice, &args)
    }
}
