//! Amounts as people write and read them.

/// Reads a number of tokens: `300B`, `1.8T`, `4e9`.
pub(super) fn tokens(text: &str) -> Result<f64, String> {
    let expected = || format!("`{text}` is no number of tokens, expected one such as 300B or 1.8T");
    let (number, times) = match text.trim().char_indices().last() {
        Some((at, unit)) if unit.is_ascii_alphabetic() => {
            let times = match unit.to_ascii_uppercase() {
                'K' => 1e3,
                'M' => 1e6,
                'B' | 'G' => 1e9,
                'T' => 1e12,
                _ => return Err(expected()),
            };
            (&text.trim()[..at], times)
        }
        _ => (text.trim(), 1.0),
    };
    let number: f64 = number.parse().map_err(|_| expected())?;
    let tokens = number * times;
    if tokens.is_finite() && tokens >= 1.0 { Ok(tokens) } else { Err(expected()) }
}

/// Reads an amount of US dollars: `50000`, `2.5M`, `$800k`.
pub(super) fn money(text: &str) -> Result<f64, String> {
    let expected = || format!("`{text}` is no amount of US dollars, expected one such as 50000 or 2.5M");
    tokens(text.trim().trim_start_matches('$')).map_err(|_| expected())
}

/// Reads a time: `30d`, `36h`, `2w`.
pub(super) fn time(text: &str) -> Result<f64, String> {
    let expected = || format!("`{text}` is no time, expected one such as 36h, 30d or 8w");
    let (number, unit) = text.trim().split_at_checked(text.trim().len().saturating_sub(1)).ok_or_else(expected)?;
    let unit = match unit {
        "h" => 3600.0,
        "d" => 86_400.0,
        "w" => 7.0 * 86_400.0,
        _ => return Err(expected()),
    };
    let seconds = number.parse::<f64>().map_err(|_| expected())? * unit;
    if seconds.is_finite() && seconds > 0.0 { Ok(seconds) } else { Err(expected()) }
}

/// Seconds for people: `26 us`, `512 ms`, `7.51 s`, `3.2 h`, `12.5 days`.
pub(super) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 100.0 => format!("{s:.2} s"),
        s if s < 2.0 * 3600.0 => format!("{:.1} min", s / 60.0),
        s if s < 2.0 * 86_400.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

/// US dollars for people: `$0.32`, `$42`, `$1,240,000`.
pub(super) fn dollars(dollars: f64) -> String {
    if dollars < 10.0 {
        format!("${dollars:.2}")
    } else {
        format!("${}", crate::table::grouped(dollars.round() as u64))
    }
}

/// `27.3%`
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_units() {
        assert_eq!(tokens("300B"), Ok(300e9));
        assert_eq!(tokens("1.8t"), Ok(1.8e12));
        assert_eq!(tokens("4e9"), Ok(4e9));
        for wrong in ["", "B", "-1B", "1X", "nan", "inf", "1e400", "0"] {
            assert!(tokens(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits_have_units() {
        assert_eq!((money("$800k"), money("50000")), (Ok(800e3), Ok(50e3)));
        assert_eq!((time("36h"), time("2w")), (Ok(129_600.0), Ok(1_209_600.0)));
        for wrong in ["", "d", "-1d", "30", "30 days", "nand", "1é", "inf h"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        assert!(money("a lot").is_err());
    }

    #[test]
    fn times_and_prices_are_short() {
        assert_eq!(seconds(7.512), "7.51 s");
        assert_eq!(seconds(0.0301), "30.1 ms");
        assert_eq!(seconds(26e-6), "26 us");
        assert_eq!(seconds(1_080_000.0), "12.5 days");
        assert_eq!((dollars(0.321), dollars(1_240_000.4)), ("$0.32".to_owned(), "$1,240,000".to_owned()));
    }
}
