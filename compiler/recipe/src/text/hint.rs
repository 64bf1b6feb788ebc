//! Hints for words that are no keys where they stand.

use super::elsewhere::{Meant, WORDS};
use super::join;
use crate::Extension;
use crate::schema::{Key, Kind, names, needed_choices};
use halite_support::nearest::{list, nearest};
use halite_support::{Code, codes};

/// The update rule whose keys are named where nothing says which one is meant.
const RULE: &str = "adamw";

/// The key that a word was probably meant to be, and a help.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Hint {
    /// The path of the key of the recipe that is meant, if it is known.
    pub key: Option<String>,
    /// The advice, for the help of a diagnostic.
    pub help: String,
    pub(super) code: Code,
}

impl Hint {
    fn help(code: Code, help: String) -> Self {
        Self { key: None, help, code }
    }

    fn key(key: &str) -> Self {
        let help = format!("did you mean `{key}`? `halite help {key}` describes it");
        Self { key: Some(key.to_owned()), help, code: codes::RECIPE_KEY }
    }
}

/// Returns the hint for an unknown key of a table with these keys, in a recipe with the keys `recipe` and this update rule.
pub(super) fn explain(name: &str, keys: &[Key], recipe: &[Key], rule: Option<&str>) -> Hint {
    let names = names(keys);
    let same = || names.iter().copied().find(|own| own.eq_ignore_ascii_case(name));
    let near = same().or_else(|| nearest(name, names.iter().copied())).map(Hint::key);
    // Where one of several tables is to be named, as in `optimizer`, a key of another table is hardly meant.
    let chooses = !needed_choices(keys).is_empty();
    let of_others = |hint: &Hint| chooses && hint.key.as_ref().is_some_and(|key| key.ends_with(&format!(".{name}")));
    let outside = outside(name, recipe, rule)
        .filter(|hint| !of_others(hint) || hint.key.as_ref().is_some_and(|key| key.starts_with("optimizer.")));
    match (outside, near) {
        (Some(Hint { code: codes::NOT_SUPPORTED, .. }), Some(near)) => near,
        (Some(outside), _) => outside,
        (None, Some(near)) => near,
        (None, None) => {
            let needed = needed_choices(keys);
            let choices = if needed.is_empty() { names } else { needed };
            let one_of = if choices.len() == 1 { "" } else { "one of " };
            Hint::help(codes::RECIPE_KEY, format!("choose {one_of}{}", list(&choices)))
        }
    }
}

/// Returns the hint for a word that was given where a key of a recipe may be meant, as in the table of a model's configuration or on a
/// command line; `rule` is the update rule of the recipe, if there is one.
pub fn hint(name: &str, extension: &dyn Extension, rule: Option<&str>) -> Option<Hint> {
    let keys = crate::extension::keys(extension, None);
    let near = || nearest(name, names(&keys)).map(Hint::key);
    outside(name, &keys, rule).or_else(near)
}

/// Returns the hint for a word of another trainer, or for a key outside the table that it stands in.
fn outside(name: &str, recipe: &[Key], rule: Option<&str>) -> Option<Hint> {
    // As options of a command line are written.
    let word = name.trim_start_matches('-').replace('-', "_");
    if let Some((_, meant)) = WORDS.iter().find(|(names, _)| names.contains(&&*word)) {
        return Some(match meant {
            Meant::Key(key) => Hint::key(&of_rule(key, recipe, rule)),
            Meant::As(key, remark) => {
                let key = of_rule(key, recipe, rule);
                let help = format!("did you mean `{key}`, {remark}? `halite help {key}` describes it");
                Hint { key: Some(key), help, code: codes::RECIPE_KEY }
            }
            Meant::Size(size) => Hint {
                key: Some(format!("model.config.{size}")),
                ..Hint::help(codes::RECIPE_KEY, format!("in built-in models it is `model.config.{size}`"))
            },
            Meant::Nothing { instead, nearest } => {
                Hint::help(codes::NOT_SUPPORTED, format!("remove it: {instead}; {nearest}"))
            }
        });
    }
    // A key of another table was not meant to be a whole table.
    let paths: Vec<String> =
        paths(&word, recipe).into_iter().filter(|path| path.contains('.') || leaf(path, recipe)).collect();
    let of_rules = |path: &String| path.starts_with("optimizer.") && path.matches('.').count() == 2;
    let paths: Vec<String> = match paths.first() {
        Some(first) if paths.iter().all(of_rules) => {
            let own = [rule, Some(RULE)].into_iter().flatten().map(|rule| format!("optimizer.{rule}.{word}"));
            own.filter(|own| paths.contains(own)).chain([first.clone()]).take(1).collect()
        }
        _ => paths,
    };
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    match paths[..] {
        [] => None,
        [path] => Some(Hint::key(path)),
        ref paths => Some(Hint::help(codes::RECIPE_KEY, format!("did you mean one of {}?", list(paths)))),
    }
}

