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

#[cfg(test)]
mod tests {
    use super::matches_pattern as matches;

    #[test]
    fn stars_match_any_text() {
        assert!(matches("*.bias", "h.0.bias") && matches("*norm*", "model.norm.weight") && matches("a", "a"));
        assert!(matches("h.*.ln_*.weight", "h.3.ln_1.weight"));
        assert!(!matches("bias", "h.0.bias") && !matches("*.bias", "h.0.bias_x") && !matches("ab*ab", "ab"));
    }
}
