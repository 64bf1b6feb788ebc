//! Checks that inputs hold whole numbers that mean something to the model.

use crate::tensors::Tensors;
use crate::{IndexRange, Port};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::{Dims, HostTensor, Indices};

/// Checks tensors, by name, against the ranges of the inputs that they are for. Types are not looked at.
///
/// # Errors
/// For each part of a tensor with a number out of its range, with the first one and how many there are.
pub fn check_ranges(inputs: &[Port], tensors: &Tensors) -> Result<(), Diagnostics> {
    let with_ranges = inputs.iter().filter(|port| !port.ranges.is_empty());
    let mistakes: Diagnostics = with_ranges
        .filter_map(|port| Some((port, tensors.get(&port.name)?)))
        .flat_map(|(port, tensor)| port.ranges.iter().filter_map(|range| found(&port.name, tensor, range, tensors)))
        .collect();
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// The first number that is out of a range, of an input or of what is computed from it. What cannot be computed, since an input has another
/// type or is missing, is told by who looks at that.
fn found(name: &str, tensor: &HostTensor, range: &IndexRange, tensors: &Tensors) -> Option<Diagnostic> {
    let Some(computed) = &range.computed else { return beyond(&format!("`{name}` holds"), tensor, range) };
    let mut names: Vec<_> = computed.inputs().map(|name| format!("`{name}`")).collect();
    names.dedup();
    let who = format!("what the model computes from {} is", names.join(", "));
    computed.of(tensors)?.iter().find_map(|tensor| beyond(&who, tensor, range))
}

/// The first number of a part that is out of range.
fn beyond(who: &str, tensor: &HostTensor, range: &IndexRange) -> Option<Diagnostic> {
    let is_inside = |index: &Dims| index.iter().zip(&range.part).all(|(at, [from, to])| (from..to).contains(&at));
    let is_meant =
        |number: i128| (0..i128::from(range.below)).contains(&number) || range.except.map(i128::from) == Some(number);
    let elements = Indices::new(tensor.shape()).zip(tensor.ints());
    let mut wrong = elements.filter(|(index, number)| !is_meant(*number) && is_inside(index));
    let (index, number) = wrong.next()?;
    let others = wrong.count();
    let last = range.below.saturating_sub(1);
    let except = range.except.map_or_else(String::new, |except| format!(", or {except}"));
    let message = format!("{who} {number} at {index:?}, the model takes 0 to {last} there{except}");
    let error = Diagnostic::error(codes::TENSORS, message)
        .note("a module does not look: it takes a number out of range for another one")
        .help(match range.except {
            Some(except) => format!("feed numbers in range; what is to be left out is {except}"),
            None => "feed numbers in range, or compile a model with as many tokens".to_owned(),
        });
    Some(if others > 0 { error.note(format!("{others} more of its numbers are out of range")) } else { error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortRole;
    use halite_tensor::DType;

    /// `tokens s32[1, 4]` of 7 ids, of which the first three are looked up and the last three are labels.
    fn tokens() -> Port {
        let range = |part, except| IndexRange { part: vec![[0, 1], part], below: 7, except, computed: None };
        Port {
            name: "tokens".into(),
            dtype: DType::S32,
            shape: vec![1, 4],
            sharding: None,
            role: PortRole::Buffer,
            alias: None,
            ranges: vec![range([0, 3], None), range([1, 4], Some(-100))],
        }
    }

    fn messages(tokens_given: [i128; 4]) -> Vec<String> {
        let tensors =
            Tensors::from_iter([("tokens".to_owned(), HostTensor::from_ints(DType::S32, [1, 4], tokens_given))]);
        let mistakes = check_ranges(&[tokens()], &tensors).err().unwrap_or_default();
        mistakes.iter().map(|mistake| mistake.message().to_owned()).collect()
    }

    #[test]
    fn each_part_is_held_to_its_own_range() {
        assert_eq!(messages([0, 6, 3, 6]), [""; 0]);
        assert_eq!(messages([0, 6, 3, -100]), [""; 0]);
        assert_eq!(messages([0, 6, 3, 7]), ["`tokens` holds 7 at [0, 3], the model takes 0 to 6 there, or -100"]);
        assert_eq!(messages([0, -100, 3, 6]), ["`tokens` holds -100 at [0, 1], the model takes 0 to 6 there"]);
        let both = [
            "`tokens` holds -1 at [0, 1], the model takes 0 to 6 there",
            "`tokens` holds -1 at [0, 1], the model takes 0 to 6 there, or -100",
        ];
        assert_eq!(messages([0, -1, 3, 6]), both);
    }
}
