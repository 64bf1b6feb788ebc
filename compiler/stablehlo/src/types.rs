//! Types of values.

use halite_hlo::ArrayType;
use halite_tensor::DType;
use std::fmt::Write;

/// `tensor<4x8xf32>`.
pub(crate) fn tensor(ty: &ArrayType) -> String {
    ranked(&ty.shape, element(ty.dtype))
}

/// A tensor of these sizes and elements.
pub(crate) fn ranked(sizes: &[usize], element: &str) -> String {
    let mut text = String::from("tensor<");
    sizes.iter().for_each(|size| write!(text, "{size}x").expect("writing to a string succeeds"));
    text + element + ">"
}

/// `(a, b)`, and one type as it is where it stands for results.
pub(crate) fn results(types: &[ArrayType]) -> String {
    match types {
        [only] => tensor(only),
        several => listed(several),
    }
}

/// `(a, b)`.
pub(crate) fn listed(types: &[ArrayType]) -> String {
    format!("({})", types.iter().map(tensor).collect::<Vec<_>>().join(", "))
}

fn element(dtype: DType) -> &'static str {
    match dtype {
        DType::Pred => "i1",
        DType::S8 => "i8",
        DType::S16 => "i16",
        DType::S32 => "i32",
        DType::S64 => "i64",
        DType::U8 => "ui8",
        DType::U16 => "ui16",
        DType::U32 => "ui32",
        DType::U64 => "ui64",
        DType::F16 => "f16",
        DType::Bf16 => "bf16",
        DType::F32 => "f32",
        DType::F64 => "f64",
    }
}
