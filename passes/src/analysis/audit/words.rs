//! Names and numbers in findings.

use halite_ir::paths::family;

/// The most families of names that a finding lists.
const MAX_FAMILIES: usize = 3;

/// `model.layers.*.mlp.up_proj.weight` and so on, the first few.
pub(super) fn families(names: &[&str]) -> String {
    let mut families: Vec<String> = names.iter().map(|name| format!("`{}`", family(name))).collect();
    families.sort();
    families.dedup();
    let more = families.len().saturating_sub(MAX_FAMILIES);
    families.truncate(MAX_FAMILIES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", families.join(", "))
}

/// A power of two as such and in digits: `2^-7 = 0.0078`.
pub(super) fn power_of_two(value: f64) -> String {
    format!("2^{} = {}", value.log2(), significant(value))
}

/// Two significant digits: `0.001`, not `0.0010000000000000009`.
pub(super) fn significant(value: f64) -> String {
    let digits = (1.0 - value.abs().log10().floor()).clamp(0.0, 20.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(significant(1.0 - 0.999), "0.001");
        assert_eq!(significant(1.0 - 0.95), "0.05");
        assert_eq!(power_of_two((-7.0_f64).exp2()), "2^-7 = 0.0078");
    }

    #[test]
    fn families_are_counted() {
        assert_eq!(families(&["b", "h.0.a", "h.1.a", "c", "d"]), "`b`, `c`, `d` and 1 more");
    }
}