/// Whether a top-level key of a recipe takes anything but a table.
fn leaf(name: &str, recipe: &[Key]) -> bool {
    recipe.iter().any(|key| key.name == name && !matches!(key.kind, Kind::Table(_)))
}

/// The path of a key of AdamW as one of the recipe's update rule, where that rule has such a key.
fn of_rule(key: &str, recipe: &[Key], rule: Option<&str>) -> String {
    let own = || Some(format!("optimizer.{}.{}", rule?, key.strip_prefix("optimizer.adamw.")?));
    let last = key.rsplit('.').next().unwrap_or(key);
    own().filter(|own| paths(last, recipe).contains(own)).unwrap_or_else(|| key.to_owned())
}

/// The paths of all keys of this name that a recipe can state, those in lists aside.
fn paths(name: &str, recipe: &[Key]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), recipe)];
    while let Some((path, keys)) = open.pop() {
        for key in keys {
            let path = join(&path, key.name);
            open.extend(key.kind.keys().map(|keys| (path.clone(), keys)));
            if key.name == name {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::elsewhere::Meant::{As, Key as Other};

    #[test]
    fn other_keys_are_keys_of_recipes_and_words_stand_once() {
        let mut seen = Vec::new();
        for (words, meant) in WORDS {
            if let Other(path) | As(path, _) = meant {
                let name = path.rsplit('.').next().unwrap_or(path);
                assert!(
                    paths(name, &crate::extension::keys(&crate::testing::Known, None)).contains(&(*path).to_owned()),
                    "{path}"
                );
            }
            for word in *words {
                assert!(!seen.contains(word), "{word}");
                assert!(
                    names(&crate::extension::keys(&crate::testing::Known, None)).iter().all(|key| key != word),
                    "{word} is a key"
                );
                seen.push(word);
            }
        }
    }

    #[test]
    fn words_of_other_trainers_are_explained() {
        let help = |name: &str| hint(name, &crate::testing::Known, None).map(|hint| hint.help).unwrap_or_default();
        assert_eq!(help("batch_size"), "did you mean `batch`? `halite help batch` describes it");
        assert_eq!(help("seed"), "did you mean one of `precision.sr.seed` and `train.seed`?");
        assert_eq!(help("lr"), "did you mean `optimizer.adamw.lr`? `halite help optimizer.adamw.lr` describes it");
        assert!(help("steps").starts_with("did you mean `train.steps`, which is how many updates to make"));
        let of_sgd = |name: &str| hint(name, &crate::testing::Known, Some("sgd")).and_then(|hint| hint.key);
        assert_eq!(of_sgd("--learning-rate").as_deref(), Some("optimizer.sgd.lr"));
        assert_eq!(of_sgd("lr").as_deref(), Some("optimizer.sgd.lr"));
        // A key that only one rule has is a key of that rule.
        assert_eq!(of_sgd("adam_beta1").as_deref(), Some("optimizer.adamw.betas"));
        assert_eq!(help("precison"), "did you mean `precision`? `halite help precision` describes it");
        assert!(
            help("dropout").contains("model.config") && help("gradient_accumulation_steps").contains("`accumulate`")
        );
        assert_eq!(
            help("min-lr"),
            "did you mean `schedule.floor`, which is a share of the peak? `halite help schedule.floor` describes it"
        );
        assert_eq!(help("num_layers"), "in built-in models it is `model.config.layers`");
        assert_eq!(hint("wobble", &crate::testing::Known, None), None);
    }
}
