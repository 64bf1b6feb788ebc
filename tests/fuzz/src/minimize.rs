//! Making an input smaller while what is wrong with it stays.

use std::time::{Duration, Instant};

/// The most time to try.
const TIME: Duration = Duration::from_secs(60);

/// The most tries.
const TRIES: usize = 500;

/// The smallest input found by taking parts away, first large ones, then small, for which `fails` still holds.
pub(crate) fn minimize(input: Vec<u8>, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let (start, mut tries) = (Instant::now(), 0);
    let (mut best, mut size) = (input.clone(), input.len().div_ceil(2));
    while size > 0 {
        let (mut at, length) = (0, best.len());
        while at < best.len() {
            if tries == TRIES || start.elapsed() > TIME {
                return best;
            }
            tries += 1;
            let shorter = [&best[..at], &best[(at + size).min(best.len())..]].concat();
            if fails(&shorter) { best = shorter } else { at += size }
        }
        if best.len() == length || size > best.len() {
            size /= 2;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::minimize;

    #[test]
    fn what_is_needed_stays() {
        let input = b"let it be (((( or not".to_vec();
        let needed = |text: &[u8]| text.iter().filter(|&&byte| byte == b'(').count() >= 3;
        assert_eq!(minimize(input, needed), b"(((");
    }
}
