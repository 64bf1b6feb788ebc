//! Names of merged weights.

/// The common parts of the names around their different parts, which are joined by `_`: `a.q_proj.weight` and `a.k_proj.weight` make
/// `a.q_k_proj.weight`. Names are cut after a dot or underscore from the left, and before one from the right.
pub(super) fn merged(names: &[&str]) -> String {
    let Some((first, rest)) = names.split_first() else { return String::new() };
    let boundary = |byte: &u8| matches!(byte, b'.' | b'_');
    let common = rest.iter().fold(first.len(), |length, name| same(first.bytes(), name.bytes()).min(length));
    let start = first.as_bytes()[..common].iter().rposition(boundary).map_or(0, |at| at + 1);
    let common = rest.iter().fold(first.len() - start, |length, name| {
        same(first[start..].bytes().rev(), name[start..].bytes().rev()).min(length)
    });
    let suffix = &first[first.len() - common..];
    let suffix = suffix.bytes().position(|byte| boundary(&byte)).map_or("", |at| &suffix[at..]);
    let middles: Vec<_> = names.iter().map(|name| &name[start..name.len() - suffix.len()]).collect();
    format!("{}{}{suffix}", &first[..start], middles.join("_"))
}

/// The number of bytes that agree from the start.
fn same(left: impl Iterator<Item = u8>, right: impl Iterator<Item = u8>) -> usize {
    left.zip(right).take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
mod tests {
    use super::merged;

    #[test]
    fn what_differs_is_joined() {
        let attention = "model.layers.0.self_attn.";
        let names = ["q_proj", "k_proj", "v_proj"].map(|name| format!("{attention}{name}.weight"));
        assert_eq!(merged(&names.each_ref().map(|name| &**name)), format!("{attention}q_k_v_proj.weight"));
        assert_eq!(merged(&["mlp.gate_proj.weight", "mlp.up_proj.weight"]), "mlp.gate_up_proj.weight");
        assert_eq!(merged(&["h.q1.w", "h.q2.w"]), "h.q1_q2.w");
        assert_eq!(merged(&["q", "k"]), "q_k");
        assert_eq!(merged(&["w_q", "w_k"]), "w_q_k");
        assert_eq!(merged(&["größe.a", "größer.a"]), "größe_größer.a");
        assert_eq!(merged(&["a.", "a.b"]), "a._b");
        assert_eq!(merged(&["a.b.w", "a.w"]), "a.b.w_w");
    }
}
