//! Durations and sizes on the command line.

use std::time::Duration;

const TIMES: [(&str, u64); 5] = [("s", 1), ("min", 60), ("m", 60), ("h", 3600), ("d", 86_400)];
const SIZES: [(&str, u64); 5] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

/// `90s`, `30m`, `3h`, `2d`; at least a second.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    match number(text, &TIMES) {
        Some(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds)),
        _ => Err("expected a whole number with a unit: `90s`, `30m`, `3h` or `2d`".to_owned()),
    }
}

/// `512MiB`, `64GiB`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    number(text, &SIZES).ok_or_else(|| "expected a whole number with a unit: `512MiB`, `64GiB` or `1TiB`".to_owned())
}

fn number(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// A duration for people: `0.4 s`, `12 min 5 s`, `3 h 2 min`.
pub(super) fn spoken(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("3h"), Ok(Duration::from_secs(10_800)));
        assert_eq!(bytes("64GiB"), Ok(64 << 30));
        assert_eq!(bytes("0B"), Ok(0));
        for wrong in ["", "3", "h", "3 weeks", "-1s", "0s", "99999999999999999999s"] {
            assert!(duration(wrong).is_err() && bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_are_spoken_in_two_units() {
        let spoken = [400, 725_000, 10_920_000, 90_000_000].map(|millis| spoken(Duration::from_millis(millis)));
        assert_eq!(spoken, ["0.4 s", "12 min 5 s", "3 h 2 min", "1 d 1 h"]);
    }
}
