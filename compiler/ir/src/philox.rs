//! Random words by Philox.

/// One block of Philox-4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
fn philox(key: u64, counter: u128) -> [u32; 4] {
    const MULTIPLIERS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];
    const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
    let mut keys = [key as u32, (key >> 32) as u32];
    let mut words = [0, 32, 64, 96].map(|shift| (counter >> shift) as u32);
    for _ in 0..10 {
        let [first, second] = [u64::from(words[0]) * MULTIPLIERS[0], u64::from(words[2]) * MULTIPLIERS[1]];
        let high = |product: u64| (product >> 32) as u32;
        words = [high(second) ^ words[1] ^ keys[0], second as u32, high(first) ^ words[3] ^ keys[1], first as u32];
        keys = [keys[0].wrapping_add(WEYL[0]), keys[1].wrapping_add(WEYL[1])];
    }
    words
}

/// So many words of 32 bits, or of 64 with the low half first, from a state of a key and a counter; the next state. A counter of one word
/// has the key above it.
pub(crate) fn words(state: &[u64], count: usize, is_long: bool) -> (Vec<u64>, Vec<u64>) {
    let [key, low, high] = [state[0], state[1], state.get(2).copied().unwrap_or(state[0])];
    let start = u128::from(low) | u128::from(high) << 64;
    let blocks = count.div_ceil(if is_long { 2 } else { 4 }) as u64;
    let mut words = Vec::with_capacity(count + 3);
    for block in 0..blocks {
        let [a, b, c, d] = philox(key, start.wrapping_add(u128::from(block))).map(u64::from);
        if is_long {
            words.extend([a | b << 32, c | d << 32]);
        } else {
            words.extend([a, b, c, d]);
        }
    }
    words.truncate(count);
    let end = start.wrapping_add(u128::from(blocks));
    let next = [key, end as u64, (end >> 64) as u64];
    (words, next[..state.len().min(3)].to_vec())
}

#[cfg(test)]
mod tests {
    use super::{philox, words};

    /// Known answers published with the algorithm (Random123, philox4x32, 10 rounds).
    #[test]
    fn known_answers() {
        assert_eq!(philox(0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox(u64::MAX, u128::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    /// Numbers that XLA's expansion gives on its CPU.
    #[test]
    fn layout() {
        let (bits, next) = words(&[5, 7], 5, false);
        assert_eq!(bits, [0x74a8_51f1, 0xc4a3_5ba8, 0x8280_0aa7, 0xaf5f_7739, 0xf093_503c]);
        assert_eq!(next, [5, 9]);
        assert_eq!(words(&[5, 7], 1, true).0, [0xc4a3_5ba8_74a8_51f1]);
        assert_eq!(words(&[5, u64::MAX, 1], 5, false).1, [5, 1, 2]);
    }
}
