//! Random numbers that are the same everywhere.

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of one execution: they depend on nothing else, so that any execution can be repeated alone.
    pub(crate) fn of(seed: u64, target: &str, number: u64) -> Self {
        Self(hash(target.as_bytes()) ^ seed.rotate_left(32) ^ number.wrapping_mul(0xa24b_aed4_963e_e407))
    }

    /// The numbers that a content stands for.
    pub(crate) fn of_content(bytes: &[u8]) -> Self {
        Self(hash(bytes))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 where there is none.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }

    /// True once in `of` times.
    pub(crate) fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    /// One of these.
    ///
    /// # Panics
    /// When there are none.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A range in `0..length` of at most `most`.
    pub(crate) fn range(&mut self, length: usize, most: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        start..(start + 1 + self.below(most)).min(length)
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn an_execution_depends_on_seed_target_and_number_alone() {
        let numbers = |seed, target, number| {
            let mut random = Random::of(seed, target, number);
            [random.below(1000), random.below(1000), random.below(1000)]
        };
        assert_eq!(numbers(1, "ir", 5), numbers(1, "ir", 5));
        assert!(numbers(1, "ir", 5) != numbers(2, "ir", 5) && numbers(1, "ir", 5) != numbers(1, "hlo", 5));
        assert_ne!(numbers(1, "ir", 5), numbers(1, "ir", 6));
    }
}
