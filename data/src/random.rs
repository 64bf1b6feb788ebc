//! Random numbers that are a function of a key, so that they depend on no thread and can be drawn in any order.

/// The increment and the multipliers of SplitMix64 (Steele, Lea and Flood, 2014).
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;
const MULTIPLIERS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// 64 bits that look random, of a list of words.
pub(crate) fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0, |state, word| mix((state ^ word).wrapping_add(INCREMENT)))
}

fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(MULTIPLIERS[0]);
    word = (word ^ (word >> 27)).wrapping_mul(MULTIPLIERS[1]);
    word ^ (word >> 31)
}

/// Puts items in an order that follows from the key alone.
pub(crate) fn shuffle<T>(items: &mut [T], key: u64) {
    for last in (1..items.len()).rev() {
        let drawn = u128::from(hash(&[key, last as u64])) * (last as u128 + 1);
        items.swap(last, (drawn >> 64) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_order_comes_about_equally_often() {
        let mut counts = BTreeMap::new();
        for key in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, hash(&[key]));
            *counts.entry(items).or_insert(0) += 1;
        }
        // Six standard deviations of a binomial distribution.
        assert!(counts.len() == 6 && counts.values().all(|count| (826..1174).contains(count)), "{counts:?}");
    }
}
