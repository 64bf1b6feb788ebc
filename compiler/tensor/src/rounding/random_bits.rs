//! Random bits as a function of where and when they are used: the meaning of the composites `stream_words`,
//! `coordinate_words` and `random_bits` together.
//!
//! The bits of an element are a hash of a key, the step and the element's coordinates in the original tensor. So they
//! do not depend on the order of computation, and a tensor may be split, merged or resharded without any bit changing.
//!
//! Trainium's vector engines add and multiply integers in `f32`. The hash is therefore built from bijections of
//! 32-bit words, the [`Round`]s, which shift, mask, exclusive-or, and multiply 16 bits by 8 bits, so that every product
//! is below 2^24 and exact. `mix` is six rounds in turn.
//!
//! ```text
//! word     = mix(mix(key) ^ step)                       once for a tensor: `stream_words`
//! along[d] = mix(mix(mix(d) ^ step) ^ x[d])             once for a row or column: `coordinate_words`
//! bits     = rounds(word ^ along[0] ^ along[1] ^ ..)    once for an element: `random_bits`
//! ```
//!
//! The words of a row or column are computed once and serve every tensor with this size. Bare exclusive-or would make the four corners
//! of every rectangle dependent; the rounds after it undo that. They also separate two tensors, whose sums differ by one word for all
//! elements of a step. Coordinate words depend on the step, so that two elements whose words add up to the same, as 1 in 2^32 pairs
//! does, have equal bits in one step only.
//!
//! The rounds that an element needs were measured on sums that differ by a fixed word, as those of two tensors do: on 2^20 of them, for
//! 40,000 random differences and all of one and of two bits, each bit of one against that of the other. In 1,313,792 such numbers, each
//! a standard normal one if bits are independent, the largest is 4.7 in size, and their variance is 1.00
//! (`bits_of_two_streams_are_independent`). Products alone do not do it: four rounds of these leave correlations of up to 0.25 at
//! differences that occur, six of them of 0.4 at a difference of one bit, as the lowest byte is changed by every other round only.
//! Rounds and multipliers come from a search for small correlations, those of `mix` for strong avalanche. The results of SmallCrush of
//! TestU01 are in `tests/random_bits`. This is no cryptography.

use crate::split_mix;

/// The coordinates of an element are below this, so that sums of an index and an offset are exact in `f32`.
pub const MAX_COORDINATE: u32 = 1 << 24;

/// The word that `mix` starts with, so that zero is no fixed point: the fractional bits of the golden ratio.
pub const MIX_OFFSET: u32 = 0x9e37_79b9;

/// A bijection of words, by a multiplier below 2^8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// The product of the lower half is added (exclusive or) 8 bits up. The lowest byte stays, so the second byte, and
    /// then the upper half, can be recovered.
    Up(u32),
    /// The product of the upper half, without its lowest byte, is added to the lower half: a Feistel round.
    Down(u32),
    /// The word is added to itself so many bits up.
    Left(u32),
}

use Round::{Down, Left, Up};

/// The rounds of `mix`.
pub const MIX_ROUNDS: [Round; 6] = [Up(0xed), Down(0xf9), Up(0xb3), Down(0xe1), Up(0xd1), Down(0xc7)];

/// The rounds of each element: 24 instructions.
pub const ELEMENT_ROUNDS: [Round; 7] = [Left(5), Down(0xb1), Up(0xcd), Down(0x8d), Up(0xb1), Down(0xa5), Left(10)];

/// 32 random bits for the element at `coordinates` in step `step` of the stream `key`; a scalar has no coordinates.
/// Coordinates are below [`MAX_COORDINATE`].
pub fn random_bits(key: u32, step: u32, coordinates: &[u32]) -> u32 {
    let word = mix(mix(key) ^ step);
    let along = |(dim, &coordinate)| mix(mix(mix(dim) ^ step) ^ coordinate);
    let sum = (0..).zip(coordinates).map(along).fold(word, |sum, along| sum ^ along);
    rounds(sum, &ELEMENT_ROUNDS)
}

/// A bijection of words after which each bit depends on all.
pub fn mix(word: u32) -> u32 {
    rounds(word ^ MIX_OFFSET, &MIX_ROUNDS)
}

fn rounds(word: u32, rounds: &[Round]) -> u32 {
    rounds.iter().fold(word, |word, round| match round {
        Up(multiplier) => word ^ (((word & 0xffff) * multiplier) << 8),
        Down(multiplier) => word ^ (((word >> 16) * multiplier) >> 8),
        Left(bits) => word ^ (word << bits),
    })
}

/// The key of a named stream under a seed, computed once at compile time: the bytes of the seed, lowest first, and of
/// the name in UTF-8 are absorbed one by one into a 64-bit state by the finalizer of SplitMix64 (Steele, Lea and Flood,
/// 2014), and the halves of the last state are added by exclusive or.
///
/// Two of 1,000 streams share a key with a probability of about 1 in 8,600; whoever hands out keys must look.
pub fn stream_key(seed: u64, stream: &str) -> u32 {
    let absorb = |state: u64, byte: u8| split_mix(state ^ u64::from(byte));
    let state = seed.to_le_bytes().into_iter().chain(stream.bytes()).fold(0, absorb);
    (state >> 32) as u32 ^ state as u32
}

#[cfg(test)]
mod tests;
