//! `einsum`: products and sums by the names of dimensions.

use super::Bound;
use crate::ops::infix::dot;
use crate::ops::{Ops, Place, Value};
use halite_ir::{Builder, Value as Tensor};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::Dims;

/// An equation such as `bqhd,bkhd->bhqk`: the letters of each operand, and those of the result.
#[derive(Debug, PartialEq)]
struct Equation {
    operands: Vec<Vec<char>>,
    result: Vec<char>,
}

impl Equation {
    /// # Errors
    /// In words, where the text is none.
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (operands, result) = plain.split_once("->").ok_or("it has no `->` before the letters of the result")?;
        let letters = |part: &str| -> std::result::Result<Vec<char>, String> {
            let letters: Vec<char> = part.chars().collect();
            if let Some(other) = letters.iter().find(|letter| !letter.is_ascii_alphabetic()) {
                return Err(format!("`{other}` is no letter"));
            }
            let twice = letters.iter().enumerate().find(|(at, letter)| letters[..*at].contains(letter));
            twice.map_or(Ok(letters.clone()), |(_, letter)| Err(format!("`{letter}` stands twice in `{part}`")))
        };
        let operands = operands.split(',').map(letters).collect::<std::result::Result<Vec<_>, _>>()?;
        let result = letters(result)?;
        match result.iter().find(|letter| !operands.iter().flatten().any(|known| known == *letter)) {
            Some(unknown) => Err(format!("`{unknown}` of the result is of no operand")),
            None => Ok(Self { operands, result }),
        }
    }

    /// Whether a letter of one operand is also one of the other, or of the result.
    fn is_kept(&self, letter: char, operand: usize) -> bool {
        let others = self.operands.iter().enumerate().filter(|(at, _)| *at != operand);
        self.result.contains(&letter) || others.into_iter().any(|(_, letters)| letters.contains(&letter))
    }
}

/// One operand or two. A letter that the result lacks is summed over.
pub(super) fn einsum(cx: &mut Ops<'_>, bound: &Bound<'_>) -> Result<Vec<Value>> {
    let (text, place) = bound.required(0);
    let Value::Text(text) = text else { return Err(cx.wrong_kind("an equation in quotes", text, place)) };
    let equation = Equation::parse(text).map_err(|wrong| refuse(text, &wrong, place))?;
    let given: Vec<Tensor> = [1, 2]
        .into_iter()
        .filter_map(|at| bound.optional(at))
        .map(|given| cx.tensor_of(given))
        .collect::<Result<_>>()?;
    if given.len() != equation.operands.len() {
        let wrong = format!("it has {} operands, found {}", equation.operands.len(), given.len());
        return Err(refuse(text, &wrong, place));
    }
    check(cx, &equation, &given).map_err(|wrong| refuse(text, &wrong, place))?;
    let value = cx.emit_tensor(bound.whole, |b| run(b, &equation, &given))?;
    Ok(vec![value])
}

fn refuse(text: &str, wrong: &str, place: Place<'_>) -> Diagnostic {
    let error = Diagnostic::error(codes::SHAPE, format!("the equation \"{text}\" does not fit: {wrong}"));
    place.mark(error, "this equation").help("give each dimension a letter: `einsum(\"bqd,bkd->bqk\", q, k)`")
}

/// A letter for each dimension, of one size wherever it stands.
fn check(cx: &Ops<'_>, equation: &Equation, given: &[Tensor]) -> std::result::Result<(), String> {
    let mut sizes: Vec<(char, usize)> = Vec::new();
    for (letters, &tensor) in equation.operands.iter().zip(given) {
        let ty = cx.b.ty(tensor);
        if letters.len() != ty.rank() {
            let word: String = letters.iter().collect();
            return Err(format!("`{word}` has {} letters for `{ty}`", letters.len()));
        }
        for (&letter, &size) in letters.iter().zip(ty.shape().iter()) {
            match sizes.iter().find(|(known, _)| *known == letter) {
                Some((_, known)) if *known != size => return Err(format!("`{letter}` is {known} and {size}")),
                Some(_) => {}
                None => sizes.push((letter, size)),
            }
        }
    }
    Ok(())
}

fn run(b: &mut Builder<'_>, equation: &Equation, given: &[Tensor]) -> Result<Tensor> {
    let mut operands = Vec::new();
    for (at, (letters, &tensor)) in equation.operands.iter().zip(given).enumerate() {
        let summed: Dims = (0..letters.len()).filter(|&dim| !equation.is_kept(letters[dim], at)).collect();
        let tensor = if summed.is_empty() { tensor } else { b.reduce_sum(tensor, &summed)? };
        let letters: Vec<char> = letters.iter().copied().filter(|&letter| equation.is_kept(letter, at)).collect();
        operands.push((letters, tensor));
    }
    let (letters, value) = match operands.as_slice() {
        [x, y] => product(b, x, y, &equation.result)?,
        _ => operands.swap_remove(0),
    };
    let at = |letter: &char| letters.iter().position(|known| known == letter).unwrap_or_default();
    let order: Dims = equation.result.iter().map(at).collect();
    if order.iter().copied().eq(0..order.len()) { Ok(value) } else { b.transpose(value, &order) }
}

/// The product of two operands: letters that both and the result have are those of the batch, then come those of one.
fn product(
    b: &mut Builder<'_>,
    (left, x): &(Vec<char>, Tensor),
    (right, y): &(Vec<char>, Tensor),
    result: &[char],
) -> Result<(Vec<char>, Tensor)> {
    let shared = |kept: bool| left.iter().copied().filter(move |l| right.contains(l) && result.contains(l) == kept);
    let (batch, summed): (Vec<char>, Vec<char>) = (shared(true).collect(), shared(false).collect());
    let dims = |letters: &[char], of: &[char]| -> Dims {
        letters.iter().filter_map(|letter| of.iter().position(|known| known == letter)).collect()
    };
    let (x, left) = batch_first(b, *x, left, &batch)?;
    let (y, right) = batch_first(b, *y, right, &batch)?;
    let batches = (dims(&batch, &left), dims(&batch, &right));
    let contract = (dims(&summed, &left), dims(&summed, &right));
    let value = dot(b, [x, y], batches, contract)?;
    let own = |of: &[char], other: &[char]| of.iter().copied().filter(|l| !other.contains(l)).collect::<Vec<_>>();
    Ok(([batch.clone(), own(&left, &right), own(&right, &left)].concat(), value))
}

/// An operand with the dimensions of the batch first: where neither operand has, CPU XLA has no product of `bf16`.
fn batch_first(b: &mut Builder<'_>, x: Tensor, letters: &[char], batch: &[char]) -> Result<(Tensor, Vec<char>)> {
    let rest = letters.iter().copied().filter(|letter| !batch.contains(letter));
    let ordered: Vec<char> = batch.iter().copied().chain(rest).collect();
    if ordered == letters {
        return Ok((x, ordered));
    }
    let order: Dims = ordered.iter().filter_map(|letter| letters.iter().position(|known| known == letter)).collect();
    Ok((b.transpose(x, &order)?, ordered))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations() {
        let parsed = Equation::parse("ab, bc -> ac").unwrap();
        assert_eq!(parsed, Equation { operands: vec![vec!['a', 'b'], vec!['b', 'c']], result: vec!['a', 'c'] });
        let wrong = ["ab,bc", "aa->a", "a1->a", "a->b", "a,b->a->b"].map(Equation::parse);
        assert!(wrong.iter().all(|wrong| wrong.is_err()), "{wrong:?}");
    }
}
