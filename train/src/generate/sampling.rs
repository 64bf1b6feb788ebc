//! Choosing a token by its probability.

use halite_support::{Diagnostic, Result, codes};

/// How a token is chosen from logits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sampling {
    /// The divisor of the logits; 0 takes the most probable token.
    pub temperature: f64,
    /// The probability of the nucleus (Holtzman et al. 2020): the fewest most probable tokens that have it together are sampled from. 1
    /// takes all.
    pub top_p: f64,
}

impl Sampling {
    /// The most probable token.
    pub const GREEDY: Self = Self { temperature: 0.0, top_p: 1.0 };

    /// Checks that the numbers are in range.
    ///
    /// # Errors
    /// When the temperature is less than 0 or not finite, or `top_p` not greater than 0 and at most 1.
    pub fn check(&self) -> Result<()> {
        if !(self.temperature >= 0.0 && self.temperature.is_finite()) {
            let message = format!("the temperature is {}, expected a number of at least 0", self.temperature);
            return Err(Diagnostic::error(codes::USAGE, message)
                .help("0 takes the most probable token, 1 samples as the model says"));
        }
        if !(self.top_p > 0.0 && self.top_p <= 1.0) {
            let message = format!("top-p is {}, expected a number greater than 0 and at most 1", self.top_p);
            return Err(Diagnostic::error(codes::USAGE, message).help("1 takes all tokens into account"));
        }
        Ok(())
    }

    /// Chooses a token by 64 random bits; of equally probable ones, the first is taken before the others.
    ///
    /// # Errors
    /// When a logit is NaN or infinite, or there is none.
    pub(super) fn choose(&self, logits: &[f64], bits: u64) -> Result<usize> {
        if logits.is_empty() || logits.iter().any(|logit| !logit.is_finite()) {
            let error = Diagnostic::error(codes::DIVERGED, "the model predicts what is no number");
            return Err(error.help("use weights that were saved before the run diverged"));
        }
        let mut order: Vec<usize> = (0..logits.len()).collect();
        order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
        if self.temperature == 0.0 {
            return Ok(order[0]);
        }
        let most = logits[order[0]];
        let weights: Vec<f64> = order.iter().map(|&token| ((logits[token] - most) / self.temperature).exp()).collect();
        let nucleus = self.nucleus(&weights);
        let total: f64 = weights[..nucleus].iter().sum();
        let mut left = total * ((bits >> 11) as f64 * (-53f64).exp2());
        for (place, weight) in weights[..nucleus].iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return Ok(order[place]);
            }
        }
        Ok(order[nucleus - 1])
    }

    /// The number of weights, largest first, that have the share `top_p` together.
    fn nucleus(&self, weights: &[f64]) -> usize {
        let wanted = self.top_p * weights.iter().sum::<f64>();
        let mut sum = 0.0;
        let fewer = weights.iter().take_while(|&&weight| {
            let falls_short = sum < wanted;
            sum += weight;
            falls_short
        });
        fewer.count().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_bundle::Stream;

    const LOGITS: [f64; 5] = [0.0, 2.0, -1.0, 1.0, 2.0];
    const DRAWS: u64 = 100_000;

    /// The number of times that each token is chosen.
    fn counts(sampling: Sampling) -> [u64; 5] {
        let stream = Stream::new(3, "draws");
        let mut counts = [0; 5];
        (0..DRAWS).for_each(|draw| counts[sampling.choose(&LOGITS, stream.bits(draw)).unwrap()] += 1);
        counts
    }

    /// The exact distribution, computed apart: the tokens of the nucleus by hand.
    fn exact(temperature: f64, nucleus: &[usize]) -> [f64; 5] {
        let mut probabilities = [0.0; 5];
        nucleus.iter().for_each(|&token| probabilities[token] = (LOGITS[token] / temperature).exp());
        let total: f64 = probabilities.iter().sum();
        probabilities.map(|weight| weight / total)
    }

    /// Counts are binomial: by Hoeffding's inequality one of them is off by more than `t` times all draws with probability
    /// `2 exp(-2 n t^2)` at most. With `t = 0.0085` and 15 counts that is less than 2e-5 for the whole test, whose draws are fixed.
    #[test]
    fn tokens_are_chosen_as_often_as_they_are_probable() {
        let all = [0, 1, 2, 3, 4];
        // Of the probabilities 0.39, 0.39, 0.14, 0.05 and 0.02, three are needed for 0.8; at temperature 2, four for 0.9.
        let cases: [(Sampling, &[usize]); 3] = [
            (Sampling { temperature: 1.0, top_p: 1.0 }, &all),
            (Sampling { temperature: 1.0, top_p: 0.8 }, &[1, 4, 3]),
            (Sampling { temperature: 2.0, top_p: 0.9 }, &[1, 4, 3, 0]),
        ];
        for (sampling, nucleus) in cases {
            let expected = exact(sampling.temperature, nucleus);
            for (token, (count, expected)) in counts(sampling).into_iter().zip(expected).enumerate() {
                let found = count as f64 / DRAWS as f64;
                assert!((found - expected).abs() <= 0.0085, "{sampling:?} {token}: {found} is not {expected}");
                assert!(expected > 0.0 || count == 0, "{sampling:?}: {token} is outside the nucleus");
            }
        }
    }

    #[test]
    fn the_ends_of_the_range_of_random_bits_are_tokens() {
        let sampling = Sampling { temperature: 0.5, top_p: 1.0 };
        assert_eq!(sampling.choose(&LOGITS, 0).unwrap(), 1);
        assert_eq!(sampling.choose(&LOGITS, u64::MAX).unwrap(), 2);
        assert_eq!(Sampling::GREEDY.choose(&LOGITS, u64::MAX).unwrap(), 1);
        let least = Sampling { temperature: 1.0, top_p: 1e-9 };
        assert_eq!(least.choose(&LOGITS, u64::MAX).unwrap(), 1);
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let refused = |temperature, top_p| Sampling { temperature, top_p }.check().is_err();
        assert!([-1.0, f64::NAN, f64::INFINITY].into_iter().all(|temperature| refused(temperature, 1.0)));
        assert!([0.0, -0.1, 1.1, f64::NAN].into_iter().all(|top_p| refused(1.0, top_p)));
        assert!(!refused(0.0, 1.0) && !refused(0.7, 0.01));
        for logit in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Sampling::GREEDY.choose(&[0.0, logit], 0).unwrap_err().code(), codes::DIVERGED);
        }
    }
}
