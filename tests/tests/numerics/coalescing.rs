//! Optimized models against the same models without optimizations, through the map between the weights of the two.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::Session;
use halite::compile::{CompileOptions, CompiledModule};
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_ir::{Function, Module, ParamRole};
use halite_passes::{Changed, Findings, PassReport, Pipeline, Runner, RunnerOptions, Stage};
use halite_runtime::{Executable, evaluate};
use halite_support::Result;
use halite_tensor::{DType, HostTensor, compare::difference};
use halite_test_kit::{Directives, in_model, stored_as, xla};
use halite_tests::stepping::{advance, first_inputs};
use halite_tests::tolerances::{MERGED, MIXED_RATIO, MIXED_ROUNDINGS};
use std::collections::BTreeMap;

/// Updates that are compared.
const UPDATES: usize = 10;

/// The passes after those that all modules share, for the gradients as results.
const GRADIENTS: &str = "auto-diff, auto-cast, (simplify, fold-constant, cse, dce)*, dispatch-dialect, \
    expand-composites, inline, (simplify, fold-constant, cse, dce)*, annotate-rounding, cse, legalize";

const VOCAB: usize = 29;

/// Moments that are small beside `eps` do not magnify differences of rounding.
const ADAMW: &str =
    "[optimizer.adamw]\nlr = 1e-2\neps = 1e-3\nweight_decay = 0.1\nclip_norm = 0.5\nno_decay = [\"*norm.weight\"]\n";
/// Rules that look at a tensor as a whole, for the matrices of the blocks.
const MUON: &str =
    "[[optimizer.group]]\nname = \"matrices\"\nparams = [\"*_proj.weight\"]\nmuon = { momentum = 0.9 }\n";
const LANS: &str = "[[optimizer.group]]\nname = \"matrices\"\nparams = [\"*_proj.weight\"]\nlans = { eps = 1e-3 }\n";
const SGD: &str = "[optimizer.sgd]\nlr = 1e-1\nmomentum = 0.9\nweight_decay = 0.1\nclip_norm = 0.5\n";

fn llama(layers: usize, kv_heads: usize, more: &str) -> String {
    llama_of("llama", layers, kv_heads, more)
}

/// A model with the configuration of Llama.
fn llama_of(name: &str, layers: usize, kv_heads: usize, more: &str) -> String {
    let config = format!("vocab = {VOCAB}, hidden = 16, layers = {layers}, heads = 4, kv_heads = {kv_heads}, ffn = 24");
    format!("[model]\nname = \"{name}\"\nconfig = {{ {config} }}\n{ADAMW}{more}")
}

/// GPT-2 as it is, and with a projection of its own for queries, keys and values.
fn gpt2(split: bool) -> String {
    let config = format!("vocab = {VOCAB}, hidden = 16, layers = 1, heads = 4, positions = 8");
    let name = if split { "split.hal" } else { "gpt2" };
    format!("[model]\nname = \"{name}\"\nconfig = {{ {config} }}\n{SGD}")
}

/// A model with its recipe.
struct Model {
    session: Session,
    source: Source,
}

/// A compiled module.
struct Program {
    module: Module,
    executable: Box<dyn Executable>,
    reports: Vec<PassReport>,
}

