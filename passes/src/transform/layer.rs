//! Layers of a model, by the names of what is in them.

/// A layer: one of a list, by its path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Layer<'a> {
    /// `model.layers.3`
    pub(crate) path: &'a str,
    /// `layers`
    pub(crate) list: &'a str,
    /// What of the name is inside, such as `mlp.down_proj.weight`.
    pub(crate) rest: &'a str,
}

impl<'a> Layer<'a> {
    /// That of a weight or scope, if it is in one: the path up to the first number.
    pub(crate) fn of(name: &'a str) -> Option<Self> {
        let mut end = 0;
        let mut list = "";
        for part in name.split('.') {
            let start = end;
            end += part.len();
            if !list.is_empty() && !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Some(Self {
                    path: &name[..end],
                    list,
                    rest: name[end..].strip_prefix('.').unwrap_or_default(),
                });
            }
            list = &name[start..end];
            end += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Layer;

    #[test]
    fn names_say_the_layer() {
        let layer = Layer { path: "model.layers.13", list: "layers", rest: "mlp.0.weight" };
        assert_eq!(Layer::of("model.layers.13.mlp.0.weight"), Some(layer));
        assert_eq!(Layer::of("h.2"), Some(Layer { path: "h.2", list: "h", rest: "" }));
        assert_eq!(Layer::of("model.norm.weight"), None);
        assert_eq!(Layer::of("3.weight"), None);
        assert_eq!(Layer::of("model.layers.3b.weight"), None);
        assert_eq!(Layer::of("a..3"), None);
    }
}
