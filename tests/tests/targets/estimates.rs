//! Estimates of modules, compared with what CPU XLA reports: arguments, outputs and aliases exactly, temporaries within a margin.

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::estimate::{Estimate, MemoryKind};
use halite_bundle::{ModuleEntry, ModuleRole, arguments};
use halite_cpu::CPU_XLA;
use halite_hlo::graph::Graph;
use halite_neuron::MEMORY_MARGIN;
use halite_runtime::MemoryStats;
use halite_target::estimate::{Question, analyze};
use halite_test_kit::xla;
use halite_tests::parallel::for_each;
use std::collections::BTreeMap;

/// A module of a recipe: a name for people, the preset or model, overrides, the role.
type Case = (&'static str, &'static str, &'static [&'static str], ModuleRole);

/// A Llama of four layers, with more settings.
macro_rules! with_mid {
    ($($more:expr),*) => {
        ["layers=4", "hidden=256", "heads=8", "kv_heads=4", "ffn=704", "vocab=2048", "seq=256", "batch=2", $($more),*]
    };
}

/// A GPT-2 of three layers, with more settings.
macro_rules! with_gpt2 {
    ($($more:expr),*) => {
        ["layers=3", "hidden=256", "heads=4", "vocab=5000", "positions=256", "seq=256", "batch=2", $($more),*]
    };
}

const TRAIN_STEP: ModuleRole = ModuleRole::TRAIN_STEP;
const FORWARD: ModuleRole = ModuleRole::FORWARD;
const EVAL: ModuleRole = ModuleRole::EVAL;

/// These were chosen when the model was frozen, and measured afterwards for the first time. They differ from all that were seen
/// in sizes, and in how model, precision and batch go together.
const HELD_OUT: [Case; 4] = [
    ("llama, grouped heads", "tiny", GROUPED, TRAIN_STEP),
    (
        "gpt2, 6 layers, bf16-sr",
        "gpt2.hal",
        &[
            "layers=6",
            "hidden=512",
            "heads=8",
            "vocab=12000",
            "positions=384",
            "seq=384",
            "batch=2",
            "precision=bf16-sr",
        ],
        TRAIN_STEP,
    ),
    ("llama-7b, 3 layers, fp32", "llama-7b", &["layers=3", "seq=2048", "precision=fp32"], TRAIN_STEP),
    (
        "hlat-70b, 1 layer",
        "hlat-70b",
        &["layers=1", "seq=2048", "parallel.tensor=8", "parallel.data=4", "parallel.pipeline=1"],
        TRAIN_STEP,
    ),
];

/// Policies of recomputation by models and sizes, named before the model was changed for them.
const POLICIES: [Case; 10] = [
    ("mid, fp32, none", "tiny", &with_mid!["precision=fp32", "recompute=[\"none\"]"], TRAIN_STEP),
    ("mid, fp32, attention", "tiny", &with_mid!["precision=fp32", ATTENTION], TRAIN_STEP),
    ("mid, fp32, block", "tiny", &with_mid!["precision=fp32", BLOCK], TRAIN_STEP),
    ("mid, mixed, attention", "tiny", &with_mid!["precision=mixed", ATTENTION], TRAIN_STEP),
    ("mid, mixed, dots", "tiny", &with_mid!["precision=mixed", "recompute=[\"dots\"]"], TRAIN_STEP),
    ("mid, mixed, block", "tiny", &with_mid!["precision=mixed", BLOCK], TRAIN_STEP),
    ("gpt2, 3 layers, fp32, block", "gpt2.hal", &with_gpt2!["precision=fp32", BLOCK], TRAIN_STEP),
    ("gpt2, 3 layers, mixed, attention", "gpt2.hal", &with_gpt2!["precision=mixed", ATTENTION], TRAIN_STEP),
    (
        "llama-7b, 3 layers, fp32, attention",
        "llama-7b",
        &["layers=3", "seq=1024", "precision=fp32", ATTENTION],
        TRAIN_STEP,
    ),
    ("llama-7b, 3 layers, mixed, block", "llama-7b", &["layers=3", "seq=1024", "precision=mixed", BLOCK], TRAIN_STEP),
];

const ATTENTION: &str = "recompute=[\"attention\", \"activation\"]";
const BLOCK: &str = "recompute=[\"block\"]";

const GROUPED: &[&str] =
    &["layers=5", "hidden=320", "heads=10", "kv_heads=2", "ffn=880", "vocab=6000", "seq=192", "batch=3"];

#[test]
fn temporaries_of_modules_not_seen_before_are_within_the_margin() {
    let (mut worst, mut table) = (0.0_f64, String::new());
    for (kind, cases) in [("policies", &POLICIES[..]), ("held out", &HELD_OUT)] {
        for (case, (estimate, stats)) in cases.iter().zip(for_each(cases, measured)) {
            let (estimated, reported) = (estimate.memory.temporaries, stats.temp);
            let error = estimated as f64 / reported as f64 - 1.0;
            table.push_str(&format!("{:26} {kind:9} {reported:>14} {estimated:>14} {:+6.1}%\n", case.0, error * 100.0));
            match kind {
                "held out" => worst = worst.max(error.abs()),
                _ => assert!(error.abs() <= 0.15, "{} is off by {:.1}%", case.0, error * 100.0),
            }
        }
    }
    println!("{:26} {:9} {:>14} {:>14} {:>7}\n{table}", "module", "", "CPU XLA", "estimate", "error");
    assert!(worst <= MEMORY_MARGIN, "the worst of those held out is off by {:.1}%\n{table}", worst * 100.0);
}

