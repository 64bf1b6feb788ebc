//! Checks of a recipe's text against the schema.

use super::hint::{Hint, explain};
use super::join;
use super::tree::{Node, Table, Value};
use crate::MeshAxis;
use crate::schema::{Key, Kind, RECIPE_VERSION, Range, names, needed_choices};
use halite_support::nearest::{nearest, suggestion};
use halite_support::{Code, Diagnostic, Diagnostics, Span, codes};

/// Adds every mistake of a recipe, which states this update rule, to `mistakes`.
pub(super) fn check(root: &Node, keys: &[Key], targets: &[&str], rule: Option<&str>, mistakes: &mut Diagnostics) {
    let mut checker = Checker { root: keys, targets, rule, mistakes };
    if let Value::Table(table) = &root.value {
        checker.table(table, keys, "", root.span);
        checker.schedule(table);
    }
}

struct Checker<'a> {
    /// The keys of the recipe.
    root: &'a [Key],
    targets: &'a [&'a str],
    /// The update rule of the recipe.
    rule: Option<&'a str>,
    mistakes: &'a mut Diagnostics,
}

impl Checker<'_> {
    fn table(&mut self, table: &Table, keys: &[Key], path: &str, span: Span) {
        for (name, entry) in table {
            let path = join(path, name);
            match keys.iter().find(|key| key.name == name) {
                Some(key) => self.value(&entry.node, &key.kind, &path, entry.key),
                None => self.unknown(name, &path, entry.key, keys),
            }
        }
        let unknown = table.keys().filter(|name| !keys.iter().any(|key| key.name == **name));
        // A key that is there under a misspelled name is not missing too.
        let meant: Vec<&str> = unknown.filter_map(|name| nearest(name, names(keys))).collect();
        let is_missing = |key: &&Key| {
            key.required && key.choice.is_none() && !table.contains_key(key.name) && !meant.contains(&key.name)
        };
        for key in keys.iter().filter(is_missing) {
            let path = join(path, key.name);
            let help = match &key.kind {
                Kind::Table(_) | Kind::Config => format!("add `[{path}]`: {}", key.kind.describe()),
                Kind::Version => format!("add `{} = {RECIPE_VERSION}`", key.name),
                Kind::Tables(keys) => {
                    let needed: Vec<String> =
                        keys.iter().filter(|key| key.required).map(|key| format!("{} = ..", key.name)).collect();
                    format!("add `{} = [{{ {} }}]`: {}", key.name, needed.join(", "), key.kind.describe())
                }
                _ => format!("add `{} = ...`: {}", key.name, key.kind.describe()),
            };
            self.mistakes.push(
                Diagnostic::error(codes::RECIPE_KEY, format!("the recipe lacks `{path}`"))
                    .at(span, "expected in this table")
                    .help(help),
            );
        }
        self.choices(table, keys, path, span);
    }

    /// Checks that a table states at most one of the keys of a choice, and one where it must.
    fn choices(&mut self, table: &Table, keys: &[Key], path: &str, span: Span) {
        let mut choices: Vec<&str> = keys.iter().filter_map(|key| key.choice).collect();
        choices.dedup();
        let is_known = table.keys().all(|name| keys.iter().any(|key| key.name == *name));
        for choice in choices {
            let all: Vec<&Key> = keys.iter().filter(|key| key.choice == Some(choice)).collect();
            let expected: Vec<&str> = all.iter().map(|key| key.name).collect();
            let expected = halite_support::nearest::list(&expected);
            let mut stated = table.iter().filter(|(name, _)| all.iter().any(|key| key.name == **name));
            match (stated.next(), stated.next()) {
                (Some((_, first)), Some((_, second))) => self.mistakes.push(
                    Diagnostic::error(codes::RECIPE_KEY, format!("`{path}` states more than one {choice}"))
                        .at(second.key, "the second")
                        .also(first.key, "the first")
                        .help(format!("keep one of {expected}")),
                ),
                // An unknown key may be meant for one.
                (None, _) if is_known && all.iter().any(|key| key.required) => self.mistakes.push(
                    Diagnostic::error(codes::RECIPE_KEY, format!("`{path}` states no {choice}"))
                        .at(span, "none in this table")
                        .help(format!("add one of {expected}")),
                ),
                _ => {}
            }
        }
    }

    fn unknown(&mut self, name: &str, path: &str, span: Span, keys: &[Key]) {
        self.mistakes.push(unknown(name, path, span, (keys, self.root), self.rule));
    }

    fn value(&mut self, node: &Node, kind: &Kind, path: &str, key: Span) {
        match (kind, &node.value) {
            (Kind::Version, Value::Whole(version)) => self.version(*version, node.span),
            (Kind::Bool, Value::Bool(_)) => {}
            (Kind::Whole(least, most), Value::Whole(value)) if (least..=most).contains(&value) => {}
            (Kind::Whole(..), Value::Whole(_)) => self.wrong(codes::RECIPE_RANGE, node, kind, path),
            (Kind::Real(range), Value::Whole(_) | Value::Real(_)) if allows(*range, node) => {}
            (Kind::Real(_), Value::Whole(_) | Value::Real(_)) => self.wrong(codes::RECIPE_RANGE, node, kind, path),
            (Kind::Pair(range), Value::List(items)) if items.len() == 2 => self.pair(items, *range, path),
            (Kind::Wholes(least, most), Value::List(items)) => self.items(items, &Kind::Whole(*least, *most), path),
            (Kind::Reals(range), Value::List(items)) => self.items(items, &Kind::Real(*range), path),
            (Kind::Text, Value::Text(text)) if !text.is_empty() => {}
            (Kind::Texts, Value::List(items)) => {
                for item in items.iter().filter(|item| !matches!(item.value, Value::Text(_))) {
                    self.wrong(codes::RECIPE_TYPE, item, kind, path);
                }
            }
            (Kind::WholesOrTexts(least, most), Value::List(items)) => {
                let of_texts = items.first().is_some_and(|item| matches!(item.value, Value::Text(_)));
                let kind = if of_texts { Kind::Texts } else { Kind::Wholes(*least, *most) };
                self.value(node, &kind, path, key);
            }
            (Kind::Words(words), Value::List(items)) => {
                for item in items {
                    match &item.value {
                        Value::Text(text) => self.word(text, words, path, item.span),
                        _ => self.wrong(codes::RECIPE_TYPE, item, kind, path),
                    }
                }
            }
            (Kind::Word(words), Value::Text(text)) => self.word(text, words, path, node.span),
            (Kind::WordOrTable(words, _), Value::Text(text)) => self.word(text, words, path, node.span),
            (Kind::WholeOrTable(least, most, _), Value::Whole(value)) if (least..=most).contains(&value) => {}
            (Kind::WholeOrTable(..), Value::Whole(_)) => self.wrong(codes::RECIPE_RANGE, node, kind, path),
            (Kind::Table(keys) | Kind::WordOrTable(_, keys) | Kind::WholeOrTable(_, _, keys), Value::Table(table)) => {
                self.table(table, keys, path, key)
            }
            (Kind::Tables(keys), Value::List(items)) => self.tables(items, keys, kind, path),
            (Kind::WordsOrTables(words, keys), Value::List(items)) => {
                self.items(items, &Kind::WordOrTable(words, keys.clone()), path)
            }
            (Kind::Target, Value::Text(text)) => self.word(text, self.targets, path, node.span),
            (Kind::Form(form), Value::Text(text)) if (form.is_one)(text) => {}
            (Kind::Form(_), Value::Text(_)) => self.wrong(codes::RECIPE_RANGE, node, kind, path),
            (Kind::Config, Value::Table(table)) => self.config(table, path),
            (Kind::Variables, Value::Table(table)) => self.variables(table, path),
            (Kind::Lists, Value::Table(table)) => {
                for (name, entry) in table {
                    self.value(&entry.node, &Kind::Texts, &join(path, name), entry.key);
                }
            }
            _ => self.wrong(codes::RECIPE_TYPE, node, kind, path),
        }
    }

    fn tables(&mut self, items: &[Node], keys: &[Key], kind: &Kind, path: &str) {
        for (index, item) in items.iter().enumerate() {
            match &item.value {
                Value::Table(table) => self.table(table, keys, &join(path, &index.to_string()), item.span),
                _ => self.wrong(codes::RECIPE_TYPE, item, kind, path),
            }
        }
    }

    fn items(&mut self, items: &[Node], kind: &Kind, path: &str) {
        for (index, item) in items.iter().enumerate() {
            self.value(item, kind, &join(path, &index.to_string()), item.span);
        }
    }

    fn version(&mut self, version: i64, span: Span) {
        if version != i64::from(RECIPE_VERSION) {
            let message = format!("the recipe has version {version}, this build reads version {RECIPE_VERSION}");
            self.mistakes.push(
                Diagnostic::error(codes::VERSION, message)
                    .at(span, "not read by this build")
                    .help(format!("rewrite the recipe for `halite = {RECIPE_VERSION}`")),
            );
        }
    }

    fn wrong(&mut self, code: Code, node: &Node, kind: &Kind, path: &str) {
        let (found, expected) = (node.describe(), kind.describe());
        let help = match (kind, &node.value) {
            // The rest of the ranks, as others write it.
            (Kind::Whole(1, _), Value::Whole(-1)) if MeshAxis::ALL.iter().any(|axis| axis.key() == path) => {
                "write the number of all ranks divided by the other degrees, as `fsdp = 64` of 256 ranks with `tensor = 4`: a recipe states each degree, and their product is the number of ranks"
                    .to_owned()
            }
            (Kind::Whole(..) | Kind::Real(_), _) => format!("set `{path}` to such a number"),
            (Kind::Version, _) => format!("write `{path} = {RECIPE_VERSION}`"),
            // The name that such a table states is often written in its place.
            (Kind::Table(keys), Value::Text(text)) => {
                match (needed_choices(keys).contains(&text.as_str()), &keys[..]) {
                    (true, _) => format!("write it as a table: `[{path}.{text}]` with its settings"),
                    (false, [Key { name: "name", .. }, ..]) => format!("write `{path} = {{ name = \"{text}\" }}`"),
                    _ => format!("set `{path}` to {expected}"),
                }
            }
            _ => format!("set `{path}` to {expected}"),
        };
        self.mistakes.push(
            Diagnostic::error(code, format!("`{path}` is {found}, expected {expected}"))
                .at(node.span, "not allowed here")
                .help(help),
        );
    }

    fn pair(&mut self, items: &[Node], range: Range, path: &str) {
        for item in items.iter().filter(|item| !allows(range, item)) {
            let message = format!("`{path}` has {}, expected {}", item.describe(), range.describe());
            self.mistakes.push(
                Diagnostic::error(codes::RECIPE_RANGE, message)
                    .at(item.span, "not allowed here")
                    .help(format!("set `{path}` to two such numbers")),
            );
        }
    }

    fn word(&mut self, text: &str, words: &[&str], path: &str, span: Span) {
        if !words.contains(&text) {
            let message = format!("`{path}` is `{text}`, expected one of {}", halite_support::nearest::list(words));
            self.mistakes.push(
                Diagnostic::error(codes::RECIPE_RANGE, message).at(span, "unknown").help(suggestion(text, words)),
            );
        }
    }

    fn config(&mut self, table: &Table, path: &str) {
        for (name, entry) in table {
            if ["batch", "seq"].contains(&&**name) {
                self.mistakes.push(
                    Diagnostic::error(codes::RECIPE_KEY, format!("`{name}` is no key of `{path}`"))
                        .at(entry.key, "a size of the step")
                        .help(format!("write `{name} = ...` at the top of the recipe, or `--set {name}=...`")),
                );
            } else if !matches!(entry.node.value, Value::Bool(_) | Value::Whole(_) | Value::Real(_) | Value::Text(_)) {
                let (path, found) = (join(path, name), entry.node.describe());
                self.mistakes.push(
                    Diagnostic::error(
                        codes::RECIPE_TYPE,
                        format!("`{path}` is {found}, expected a number, a boolean or a word"),
                    )
                    .at(entry.node.span, "not allowed here")
                    .help("the configuration of a model holds numbers, booleans and words"),
                );
            } else if matches!(entry.node.value, Value::Real(value) if !value.is_finite()) {
                let (path, found) = (join(path, name), entry.node.describe());
                self.mistakes.push(
                    Diagnostic::error(codes::RECIPE_RANGE, format!("`{path}` is {found}, expected a finite number"))
                        .at(entry.node.span, "not finite")
                        .help("write the number that is meant"),
                );
            }
        }
    }

    fn variables(&mut self, table: &Table, path: &str) {
        for (name, entry) in table {
            if !matches!(entry.node.value, Value::Text(_)) {
                let (path, found) = (join(path, name), entry.node.describe());
                self.mistakes.push(
                    Diagnostic::error(codes::RECIPE_TYPE, format!("`{path}` is {found}, expected a string"))
                        .at(entry.node.span, "not allowed here")
                        .help("put the value in quotes: variables of the environment are texts"),
                );
            }
        }
    }

    /// Checks that the peak lies before the floor.
    fn schedule(&mut self, root: &Table) {
        let Some(Value::Table(schedule)) = root.get("schedule").map(|entry| &entry.node.value) else { return };
        let number = |key| schedule.get(key).map(|entry| (&entry.node.value, entry.node.span));
        let (Some((Value::Whole(warmup), at)), Some((Value::Whole(steps), end))) = (number("warmup"), number("steps"))
        else {
            return;
        };
        if *steps > 0 && warmup > steps {
            let message = format!("`schedule.warmup` is {warmup}, more than `schedule.steps`, which is {steps}");
            self.mistakes.push(
                Diagnostic::error(codes::RECIPE_RANGE, message)
                    .at(at, "the peak would come after the floor")
                    .also(end, "the floor is reached here")
                    .help("shorten the warm-up or lengthen the schedule"),
            );
        }
    }
}

/// Reports a key that is not among the `keys` of its table, in a recipe with the keys `recipe` and this update rule.
pub(super) fn unknown(
    name: &str,
    path: &str,
    span: Span,
    (keys, recipe): (&[Key], &[Key]),
    rule: Option<&str>,
) -> Diagnostic {
    let Hint { code, help, .. } = explain(name, keys, recipe, rule);
    let message = match code {
        codes::NOT_SUPPORTED => format!("`{path}` is not supported"),
        _ => format!("unknown key `{path}`"),
    };
    Diagnostic::error(code, message).at(span, "no such key").help(help)
}

fn allows(range: Range, node: &Node) -> bool {
    match node.value {
        Value::Whole(value) => range.contains(value as f64),
        Value::Real(value) => range.contains(value),
        _ => false,
    }
}
