//! Random bits as a function of where and when they are used: the meaning of the composite `random_bits`.
//!
//! The bits of an element are a hash of a key, the step and the element's coordinates in the original tensor. So they
//! do not depend on the order of computation, and a tensor may be split, merged or resharded without any bit changing.
//!
//! Trainium's vector engines add and multiply integers in `f32`. The hash is therefore built from two bijections of
//! 32-bit words which shift, mask, exclusive-or, and multiply 16 bits by 8 bits, so that every product is below 2^24
//! and exact:
//!
//! - `up`: the product of the lower half is added (exclusive or) 8 bits up. The lowest byte stays, so the second byte,
//!   and then the upper half, can be recovered.
//! - `down`: the product of the upper half, without its lowest byte, is added to the lower half; a Feistel round.
//!
//! `mix` is six of them in turn. The chain is
//!
//! ```text
//! stream = mix(key)              word[0]    = mix(stream ^ step)          scalars
//!                                word[d+1]  = mix(word[d] ^ stream)
//!                                along[d]   = mix(word[d] ^ x[d])         a vector for each dimension
//! bits   = up(down(up(along[0] ^ along[1] ^ ..)))                         each element
//! ```
//!
//! The expensive part runs on vectors, one entry for each row or column; an element costs three rounds. Bare
//! exclusive-or would make the four corners of every rectangle dependent; the rounds after it undo that.
//!
//! As `mix` is a bijection, different keys in one step and different steps of one key have different first words, and
//! so have different positions along a dimension. The multipliers come from a random search for strong avalanche: over
//! nine rounds each input bit flips each output bit with a probability within 0.003 of one half. This is no
//! cryptography.

/// The coordinates of an element are below this, so that sums of an index and an offset are exact in `f32`.
pub const MAX_COORDINATE: u32 = 1 << 24;

/// What `mix` starts with, so that zero is no fixed point: the fractional bits of the golden ratio.
pub const MIX_OFFSET: u32 = 0x9e37_79b9;

/// Multipliers of the rounds of `mix`, which take turns: `up`, `down`, `up` and so on.
pub const MIX_MULTIPLIERS: [u32; 6] = [0xed, 0xf9, 0xb3, 0xe1, 0xd1, 0xc7];

/// Multipliers of the rounds of each element: `up`, `down`, `up`.
pub const ELEMENT_MULTIPLIERS: [u32; 3] = [0xd9, 0xab, 0xc1];

/// 32 random bits for the element at `coordinates` in step `step` of the stream `key`; a scalar has no coordinates.
/// Coordinates are below [`MAX_COORDINATE`].
pub fn random_bits(key: u32, step: u32, coordinates: &[u32]) -> u32 {
    let stream = mix(key);
    let mut word = mix(stream ^ step);
    let mut element = if coordinates.is_empty() { word } else { 0 };
    for &coordinate in coordinates {
        element ^= mix(word ^ coordinate);
        word = mix(word ^ stream);
    }
    rounds(element, &ELEMENT_MULTIPLIERS)
}

/// A bijection of words after which each bit depends on all.
fn mix(word: u32) -> u32 {
    rounds(word ^ MIX_OFFSET, &MIX_MULTIPLIERS)
}

/// `up` and `down` in turn.
fn rounds(word: u32, multipliers: &[u32]) -> u32 {
    let round = |word, (at, &multiplier)| if at % 2 == 0 { up(word, multiplier) } else { down(word, multiplier) };
    multipliers.iter().enumerate().fold(word, round)
}

fn up(word: u32, multiplier: u32) -> u32 {
    word ^ (((word & 0xffff) * multiplier) << 8)
}

fn down(word: u32, multiplier: u32) -> u32 {
    word ^ (((word >> 16) * multiplier) >> 8)
}

/// The key of a named stream under a seed, computed once at compile time: the bytes of the seed, lowest first, and of
/// the name in UTF-8 are absorbed one by one into a 64-bit state by the finalizer of SplitMix64 (Steele, Lea and Flood,
/// 2014), and the halves of the last state are added by exclusive or.
///
/// Two of 1,000 streams share a key with a probability of about 1 in 8,600; whoever hands out keys can look.
pub fn stream_key(seed: u64, stream: &str) -> u32 {
    let absorb = |state: u64, byte: u8| finalize((state ^ u64::from(byte)).wrapping_add(0x9e37_79b9_7f4a_7c15));
    let state = seed.to_le_bytes().into_iter().chain(stream.bytes()).fold(0, absorb);
    (state >> 32) as u32 ^ state as u32
}

fn finalize(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests;
