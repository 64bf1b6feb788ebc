//! The law of names: under other names of functions, scopes, weights and layers a module becomes the same program, and the same is said of
//! it. `HALITE_RANDOM_MODULES` says how many random modules to try.

#![allow(clippy::print_stdout, reason = "what was tried is part of the output of a test")]

use halite::Session;
use halite::compile::CompileOptions;
use halite_analysis::CausalityReport;
use halite_bundle::ModuleRole;
use halite_hlo::proto::LiteralProto;
use halite_ir::{Module, ParamRole};
use halite_passes::{Findings, Runner, RunnerOptions, matches_pattern};
use halite_recipe::Recipe;
use halite_support::Diagnostic;
use halite_tensor::DType;
use halite_tests::compiled::expect;
use halite_tests::parallel::for_each;
use halite_tests::random::{RandomOptions, random_layers, random_module};
use halite_tests::renamed::renamed;
use halite_tests::structure::nameless;

const MIXED: RandomOptions = RandomOptions { float: DType::F32, smooth: false };

/// The number of modules to try.
fn count() -> u64 {
    let variable = std::env::var("HALITE_RANDOM_MODULES").ok();
    variable.map_or(2000, |text| text.parse::<u64>().expect("`HALITE_RANDOM_MODULES` is a whole number"))
}

/// The HLO of a module and its diagnostics, without names.
#[derive(PartialEq, Debug)]
struct Told {
    /// The HLO, or why there is none.
    hlo: Result<Vec<String>, String>,
    causality: String,
    /// Remarks, findings of the audit and warnings, in order.
    said: Vec<String>,
}

