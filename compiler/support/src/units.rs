//! Numbers with units, for people.

/// Bytes in the largest unit of which there is one: `75.3 GiB`.
pub fn bytes(number: u64) -> String {
    scaled(number as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB"])
}

/// A count in the largest unit of which there is one: `46.1 G`.
pub fn short(number: u64) -> String {
    scaled(number as f64, 1000.0, &["", "k", "M", "G", "T", "P", "E"]).trim_end().to_owned()
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
    }
}
