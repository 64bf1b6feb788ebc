//! Random numbers that are a function of a key and a counter, so that they depend on no order and no thread.

use sha2::{Digest, Sha256};

/// A stream of random numbers, addressed by position.
#[derive(Clone, Copy, Debug)]
pub struct Stream(u64);

impl Stream {
    /// The stream of a seed and a name.
    pub fn new(seed: u64, name: &str) -> Self {
        let digest = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(name).finalize();
        Self(digest.iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte)))
    }

    /// 64 random bits: the finalizer of SplitMix64 (Steele, Lea and Flood 2014) on an arithmetic sequence.
    pub fn bits(self, position: u64) -> u64 {
        let mut bits = self.0.wrapping_add(position.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A whole number below `limit`, which is not 0; for limits far below 2^64 all are equally likely.
    pub fn below(self, position: u64, limit: u64) -> u64 {
        ((u128::from(self.bits(position)) * u128::from(limit)) >> 64) as u64
    }

    /// A sample that is equally likely anywhere between 0 and 1.
    pub fn unit(self, position: u64) -> f64 {
        unit(self.bits(position))
    }

    /// Two independent samples of the normal distribution with mean 0 and standard deviation 1, by the transformation
    /// of Box and Muller.
    pub fn normal_pair(self, position: u64) -> [f64; 2] {
        let radius = (-2.0 * unit(self.bits(2 * position)).ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * unit(self.bits(2 * position + 1))).sin_cos();
        [radius * cosine, radius * sine]
    }
}

/// Of random bits a number between 0 and 1, neither included.
fn unit(bits: u64) -> f64 {
    ((bits >> 11) as f64 + 0.5) * (-53f64).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_and_name_only() {
        assert_eq!(Stream::new(1, "w").bits(5), Stream::new(1, "w").bits(5));
        assert_ne!(Stream::new(1, "w").bits(5), Stream::new(2, "w").bits(5));
        assert_ne!(Stream::new(1, "w").bits(5), Stream::new(1, "v").bits(5));
    }

    #[test]
    fn whole_numbers_cover_their_range_evenly() {
        let mut counts = [0; 7];
        for position in 0..7000 {
            counts[Stream::new(0, "x").below(position, 7) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
