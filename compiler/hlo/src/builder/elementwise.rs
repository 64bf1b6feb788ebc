//! Elementwise instructions and constants.

use super::{ComputationBuilder, Id};
use crate::infer;
use crate::opcode::{BinaryOp, Comparison, Opcode, UnaryOp, opcodes};
use crate::proto::LiteralProto;
use crate::types::ArrayType;
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use smallvec::smallvec;

/// A method for each elementwise opcode.
macro_rules! methods {
    (
        unary { $($Unary:ident = $u_name:literal, $u_stablehlo:literal, $unary:ident $u_takes:tt $(-> $gives:ident)?, $u_work:ident;)* }
        binary { $($Binary:ident = $b_name:literal, $b_stablehlo:literal, $binary:ident $b_takes:tt, $b_work:ident;)* }
        other { $($other:tt)* }
    ) => {
        impl ComputationBuilder<'_> {
            $(
                #[doc = concat!("[`UnaryOp::", stringify!($Unary), "`].")]
                pub fn $unary(&mut self, x: Id) -> Result<Id> {
                    self.unary(UnaryOp::$Unary, x)
                }
            )*
            $(
                #[doc = concat!("[`BinaryOp::", stringify!($Binary), "`].")]
                pub fn $binary(&mut self, x: Id, y: Id) -> Result<Id> {
                    self.binary(BinaryOp::$Binary, x, y)
                }
            )*
        }
    };
}

opcodes!(methods);

impl ComputationBuilder<'_> {
    /// An elementwise op of one operand.
    pub fn unary(&mut self, op: UnaryOp, x: Id) -> Result<Id> {
        let ty = infer::unary(op, self.array(x)?)?;
        self.push(op.name(), &[x], ty, |_| {})
    }

    /// An elementwise op of two operands of one type.
    pub fn binary(&mut self, op: BinaryOp, x: Id, y: Id) -> Result<Id> {
        let ty = infer::binary(op, self.array(x)?, self.array(y)?)?;
        self.push(op.name(), &[x, y], ty, |_| {})
    }

    /// `compare` giving `pred`.
    pub fn compare(&mut self, direction: Comparison, x: Id, y: Id) -> Result<Id> {
        let ty = infer::compare(self.array(x)?, self.array(y)?)?;
        let kind = comparison_type(self.array(x)?.dtype);
        self.push(Opcode::Compare.name(), &[x, y], ty, |inst| {
            inst.comparison_direction = direction.name().to_owned();
            inst.comparison_type = kind.to_owned();
        })
    }

    /// `on_true` where `condition` holds, else `on_false`.
    pub fn select(&mut self, condition: Id, on_true: Id, on_false: Id) -> Result<Id> {
        let ty = infer::select(self.array(condition)?, self.array(on_true)?, self.array(on_false)?)?;
        self.push(Opcode::Select.name(), &[condition, on_true, on_false], ty, |_| {})
    }

    /// `x` limited to `low..=high`.
    pub fn clamp(&mut self, low: Id, x: Id, high: Id) -> Result<Id> {
        let ty = infer::clamp(self.array(low)?, self.array(x)?, self.array(high)?)?;
        self.push(Opcode::Clamp.name(), &[low, x, high], ty, |_| {})
    }

    /// `x` in another element type.
    pub fn convert(&mut self, x: Id, dtype: DType) -> Result<Id> {
        let ty = infer::convert(self.array(x)?, dtype);
        self.push(Opcode::Convert.name(), &[x], ty, |_| {})
    }

    /// The bits of `x` read as another element type.
    pub fn bitcast_convert(&mut self, x: Id, dtype: DType) -> Result<Id> {
        let ty = infer::bitcast_convert(self.array(x)?, dtype)?;
        self.push(Opcode::BitcastConvert.name(), &[x], ty, |_| {})
    }

    /// `x` in a buffer of its own.
    pub fn copy(&mut self, x: Id) -> Result<Id> {
        let ty = self.array(x)?.clone();
        self.push(Opcode::Copy.name(), &[x], ty, |_| {})
    }

    /// A constant array. Equal scalars are one instruction.
    pub fn constant(&mut self, value: &HostTensor) -> Result<Id> {
        if value.shape().rank() > 0 {
            return self.literal(value);
        }
        let key = (value.dtype(), value.bytes().to_vec());
        if let Some(&made) = self.scalars.get(&key) {
            return Ok(made);
        }
        let made = self.literal(value)?;
        self.scalars.insert(key, made);
        Ok(made)
    }

    fn literal(&mut self, value: &HostTensor) -> Result<Id> {
        let ty = ArrayType::new(value.dtype(), value.shape().clone());
        let literal = Box::new(LiteralProto::of(value));
        self.push(Opcode::Constant.name(), &[], ty, |inst| inst.literal = Some(literal))
    }

    /// A constant scalar, rounded to the element type.
    pub fn constant_scalar(&mut self, dtype: DType, value: f64) -> Result<Id> {
        self.constant(&HostTensor::scalar(dtype, value))
    }

    /// Numbers `0, 1, 2, ..` along one dimension.
    pub fn iota(&mut self, ty: ArrayType, dimension: usize) -> Result<Id> {
        infer::iota(&ty, dimension)?;
        self.push(Opcode::Iota.name(), &[], ty, |inst| inst.dimensions = smallvec![dimension as i64])
    }
}

/// The comparison order that XLA writes for an element type.
pub(crate) fn comparison_type(dtype: DType) -> &'static str {
    match dtype {
        _ if dtype.is_float() => "FLOAT",
        _ if dtype.is_signed() => "SIGNED",
        _ => "UNSIGNED",
    }
}
