//! Compile speed by phase, for every preset as it is and for the 7B model in the precisions of the comparison with JAX.
//!
//! ```text
//! cargo bench -p halite-benches --bench compile -- --quick           all of it, roughly
//! cargo bench -p halite-benches --bench compile -- pass/.*/llama-7b$  the passes on one model
//! ```
//!
//! | group | from | to |
//! |---|---|---|
//! | `elaborate` | the model's text | a module in phase `built` |
//! | `pass` | the module before the first run of a pass of the training pipeline | the one after it, unverified |
//! | `verify` | the final module | |
//! | `lower`, `check`, `encode` | the final module | HLO; its findings; its bytes |
//! | `print`, `parse` | the final module | its text, and back |
//! | `whole` | the recipe | the bundle, all modules, verified after each pass |

use criterion::{BatchSize, Criterion};
use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_hlo::graph::Graph;
use halite_ir::{LowerOptions, Module, lower, text, verify};
use halite_passes::{Pipeline, Runner, RunnerOptions};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hint::black_box;

/// Preset and precision; without one, the preset's own.
const CASES: [(&str, Option<&str>); 5] =
    [("tiny", None), ("llama-7b", None), ("llama-7b", Some("fp32")), ("llama-7b", Some("mixed")), ("hlat-70b", None)];

fn main() {
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    for (preset, precision) in CASES {
        let mut session = Session::new();
        // What is timed is a module that does all of its role.
        let alone = (preset == "hlat-70b").then(|| "parallel.pipeline=1".to_owned());
        let overrides: Vec<_> =
            precision.iter().map(|precision| format!("precision={precision}")).chain(alone).collect();
        let mut source = sound(session.load(preset, &overrides));
        source.name.extend(precision.iter().flat_map(|precision| ["-", precision]));
        bench_elaborate(&mut criterion, &session, &source);
        let step = bench_passes(&mut criterion, &session, &source);
        bench_module(&mut criterion, &session, &source, &step);
        bench_whole(&mut criterion, &session, &source);
    }
    criterion.final_summary();
}

/// The value of a phase that presets pass.
fn sound<T, E: Debug>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("a preset does not compile: {error:?}"))
}

fn bench_elaborate(criterion: &mut Criterion, session: &Session, source: &Source) {
    let id = format!("elaborate/{}", source.name);
    criterion.bench_function(&id, |bencher| bencher.iter(|| sound(session.elaborate(source))));
}

/// Measures each pass where the pipeline of the training step runs it first; returns the final module.
fn bench_passes(criterion: &mut Criterion, session: &Session, source: &Source) -> Module {
    let cx = session.pass_cx(Some(&source.recipe), None).expect("the target is known");
    let mut module = sound(session.elaborate(source)).module;
    let mut seen = BTreeSet::new();
    for stage in sound(session.pipeline(&ModuleRole::TRAIN_STEP)).stages {
        for pass in stage.passes().iter().filter(|pass| seen.insert(pass.info().name)) {
            let id = format!("pass/{}/{}", pass.info().name, source.name);
            criterion.bench_function(&id, |bencher| {
                let run = |module: &mut Module| sound(pass.run(module, &cx));
                bencher.iter_batched_ref(|| module.clone(), run, BatchSize::PerIteration);
            });
        }
        let stage = Pipeline { stages: vec![stage] };
        sound(Runner::new(RunnerOptions::default()).run(&stage, &mut module, &cx));
    }
    module
}

/// Benches the phases that a final module goes through: verify, lower, graph, check, encode, print, parse.
fn bench_module(criterion: &mut Criterion, session: &Session, source: &Source, module: &Module) {
    let verified = sound(verify(module, &session.registry));
    let hlo = sound(lower(verified, &session.sources, LowerOptions::default()));
    let graph = Graph::new(hlo.clone());
    let (mut sources, printed) = (session.sources.clone(), text::print(module));
    let file = sources.add("step.ir", printed.as_str());
    let mut bench = |name: &str, phase: &dyn Fn()| {
        criterion.bench_function(&format!("{name}/{}", source.name), |bencher| bencher.iter(phase));
    };
    bench("verify", &|| _ = black_box(sound(verify(module, &session.registry))));
    bench("lower", &|| drop(black_box(lower(verified, &session.sources, LowerOptions::default()))));
    bench("graph", &|| drop(black_box(Graph::new(hlo.clone()))));
    bench("check", &|| drop(black_box(halite_hlo::check(&graph))));
    bench("encode", &|| drop(black_box(halite_hlo::encode(&hlo))));
    bench("print", &|| drop(black_box(text::print(module))));
    bench("parse", &|| drop(black_box(text::parse(&printed, file, &session.registry))));
}

fn bench_whole(criterion: &mut Criterion, session: &Session, source: &Source) {
    let (id, options) = (format!("whole/{}", source.name), CompileOptions::default());
    criterion.bench_function(&id, |bencher| bencher.iter(|| sound(session.compile(source, &options))));
}
