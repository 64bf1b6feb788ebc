//! Numbers with units, for people.

/// The units of bytes, each 1024 of the one before.
const BYTES: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/// Bytes in the largest unit of which there is one: `75.3 GiB`.
pub fn bytes(number: u64) -> String {
    scaled(number as f64, 1024.0, &BYTES)
}

/// Bytes in the largest unit of which they are a whole number.
pub fn whole_bytes(mut number: u64) -> (u64, &'static str) {
    let mut unit = 0;
    while number != 0 && number.is_multiple_of(1024) && unit + 1 < BYTES.len() {
        number /= 1024;
        unit += 1;
    }
    (number, BYTES[unit])
}

/// The bytes that a text such as `9 GiB` or `1.5MiB` states, rounded down; `None` where it is none, or more than 64 bits hold.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let power = BYTES.iter().position(|known| *known == unit.trim())?;
    let factor = 1_u64 << (10 * power);
    match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(factor),
        Err(_) => number
            .parse::<f64>()
            .ok()
            .map(|real| real * factor as f64)
            .filter(|all| *all < 2.0_f64.powi(63))
            .map(|all| all as u64),
    }
}

/// A count in the largest unit of which there is one: `46.1 G`.
pub fn short(number: u64) -> String {
    scaled(number as f64, 1000.0, &["", "k", "M", "G", "T", "P", "E"]).trim_end().to_owned()
}

/// A whole number with its digits in groups of three: `6,738,415,616`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 finding`, `2 findings`.
pub fn counted(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{} {thing}s", grouped(number as u64)) }
}

fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= step && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    if unit == 0 { format!("{value} {}", units[0]) } else { format!("{value:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!((bytes(1536), bytes(12)), ("1.5 KiB".into(), "12 B".into()));
        assert_eq!((short(46_084_915_200), short(7)), ("46.1 G".into(), "7".into()));
        assert_eq!(grouped(6_738_415_616), "6,738,415,616");
        assert_eq!((grouped(0), grouped(999), grouped(1000)), ("0".into(), "999".into(), "1,000".into()));
        assert_eq!((counted(1, "rank"), counted(2000, "rank")), ("1 rank".into(), "2,000 ranks".into()));
    }

    #[test]
    fn bytes_are_read_with_their_unit() {
        let gib = 1 << 30;
        assert_eq!(
            ["9 GiB", "1.5MiB", "12 B", "0 KiB"].map(parse_bytes),
            [Some(9 * gib), Some(3 << 19), Some(12), Some(0)]
        );
        for wrong in ["9", "9 GB", "", "GiB", "-1 GiB", "1e3 B", "1.2.3 B", "99999999 PiB", "9 GiB "] {
            assert_eq!(parse_bytes(wrong), (wrong == "9 GiB ").then_some(9 * gib), "{wrong}");
        }
        assert_eq!((whole_bytes(9 * gib), whole_bytes(1025), whole_bytes(0)), ((9, "GiB"), (1025, "B"), (0, "B")));
    }
}
