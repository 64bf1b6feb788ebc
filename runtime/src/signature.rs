//! The types that a program takes and gives, read from its bytes.

use crate::{Result, RuntimeError};
use halite_tensor::element_type::{self, TUPLE};
use halite_tensor::{DType, HostTensor, Shape};
use prost::Message;
use std::fmt;

/// Element type and sizes of one array.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TensorSpec {
    /// Element type.
    pub dtype: DType,
    /// Sizes. The bytes of the array fit in 63 bits.
    pub shape: Shape,
}

impl TensorSpec {
    /// Element type and sizes.
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> Self {
        Self { dtype, shape: shape.into() }
    }

    /// Those of a host tensor.
    pub fn of(tensor: &HostTensor) -> Self {
        Self { dtype: tensor.dtype(), shape: tensor.shape().clone() }
    }

    /// Bytes of the array in host memory; `usize::MAX` where no memory can hold it.
    pub fn size(&self) -> usize {
        self.shape.num_bytes(self.dtype).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for TensorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.shape)
    }
}

impl fmt::Debug for TensorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The inputs and outputs of a program on each replica, in order.
///
/// A result that is a tuple of arrays counts as that many outputs, any other as one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    /// The entry's parameters.
    pub inputs: Vec<TensorSpec>,
    /// The entry's results.
    pub outputs: Vec<TensorSpec>,
}

impl Signature {
    /// The signature that the bytes of an `HloModuleProto` state as their host program shape.
    ///
    /// # Errors
    /// When the bytes are no such message, state no program shape, or state one that is not made of static dense arrays
    /// of the types in [`DType`].
    pub fn of_hlo(hlo: &[u8]) -> Result<Self> {
        let module = Module::decode(hlo)
            .map_err(|error| RuntimeError::InvalidProgram(format!("the bytes are not an HLO module: {error}")))?;
        let program = module.host_program_shape.ok_or_else(|| invalid("the HLO module states no program shape"))?;
        let result = program.result.ok_or_else(|| invalid("the HLO module states no result"))?;
        let inputs = arrays(&program.parameters, "parameter")?;
        let results = if result.element_type == TUPLE { &result.tuple_shapes } else { std::slice::from_ref(&result) };
        Ok(Self { inputs, outputs: arrays(results, "result")? })
    }
}

fn invalid(reason: impl Into<String>) -> RuntimeError {
    RuntimeError::InvalidProgram(reason.into())
}

fn arrays(shapes: &[ShapeMessage], what: &str) -> Result<Vec<TensorSpec>> {
    let array = |(index, shape): (usize, &ShapeMessage)| {
        shape.to_spec().map_err(|reason| invalid(format!("{what} {index} {reason}")))
    };
    shapes.iter().enumerate().map(array).collect()
}

/// The part of `HloModuleProto` that a signature needs.
#[derive(Clone, PartialEq, Message)]
struct Module {
    #[prost(message, optional, tag = "4")]
    host_program_shape: Option<ProgramShape>,
}

/// `ProgramShapeProto`.
#[derive(Clone, PartialEq, Message)]
struct ProgramShape {
    #[prost(message, repeated, tag = "1")]
    parameters: Vec<ShapeMessage>,
    #[prost(message, optional, tag = "2")]
    result: Option<ShapeMessage>,
}

/// `ShapeProto`.
#[derive(Clone, PartialEq, Message)]
struct ShapeMessage {
    #[prost(int32, tag = "2")]
    element_type: i32,
    #[prost(int64, repeated, tag = "3")]
    dimensions: Vec<i64>,
    #[prost(message, repeated, tag = "4")]
    tuple_shapes: Vec<ShapeMessage>,
    #[prost(bool, repeated, tag = "6")]
    is_dynamic_dimension: Vec<bool>,
}

impl ShapeMessage {
    fn to_spec(&self) -> std::result::Result<TensorSpec, String> {
        let dtype = element_type::dtype(self.element_type)
            .ok_or_else(|| format!("has element type number {}, which cannot be passed", self.element_type))?;
        if self.is_dynamic_dimension.contains(&true) {
            return Err("has a dynamic dimension".into());
        }
        let sizes = self.dimensions.iter().map(|size| usize::try_from(*size));
        let shape: Shape =
            sizes.collect::<std::result::Result<_, _>>().map_err(|_| "has a negative size".to_string())?;
        match shape.num_bytes(dtype) {
            Some(_) => Ok(TensorSpec { dtype, shape }),
            None => Err(format!("has the shape {shape}, which no memory can hold")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(parameter: ShapeMessage) -> Vec<u8> {
        let result = ShapeMessage { element_type: TUPLE, ..Default::default() };
        let program = ProgramShape { parameters: vec![parameter], result: Some(result) };
        Module { host_program_shape: Some(program) }.encode_to_vec()
    }

    fn array(element_type: i32, dimensions: &[i64]) -> ShapeMessage {
        ShapeMessage { element_type, dimensions: dimensions.to_vec(), ..Default::default() }
    }

    #[test]
    fn reads_the_program_shape() {
        let signature = Signature::of_hlo(&bytes(array(16, &[2, 0]))).unwrap();
        assert_eq!(signature.inputs, [TensorSpec::new(DType::Bf16, [2, 0])]);
        assert!(signature.outputs.is_empty());
    }

    #[test]
    fn sizes_do_not_wrap() {
        assert_eq!(TensorSpec::new(DType::F32, [1 << 32, 1 << 32]).size(), usize::MAX);
        assert_eq!(TensorSpec::new(DType::Bf16, [2, 3]).size(), 12);
    }

    #[test]
    fn refuses_what_is_no_dense_array() {
        let refused = |shape| Signature::of_hlo(&bytes(shape)).unwrap_err().to_string();
        assert!(refused(array(0, &[1])).contains("element type number 0"));
        assert!(refused(array(13, &[])).contains("element type number 13"));
        assert!(refused(array(11, &[-1])).contains("negative size"));
        assert!(refused(array(11, &[1 << 40, 1 << 40])).contains("no memory"));
        assert!(refused(array(11, &[0, 1 << 40, 1 << 40])).contains("no memory"));
        let dynamic = ShapeMessage { is_dynamic_dimension: vec![true], ..array(11, &[4]) };
        assert!(refused(dynamic).contains("dynamic"));
        assert!(Signature::of_hlo(&[]).is_err());
    }
}
