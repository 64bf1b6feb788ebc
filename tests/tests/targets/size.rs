//! The presets at full size: counts, and HLO that XLA would take.

use halite::Session;
use halite::compile::{CompileOptions, Compiled};
use halite_bundle::{ModuleRole, PortRole};
use halite_hlo::graph::Graph;
use halite_hlo::{check, decode, text};

fn compile(preset: &str, settings: &[&str]) -> Compiled {
    let mut session = Session::new();
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let source = session.load(preset, &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    session.compile(&source, &CompileOptions::default()).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn assert_size((preset, settings): (&str, &[&str]), parameters: u64, flops_per_token: u64) {
    let bundle = compile(preset, settings).bundle;
    let statistics = bundle.manifest.statistics;
    assert_eq!(statistics.parameters, parameters);
    assert_eq!(statistics.matmul_flops_per_token, flops_per_token);
    assert_eq!(statistics.model_flops_per_token, flops_per_token);
    for entry in &bundle.manifest.modules {
        let hlo = decode(bundle.hlo(entry).expect("the bundle has the file")).expect("the file decodes");
        let graph = Graph::new(hlo);
        let findings = check(&graph);
        assert!(findings.is_empty(), "{preset}/{}: {findings:?}", entry.name);
        assert!(text::print(graph.module()).starts_with("HloModule "), "{preset}/{} prints", entry.name);
    }
    let step = bundle.module_with_role(&ModuleRole::TRAIN_STEP).expect("the training step is compiled");
    for (position, input) in step.inputs.iter().enumerate() {
        let buffer = bundle.buffer(&input.name).expect("inputs are buffers");
        let replaced = step.outputs.iter().find(|output| output.role == PortRole::Buffer && output.name == input.name);
        if buffer.is_batch() {
            assert!(replaced.is_none(), "{preset}: `{}` is not state", input.name);
        } else {
            let alias = replaced.unwrap_or_else(|| panic!("{preset}: `{}` is not replaced", input.name)).alias;
            assert_eq!(alias, Some(position), "{preset}: `{}`", input.name);
        }
    }
    let hlo = decode(bundle.hlo(step).expect("the bundle has the file")).expect("the file decodes");
    let aliases = hlo.input_output_alias.map_or(0, |alias| alias.entries.len());
    assert_eq!(aliases, step.inputs.len() - 1, "{preset}: all inputs but the batch share memory with an output");
}

#[test]
fn hlat_7b() {
    assert_size(("llama-7b", &[]), 6_738_415_616, 46_084_915_200);
}

#[test]
fn hlat_70b() {
    assert_size(("hlat-70b", &["parallel.data=4", "parallel.pipeline=1"]), 68_976_648_192, 444_491_366_400);
}

/// What is computed again is none of the operations that a model asks for, and updates of more than 2^64 operations are counted too.
#[test]
fn model_flops_do_not_depend_on_the_program() {
    let figures = |settings: &[&str]| {
        let model = ["layers=16", "hidden=16384", "heads=128", "kv_heads=8", "ffn=53248", "vocab=128256", "seq=8192"];
        let settings: Vec<String> = model.iter().chain(settings).map(|setting| (*setting).to_owned()).collect();
        let mut session = Session::new();
        let source = session.load("llama", &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
        let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
        let compiled = session.compile(&source, &options).unwrap_or_else(|errors| panic!("{errors:?}"));
        let statistics = compiled.bundle.manifest.statistics;
        (statistics.model_flops_per_token, statistics.matmul_flops_per_token, statistics.tokens_per_step)
    };
    let (model, done, _) = figures(&["batch=1", "target=trn2"]);
    let layer = 2 * 16384 * 16384 + 2 * 16384 * 1024 + 3 * 16384 * 53248;
    assert_eq!((model, done), (6 * (16 * layer + 16384 * 128_256) + 12 * 16 * 16384 * 8192, model));
    let (again, more, tokens) = figures(&["batch=16", "parallel.fsdp=512", "target=trn2", "recompute=[\"block\"]"]);
    assert!(u128::from(model) * u128::from(tokens) > 1 << 64);
    assert!(again == model && more > model * 6 / 5 && more <= model * 4 / 3, "{model} {again} {more}");
}

/// A preset gives the same bytes each time.
#[test]
fn compilation_is_deterministic() {
    let (first, second) = (compile("llama-7b", &[]).bundle, compile("llama-7b", &[]).bundle);
    assert_eq!(first.manifest_json(), second.manifest_json());
    assert_eq!(first.files, second.files);
}
