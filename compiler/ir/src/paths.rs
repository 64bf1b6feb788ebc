//! Paths of scopes and names, for people.

/// A scope inside another one; either may be empty.
pub fn nested(outer: &str, inner: String) -> String {
    match (outer.is_empty(), inner.is_empty()) {
        (true, _) => inner,
        (false, true) => outer.to_owned(),
        (false, false) => format!("{outer}.{inner}"),
    }
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
    use super::*;

    #[test]
    fn layers_fall_together() {
        assert_eq!(family("model.layers.31.mlp"), "model.layers.*.mlp");
        assert_eq!(family("h.0.ln_1"), "h.*.ln_1");
        assert_eq!(family("vjp(model.layers.7)"), "vjp(model.layers.*)");
    }
}