/// A text without what it says in backticks: these are names, or hold some.
fn unnamed(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

fn diagnostic(found: &Diagnostic) -> String {
    unnamed(&format!("{} {:?} {} {:?}", found.code().id, found.severity(), found.message(), found.help_text()))
}

fn told(session: &Session, module: &Module, recipe: &Recipe) -> Told {
    let role = ModuleRole::TRAIN_STEP;
    let pipeline = session.pipeline(&role).expect("a role of ours");
    let options = CompileOptions { explain: true, ..CompileOptions::default() };
    let compiled = session.compile_role(module, recipe, &role, &pipeline, &options);
    let mut said = Vec::new();
    if let Ok(compiled) = &compiled {
        let remark = |remark: &halite_passes::Remark| {
            format!(
                "{} {} {} {} in {}",
                remark.pass,
                remark.rule,
                remark.taken,
                unnamed(&remark.message),
                remark.scopes.len()
            )
        };
        said.extend(compiled.remarks.iter().map(remark));
        said.extend(compiled.audit.diagnostics().iter().map(diagnostic));
        said.extend(compiled.warnings.iter().map(diagnostic));
        said.push(unnamed(&compiled.replicas.to_string()));
    }
    let hlo =
        compiled.map(|compiled| nameless(compiled.hlo.graph().module(), is_a_key)).map_err(|error| diagnostic(&error));
    Told { hlo, causality: causality(session, module, recipe), said }
}

/// Whether a constant holds the keys of random streams, which are made of names: that is how one chooses them.
fn is_a_key(literal: &LiteralProto) -> bool {
    !literal.u32s.is_empty()
}

/// The verdict on causality alone.
fn causality(session: &Session, module: &Module, recipe: &Recipe) -> String {
    let findings = Findings::default();
    let cx = session.pass_cx(Some(recipe), Some(&findings)).expect("the target is known");
    let pipeline = session.passes.parse("check-causality").expect("a pass of ours");
    let done = Runner::new(RunnerOptions::default()).run(&pipeline, &mut module.clone(), &cx).map(|_| ());
    let report = findings.report::<CausalityReport>().map(|report| format!("{} {}", report.outputs, report.loss));
    unnamed(&format!("{done:?} {report:?}"))
}

/// A recipe that says of a renamed module what another says of the module.
fn along(recipe: &Recipe, module: &Module, renamed: &Module) -> Recipe {
    let mut along = recipe.clone();
    let weights = |module: &Module| -> Vec<String> {
        let params = module.entry().expect("an entry").params.iter();
        params.filter(|param| matches!(param.role, ParamRole::Weight(_))).map(|param| param.name.to_string()).collect()
    };
    let pairs = weights(module).into_iter().zip(weights(renamed));
    let fits = |name: &str| recipe.optimizer.no_decay.iter().any(|pattern| matches_pattern(pattern, name));
    along.optimizer.no_decay = pairs.filter(|(old, _)| fits(old)).map(|(_, new)| new).collect();
    along
}

fn holds(session: &Session, module: &Module, recipe: &Recipe, what: impl std::fmt::Display) -> bool {
    let other = renamed(module);
    let first = told(session, module, recipe);
    let second = told(session, &other, &along(recipe, module, &other));
    assert_eq!(first.said, second.said, "{what}");
    assert_eq!(first.causality, second.causality, "{what}");
    match (&first.hlo, &second.hlo) {
        (Ok(first), Ok(second)) => {
            let other = first.iter().zip(second).find(|(first, second)| first != second);
            assert!(other.is_none() && first.len() == second.len(), "{what}: another program: {other:#?}");
        }
        (first, second) => assert_eq!(first.as_ref().err(), second.as_ref().err(), "{what}"),
    }
    first.hlo.is_ok()
}

/// A preset with settings, and its model.
fn load(settings: &[&str]) -> (Session, Recipe, Module) {
    let mut session = Session::new();
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let source = expect(session.load("tiny", &settings));
    let module = expect(session.elaborate(&source)).module;
    (session, source.recipe, module)
}

/// A built-in model of small sizes under these settings.
fn of_family((name, more): (&str, &str), settings: &[&str]) -> (Session, Recipe, Module) {
    let text = format!(
        "halite = 1\nbatch = 2\nseq = 8\n[model]\nname = \"{name}\"\n\
         config = {{ vocab = 32, hidden = 16, layers = 3, heads = 2, ffn = 32{more} }}\n[optimizer.adamw]\nlr = 1e-4\nclip_norm = 1.0\n"
    );
    let mut session = Session::new();
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let source = expect(session.load_recipe("recipe.toml", &text, &settings));
    let module = expect(session.elaborate(&source)).module;
    (session, source.recipe, module)
}

#[test]
fn settings_of_every_kind_give_the_same_under_other_names() {
    let cases: &[&[&str]] = &[
        &[],
        &["target=\"trn1\""],
        &["target=\"trn1\"", "accumulate=2", "batch=4", "recompute=[\"block\"]"],
        &["precision=\"mixed\"", "emit.calls=\"keep\"", "optimizer.adamw.clip_norm=1.0"],
        &["target=\"trn1\"", "precision=\"bf16-sr\"", "parallel.data=2", "emit.calls=\"keep\""],
        &["target=\"trn1\"", "parallel.data=2", "parallel.tensor=2", "parallel.zero=1", "batch=2"],
        &["layers=1"],
    ];
    let made = for_each(cases, |settings| {
        let (session, recipe, module) = load(settings);
        holds(&session, &module, &recipe, format!("{settings:?}"))
    });
    assert!(made.iter().all(|made| *made), "{made:?}");
}

#[test]
fn built_in_models_are_the_same_under_other_names() {
    let with_groups = ", kv_heads = 1";
    let families = [
        ("llama", with_groups),
        ("llama3", with_groups),
        ("mistral", with_groups),
        ("qwen2", with_groups),
        ("gpt2", ""),
        ("bert", ""),
    ];
    let targets = ["target=\"trn1\"", "emit.calls=\"keep\""];
    let cases: Vec<_> = families.iter().flat_map(|family| targets.map(|target| (*family, target))).collect();
    let made = for_each(&cases, |&(family, target)| {
        let (session, recipe, module) = of_family(family, &[target]);
        holds(&session, &module, &recipe, format!("{family:?}, {target}"))
    });
    assert!(made.iter().all(|made| *made), "{cases:?} {made:?}");
}

#[test]
fn random_modules_are_the_same_under_other_names() {
    let seeds: Vec<u64> = (0..count().div_ceil(20)).collect();
    let made = for_each(&seeds, |&seed| {
        let calls = ["emit.calls=\"keep\"", "emit.calls=\"inline\""][seed as usize % 2];
        let precision = ["precision=\"mixed\"", "precision=\"fp32\""][seed as usize / 2 % 2];
        let (session, recipe, _) = load(&[calls, precision]);
        let layered = random_layers(seed, MIXED, &session.registry).module;
        let plain = random_module(seed, MIXED, &session.registry).module;
        [layered, plain].iter().filter(|module| holds(&session, module, &recipe, format!("seed {seed}"))).count()
    });
    println!("{} programs of {} modules", made.iter().sum::<usize>(), 2 * made.len());
    assert!(made.iter().sum::<usize>() > seeds.len());
}
