//! Laying one recipe over another.

use super::check::unknown;
use super::replaced::Replaced;
use super::tree::{Entry, Node, Table, Value};
use crate::Optimizer;
use crate::schema::{Key, names};
use halite_support::{Diagnostic, Diagnostics, Span, codes};

/// Lays the precision and the optimizer of a recipe over those of another one. Its other entries are passed over, so that
/// a whole recipe can be laid as well as a part.
pub(super) fn lay(
    root: &mut Node,
    layer: Node,
    keys: &[Key],
    replaced: &mut Vec<Replaced>,
    mistakes: &mut Diagnostics,
) {
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
            "optimizer" => lay_optimizer(root, entry, replaced),
            known if names(keys).contains(&known) => {}
            _ => mistakes.push(unknown(&key, &key, entry.key, (keys, keys), None)),
        }
    }
}

/// Settings of the same update rule are replaced one by one. Another rule replaces the first; what holds of any rule stays.
fn lay_optimizer(root: &mut Table, entry: Entry, replaced: &mut Vec<Replaced>) {
    let below = root.get_mut("optimizer").map(|entry| &mut entry.node.value);
    let (Some(Value::Table(below)), Value::Table(above)) = (below, &entry.node.value) else {
        root.insert("optimizer".to_owned(), entry);
        return;
    };
    for (name, chosen) in above {
        let settings = below.get_mut(name).map(|entry| &mut entry.node.value);
        match (settings, &chosen.node.value) {
            (Some(Value::Table(settings)), Value::Table(new)) => {
                new.keys().for_each(|key| choose_bound(settings, key));
                settings.extend(new.clone());
            }
            _ => put_rule(below, name, chosen.clone(), replaced),
        }
    }
}

/// Puts an entry into the table of the optimizer. The table of a rule replaces that of another one.
pub(super) fn put_rule(optimizer: &mut Table, name: &str, mut entry: Entry, replaced: &mut Vec<Replaced>) {
    let kept = choose_rule(optimizer, name, entry.key, replaced);
    if let Value::Table(settings) = &mut entry.node.value {
        keep(settings, kept);
    }
    optimizer.insert(name.to_owned(), entry);
}

/// Drops the other rules where a key of the optimizer, which stands at `span`, is the name of an update rule, and returns the settings
/// of them that hold of any rule.
pub(super) fn choose_rule(optimizer: &mut Table, key: &str, span: Span, replaced: &mut Vec<Replaced>) -> Table {
    let mut kept = Table::new();
    if Optimizer::is_own_key(key) {
        return kept;
    }
    let is_other = |name: &String| name != key && !Optimizer::is_own_key(name);
    for (_, entry) in optimizer.iter().filter(|(name, _)| is_other(name)) {
        if let Value::Table(settings) = &entry.node.value {
            let shared = settings.iter().filter(|(key, _)| Optimizer::is_shared(key));
            kept.extend(shared.map(|(key, entry)| (key.clone(), entry.clone())));
        }
    }
    for (name, entry) in optimizer.extract_if(.., |name, _| is_other(name)) {
        replaced.push(Replaced { rule: name, entry, by: span });
    }
    kept
}

/// Adds to the settings of a rule what is kept of another, where they do not say otherwise.
pub(super) fn keep(settings: &mut Table, kept: Table) {
    let is_bounded = settings.keys().any(|key| Optimizer::is_bound(key));
    for (key, entry) in kept {
        if !(is_bounded && Optimizer::is_bound(&key)) {
            settings.entry(key).or_insert(entry);
        }
    }
}

/// Drops the other bound where a key bounds the gradients.
pub(super) fn choose_bound(settings: &mut Table, key: &str) {
    if Optimizer::is_bound(key) {
        settings.retain(|name, _| name == key || !Optimizer::is_bound(name));
    }
}

#[cfg(test)]
mod tests {
    use super::super::load_over;
    use crate::testing::Known;
    use crate::{Clip, PrecisionName, Recipe};
    use halite_support::SourceMap;

    const BASE: &str =
        "halite = 1\nbatch = 2\nseq = 8\nmodel.name = 'llama'\n[optimizer.adamw]\nlr = 1e-3\neps = 1e-7\n";

    fn laid(text: &str) -> Result<Recipe, String> {
        laid_over(BASE, text)
    }

    fn laid_over(base: &str, text: &str) -> Result<Recipe, String> {
        let mut sources = SourceMap::new();
        let (base, layer) = (sources.add("base.toml", base), sources.add("layer.toml", text));
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
        let shared = |recipe: &Recipe| (recipe.optimizer.weight_decay, recipe.optimizer.clip);
        let text = format!("{BASE}weight_decay = 0.1\nclip_norm = 1.0\n");
        let recipe = laid_over(&text, "optimizer.sgd.lr = 0.1\n").unwrap();
        assert_eq!(shared(&recipe), (0.1, Some(Clip::Norm(1.0))));
        let recipe = laid_over(&text, "[optimizer.sgd]\nlr = 0.1\nweight_decay = 0.0\nclip_value = 2\n").unwrap();
        assert_eq!(shared(&recipe), (0.0, Some(Clip::Value(2.0))));
        let recipe = laid_over(&text, "optimizer.adamw.clip_value = 2\n").unwrap();
        assert_eq!(shared(&recipe), (0.1, Some(Clip::Value(2.0))));
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
