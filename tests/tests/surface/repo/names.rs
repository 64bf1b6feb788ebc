//! Meaning is in types: nothing is decided by what a name begins with, ends with or holds.

use crate::repo::production;

/// The folders where programs are made and analysed.
const CODE: [&str; 9] = [
    "compiler/ir",
    "driver",
    "compiler/lift",
    "compiler/lang",
    "optim",
    "passes",
    "targets/estimate",
    "targets/interface",
    "verify",
];

/// Calls that look into a text.
const LOOKS: [&str; 9] = [
    ".starts_with(",
    ".ends_with(",
    ".strip_prefix(",
    ".strip_suffix(",
    ".split_once(",
    ".rsplit_once(",
    ".split('.')",
    ".rsplit(",
    ".contains('",
];

/// Words for names in code.
const NAMES: [&str; 9] = ["name", "scope", "path", "hint", "kind", "label", "weight", "function", "list"];

/// Files that may look into names, each for a reason; folders end with `/`.
const MAY: &[(&str, &str)] = &[
    ("compiler/ir/src/text/", "IR text is read and printed here"),
    ("compiler/ir/src/layer.rs", "models write a layer as a part of a path; names are printed shorter inside of one"),
    ("compiler/ir/src/op_name.rs", "metadata of HLO are written and read here"),
    ("compiler/ir/src/lower/metadata.rs", "files are named without their folders"),
    ("driver/src/definition.rs", "a recipe names a file by its ending"),
    ("driver/src/program_file.rs", "files with programs are told by their endings"),
    ("driver/src/source.rs", "a file `config.json` is called as its folder"),
    ("driver/src/hugging_face/read.rs", "Transformers' names of classes"),
    ("compiler/lift/src/", "HLO has opcodes and element types as text"),
    ("compiler/lang/src/build/core/state.rs", "what is no name is refused"),
    ("compiler/lang/src/build/core/finish.rs", "models say by a `_` in front that a batch is not read"),
    ("compiler/lang/src/resolve.rs", "models say by a `_` in front that a value is not read"),
    ("compiler/lang/src/ops/names.rs", "names that the step will need are kept free"),
    ("passes/src/framework/pattern.rs", "recipes choose weights and scopes by patterns of names"),
    ("passes/src/transform/bind_recipe/patterns.rs", "an error shows what patterns could match"),
    ("passes/src/transform/cut/names.rs", "functions made of others are called after them"),
];

fn may(path: &str) -> Option<&'static str> {
    let own = |file: &str| if file.ends_with('/') { path.starts_with(file) } else { path == file };
    MAY.iter().map(|(file, _)| *file).find(|file| own(file))
}

#[test]
fn no_name_is_looked_into() {
    let mut used = Vec::new();
    let mut found = Vec::new();
    for (path, text) in production(&CODE) {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if LOOKS.iter().any(|look| code.contains(look)) && NAMES.iter().any(|name| code.contains(name)) {
                match may(&path) {
                    Some(file) => used.push(file),
                    None => found.push(format!("{path}:{}: {}", number + 1, line.trim())),
                }
            }
        }
    }
    assert!(found.is_empty(), "what a name says is decided by no fact:\n{}", found.join("\n"));
    let unused: Vec<_> = MAY.iter().filter(|(file, _)| !used.contains(file)).collect();
    assert!(unused.is_empty(), "these look into no name: {unused:?}");
}
