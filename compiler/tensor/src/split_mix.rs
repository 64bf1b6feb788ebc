//! SplitMix64.

/// The state of SplitMix64 (Steele, Lea and Flood, 2014) a step further, mixed: 64 bits that look random, of a word.
pub fn split_mix(word: u64) -> u64 {
    let mut bits = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
