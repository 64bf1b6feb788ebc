//! Findings of `halite hlo check` in HLO of others; HLO that Halite makes for a target breaks none of its rules.

use halite::Session;
use halite::compile::CompileOptions;
use halite_hlo::graph::Graph;
use halite_hlo::proto::HloModuleProto;
use halite_hlo::{ArrayType, ModuleBuilder, ReduceKind};
use halite_neuron::Generation;
use halite_neuron::legality::Profile;
use halite_neuron::report::{Report, report};
use halite_recipe::Recipe;
use halite_report::Style;
use halite_support::{Diagnostic, SourceMap, codes};
use halite_target::{ModuleCheck, Repeated, join};
use halite_tensor::DType;
use std::path::Path;

/// The verdict on a module that JAX made (`tests/jax/make_hlo.py`).
fn check_jax(file: &str, target: Generation) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("jax/fixtures").join(file);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let module = halite_hlo::decode(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
    report(&Graph::new(module), &Profile::new(target))
}

/// Names of the broken rules with how often.
fn broken(report: &Report) -> Vec<(&str, usize)> {
    assert!(report.faults.is_empty(), "{:?}", report.faults);
    report.broken.iter().map(|rule| (rule.rule.as_str(), rule.count)).collect()
}

#[test]
fn the_step_of_a_jax_user_breaks_the_rules_that_it_should() {
    let report = check_jax("llama_step.hlo.pb", Generation::Trn1);
    let expected = [
        ("element-type", 601),
        ("wide-integer", 33),
        ("variadic-reduce", 1),
        ("reduce-combiner", 1),
        ("index-range", 4),
        ("scatter-float", 2),
    ];
    assert_eq!(broken(&report), expected);
    assert!(!report.legal);
    let of = |rule: &str| {
        let found = report.broken.iter().filter(|broken| broken.rule == rule).flat_map(|broken| &broken.found);
        found.map(|found| found.what.clone()).collect::<Vec<_>>().join("; ")
    };
    assert!(of("wide-integer").contains("`s64`"), "{}", of("wide-integer"));
    assert!(of("index-range").contains("dimension 0 of `f32[64,32]`"), "the embedding: {}", of("index-range"));
    let lines = report.broken.iter().flat_map(|rule| &rule.found).flat_map(|found| &found.instructions);
    let lines: Vec<&str> = lines.map(|place| place.line.as_str()).collect();
    assert!(lines.iter().any(|line| line.starts_with("models.py:")), "{lines:?}");
}

#[test]
fn loops_that_count_are_taken_and_others_are_not() {
    let scan = check_jax("scan.hlo.pb", Generation::Trn1);
    assert_eq!(broken(&scan), [], "its trips are known, and so are the positions that it reads");
    assert_eq!(broken(&check_jax("while.hlo.pb", Generation::Trn1)), [("loop-trips", 1)]);
}

