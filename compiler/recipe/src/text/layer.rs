//! Laying one recipe over another.

use super::check::unknown;
use super::tree::{Entry, Node, Table, Value};
use crate::Optimizer;
use crate::schema::{Key, names};
use halite_support::{Diagnostic, Diagnostics, codes};

/// Lays the precision and the optimizer of a recipe over those of another one. Its other entries are passed over, so that
/// a whole recipe can be laid as well as a part.
pub(super) fn lay(root: &mut Node, layer: Node, keys: &[Key], mistakes: &mut Diagnostics) {
    let span = layer.span;
    let (Value::Table(root), Value::Table(layer)) = (&mut root.value, layer.value) else { return };
    if !layer.contains_key("precision") && !layer.contains_key("optimizer") {
        mistakes.push(
            Diagnostic::error(codes::RECIPE_KEY, "the recipe states neither `precision` nor `optimizer`")
                .at(span, "nothing to compare in this file")
                .help("add e.g. `precision = \"bf16-sr\"`"),
        );
    }
    for (key, entry) in layer {
        match &*key {
            "precision" => {
                root.insert(key, entry);
            }
            "optimizer" => lay_optimizer(root, entry),
            known if names(keys).contains(&known) => {}
            _ => mistakes.push(unknown(&key, &key, entry.key, keys, keys)),
        }
    }
}

/// Settings of the same update rule are replaced one by one, another rule replaces the first.
fn lay_optimizer(root: &mut Table, entry: Entry) {
    let below = root.get_mut("optimizer").map(|entry| &mut entry.node.value);
    let (Some(Value::Table(below)), Value::Table(above)) = (below, &entry.node.value) else {
        root.insert("optimizer".to_owned(), entry);
        return;
    };
    for (name, chosen) in above {
        let settings = below.get_mut(name).map(|entry| &mut entry.node.value);
        match (settings, &chosen.node.value) {
            (Some(Value::Table(settings)), Value::Table(new)) => settings.extend(new.clone()),
            _ => {
                choose_rule(below, name);
                below.insert(name.clone(), chosen.clone());
            }
        }
    }
}

/// Where a key of the optimizer is the name of an update rule, drops the other rules.
pub(super) fn choose_rule(optimizer: &mut Table, key: &str) {
    if !Optimizer::is_own_key(key) {
        optimizer.retain(|name, _| name == key || Optimizer::is_own_key(name));
    }
}

#[cfg(test)]
mod tests {
    use super::super::load_over;
    use crate::testing::Known;
    use crate::{PrecisionName, Recipe};
    use halite_support::SourceMap;

    const BASE: &str =
        "halite = 1\nbatch = 2\nseq = 8\nmodel.name = 'llama'\n[optimizer.adamw]\nlr = 1e-3\neps = 1e-7\n";

    fn laid(text: &str) -> Result<Recipe, String> {
        let mut sources = SourceMap::new();
        let (base, layer) = (sources.add("base.toml", BASE), sources.add("layer.toml", text));
        let loaded = load_over(base, Some(layer), &[], &Known, &mut sources);
        loaded.map(|(recipe, _)| recipe).map_err(|mistakes| {
            let place = mistakes[0].primary().expect("every mistake has a place").span;
            format!("{}: {}", sources.file(place.file).unwrap().name(), mistakes[0].message())
        })
    }

    #[test]
    fn what_is_stated_replaces_and_the_rest_stays() {
        let recipe = laid("batch = 7\nprecision = 'fp64'\noptimizer.adamw.betas = [0.9, 0.99]\n").unwrap();
        assert_eq!((recipe.batch, recipe.optimizer.lr), (Some(2), 1e-3));
        let settings = recipe.optimizer.rule.settings.to_string();
        assert_eq!(settings, "betas = [0.9, 0.99]\neps = 0.0000001\n");
        assert_eq!(recipe.precision, PrecisionName::Fp64.precision());
        let recipe = laid("optimizer.sgd.lr = 0.1\n").unwrap();
        assert_eq!((&*recipe.optimizer.rule.name, recipe.optimizer.lr), ("sgd", 0.1));
        let recipe = laid("optimizer = { ema = 0.9 }\n").unwrap();
        assert_eq!((&*recipe.optimizer.rule.name, recipe.optimizer.ema), ("adamw", Some(0.9)));
    }

    #[test]
    fn mistakes_are_found_in_the_layer() {
        assert_eq!(
            laid("batch = 1\n").unwrap_err(),
            "layer.toml: the recipe states neither `precision` nor `optimizer`"
        );
        assert_eq!(
            laid("percision = 'fp32'\nprecision = 'fp32'\n").unwrap_err(),
            "layer.toml: unknown key `percision`"
        );
        assert!(laid("optimizer.adamw.lr = 0\n").unwrap_err().starts_with("layer.toml: `optimizer.adamw.lr` is 0"));
    }
}
