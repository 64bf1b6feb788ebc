//! Tensors written in `//$` lines: `[[1, 2], [3, 4]]`, `0.5`, `nan`, `true`.

use halite_ir::TensorType;
use halite_tensor::{DType, HostTensor};

/// Reads as many tensors as there are types, separated by commas. A single element fills its whole tensor; brackets
/// inside the outer ones are for the eye.
///
/// # Errors
/// When the text has another number of tensors, elements or brackets, or something that is not an element.
pub fn parse_inputs(text: &str, types: &[TensorType]) -> Result<Vec<HostTensor>, String> {
    let parts = split(text)?;
    if parts.len() != types.len() {
        return Err(format!("{} tensors are given, {} are needed", parts.len(), types.len()));
    }
    parts.iter().zip(types).map(|(part, ty)| tensor(part, ty)).collect()
}

/// The parts between commas outside of brackets.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.checked_sub(1).ok_or_else(|| format!("unbalanced brackets in `{text}`"))?,
            b',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err(format!("unbalanced brackets in `{text}`"));
    }
    if !text.trim().is_empty() {
        parts.push(text[start..].trim());
    }
    Ok(parts)
}

fn tensor(text: &str, ty: &TensorType) -> Result<HostTensor, String> {
    let words = text.split(['[', ']', ',']).map(str::trim).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let count = ty.shape().num_elements();
    let words = match words.as_slice() {
        [only] if !text.starts_with('[') => vec![*only; count],
        _ if words.len() == count => words,
        _ => return Err(format!("`{text}` has {} elements, `{ty}` has {count}", words.len())),
    };
    let wrong = |word: &str| format!("`{word}` is not an element of `{ty}`");
    if ty.dtype().is_float() {
        let values: Result<Vec<f64>, _> = words.iter().map(|word| word.parse().map_err(|_| wrong(word))).collect();
        return Ok(HostTensor::from_f64s(ty.dtype(), ty.shape().clone(), values?));
    }
    let whole = |word: &&str| match (*word, ty.dtype()) {
        ("true", DType::Pred) => Ok(1),
        ("false", DType::Pred) => Ok(0),
        (word, _) => word.parse().map_err(|_| wrong(word)),
    };
    let values: Result<Vec<i128>, _> = words.iter().map(whole).collect();
    Ok(HostTensor::from_ints(ty.dtype(), ty.shape().clone(), values?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_read_by_their_types() {
        let types =
            [TensorType::new(DType::F32, [2, 2]), TensorType::new(DType::Pred, [2]), TensorType::scalar(DType::S8)];
        let read = parse_inputs("[[1, -0.0], [nan, inf]], true, -3", &types).unwrap();
        assert_eq!(read[0].f64s()[3], f64::INFINITY);
        assert_eq!((read[1].ints(), read[2].ints()), (vec![1, 1], vec![-3]));
        assert!(parse_inputs("[1, 2, 3]", &types[..1]).unwrap_err().contains("3 elements"));
        assert!(parse_inputs("[1", &types[..1]).is_err());
    }
}
