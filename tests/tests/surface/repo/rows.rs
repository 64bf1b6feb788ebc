//! A data format, a family of models and an axis of the mesh each stand in one place: adding one changes no other code than its line
//! in the list.

use crate::repo::{SHIPPED, files_below, production, read, root};
use halite_models::families::FAMILIES;
use halite_recipe::MeshAxis;

/// Files where such a word means something else: the file, the word, its meaning there.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("bindings/python/python/halite/tensors.py", "u16", "an element type"),
    ("bindings/python/python/halite/tensors.py", "u32", "an element type"),
    ("cli/src/builtin.rs", "text", "a key of the JSON that is printed"),
    ("cli/src/generate.rs", "text", "a key of the JSON that is printed"),
    ("cli/src/instead.rs", "text", "an option of other programs"),
    ("cli/src/texts.rs", "text", "an option"),
    ("compiler/bundle/src/fixtures.rs", "llama", "a bundle for tests"),
    ("compiler/recipe/src/data.rs", "text", "the column of a table"),
    ("compiler/recipe/src/text/tree.rs", "llama", "an example in a diagnostic"),
    ("compiler/tensor/src/dtype.rs", "u16", "an element type"),
    ("compiler/tensor/src/dtype.rs", "u32", "an element type"),
    ("data/src/features.rs", "parquet", "a feature of the crate"),
    ("models/src/families/rope.rs", "llama3", "a form of rotary positions, as Transformers calls it"),
    ("reference/src/entries/case.rs", "text", "the language of a block of Markdown"),
    ("reference/src/entries/composites.rs", "text", "the language of a block of Markdown"),
    ("reference/src/entries/ops.rs", "text", "the language of a block of Markdown"),
    ("reference/src/entries/passes.rs", "text", "the language of a block of Markdown"),
    ("reference/src/words.rs", "megatron", "a word of newcomers"),
    ("reference/src/words.rs", "safetensors", "a word of newcomers"),
    ("targets/neuron/selftest/src/checks/integers.rs", "u32", "an element type"),
    ("targets/neuron/src/legality/kernels.rs", "u32", "an element type"),
];

/// The files that are shipped, each without its tests and comments.
fn shipped() -> Vec<(String, String)> {
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    let code = |text: String| text.lines().filter(|line| !is_comment(line)).map(|line| format!("{line}\n")).collect();
    let rust = production(&SHIPPED).filter(|(path, _)| !path.ends_with("testing.rs"));
    let rust = rust.map(|(path, text)| (path, code(text)));
    let python = files_below("bindings/python/python/halite", "py").into_iter();
    let python = python.map(|file| file.strip_prefix(root()).unwrap().display().to_string());
    // Between triple quotes are docstrings.
    let python = python.map(|path| {
        let code = read(&path).split("\"\"\"").step_by(2).collect();
        (path, code)
    });
    rust.chain(python).collect()
}

/// The errors for words that may stand in one file each.
fn strays(words: &[(&str, String)]) -> Vec<String> {
    let shipped = shipped();
    let stands = |code: &str, word: &str| {
        [format!("\"{word}\""), format!("\"{word}\\\"")].iter().any(|form| code.contains(form))
    };
    let mut wrong = Vec::new();
    for (word, own) in words {
        let files = shipped.iter().filter(|(_, code)| stands(code, word)).map(|(path, _)| path.as_str());
        let (elsewhere, files): (Vec<&str>, Vec<&str>) =
            files.partition(|path| ELSEWHERE.iter().any(|(file, other, _)| file == path && other == word));
        if files != [own.as_str()] {
            wrong.push(format!("`{word}` stands in {files:?}, expected `{own}` alone"));
        }
        let unused = ELSEWHERE.iter().filter(|(file, other, _)| other == word && !elsewhere.contains(file));
        wrong.extend(unused.map(|(file, ..)| format!("`{word}` does not stand in `{file}`")));
    }
    wrong
}

#[test]
fn a_data_format_is_one_file() {
    let words = halite_data::words().iter().map(|word| (*word, format!("data/src/formats/{word}.rs")));
    let wrong = strays(&words.collect::<Vec<_>>());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Files that mean one axis of the mesh and no other: the file, the axis, why.
const ONE_AXIS: [(&str, &str, &str); 1] =
    [("targets/neuron/src/advice.rs", "Tensor", "more cores are advised for tensor parallelism, by its key")];

#[test]
fn an_axis_of_the_mesh_is_one_row() {
    let mut found = Vec::new();
    // Between quotes are keys, which messages name.
    let outside_quotes = |line: &str| line.split('"').step_by(2).collect::<String>();
    for (path, code) in shipped().iter().filter(|(path, _)| path != "compiler/recipe/src/parallel.rs") {
        let lines =
            code.lines().map(outside_quotes).filter(|line| line.contains("parallel") && !line.contains("--set"));
        let lines: Vec<String> = lines.map(|line| line.replace("shard.", "shard_") + " ").collect();
        for axis in MeshAxis::ALL.map(MeshAxis::name) {
            let is_field = |after: &str| !after.starts_with(|next: char| next == '_' || next.is_alphanumeric());
            let asks = |line: &&String| line.split(&format!(".{axis}")).skip(1).any(is_field);
            found.extend(lines.iter().find(asks).map(|line| format!("`{path}` and the degree of `{axis}`: {line}")));
        }
        for axis in MeshAxis::ALL.map(|axis| format!("{axis:?}")) {
            let is_let = ONE_AXIS.iter().any(|(file, own, _)| file == path && **own == axis);
            if code.contains(&format!("MeshAxis::{axis}")) != is_let {
                found.push(format!("`{path}` and the axis `{axis}`"));
            }
        }
    }
    assert!(found.is_empty(), "ask `MeshAxis::divides` and not which axis it is: {found:#?}");
}

#[test]
fn a_family_is_one_file_beside_its_models() {
    let mut words = Vec::new();
    for family in FAMILIES {
        let own = format!("models/src/families/{}.rs", family.model_type);
        words.extend(family.models.iter().map(|model| (model.name, own.clone())));
        words.push((family.model_type, own));
    }
    words.sort();
    words.dedup();
    let mut wrong = strays(&words);
    for model in FAMILIES.iter().flat_map(|family| family.models) {
        let begins = format!("\nmodel {} {{", model.name);
        let files = files_below("models", "hal")
            .into_iter()
            .map(|file| file.strip_prefix(root()).unwrap().display().to_string());
        let files: Vec<String> = files.filter(|file| read(file).contains(&begins)).collect();
        if files != [format!("models/{}.hal", model.name)] {
            wrong.push(format!("the model `{}` stands in {files:?}", model.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
