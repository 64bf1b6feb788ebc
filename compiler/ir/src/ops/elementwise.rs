//! Common parts of the ops that are one elementwise instruction of HLO.

use super::class::{Takes, infer_binary, require_elements};
use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::described::Described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::sealed::Sealed;
use crate::op::{Cost, OpDef, Policy, Sample, Vjp, VjpCx, arity};
use crate::shards::Linear;
use crate::ty::{TensorType, Types};
use halite_hlo::{BinaryOp, Id, Opcode, UnaryOp};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use smallvec::smallvec;
use std::fmt;

/// An op without attributes on the elements of one operand, or of two operands of one type. The table of opcodes of HLO says which
/// elements it takes and gives. The file of an op says the rest, and this trait makes an [`OpDef`] of it.
pub(super) trait Elementwise: fmt::Debug + Described + Sealed {
    /// See [`OpDef::name`].
    const NAME: &'static str;

    /// The HLO instruction of the same meaning, which also says how many operands there are.
    const HLO: Hlo;

    /// The elements that it takes, where they are not those of HLO.
    const TAKES: Option<Takes> = None;

    /// See [`OpDef::policy`].
    const POLICY: Policy;

    /// See [`OpDef::linear`].
    const LINEAR: Linear = Linear::No;

    /// See [`OpDef::eval`].
    fn eval(cx: &EvalCx<'_>, args: &[&HostTensor]) -> Vec<HostTensor>;

    /// See [`OpDef::vjp`].
    ///
    /// # Errors
    /// Those of [`OpDef::vjp`].
    fn vjp(b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp>;

    /// See [`OpDef::samples`].
    fn samples(float: DType) -> Vec<Sample>;
}

/// An element-wise HLO instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hlo {
    /// With one operand.
    Unary(UnaryOp),
    /// With two.
    Binary(BinaryOp),
}

impl From<Hlo> for Opcode {
    fn from(hlo: Hlo) -> Self {
        match hlo {
            Hlo::Unary(op) => op.into(),
            Hlo::Binary(op) => op.into(),
        }
    }
}

impl<T: Elementwise> OpDef for T {
    fn name(&self) -> &str {
        T::NAME
    }

    fn attrs(&mut self, _: &mut dyn AttrVisitor) {}

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        match T::HLO {
            Hlo::Unary(op) => {
                let [x] = arity(T::NAME, args)?;
                require_elements(T::NAME, T::TAKES.unwrap_or(op.takes()), x)?;
                Ok(smallvec![x.with_dtype(op.gives(x.dtype()))])
            }
            Hlo::Binary(op) => {
                let [x, y] = arity(T::NAME, args)?;
                infer_binary(T::NAME, T::TAKES.unwrap_or(op.takes()), x, y)
            }
        }
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        Ok(<T as Elementwise>::eval(cx, args))
    }

    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp> {
        <T as Elementwise>::vjp(b, cx)
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        T::POLICY
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::elementwise(1, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn linear(&self, _: &[TensorType], _: &[TensorType]) -> Linear {
        T::LINEAR
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| match T::HLO {
            Hlo::Unary(op) => hlo.unary(op, args[0]),
            Hlo::Binary(op) => hlo.binary(op, args[0], args[1]),
        })
    }

    fn opcode(&self) -> Option<Opcode> {
        Some(T::HLO.into())
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        <T as Elementwise>::samples(float)
    }
}