#[test]
fn arguments_outputs_and_aliases_are_those_of_cpu_xla() {
    // XLA counts the table of pointers to the results with them.
    const POINTER: u64 = 8;
    let cases: [Case; 6] = [
        ("tiny", "tiny", &[], TRAIN_STEP),
        ("tiny, forward", "tiny", &[], FORWARD),
        ("tiny, eval", "tiny", &[], EVAL),
        ("tiny, masters", "tiny", &["precision=mixed-sr", "layers=1"], TRAIN_STEP),
        ("llama-7b", "llama-7b", &["layers=1", "seq=64"], TRAIN_STEP),
        ("gpt2", "gpt2.hal", &["layers=1", "hidden=64", "heads=2", "vocab=500", "seq=32"], TRAIN_STEP),
    ];
    for case in &cases {
        let (Estimate { memory, .. }, stats) = measured(case);
        let MemoryStats { argument, output, alias, .. } = stats;
        let results = memory.outputs + POINTER * num_results(case);
        assert_eq!((memory.arguments, results, memory.aliased), (argument, output, alias), "{}", case.0);
        let peak = memory.peak;
        let known = peak.weights + peak.optimizer + peak.batch + peak.results;
        assert!(known >= memory.total() - memory.temporaries, "{}: every parameter has a kind", case.0);
        assert_eq!(peak.of(MemoryKind::Arguments), 0, "{}", case.0);
        assert_eq!(peak.total(), memory.total(), "{}", case.0);
    }
}

#[test]
fn the_7b_step_needs_several_cores_and_the_bundle_says_so() {
    let mut session = Session::new();
    let sets = ["target=trn1".to_owned(), "precision=mixed".to_owned()];
    let source = session.load("llama-7b", &sets).unwrap_or_else(|errors| panic!("{errors:?}"));
    let options = CompileOptions { roles: vec![TRAIN_STEP], ..CompileOptions::default() };
    let compiled = session.compile(&source, &options).unwrap_or_else(|errors| panic!("{errors:?}"));
    let state = compiled.bundle.manifest.statistics.state_bytes;
    assert_eq!((state as f64 / 1e9).round(), 81.0, "{state}");
    let warning = compiled.warnings.iter().find(|warning| warning.code().id == "E0822").expect("it does not fit");
    let notes = warning.notes().join("\n");
    assert!(warning.message().starts_with("`train_step` does not fit on one core of trn1"), "{}", warning.message());
    assert!(notes.contains("the state alone takes 75.3 GiB: at least 5 cores"), "{notes}");
    let help = warning.help_text().unwrap_or_default();
    let order = ["split the model", "`seq`", "bf16-sr"].map(|word| help.find(word));
    assert!(order.iter().all(Option::is_some), "{help}");
    let estimate = compiled.bundle.manifest.modules[0].estimate.as_ref().expect("the manifest has it");
    assert_eq!(estimate.memory.aliased, state);
    assert!(estimate.unknown.is_empty(), "{:?}", estimate.unknown);
}

/// Pipelines: a name, the input, settings. Named before they were measured.
const PIPELINES: [(&str, &str, &[&str]); 6] = [
    ("mid, 2 stages, fp32", "tiny", &with_mid!["precision=fp32", "accumulate=4", "parallel.pipeline=2"]),
    ("mid, 4 stages, mixed", "tiny", &with_mid!["precision=mixed", "accumulate=8", "parallel.pipeline=4"]),
    (
        "mid, 2 stages, mixed, block",
        "tiny",
        &with_mid!["precision=mixed", "accumulate=4", "parallel.pipeline=2", BLOCK],
    ),
    (
        "mid, 4 stages, zero-bubble",
        "tiny",
        &with_mid!["precision=mixed", "accumulate=8", "parallel.pipeline=4", "parallel.schedule=zero-bubble"],
    ),
    (
        "gpt2, 3 stages, fp32, attention",
        "gpt2.hal",
        &with_gpt2!["precision=fp32", "accumulate=6", "parallel.pipeline=3", ATTENTION],
    ),
    (
        "llama-7b, 4 layers, 2 stages",
        "llama-7b",
        &["layers=4", "seq=1024", "precision=mixed", "accumulate=2", "parallel.pipeline=2"],
    ),
];

