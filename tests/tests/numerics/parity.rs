//! The compiled models against JAX, an implementation that is not ours; see `jax/README.md`.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_bundle::convert::{pack_given, to_model};
use halite_bundle::tensors::{self, Tensors};
use halite_bundle::{Manifest, ModuleRole};
use halite_ir::{LowerOptions, Module, ResultRole, lower, verify};
use halite_passes::{Runner, RunnerOptions};
use halite_runtime::evaluate;
use halite_tensor::compare::difference;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::tolerances::{GRADIENT_FLOOR, JAX_F32, JAX_F64, Parity};
use halite_train::LoadedModule;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Fixtures {
    steps: usize,
    fixtures: BTreeMap<String, Fixture>,
}

#[derive(Deserialize)]
struct Fixture {
    file: String,
    model: String,
    config: BTreeMap<String, f64>,
    optimizer: Optimizer,
    /// Entries of the last dimension whose gradient is zero in exact arithmetic.
    zero_gradients: BTreeMap<String, [usize; 2]>,
}

#[derive(Deserialize)]
struct Optimizer {
    peak: f64,
    warmup_steps: u32,
    total_steps: u32,
    min_ratio: f64,
    beta1: f64,
    beta2: f64,
    eps: f64,
    weight_decay: f64,
    clip_norm: f64,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("jax/fixtures")
}

/// A fixture with its tensors, compiled at a precision.
struct Case {
    steps: usize,
    fixture: Fixture,
    expected: Tensors,
    session: Session,
    source: Source,
    float: DType,
}

impl Case {
    fn load(name: &str, float: DType) -> Self {
        let text = std::fs::read_to_string(folder().join("fixtures.json")).expect("the fixtures are in the repository");
        let mut fixtures: Fixtures = serde_json::from_str(&text).expect("the fixtures have this form");
        let fixture = fixtures.fixtures.remove(name).expect("a fixture of this name");
        let expected = tensors::read(&folder().join(&fixture.file)).expect("the tensors are in the repository");
        let mut session = Session::new();
        let source = load_recipe(&mut session, &fixture.recipe(float));
        Self { steps: fixtures.steps, fixture, expected, session, source, float }
    }

    fn expected(&self, name: &str) -> &HostTensor {
        self.expected.get(name).unwrap_or_else(|| panic!("the fixture has `{name}`"))
    }

    /// Names of the weights.
    fn weights(&self) -> Vec<&str> {
        self.expected.keys().filter_map(|name| name.strip_prefix("initial/")).collect()
    }

    /// The batch of a step.
    fn tokens(&self, step: usize) -> HostTensor {
        let all = self.expected("tokens");
        let shape = all.shape()[1..].to_vec();
        let size: usize = shape.iter().product();
        let ints = all.ints()[step * size..][..size].to_vec();
        HostTensor::from_ints(DType::S32, shape.as_slice(), ints)
    }

    /// The weights before the first step, at the precision of the case.
    fn initial(&self) -> Tensors {
        let wide = |name: &str| {
            let tensor = self.expected(&format!("initial/{name}"));
            HostTensor::from_f64s(self.float, tensor.shape().clone(), tensor.f64s())
        };
        self.weights().into_iter().map(|name| (name.to_owned(), wide(name))).collect()
    }

