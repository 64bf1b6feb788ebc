//! The hash of which random bits are made; see [`halite_tensor::rounding::random_bits`].

use super::parts::with_word;
use crate::build::Builder;
use crate::ops::{And, Multiply, ShiftLeft, ShiftRightLogical, Xor};
use crate::syntax::Value;
use halite_support::Result;
use halite_tensor::rounding::{MIX_OFFSET, MIX_ROUNDS, Round};

/// The bijection `mix` of each word.
pub(super) fn mix(b: &mut Builder<'_>, words: Value) -> Result<Value> {
    let words = with_word(b, Xor, words, MIX_OFFSET)?;
    rounds(b, words, &MIX_ROUNDS)
}

/// Rounds of each word, one after another.
pub(super) fn rounds(b: &mut Builder<'_>, words: Value, rounds: &[Round]) -> Result<Value> {
    rounds.iter().try_fold(words, |words, &own| round(b, words, own))
}

fn round(b: &mut Builder<'_>, words: Value, round: Round) -> Result<Value> {
    let moved = match round {
        Round::Left(bits) => with_word(b, ShiftLeft, words, bits)?,
        Round::Up(multiplier) => {
            let lower = with_word(b, And, words, 0xffff)?;
            let product = with_word(b, Multiply, lower, multiplier)?;
            with_word(b, ShiftLeft, product, 8)?
        }
        Round::Down(multiplier) => {
            let upper = with_word(b, ShiftRightLogical, words, 16)?;
            let product = with_word(b, Multiply, upper, multiplier)?;
            with_word(b, ShiftRightLogical, product, 8)?
        }
    };
    b.xor(words, moved)
}