/// Layouts that store parts of weights. Named before they were measured.
const PARTS: [Case; 6] = [
    ("mid, fsdp 8, fp32", "tiny", &with_mid!["precision=fp32", "parallel.fsdp=8"], TRAIN_STEP),
    (
        "mid, fsdp 4, tensor 2, mixed",
        "tiny",
        &with_mid!["precision=mixed", "parallel.fsdp=4", "parallel.tensor=2"],
        TRAIN_STEP,
    ),
    (
        "mid, data 2, fsdp 4, fp32, none",
        "tiny",
        &with_mid!["precision=fp32", "parallel.data=2", "parallel.fsdp=4", "recompute=[\"none\"]"],
        TRAIN_STEP,
    ),
    (
        "mid, zero 3, mixed, block",
        "tiny",
        &with_mid!["precision=mixed", "parallel.data=8", "parallel.zero=3", BLOCK],
        TRAIN_STEP,
    ),
    (
        "gpt2, fsdp 2, tensor 4, sequence",
        "gpt2.hal",
        &with_gpt2!["precision=fp32", "parallel.fsdp=2", "parallel.tensor=4", "parallel.sequence=true"],
        TRAIN_STEP,
    ),
    (
        "mid, fsdp 8, written out, late",
        "tiny",
        &with_mid!["precision=fp32", "parallel.fsdp=8", "emit.calls=\"inline\"", "parallel.fsdp_delay=1"],
        TRAIN_STEP,
    ),
];

/// The peak of a rank.
#[test]
fn peaks_of_parts_are_those_of_cpu_xla() {
    let mut wrong = Vec::new();
    for (case, (estimate, stats)) in PARTS.iter().zip(for_each(&PARTS, measured)) {
        let (estimated, reported) = (estimate.memory.total(), stats.argument + stats.output + stats.temp - stats.alias);
        let error = (estimated as f64 / reported as f64 - 1.0) * 100.0;
        println!("{:34} {reported:>14} {estimated:>14} {error:+6.1}%", case.0);
        if error.abs() > 15.0 {
            wrong.push(format!("{} is off by {error:.1}%", case.0));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// So many bytes an estimate may be off, however little there is: pointers and numbers.
const LITTLE: u64 = 4096;

/// The peak of a stage is that of the forward or backward that needs most, and that of its update.
#[test]
fn peaks_of_stages_are_those_of_cpu_xla() {
    let found = for_each(&PIPELINES, |&(name, input, settings)| {
        let bundle = compile(&(name, input, settings, TRAIN_STEP));
        let mut peaks: BTreeMap<(&str, usize), (u64, u64)> = BTreeMap::new();
        for entry in &bundle.manifest.modules {
            let (estimate, stats) = measured_module(&bundle, entry);
            let reported = stats.argument + stats.output + stats.temp - stats.alias;
            let is_update = entry.role == ModuleRole::UPDATE_STEP;
            let peak = peaks.entry((if is_update { "update" } else { "micro-batch" }, entry.stage)).or_default();
            *peak = (estimate.memory.total().max(peak.0), reported.max(peak.1));
        }
        peaks
    });
    let mut wrong = Vec::new();
    for ((name, ..), peaks) in PIPELINES.iter().zip(found) {
        for ((of, stage), (estimated, reported)) in peaks {
            let error = (estimated as f64 / reported as f64 - 1.0) * 100.0;
            println!("{name:32} stage {stage} {of:11} {reported:>14} {estimated:>14} {error:+6.1}%");
            if error.abs() > 15.0 && estimated.abs_diff(reported) > LITTLE {
                wrong.push(format!("stage {stage} of {name}, {of}, is off by {error:.1}%"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The estimate of a module, and what CPU XLA reports.
fn measured(case: &Case) -> (Estimate, MemoryStats) {
    let (bundle, role) = (compile(case), &case.3);
    measured_module(&bundle, bundle.module_with_role(role).expect("the module is compiled"))
}

/// The same of a module of a bundle.
fn measured_module(bundle: &Bundle, entry: &ModuleEntry) -> (Estimate, MemoryStats) {
    let (bytes, name) = (bundle.hlo(entry).expect("the bundle has the file"), &entry.name);
    let graph = Graph::new(halite_hlo::decode(bytes).expect("a bundle holds HLO"));
    let kinds = arguments(entry, &bundle.manifest.buffers);
    let analysis = analyze(&graph, Question { backend: CPU_XLA, arguments: &kinds, costs: None })
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    // The schedule is that of one replica: of several, CPU XLA is told to take another, which holds up to a third more or less.
    let executable = xla::compile(bytes, 1).unwrap_or_else(|error| panic!("{name}: {error}"));
    (analysis.estimate, executable.memory_stats().unwrap_or_else(|error| panic!("{name}: {error}")))
}

fn num_results(case: &Case) -> u64 {
    compile(case).module_with_role(&case.3).map_or(0, |entry| entry.outputs.len() as u64)
}

fn compile((name, input, sets, role): &Case) -> Bundle {
    let mut session = Session::new();
    let input = match input.strip_suffix(".hal") {
        Some(model) => format!("{}/../models/{model}.hal", env!("CARGO_MANIFEST_DIR")),
        None => (*input).to_owned(),
    };
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let source = session.load(&input, &sets).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let options = CompileOptions { roles: vec![role.clone()], ..CompileOptions::default() };
    session.compile(&source, &options).unwrap_or_else(|errors| panic!("{name}: {errors:?}")).bundle
}
