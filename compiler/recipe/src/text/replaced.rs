//! The notice of an override or a layer that chooses another update rule than the recipe.

use super::tree::{Entry, Node, Value};
use crate::Optimizer;
use halite_support::{Diagnostic, Span, codes};

/// The table of an update rule that another one replaced.
pub(super) struct Replaced {
    /// The name of the rule.
    pub(super) rule: String,
    pub(super) entry: Entry,
    /// The place where the other one is named.
    pub(super) by: Span,
}

/// Reports which settings of the first rule that was replaced are lost, which stay, and which the optimizer has by default; `None`
/// where none is lost. `root` is the recipe as it is read.
pub(super) fn note(replaced: &[Replaced], root: &Node, optimizer: &Optimizer) -> Option<Diagnostic> {
    let (first, rule) = (replaced.first()?, &optimizer.rule);
    let Value::Table(before) = &first.entry.node.value else { return None };
    let Value::Table(stated) = &root.entry("optimizer")?.entry(&rule.name)?.value else { return None };
    let setting = |key: &str, value: &toml::Value| format!("`{key} = {value}`");
    let same = |key: &str, entry: &Entry| stated.get(key).is_some_and(|now| now.node.span == entry.node.span);
    let shown = |(key, entry): (&String, &Entry)| setting(key, &entry.node.to_toml());
    let dropped: Vec<String> = before.iter().filter(|(key, _)| !stated.contains_key(*key)).map(shown).collect();
    if dropped.is_empty() || first.rule == rule.name {
        return None;
    }
    let kept: Vec<String> = before.iter().filter(|(key, entry)| same(key, entry)).map(shown).collect();
    let defaults = rule.settings.iter().filter(|(key, _)| !stated.contains_key(*key));
    let defaults: Vec<String> = defaults.map(|(key, value)| setting(key, value)).collect();
    let (old, new) = (&first.rule, &rule.name);
    let message = format!("`optimizer.{new}` takes the place of `optimizer.{old}`, of which settings are lost");
    let mut note = Diagnostic::notice(codes::RECIPE_CLASH, message).at(first.by, "chosen here");
    if first.entry.key.file != first.by.file {
        note = note.also(first.entry.key, "in place of this one");
    }
    note = note.note(format!("dropped: {}", dropped.join(", ")));
    for (what, settings) in [("kept", kept), (&*format!("defaults of `{new}`"), defaults)] {
        if !settings.is_empty() {
            note = note.note(format!("{what}: {}", settings.join(", ")));
        }
    }
    Some(note.help(format!(
        "set what it should have, as by `--set optimizer.{new}.KEY=VALUE`; `halite help optimizer.{new}` lists its keys"
    )))
}

#[cfg(test)]
mod tests {
    use super::super::load;
    use crate::testing::Known;
    use halite_support::{Diagnostic, Severity, SourceMap};

    const RECIPE: &str = "halite = 1\nbatch = 2\nseq = 8\nmodel.name = 'llama'\n[optimizer.adamw]\nlr = 1e-3\n\
                          betas = [0.9, 0.99]\nweight_decay = 0.1\nclip_norm = 1.0\n";

    fn told(overrides: &[&str]) -> Vec<Diagnostic> {
        let mut sources = SourceMap::new();
        let file = sources.add("r.toml", RECIPE);
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        let (_, places) = load(file, &overrides, &Known, &mut sources).unwrap();
        places.told().collect()
    }

    #[test]
    fn another_rule_says_what_is_lost_what_stays_and_what_comes_in() {
        for overrides in [
            &["optimizer.sgd.lr=0.1", "optimizer.sgd.weight_decay=0.2"][..],
            &["optimizer.sgd={ lr = 0.1, weight_decay = 0.2 }"],
        ] {
            let [note] = &told(overrides)[..] else { panic!("one note of {overrides:?}") };
            assert_eq!(note.severity(), Severity::Note);
            assert_eq!(
                note.message(),
                "`optimizer.sgd` takes the place of `optimizer.adamw`, of which settings are lost"
            );
            let notes =
                ["dropped: `betas = [0.9, 0.99]`", "kept: `clip_norm = 1.0`", "defaults of `sgd`: `momentum = 0.0`"];
            assert_eq!(note.notes(), notes);
        }
        assert_eq!(told(&["optimizer.adamw.lr=0.1"]), []);
        // Nothing is lost that is said again, as by two changes of mind.
        assert_eq!(told(&["optimizer.sgd.lr=1", "optimizer.adamw.lr=1", "optimizer.adamw.betas=[0.5, 0.5]"]), []);
    }
}