#[test]
fn what_halite_makes_breaks_no_rule() {
    let mixed = ["precision=mixed"].as_slice();
    let switched = ["precision=mixed-sr"].as_slice();
    // Other programs compute with a weight than the one that rounds it from its master copy.
    let programs = ["precision=mixed", "accumulate=4"].as_slice();
    let stages = ["precision=mixed", "accumulate=4", "layers=2", "parallel.pipeline=2"].as_slice();
    let sharded = ["precision=mixed", "accumulate=4", "parallel.data=2", "parallel.zero=1"].as_slice();
    for (recipe, settings) in [
        ("tiny", [].as_slice()),
        ("tiny", mixed),
        ("tiny", switched),
        ("tiny", programs),
        ("tiny", stages),
        ("tiny", sharded),
        ("tiny", &["precision=bf16-sr"]),
        ("llama-7b", &[]),
        ("hlat-7b-paper", &[]),
    ] {
        for target in ["trn1", "trn2"] {
            let settings = settings.iter().copied().map(str::to_owned).chain([format!("target={target}")]);
            let settings: Vec<String> = settings.collect();
            let mut session = Session::new();
            let source = session.load(recipe, &settings).unwrap_or_else(|e| panic!("{e:?}"));
            let compiled = session.compile(&source, &CompileOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
            let mut doubts = compiled.warnings.iter().filter(|warning| warning.code() == codes::DOUBTFUL);
            assert_eq!(doubts.next(), None, "{recipe} {settings:?}");
        }
    }
}

/// Opcodes that are taken by inference alone are named where the verdict is.
#[test]
fn what_no_document_lists_is_told() {
    let mut session = Session::new();
    let settings = ["target=trn1", "precision=bf16-sr"].map(str::to_owned);
    let source = session.load("tiny", &settings).unwrap_or_else(|e| panic!("{e:?}"));
    let compiled = session.compile(&source, &CompileOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
    assert!(compiled.presumed.contains("call"), "the helpers that round are called: {:?}", compiled.presumed);
    assert!(!compiled.presumed.contains("add"), "the vendor's list has it");
    let scan = check_jax("scan.hlo.pb", Generation::Trn1);
    let presumed: Vec<(&str, usize)> = scan.presumed.iter().map(|row| (row.opcode.as_str(), row.count)).collect();
    assert_eq!(presumed, [("call", 3), ("dynamic-slice", 1)]);
}

#[test]
fn targets_that_nobody_used_are_told() {
    let mut session = Session::new();
    let settings = ["target=trn3".to_owned()];
    let source = session.load("tiny", &settings).unwrap_or_else(|e| panic!("{e:?}"));
    let compiled = session.compile(&source, &CompileOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
    let untested = compiled.warnings.iter().filter(|warning| warning.message().contains("untested"));
    assert_eq!(untested.count(), 1);
}

fn recipe(settings: &[&str]) -> Recipe {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let source = Session::new().load("tiny", &settings);
    source.unwrap_or_else(|e| panic!("{e:?}")).recipe
}

/// A module that sums over groups of ranks.
fn summed(name: &str, groups: &[Vec<usize>]) -> HloModuleProto {
    let mut module = ModuleBuilder::new(name);
    let mut entry = module.computation("main");
    let made = entry.parameter("x", ArrayType::new(DType::F32, [4])).and_then(|x| {
        let sum = entry.all_reduce(ReduceKind::Add, &[x], groups)?[0];
        entry.root_tuple(&[sum])
    });
    made.and_then(|root| entry.finish(root)).expect("the module is sound");
    module.finish().expect("the module is sound")
}

#[test]
fn ranks_of_an_instance_follow_from_its_logical_cores() {
    let groups: Vec<Vec<usize>> = (0..64).map(|rank| vec![rank, 64 + (rank + 1) % 64]).collect();
    let graph = Graph::new(summed("across", &groups));
    let of_size = |logical_core| report(&graph, &Profile { logical_core, ..Profile::new(Generation::Trn2) });
    assert_eq!(broken(&of_size(2)), [("group-placement", 1)], "instances of 64 ranks");
    assert_eq!(broken(&of_size(1)), [], "one instance of 128 ranks");
}

#[test]
fn the_flags_of_a_recipe_hold_for_its_rules() {
    let profile = |settings: &[&str]| halite_neuron::profile(&recipe(settings), Generation::Trn2);
    let pinned = profile(&["target=trn2"]);
    assert_eq!((pinned.logical_core, pinned.downcasts), (2, vec![]));
    let stated = profile(&["target=trn2", "neuron.flags=[\"-lnc=1\", \"--implicit-integer-downcast=dot,all_reduce\"]"]);
    assert_eq!((stated.logical_core, stated.downcasts), (1, vec!["dot".to_owned(), "all_reduce".to_owned()]));
    let by_default = |version: &str| {
        let version = format!("neuron.compiler={version:?}");
        profile(&["target=trn2", &version, "neuron.flags=[\"--implicit-integer-downcast=default\"]"]).downcasts
    };
    assert_eq!(by_default("2.27.5334"), ["all"]);
    assert!(by_default("2.28.7631").is_empty(), "the default has moved");
}

#[test]
fn a_terminal_is_told_nothing_by_names_of_others() {
    let mut module = summed("na\u{1b}[2Jme", &[vec![0, 1]]);
    for inst in module.computations.iter_mut().flat_map(|computation| &mut computation.instructions) {
        inst.name = format!("{}\u{1b}]0;x\u{7}", inst.name).into();
        if inst.opcode == "all-reduce" {
            inst.opcode = "all\u{1b}[31m".into();
        }
    }
    let report = report(&Graph::new(module), &Profile::new(Generation::Trn1));
    let found = report.broken.iter().flat_map(|rule| &rule.found);
    let places = found.clone().flat_map(|found| &found.instructions).map(|place| place.name.clone());
    let texts: Vec<String> = found.map(|found| found.what.clone()).chain(places).collect();
    assert_eq!(texts[0], "the op `all\\u{1b}[31m`", "what a terminal obeys is spelled out");
    let shown = report.faults.iter().map(|fault| halite_report::report(fault, &SourceMap::default(), Style::default()));
    let all: String = shown.chain([report.module.clone()]).chain(texts).collect();
    assert!(!all.contains(['\u{1b}', '\u{7}']), "{all:?}");
}

#[test]
fn findings_of_several_modules_are_told_once() {
    let finding = Diagnostic::error(codes::ILLEGAL, "x");
    let module = |times| {
        let findings = vec![Repeated::new(finding.clone(), times)];
        ModuleCheck { findings, ..ModuleCheck::default() }
    };
    let (forward, step) = (module(1), module(3));
    let told = join([&forward, &step]);
    assert_eq!(told, [finding.note("found 3 times in one module")]);
}
