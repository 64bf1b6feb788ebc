//! Advice for a module that does not fit, and whether it keeps its promise.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::Session;
use halite::compile::{CompileOptions, Compiled};
use halite_bundle::ModuleEntry;
use halite_bundle::estimate::{FitVerdict, MemoryKind};
use halite_support::{Diagnostic, codes};
use halite_tests::parallel;

fn compile(preset: &str, settings: &[String]) -> Compiled {
    let mut session = Session::new();
    let source = session.load(preset, settings).unwrap_or_else(|errors| panic!("{settings:?}: {errors:?}"));
    let compiled = session.compile(&source, &CompileOptions::default());
    compiled.unwrap_or_else(|errors| panic!("{settings:?}: {errors:?}"))
}

fn advice(compiled: &Compiled) -> Option<&Diagnostic> {
    compiled.warnings.iter().find(|warning| warning.code().id == codes::DOES_NOT_FIT.id)
}

/// The settings that a text names: `key = value` between backticks.
fn named(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter_map(|words| words.split_once(" = ")).map(|(key, value)| format!("{key}={value}")).collect()
}

/// The module that a finding is of.
fn module<'a>(compiled: &'a Compiled, finding: &Diagnostic) -> &'a ModuleEntry {
    let name = finding.message().split('`').nth(1).expect("it names a module");
    compiled.bundle.manifest.modules.iter().find(|module| module.name == name).expect("the bundle has it")
}

/// Layouts that the target takes before and after, of instructions alone, of memory, and of both.
const RECIPES: [&[&str]; 6] = [
    &["target=trn1", "parallel={data=4,tensor=8,sequence=true,zero=1}", "recompute=[\"attention\",\"activation\"]"],
    &["target=trn1", "parallel={data=4,tensor=8,sequence=true}", "seq=3584"],
    &["target=trn1", "layers=16", "parallel={data=4,tensor=8,sequence=true,zero=1}", "batch=4"],
    &["target=trn2", "layers=16", "parallel={data=4,tensor=8,sequence=true}", "batch=4", "precision=mixed"],
    &["target=trn2", "parallel={tensor=4,sequence=true}", "precision=mixed"],
    &["target=trn2", "parallel={data=2,tensor=4,sequence=true,zero=1}", "precision=mixed"],
];

/// Each setting that is advised makes the figure smaller that the finding is of.
#[test]
fn what_is_advised_helps() {
    let told = parallel::for_each(&RECIPES, |settings| {
        let own: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let compiled = compile("llama-7b", &own);
        let finding = advice(&compiled).unwrap_or_else(|| panic!("{settings:?} fits"));
        let before = module(&compiled, finding);
        let fit = before.estimate.as_ref().and_then(|estimate| estimate.fit).expect("it is compared");
        let help = finding.help_text().unwrap_or_default().to_owned();
        assert!(!help.contains("pipeline"), "{help}");
        let figure = |module: &ModuleEntry| {
            let estimate = module.estimate.as_ref().expect("it is estimated");
            if fit.memory == FitVerdict::Fits { estimate.instructions.total() } else { estimate.memory.total() }
        };
        let mut tried = 0;
        for setting in named(&help) {
            let after = compile("llama-7b", &[own.clone(), vec![setting.clone()]].concat());
            let (before, after) = (figure(before), figure(module(&after, finding)));
            println!("{settings:?}, {setting}: {before} to {after}");
            assert!(after < before, "{settings:?}, {setting}: {before} to {after}\n{help}");
            tried += 1;
        }
        assert!(tried > 0 || help.contains("`parallel.tensor`"), "{help}");
        (tried, help)
    });
    assert!(told.iter().map(|(tried, _)| tried).sum::<usize>() >= 5, "{told:?}");
    // Ranks may store parts of weights, where there are such along `data` and where there are none.
    for key in ["parallel.fsdp = ", "parallel.zero = 3"] {
        assert!(told.iter().any(|(_, help)| help.contains(key)), "{key}: {told:?}");
    }
}

/// Moments of the optimizer are no argument of the module that adds up gradients, and stay on the core while it runs.
#[test]
fn state_that_stays_on_the_core_is_counted() {
    let settings =
        ["target=trn1", "layers=2", "accumulate=4", "parallel={data=4,tensor=8,sequence=true}"].map(str::to_owned);
    let compiled = compile("llama-7b", &settings);
    let manifest = &compiled.bundle.manifest;
    let of = |name: &str| manifest.modules.iter().find(|module| module.name == name).expect("it is there");
    let (grads, update) = (of("grad_step"), of("update_step"));
    let taken = |name: &str| grads.inputs.iter().any(|port| port.name == name);
    let others = manifest.buffers.iter().filter(|buffer| !buffer.is_batch() && !taken(&buffer.name));
    let bytes = others.map(halite_bundle::Buffer::local_bytes);
    let memory = grads.estimate.as_ref().expect("it is estimated").memory;
    assert_eq!(memory.resident, bytes.sum::<u64>());
    assert!(memory.resident > 0 && memory.peak.of(MemoryKind::Resident) == memory.resident);
    assert_eq!(memory.peak.total(), memory.total());
    // Sums of gradients are no state of the optimizer.
    assert_eq!(memory.peak.optimizer, 0);
    assert_eq!(update.estimate.as_ref().expect("it is estimated").memory.resident, 0);
}