impl Model {
    fn new(precision: &str, rest: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let split = "q = project(x, heads * head_dim) as q\n    k = project(x, heads * head_dim) as k\n    v = project(x, heads * head_dim) as v\n";
        let merged = "q, k, v = split(project(x, 3 * heads * head_dim) as c_attn, 3, dim = -1)\n";
        let gpt2 = include_str!("../../../models/gpt2.hal");
        assert!(gpt2.contains(merged), "GPT-2 comes with merged projections");
        std::fs::write(folder.path().join("split.hal"), gpt2.replace(merged, split))
            .expect("the folder can be written");
        let spelled = include_str!("../../data/spelled.hal");
        std::fs::write(folder.path().join("spelled.hal"), spelled).expect("the folder can be written");
        let path = folder.path().join("recipe.toml");
        let text = format!("halite = 1\nbatch = 2\nseq = 8\nprecision = \"{precision}\"\n{rest}");
        std::fs::write(&path, &text).expect("the folder can be written");
        let mut session = Session::new();
        let path = path.to_str().expect("the path is text");
        let source = session.load(path, &[]);
        Self { source: source.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")), session }
    }

    /// The pipeline of a role.
    fn pipeline(&self, role: &ModuleRole) -> Pipeline {
        self.session.pipeline(role).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The pipeline of a training step, with the gradients as results in the place of the update.
    fn gradients(&self) -> Pipeline {
        let (shared, _) = self.pipeline(&ModuleRole::TRAIN_STEP).split_at_phase();
        let own = self.session.passes.parse(GRADIENTS).unwrap_or_else(|error| panic!("{error}"));
        Pipeline { stages: [shared.stages, own.stages].concat() }
    }

    fn compile(&self, role: &ModuleRole, pipeline: &Pipeline) -> Program {
        let built = self.session.elaborate(&self.source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
        let options = CompileOptions::default();
        let compiled = self.session.compile_role(&built, &self.source.recipe, role, pipeline, &options);
        let CompiledModule { ir: module, hlo, reports, .. } = compiled.unwrap_or_else(|error| panic!("{error:?}"));
        let executable = xla::compile(&halite_hlo::encode(&hlo), 1).unwrap_or_else(|error| panic!("{error}"));
        Program { module, executable, reports }
    }

    /// Without the optimizations of a pipeline, and with them.
    fn compile_both(&self, role: &ModuleRole, pipeline: &Pipeline) -> (Program, Program) {
        (self.compile(role, &pipeline.required_only()), self.compile(role, pipeline))
    }
}

impl Program {
    /// The number of weights that pack several of the model.
    fn packed(&self) -> usize {
        let entry = self.module.entry().expect("a model has an entry");
        entry.params.iter().filter(|param| param.packing().is_some()).count()
    }

    fn was_changed_by(&self, pass: &str) -> bool {
        self.reports.iter().any(|report| report.name == pass && report.changed != Changed::No)
    }

    fn entry(&self) -> &Function {
        self.module.entry().expect("a model has an entry")
    }

    fn initial(&self) -> Vec<HostTensor> {
        first_inputs(self.entry(), VOCAB)
    }

    fn run(&self, inputs: &[HostTensor]) -> Vec<HostTensor> {
        evaluate(xla::client(), self.executable.as_ref(), inputs).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Results by their names in the model.
    fn named(&self, results: &[HostTensor]) -> BTreeMap<String, HostTensor> {
        in_model(self.module.entry().expect("a model has an entry"), results).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn stored(plain: &Program, optimized: &Program, inputs: &[HostTensor]) -> Vec<HostTensor> {
    let (old, new) = plain.module.entry().zip(optimized.module.entry()).expect("a model has an entry");
    stored_as(old, new, inputs.to_vec()).unwrap_or_else(|error| panic!("{error}"))
}

/// The least scale of a tensor. The bias of keys adds the same to all scores of a query, so that in exact arithmetic its gradient is
/// zero.
fn least(name: &str) -> f64 {
    if name.ends_with(".k.bias") { 1e-3 } else { 0.0 }
}

/// Each tensor within [`MERGED`] of the other, relative to its scale and a floor; returns the largest distance.
fn assert_equal(
    what: &str,
    found: &BTreeMap<String, HostTensor>,
    expected: &BTreeMap<String, HostTensor>,
    floor: impl Fn(&str) -> f64,
) -> f64 {
    assert!(found.keys().eq(expected.keys()), "{what}: {:?} against {:?}", found.keys(), expected.keys());
    let mut worst = 0f64;
    for (name, expected) in expected {
        let apart = difference(&found[name], expected);
        let relative = apart.max_abs / (apart.scale + floor(name)).max(f64::MIN_POSITIVE);
        assert!(relative <= MERGED, "{what}: `{name}` is {relative:e} away");
        worst = worst.max(relative);
    }
    worst
}

/// Later minus earlier, for what both have.
fn changes(
    later: &BTreeMap<String, HostTensor>,
    earlier: &BTreeMap<String, HostTensor>,
) -> BTreeMap<String, HostTensor> {
    let change = |(name, later): (&String, &HostTensor)| {
        let values = later.f64s().into_iter().zip(earlier.get(name)?.f64s()).map(|(later, earlier)| later - earlier);
        Some((name.clone(), HostTensor::from_f64s(DType::F64, later.shape().clone(), values.collect::<Vec<_>>())))
    };
    later.iter().filter_map(change).collect()
}

/// Results with optimizations, among them `packed` weights that are several of the model, equal those without.
fn assert_same_results(what: &str, (plain, optimized): &(Program, Program), packed: usize) {
    assert_eq!((plain.packed(), optimized.packed()), (0, packed), "{what}");
    let inputs = plain.initial();
    let expected = plain.named(&plain.run(&inputs));
    let found = optimized.named(&optimized.run(&stored(plain, optimized, &inputs)));
    println!("{what}: {} results {:e}", found.len(), assert_equal(what, &found, &expected, least));
}

/// Outputs, gradients and updates with optimizations, among them `packed` weights that are several of the model, equal
/// those without, in `f64`. The optimized training step is returned.
fn assert_same_training(what: &str, recipe: &str, packed: usize) -> Program {
    let model = Model::new("fp64", recipe);
    for role in &[ModuleRole::FORWARD, ModuleRole::EVAL] {
        let both = model.compile_both(role, &model.pipeline(role));
        assert_same_results(&format!("{what}, {role:?}"), &both, packed);
    }
    let role = &ModuleRole::TRAIN_STEP;
    let gradients = model.compile_both(role, &model.gradients());
    assert_same_results(&format!("{what}, gradients"), &gradients, packed);
    let (plain, optimized) = model.compile_both(role, &model.pipeline(role));
    assert_eq!(optimized.packed(), packed, "{what}");
    let mut expected_state = plain.initial();
    let mut found_state = stored(&plain, &optimized, &expected_state);
    let entry = plain.module.entry().expect("a model has an entry");
    let names = entry.params.iter().map(|param| param.name.to_string());
    let mut before: BTreeMap<_, _> = names.zip(expected_state.iter().cloned()).collect();
    let mut found_before = before.clone();
    let mut worst = 0f64;
    for _ in 0..UPDATES {
        let (expected, found) = (plain.run(&expected_state), optimized.run(&found_state));
        let (after, found_after) = (plain.named(&expected), optimized.named(&found));
        assert_equal(what, &found_after, &after, least);
        // A weight of one rounds to 2^-53, whatever is added to it.
        let unit = DType::F64.unit_roundoff();
        let floor = |name: &str| least(name) + 8.0 * unit / MERGED * difference(&after[name], &after[name]).scale;
        worst = worst.max(assert_equal(what, &changes(&found_after, &found_before), &changes(&after, &before), floor));
        advance(plain.entry(), &mut expected_state, expected);
        advance(optimized.entry(), &mut found_state, found);
        (before, found_before) = (after, found_after);
    }
    println!("{what}: {UPDATES} updates {worst:e}");
    optimized
}

#[test]
fn llama_trains_alike() {
    assert_same_training("llama", &llama(2, 4, ""), 4);
}

#[test]
fn grouped_llama_trains_alike() {
    assert_same_training("grouped llama", &llama(2, 2, ""), 4);
}

#[test]
fn muon_trains_alike() {
    assert_same_training("muon", &llama(1, 2, MUON), 2);
}

#[test]
fn lans_trains_alike() {
    assert_same_training("lans", &llama(1, 2, LANS), 2);
}

#[test]
fn gpt2_is_left_alone() {
    assert_same_training("gpt2", &gpt2(false), 0);
}

#[test]
fn biases_train_alike() {
    assert_same_training("split gpt2", &gpt2(true), 2);
}

#[test]
fn fused_parts_train_alike() {
    let step = assert_same_training("spelled llama", &llama_of("spelled.hal", 1, 2, ""), 2);
    for pass in ["fuse-rope", "fuse-norm", "fuse-activation"] {
        assert!(step.was_changed_by(pass), "`{pass}` had nothing to do");
    }
}

fn without_merging(mut pipeline: Pipeline) -> Pipeline {
    let merges = |stage: &Stage| matches!(stage, Stage::Once(pass) if pass.info().name == "coalesce-layers");
    pipeline.stages.retain(|stage| !merges(stage));
    pipeline
}

/// A gradient in mixed precision errs at most [`MIXED_RATIO`] times as much as without merging.
#[test]
fn mixed_gradients_are_as_good() {
    let recipe = llama(2, 2, "");
    let (model, role) = (Model::new("mixed", &recipe), &ModuleRole::TRAIN_STEP);
    let exact = Model::new("fp64", &recipe).compile(role, &model.gradients().required_only());
    let (plain, optimized) =
        (model.compile(role, &without_merging(model.gradients())), model.compile(role, &model.gradients()));
    assert_eq!((plain.packed(), optimized.packed()), (0, 4));
    let inputs = plain.initial();
    let wide = |input: &HostTensor| {
        if input.dtype().is_float() {
            HostTensor::from_f64s(DType::F64, input.shape().clone(), input.f64s())
        } else {
            input.clone()
        }
    };
    let exactly = exact.named(&exact.run(&inputs.iter().map(wide).collect::<Vec<_>>()));
    let before = plain.named(&plain.run(&inputs));
    let after = optimized.named(&optimized.run(&stored(&plain, &optimized, &inputs)));
    for (name, exact) in &exactly {
        let error = |found: &HostTensor| {
            let squares = found.f64s().into_iter().zip(exact.f64s()).map(|(found, exact)| (found - exact).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let norm = exact.f64s().into_iter().map(|value| value * value).sum::<f64>().sqrt();
        let allowed = MIXED_RATIO * error(&before[name]) + MIXED_ROUNDINGS * DType::F32.unit_roundoff() * norm;
        let found = error(&after[name]);
        assert!(found <= allowed, "`{name}` errs by {found:e}, {allowed:e} is allowed");
    }
}

/// Patterns are about the names of the model, which merging does not change.
#[test]
fn patterns_match_what_is_merged() {
    let train = |exception: &str| -> Result<_> {
        let mut model = Model::new("bf16-sr", &llama(2, 4, ""));
        let line = format!("precision = {{ recipe = \"bf16-sr\", override = [{exception}] }}");
        let directives = Directives { recipe: vec![line], ..Directives::default() };
        model.source.recipe.precision = directives.recipe().unwrap().unwrap().precision;
        let mut module = model.session.elaborate(&model.source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
        let findings = Findings::with_remarks();
        let cx = model.session.pass_cx(Some(&model.source.recipe), Some(&findings)).expect("the target is known");
        let step = model.pipeline(&ModuleRole::TRAIN_STEP);
        Runner::new(RunnerOptions::default()).run(&step, &mut module, &cx)?;
        let mut remarks = findings.remarks();
        remarks.retain(|remark| remark.pass == "coalesce-layers");
        Ok((module, remarks))
    };
    // How many merges there are, how many weights of the model are wide, and what stays apart.
    let outcome = |exception: &str| {
        let (module, remarks) = train(exception).unwrap_or_else(|error| panic!("{exception}: {error}"));
        let entry = module.entry().unwrap();
        let weights = entry.params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_)));
        let wide = weights.filter(|param| entry.ty(param.value).dtype() == DType::F32);
        let wide = wide.map(|param| param.originals().count()).sum::<usize>();
        let places = |taken: bool| {
            let some = remarks.iter().filter(|remark| remark.taken == taken);
            some.map(|remark| remark.scopes.len()).sum::<usize>()
        };
        (places(true), wide, places(false))
    };
    assert_eq!(outcome(""), (4, 0, 0));
    // Queries, keys, values and outputs of both layers: the first three are merged, and no pattern is idle.
    assert_eq!(outcome("{ parameter = \"*.self_attn.*_proj.weight\", weight = \"f32\" }"), (4, 8, 0));
    // Keys alone: queries and values are merged.
    assert_eq!(outcome("{ parameter = \"*.k_proj.weight\", weight = \"f32\" }"), (4, 2, 2));
    assert_eq!(outcome("{ scope = \"*.k_proj\", op = \"dot_general\", operand = \"f32\" }"), (4, 0, 2));
    assert_eq!(outcome("{ scope = \"model.layers.0.*\", op = \"dot_general\", operand = \"f32\" }"), (4, 0, 0));
    let error = train("{ parameter = \"*.q_k_v_proj.weight\", weight = \"f32\" }").unwrap_err();
    assert!(error.to_string().contains("matches no parameter"), "{error}");
}
