//! Patterns over names.

/// Whether all of `name` matches `pattern`, in which `*` stands for any text, also none and also dots.
///
/// ```
/// use halite_passes::matches_pattern;
///
/// assert!(matches_pattern("model.*.mlp", "model.layers.0.mlp"));
/// assert!(!matches_pattern("model.*.mlp", "model.layers.0.mlp.act"));
/// ```
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// A name, or the path of a location, with numbers between dots as `*`, so that equal layers fall together: `model.layers.*.mlp`.
pub fn family(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for part in name.split_inclusive(['.', '(', ')']) {
        let level = part.trim_end_matches(['.', '(', ')']);
        let is_number = !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit());
        text.push_str(if is_number { "*" } else { level });
        text.push_str(&part[level.len()..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{family, matches_pattern as matches};

    #[test]
    fn layers_fall_together() {
        assert_eq!(family("model.layers.31.mlp"), "model.layers.*.mlp");
        assert_eq!(family("h.0.ln_1"), "h.*.ln_1");
        assert_eq!(family("vjp(model.layers.7)"), "vjp(model.layers.*)");
    }

    #[test]
    fn stars_match_any_text() {
        assert!(matches("*.bias", "h.0.bias") && matches("*norm*", "model.norm.weight") && matches("a", "a"));
        assert!(matches("h.*.ln_*.weight", "h.3.ln_1.weight"));
        assert!(!matches("bias", "h.0.bias") && !matches("*.bias", "h.0.bias_x") && !matches("ab*ab", "ab"));
    }
}
