//! The examples of the reference compile, and do what it says.

use super::{blocks, docs, entries, reference};
use halite::Session;
use halite::compile::CompileOptions;
use halite_ir::{Registry, text};
use halite_lang::reference::{builtins, example_model, typed};
use halite_lang::{Options, elaborate};
use halite_reference::Kind;
use halite_support::{FileId, codes};

#[test]
fn builtins_make_what_their_examples_say() {
    let registry = Registry::builtin();
    for builtin in builtins() {
        let model = example_model(builtin.example);
        let file = FileId::of("example.hal", &model);
        let made = elaborate(file, &model, &Options::default(), &registry);
        let made = made.unwrap_or_else(|errors| panic!("{}: {errors:?}\n{model}", builtin.name));
        let entry = made.module.entry().unwrap();
        let stated: Vec<(&str, &str)> = typed(builtin.example).collect();
        assert!(!stated.is_empty(), "{}", builtin.name);
        for (name, ty) in stated {
            let at = entry.results.iter().position(|result| result.name == *name).unwrap();
            assert_eq!(entry.result_types()[at].to_string().replace(',', ", "), ty, "{} of {}", name, builtin.name);
        }
        let calls = format!("{}(", builtin.name);
        assert!(builtin.example.contains(&calls), "{} is not called by its example", builtin.name);
    }
}

/// Whole models are compiled to a bundle, with the libraries that stand before them in files; others are elaborated.
#[test]
fn blocks_of_the_language_compile() {
    let registry = Registry::builtin();
    let mut files: Vec<_> =
        std::fs::read_dir(docs().join("language")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut count = 0;
    for file in files {
        let page = std::fs::read_to_string(&file).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for block in blocks(&page, "hal") {
            count += 1;
            if let Some((name, _)) = block.strip_prefix("library ").and_then(|block| block.split_once(' ')) {
                std::fs::write(folder.path().join(format!("{name}.hal")), block).unwrap();
            } else if block.starts_with("model ") || block.starts_with("use ") {
                let model = folder.path().join("example.hal");
                std::fs::write(&model, block).unwrap();
                let mut session = Session::new();
                let source = session.load(model.to_str().unwrap(), &[]);
                let source = source.unwrap_or_else(|errors| panic!("{errors:?}\n{block}"));
                let compiled = session.compile(&source, &CompileOptions::default());
                let compiled = compiled.unwrap_or_else(|errors| panic!("{errors:?}\n{block}"));
                assert!(compiled.warnings.is_empty(), "{:?}\n{block}", compiled.warnings);
            } else {
                let model = example_model(block);
                let made = elaborate(FileId::of("example.hal", &model), &model, &Options::default(), &registry);
                assert!(made.is_ok(), "{:?}\n{block}", made.err());
            }
        }
    }
    assert!(count > 20, "{count} blocks");
}

/// The IR of ops and composites is what the parser reads, and the verifier takes.
#[test]
fn programs_of_ops_and_composites_are_read_back() {
    let reference = reference();
    let registry = Registry::builtin();
    for entry in entries(&reference, Kind::Op).into_iter().chain(entries(&reference, Kind::Composite)) {
        for block in blocks(&entry.body, "text").into_iter().filter(|block| block.starts_with("func @")) {
            let parsed = text::parse(block, FileId::of("example.ir", block), &registry);
            let module = parsed.unwrap_or_else(|errors| panic!("{}: {errors:?}\n{block}", entry.label()));
            assert!(halite_ir::verify(&module, &registry).is_ok(), "{}\n{block}", entry.label());
        }
    }
}

/// Whether a message is about what else a table needs or must not have.
fn is_about_others(message: &str) -> bool {
    message.contains("more than one update rule") || message.starts_with("the recipe lacks")
}

/// The example of a recipe key has the key's type. Whether it fits the rest of the recipe is not checked here.
#[test]
fn recipe_keys_take_what_their_examples_say() {
    let reference = reference();
    let wrong = [codes::RECIPE_SYNTAX, codes::RECIPE_KEY, codes::RECIPE_TYPE, codes::RECIPE_RANGE, codes::OVERRIDE];
    let mut count = 0;
    for entry in entries(&reference, Kind::Recipe) {
        for block in blocks(&entry.body, "toml") {
            let table = block.lines().next().and_then(|line| line.strip_prefix('[')?.strip_suffix(']'));
            let prefix = table.map(|table| format!("{table}.")).unwrap_or_default();
            let lines = block.lines().skip(usize::from(table.is_some())).map(|line| format!("{prefix}{line}"));
            let mut session = Session::new();
            let errors = session.load("tiny", &lines.collect::<Vec<_>>()).err().unwrap_or_default();
            let errors: Vec<_> = errors.iter().filter(|error| wrong.contains(&error.code())).collect();
            let is_of_another = |error: &&&halite_support::Diagnostic| !is_about_others(error.message());
            assert_eq!(errors.iter().filter(is_of_another).count(), 0, "{}: {errors:?}", entry.name);
            count += 1;
        }
    }
    assert!(count > 60, "{count} examples");
}