    /// Loss sum, count and gradients of the first batch, by result name; gradients are divided by the count.
    fn gradients(&self) -> (f64, Tensors) {
        let elaborated = self.session.elaborate(&self.source).unwrap_or_else(|errors| panic!("{errors:?}"));
        let mut module = elaborated.module;
        let passes = "bind-recipe, cse, dce, auto-diff, expand-composites, inline, legalize";
        let pipeline = self.session.passes.parse(passes).expect("these passes exist");
        let cx = self.session.pass_cx(Some(&self.source.recipe), None).expect("the target is known");
        let ran = Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx);
        ran.unwrap_or_else(|error| panic!("{error:?}"));
        let results = self.run(&module);
        let entry = module.entry().expect("a model has an entry");
        let find = |role: &ResultRole| {
            let at = entry.results.iter().position(|result| result.role == *role);
            results[at.expect("the model returns loss and count")].f64s()[0]
        };
        let count = find(&ResultRole::Count);
        let gradients = entry.results.iter().zip(&results).filter_map(|(result, tensor)| {
            let ResultRole::Gradient(name) = &result.role else { return None };
            let mean = tensor.f64s().into_iter().map(|value| value / count);
            Some((name.to_string(), HostTensor::from_f64s(DType::F64, tensor.shape().clone(), mean)))
        });
        (find(&ResultRole::Loss) / count, gradients.collect())
    }

    /// Runs a legal module on the first batch.
    fn run(&self, module: &Module) -> Vec<HostTensor> {
        let module = verify(module, &self.session.registry).unwrap_or_else(|errors| panic!("{errors:?}"));
        let hlo = lower(module, &self.session.sources, LowerOptions::default());
        let hlo = hlo.unwrap_or_else(|error| panic!("{error:?}"));
        let executable = xla::compile(&halite_hlo::encode(&hlo), 1).unwrap_or_else(|error| panic!("{error}"));
        let mut inputs = self.initial();
        inputs.insert("tokens".to_owned(), self.tokens(0));
        let entry = module.entry().expect("a model has an entry");
        let inputs: Vec<_> = entry.params.iter().map(|param| inputs[&*param.name].clone()).collect();
        evaluate(xla::client(), executable.as_ref(), &inputs).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Compiles a role through the session; the manifest says how it stores the weights.
    fn compile(&self, role: &ModuleRole) -> (LoadedModule, Manifest) {
        let options = CompileOptions { roles: vec![role.clone()], ..CompileOptions::default() };
        let compiled = self.session.compile(&self.source, &options).unwrap_or_else(|errors| panic!("{errors:?}"));
        let entry = compiled.bundle.module_with_role(role).unwrap_or_else(|error| panic!("{error}"));
        let module =
            LoadedModule::load(xla::client(), &compiled.bundle, entry).unwrap_or_else(|error| panic!("{error}"));
        (module, compiled.bundle.manifest)
    }
}

impl Fixture {
    fn recipe(&self, float: DType) -> String {
        let precision = if float == DType::F64 { "fp64" } else { "fp32" };
        let (batch, seq) = (self.config["batch"], self.config["seq"]);
        let config = self.config.iter().filter(|(key, _)| !["batch", "seq"].contains(&key.as_str()));
        let config: Vec<_> = config.map(|(key, value)| format!("{key} = {value:?}")).collect();
        // The keys of whole numbers must be written as such.
        let config: Vec<_> = config
            .iter()
            .map(|line| line.strip_suffix(".0").filter(|_| !line.starts_with("rope")).unwrap_or(line))
            .collect();
        let o = &self.optimizer;
        let mut text = format!("halite = 1\nbatch = {batch}\nseq = {seq}\nprecision = \"{precision}\"\n");
        writeln!(text, "[model]\nname = \"{}\"\nconfig = {{ {} }}", self.model, config.join(", ")).expect("text");
        writeln!(
            text,
            "[optimizer.adamw]\nlr = {:?}\nbetas = [{:?}, {:?}]\neps = {:?}",
            o.peak, o.beta1, o.beta2, o.eps
        )
        .expect("text");
        writeln!(text, "weight_decay = {:?}\nclip_norm = {:?}", o.weight_decay, o.clip_norm).expect("text");
        writeln!(text, "[schedule]\nwarmup = {}\nsteps = {}\nfloor = {:?}", o.warmup_steps, o.total_steps, o.min_ratio)
            .expect("text");
        text
    }
}

