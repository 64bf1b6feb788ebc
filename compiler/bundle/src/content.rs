//! The content that a model declares for the data that the host feeds.

use crate::Buffer;
use crate::tensors::Tensors;
use halite_support::{Diagnostic, Diagnostics, Name, codes};
use halite_tensor::{Content, HostTensor, Indices, Shape};

/// The only value of a buffer whose content is declared, for the calls on a piece of the batch.
pub fn declared(buffer: &Buffer, piece: usize) -> Option<HostTensor> {
    Some(buffer.content()?.tensor(&Shape::from(buffer.shape.as_slice()), piece))
}

/// Checks tensors, by name, against the declared content of the buffers that they are for. Types are not looked at, and the number of a
/// micro-batch may be any.
///
/// # Errors
/// For each tensor that holds something else, with the first wrong element.
pub fn check_content<'b>(
    buffers: impl IntoIterator<Item = &'b Buffer>,
    tensors: &Tensors,
) -> std::result::Result<(), Diagnostics> {
    let mistake = |buffer: &Buffer| wrong(buffer, tensors.get(&buffer.name)?);
    let mistakes: Diagnostics = buffers.into_iter().filter_map(mistake).collect();
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// The first element of a tensor that is not the expected one.
fn wrong(buffer: &Buffer, found: &HostTensor) -> Option<Diagnostic> {
    let content = buffer.content()?;
    let piece =
        if *content == Content::MicroBatch { found.ints().first().copied().unwrap_or_default().max(0) } else { 0 };
    let expected = declared(buffer, piece as usize)?;
    let elements = found.ints().into_iter().zip(expected.ints());
    let (index, (found, expected)) =
        Indices::new(found.shape()).zip(elements).find(|(_, (found, expected))| found != expected)?;
    let name = &buffer.name;
    let error = |message| Diagnostic::error(codes::TENSORS, message);
    Some(match content {
        Content::Causal => {
            let truth = |value: i128| if value == 0 { "false" } else { "true" };
            let (found, expected) = (truth(found), truth(expected));
            error(format!("the mask `{name}` is not causal: its element {index:?} is {found}, expected {expected}"))
                .note("the model declares it causal, and the program was compiled for that mask")
                .help("feed true where the last index is at most the one before, or remove `= causal` from the model and compile again")
        }
        Content::Ranks => {
            error(format!("`{name}` gives rank {expected} the number {found}")).help("feed each rank its own number")
        }
        Content::MicroBatch => {
            error(format!("`{name}` is {found}, the number of no micro-batch")).help("feed a number from 0")
        }
        Content::Keys(keys) => {
            let key = |(at, stream): (usize, &Name)| (index[..] == [at]).then(|| format!("the key of `{stream}`"));
            let of =
                keys.streams().iter().enumerate().find_map(key).unwrap_or_else(|| format!("its element {index:?}"));
            error(format!("{of} in `{name}` is {found}, expected {expected}"))
                .note("the manifest names the streams of random bits and their seed")
                .help("feed the keys of these streams")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BufferRole;
    use halite_tensor::{DType, StreamKeys};

    fn known(name: &str, dtype: DType, shape: &[usize], content: Content) -> Buffer {
        let role = BufferRole::Batch(Some(content));
        Buffer { name: name.into(), dtype, shape: shape.into(), role, packing: None, sharding: None }
    }

    #[test]
    fn another_mask_is_refused_at_its_first_wrong_element() {
        let check = |elements: [i128; 9]| {
            let tensor = HostTensor::from_ints(DType::Pred, [1, 3, 3], elements);
            check_content(
                [&known("mask", DType::Pred, &[1, 3, 3], Content::Causal)],
                &Tensors::from_iter([("mask".to_owned(), tensor)]),
            )
        };
        assert_eq!(check([1, 0, 0, 1, 1, 0, 1, 1, 1]), Ok(()));
        let message = |elements| check(elements).unwrap_err()[0].message().to_owned();
        let text = "the mask `mask` is not causal: its element";
        assert_eq!(message([1, 0, 0, 1, 1, 1, 1, 1, 1]), format!("{text} [0, 1, 2] is true, expected false"));
        assert_eq!(message([1, 0, 0, 0, 1, 0, 1, 1, 1]), format!("{text} [0, 1, 0] is false, expected true"));
    }

    #[test]
    fn any_micro_batch_has_its_number() {
        let buffer = known("micro_batch", DType::S32, &[], Content::MicroBatch);
        let check = |number| {
            let tensor = HostTensor::from_ints(DType::S32, [], [number]);
            check_content([&buffer], &Tensors::from_iter([("micro_batch".to_owned(), tensor)]))
        };
        assert_eq!((check(0), check(3)), (Ok(()), Ok(())));
        assert_eq!(check(-1).unwrap_err()[0].message(), "`micro_batch` is -1, the number of no micro-batch");
        assert_eq!(declared(&buffer, 3).unwrap().ints(), [3]);
    }

    #[test]
    fn keys_are_those_of_their_streams() {
        let keys = StreamKeys::new(["a", "b"].map(Name::from), 7).unwrap();
        let expected = keys.tensor();
        let buffer = known("keys", DType::U32, &[2], Content::Keys(keys));
        assert_eq!(declared(&buffer, 3), Some(expected.clone()));
        let check = |tensor| check_content([&buffer], &Tensors::from_iter([("keys".to_owned(), tensor)]));
        assert_eq!(check(expected.clone()), Ok(()));
        let wrong = HostTensor::from_ints(DType::U32, [2], [expected.ints()[0], 1]);
        let message = format!("the key of `b` in `keys` is 1, expected {}", expected.ints()[1]);
        assert_eq!(check(wrong).unwrap_err()[0].message(), message);
    }
}
