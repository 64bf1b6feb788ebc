//! Constants as attributes.

use crate::number;
use crate::types;
use halite_hlo::ArrayType;
use halite_tensor::{DType, HostTensor};
use std::fmt::Write;

/// Up to so many elements are listed for people to read, others are written as bytes.
const LISTED: usize = 64;

/// `dense<..> : tensor<..>`: one element for all where all are equal, a list, or the bytes of many. The bits of truth values are packed
/// in bytes, so that these are always listed.
pub(crate) fn dense(tensor: &HostTensor) -> String {
    let ty = types::tensor(&ArrayType::new(tensor.dtype(), tensor.shape().clone()));
    let text = match tensor.splat_value() {
        _ if tensor.is_empty() => String::new(),
        Some(element) => number::elements(&element).concat(),
        None if tensor.len() > LISTED && tensor.dtype() != DType::Pred => bytes(tensor.bytes()),
        None => nested(tensor.shape(), &number::elements(tensor)),
    };
    format!("dense<{text}> : {ty}")
}

/// Whole numbers in rows, as replica groups are written.
pub(crate) fn rows(rows: &[Vec<i64>]) -> String {
    let row = |row: &Vec<i64>| format!("[{}]", list(row));
    let text: Vec<String> = rows.iter().map(row).collect();
    let text = if rows.is_empty() { String::new() } else { format!("[{}]", text.join(", ")) };
    let sizes = [rows.len(), rows.first().map_or(0, Vec::len)];
    format!("dense<{text}> : {}", types::ranked(&sizes, "i64"))
}

/// `1, 2`.
pub(crate) fn list(numbers: &[i64]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn bytes(bytes: &[u8]) -> String {
    let digits = bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02X}").expect("writing to a string succeeds");
        text
    });
    format!("\"0x{digits}\"")
}

/// Elements in brackets for each dimension.
fn nested(sizes: &[usize], elements: &[String]) -> String {
    let blocks: Vec<usize> = (0..sizes.len()).map(|dim| sizes[dim..].iter().product()).collect();
    let edges = |at: usize| blocks.iter().filter(|&&block| at.is_multiple_of(block)).count();
    let mut text = String::new();
    for (at, element) in elements.iter().enumerate() {
        text.push_str(if at > 0 { ", " } else { "" });
        text.push_str(&"[".repeat(edges(at)));
        text.push_str(element);
        text.push_str(&"]".repeat(edges(at + 1)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(dtype: DType, sizes: &[usize], count: usize) -> String {
        dense(&HostTensor::from_ints(dtype, sizes, (0..count as i128).map(|number| number % 2)))
    }

    #[test]
    fn constants_are_splats_lists_or_bytes() {
        assert_eq!(dense(&HostTensor::zeros(DType::F32, [2, 3])), "dense<0.0> : tensor<2x3xf32>");
        assert_eq!(dense(&HostTensor::zeros(DType::S32, [0, 3])), "dense<> : tensor<0x3xi32>");
        assert_eq!(numbers(DType::S32, &[2, 1, 2], 4), "dense<[[[0, 1]], [[0, 1]]]> : tensor<2x1x2xi32>");
        assert_eq!(numbers(DType::U8, &[66], 66), format!("dense<\"0x{}\"> : tensor<66xui8>", "0001".repeat(33)));
        assert!(numbers(DType::Pred, &[66], 66).starts_with("dense<[false, true, "));
    }

    #[test]
    fn groups_are_rows() {
        assert_eq!(rows(&[vec![0, 1], vec![2, -1]]), "dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>");
        assert_eq!(rows(&[]), "dense<> : tensor<0x0xi64>");
    }
}