fn load_recipe(session: &mut Session, text: &str) -> Source {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("recipe.toml");
    std::fs::write(&path, text).expect("the folder can be written");
    let path = path.to_str().expect("the path is text");
    session.load(path, &[]).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

fn largest(tensor: &HostTensor) -> f64 {
    tensor.f64s().into_iter().fold(0.0, |largest, value| f64::max(largest, value.abs()))
}

/// The loss within `loss`, every gradient within `gradient` of its largest entry or a thousandth of the model's.
fn assert_gradients(name: &str, float: DType, parity: Parity) {
    let case = Case::load(name, float);
    let (found_loss, found) = case.gradients();
    let expected_loss = case.expected("loss").f64s()[0];
    assert!(
        (found_loss - expected_loss).abs() <= parity.loss * expected_loss,
        "{name}: loss {found_loss}, JAX {expected_loss}"
    );
    let weights = case.weights();
    assert_eq!(found.len(), weights.len(), "{name}: every weight has a gradient");
    let model = weights.iter().map(|weight| largest(case.expected(&format!("grad/{weight}")))).fold(0.0, f64::max);
    let mut worst = (0.0, "");
    for weight in weights {
        let expected = case.expected(&format!("grad/{weight}"));
        let scale = largest(expected).max(GRADIENT_FLOOR * model);
        let error = difference(&found[weight], expected).max_abs / scale;
        assert!(error <= parity.gradient, "{name}: the gradient of `{weight}` is off by {error:e}");
        worst = if error > worst.0 { (error, weight) } else { worst };
        if let Some(&[first, last]) = case.fixture.zero_gradients.get(weight) {
            let part = largest_between(&found[weight], first, last);
            assert!(part <= parity.zero * model, "{name}: `{weight}` [{first}, {last}) should be zero, is {part:e}");
            println!("{name} in {float}: zero in theory: `{weight}` [{first}, {last}), found at most {part:e}");
        }
    }
    println!("{name} in {float}: loss {found_loss}, worst gradient `{}` off by {:e}", worst.1, worst.0);
}

fn largest_between(tensor: &HostTensor, first: usize, last: usize) -> f64 {
    let size = tensor.shape()[tensor.shape().rank() - 1];
    let rows = tensor.f64s();
    rows.chunks(size).flat_map(|row| &row[first..last]).fold(0.0, |largest, value| f64::max(largest, value.abs()))
}

/// All updates of the fixture, with the metrics of each.
fn assert_training(name: &str) {
    let case = Case::load(name, DType::F64);
    let (module, manifest) = case.compile(&ModuleRole::TRAIN_STEP);
    let mut state = pack_given(&manifest, case.initial()).unwrap_or_else(|errors| panic!("{errors:?}"));
    for port in &module.entry().inputs {
        let zeros = || HostTensor::zeros(port.dtype, port.shape.as_slice());
        state.entry(port.name.clone()).or_insert_with(zeros);
    }
    for step in 0..case.steps {
        state.insert("tokens".to_owned(), case.tokens(step));
        let mut outputs = module.run(xla::client(), state).unwrap_or_else(|errors| panic!("{errors:?}"));
        for metric in ["loss", "grad_norm", "learning_rate", "count"] {
            let (found, expected) = (outputs[metric].f64s()[0], case.expected(metric).f64s()[step]);
            let fits = (found - expected).abs() <= JAX_F64.update * expected.abs();
            assert!(fits, "{name}: `{metric}` of step {} is {found}, JAX has {expected}", step + 1);
            outputs.shift_remove(metric);
        }
        state = outputs;
        assert_eq!(state["step"].ints(), [step as i128 + 1]);
        let model = to_model(&manifest, state.clone()).unwrap_or_else(|errors| panic!("{errors:?}"));
        for (weight, expected) in weights_after(&case, step + 1) {
            let error = difference(&model[weight], expected).relative();
            assert!(error <= JAX_F64.update, "{name}: `{weight}` is off by {error:e} after {} updates", step + 1);
        }
    }
    assert_eq!(weights_after(&case, case.steps).count(), case.weights().len());
}

/// The weights of the fixture after some updates.
fn weights_after(case: &Case, steps: usize) -> impl Iterator<Item = (&str, &HostTensor)> {
    let prefix = format!("step{steps}/");
    case.expected.iter().filter_map(move |(name, tensor)| Some((name.strip_prefix(&prefix)?, tensor)))
}

fn assert_logits(name: &str) {
    let case = Case::load(name, DType::F64);
    let (module, manifest) = case.compile(&ModuleRole::FORWARD);
    let mut inputs = pack_given(&manifest, case.initial()).unwrap_or_else(|errors| panic!("{errors:?}"));
    inputs.insert("tokens".to_owned(), case.tokens(0));
    inputs.retain(|name, _| module.entry().inputs.iter().any(|port| port.name == *name));
    let outputs = module.run(xla::client(), inputs).unwrap_or_else(|errors| panic!("{errors:?}"));
    let error = difference(&outputs["logits"], case.expected("logits")).relative();
    assert!(error <= JAX_F64.logits, "{name}: the logits are off by {error:e}");
}

macro_rules! parity {
    ($($name:ident),*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn logits() {
                assert_logits(stringify!($name));
            }

            #[test]
            fn gradients_in_f64() {
                assert_gradients(stringify!($name), DType::F64, JAX_F64);
            }

            #[test]
            fn gradients_in_f32() {
                assert_gradients(stringify!($name), DType::F32, JAX_F32);
            }

            #[test]
            fn updates() {
                assert_training(stringify!($name));
            }
        }
    )*};
}

parity!(llama, llama_grouped, gpt2);
