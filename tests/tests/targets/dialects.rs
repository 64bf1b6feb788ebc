//! Kernels of a target: whichever are used, the program stays valid and, run by their decompositions, computes the same bits.

use halite::compile::{CompileOptions, Compiled};
use halite::source::Source;
use halite::{Bundle, Session};
use halite_bundle::ModuleRole;
use halite_bundle::tensors::Tensors;
use halite_ir::{KernelForm, LowerOptions};
use halite_passes::{DialectEntry, KernelUse, Operand, Site};
use halite_runtime::evaluate;
use halite_tensor::{HostTensor, Shape};
use halite_test_kit::xla;
use halite_tests::compiled::stored_state;
use halite_train::LoadedModule;
use std::collections::BTreeMap;

const LLAMA: &[&str] = &["batch=2", "seq=16", "vocab=64"];
const GPT2: &[&str] =
    &["batch=2", "seq=16", "model.name=gpt2", "model.config={vocab = 64, hidden = 32, layers = 2, heads = 2}"];

fn load(session: &mut Session, model: &[&str], settings: &[&str]) -> Source {
    let settings: Vec<String> = model.iter().chain(settings).map(|text| (*text).to_owned()).collect();
    session.load("tiny", &settings).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn compile(model: &[&str], settings: &[&str]) -> Compiled {
    let mut session = Session::new();
    let source = load(&mut session, model, settings);
    let options = CompileOptions { explain: true, ..CompileOptions::default() };
    session.compile(&source, &options).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The initial state as the bundle stores it, and tokens below 64.
fn inputs(bundle: &Bundle) -> Tensors {
    let mut tensors = stored_state(bundle, 5);
    for buffer in bundle.manifest.buffers.iter().filter(|buffer| buffer.is_batch()) {
        let shape = Shape::from(buffer.shape.as_slice());
        let tokens = (0..shape.num_elements() as i128).map(|index| index * 37 % 61);
        tensors.insert(buffer.name.clone(), HostTensor::from_ints(buffer.dtype, shape, tokens));
    }
    tensors
}

/// The outputs of a module of a bundle on CPU XLA.
fn run(bundle: &Bundle, role: &ModuleRole) -> Tensors {
    let entry = bundle.module_with_role(role).expect("the bundle has all roles");
    let module = LoadedModule::load(xla::client(), bundle, entry).unwrap_or_else(|error| panic!("{error}"));
    let mut tensors = inputs(bundle);
    tensors.retain(|name, _| entry.inputs.iter().any(|port| port.name == *name));
    module.run(xla::client(), tensors).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The number of calls of each kernel in a module.
fn kernels(bundle: &Bundle, role: &ModuleRole) -> BTreeMap<String, usize> {
    let entry = bundle.module_with_role(role).expect("the bundle has all roles");
    let hlo = halite_hlo::decode(bundle.hlo(entry).expect("the file is there")).expect("the file decodes");
    let mut counts = BTreeMap::new();
    for inst in hlo.computations.iter().flat_map(|computation| &computation.instructions) {
        if halite_hlo::is_custom_call(inst) {
            *counts.entry(inst.custom_call_target.clone()).or_default() += 1;
        }
    }
    counts
}

fn off(name: &str) -> Vec<String> {
    vec!["target=trn1".to_owned(), format!("dialect.off=['{name}']")]
}

/// Each kernel off, all off, all on, and as they are.
fn choices() -> Vec<Vec<String>> {
    let mut choices: Vec<_> = Session::new().kernels.entries().iter().map(|entry| off(&entry.name)).collect();
    choices.push(off("neuron.*"));
    choices.push(vec!["target=trn2".to_owned(), "dialect.on=['*']".to_owned()]);
    choices.push(vec!["target=trn1".to_owned()]);
    choices
}

#[test]
fn every_choice_of_kernels_computes_the_same_bits() {
    for (model, precision) in [(LLAMA, "precision=mixed"), (LLAMA, "precision=fp32"), (GPT2, "precision=mixed")] {
        let model = &[model, &["layers=1"]].concat();
        let plain = compile(model, &["target=trn1", "dialect.off=['*']", precision]).bundle;
        assert!(kernels(&plain, &ModuleRole::TRAIN_STEP).is_empty());
        let expected = run(&plain, &ModuleRole::TRAIN_STEP);
        let all = choices();
        let is_first = precision.ends_with("mixed") && !model.contains(&"model.name=gpt2");
        let few = if is_first { &all[..] } else { &all[all.len() - 2..] };
        for choice in few {
            let settings: Vec<&str> = choice.iter().map(String::as_str).chain([precision]).collect();
            let bundle = compile(model, &settings).bundle;
            let found = run(&bundle, &ModuleRole::TRAIN_STEP);
            assert!(found == expected, "{model:?} {settings:?} computes other bits");
        }
    }
}

#[test]
fn the_training_step_of_llama_calls_one_softmax_for_each_layer() {
    let bundle = compile(LLAMA, &["target=trn1"]).bundle;
    for role in &ModuleRole::DEFAULT {
        let kernels = kernels(&bundle, role);
        assert_eq!(kernels["AwsNeuronSoftmax"], 2, "{}", role.name());
        assert_eq!(kernels["AwsNeuronRmsNorm"], 5, "{}", role.name());
    }
    let off = compile(LLAMA, &["target=trn1", "dialect.off=['neuron.*']"]).bundle;
    let cpu = compile(LLAMA, &["target=cpu", "emit.calls=inline"]).bundle;
    let forward = |bundle: &Bundle| bundle.files["forward.hlo.pb"].clone();
    assert!(forward(&off) == forward(&cpu), "without kernels and gradients the HLO is that for CPU XLA");
}

#[test]
fn decompositions_lowered_in_place_compute_the_same_bits() {
    let mut session = Session::new();
    let source = load(&mut session, LLAMA, &["target=trn1"]);
    let expected = run(&compile(LLAMA, &["target=cpu"]).bundle, &ModuleRole::FORWARD);
    let built = session.elaborate(&source).expect("the model elaborates").module;
    let pipeline = session.pipeline(&ModuleRole::FORWARD).expect("the pipeline is one");
    let lower = LowerOptions { kernels: KernelForm::Decompositions, ..LowerOptions::default() };
    let options = CompileOptions { lower, ..CompileOptions::default() };
    let compiled = session.compile_role(&built, &source.recipe, &ModuleRole::FORWARD, &pipeline, &options);
    let compiled = compiled.unwrap_or_else(|error| panic!("{error}"));
    let tensors = inputs(&compile(LLAMA, &["target=cpu"]).bundle);
    let entry = compiled.ir.entry().expect("a compiled module has an entry");
    let tensors: Vec<HostTensor> = entry.params.iter().map(|param| tensors[&*param.name].clone()).collect();
    let executable = xla::compile(&halite_hlo::encode(&compiled.hlo), 1).unwrap_or_else(|error| panic!("{error}"));
    let found = evaluate(xla::client(), executable.as_ref(), &tensors).expect("the program runs");
    assert!(found.iter().eq(expected.values()), "the decompositions compute other bits");
}

#[test]
fn every_decision_is_explained() {
    let said = |settings: &[&str], rule: &str| -> Vec<String> {
        let remarks = compile(LLAMA, settings).remarks.into_iter().flat_map(|(_, remarks)| remarks);
        let mut said: Vec<_> = remarks.filter(|remark| remark.rule == rule).map(|remark| remark.message).collect();
        said.dedup();
        said
    };
    assert_eq!(said(&["target=trn1"], "neuron.softmax"), ["`AwsNeuronSoftmax` is called"]);
    assert_eq!(said(&["target=cpu"], "neuron.rms_norm"), ["the target is `cpu`"]);
    assert_eq!(said(&["target=trn1", "dialect.off=['neuron.rms*']"], "neuron.rms_norm"), ["the recipe turns it off"]);
    let narrow = said(&["target=trn1", "precision=bf16", "precision.sensitive=bf16"], "neuron.rms_norm");
    assert_eq!(narrow, ["it computes in `bf16`, the kernel in `f32`"]);
}

/// A bundle with a kernel call without a decomposition is not run.
#[test]
fn kernels_without_a_decomposition_are_refused() {
    let whole = compile(LLAMA, &["target=trn1"]).bundle;
    let load = |bundle: &Bundle| {
        let entry = bundle.module_with_role(&ModuleRole::FORWARD).expect("the bundle has all roles");
        LoadedModule::load(xla::client(), bundle, entry).map(drop).map_err(|error| error.message().to_owned())
    };
    assert_eq!(load(&whole), Ok(()));
    let mut nameless = whole.clone();
    nameless.manifest.modules.iter_mut().for_each(|module| module.decompositions.clear());
    let message = load(&nameless).unwrap_err();
    assert!(message.contains("has no decomposition of the kernel `neuron."), "{message}");
    let mut swapped = whole.clone();
    let decompositions = &mut swapped
        .manifest
        .modules
        .iter_mut()
        .find(|module| module.role == ModuleRole::FORWARD)
        .unwrap()
        .decompositions;
    let file = decompositions[0].file.clone();
    decompositions.iter_mut().for_each(|decomposition| decomposition.file.clone_from(&file));
    assert!(load(&swapped).unwrap_err().contains("is not sound"));
}

/// An embedder's kernel takes part by priority.
#[test]
fn the_highest_priority_that_fits_is_taken() {
    let entry = |name: &str, priority, call: fn(&Site<'_>) -> Result<KernelUse, String>| {
        DialectEntry::new(name, "softmax", "AwsNeuronSoftmax", call).priority(priority).targets(["trn1"])
    };
    let call = |site: &Site<'_>| Ok(KernelUse::new((site.args[0].rank() - 1).to_string(), [Operand::Arg(0)]));
    let never = |_: &Site<'_>| Err("never".to_owned());
    let mut session = Session::new();
    session.kernels.register(entry("own.never", 30, never)).expect("the name is new");
    session.kernels.register(entry("own.softmax", 20, call)).expect("the name is new");
    assert!(session.kernels.register(entry("own.softmax", 20, call)).is_err());
    let source = load(&mut session, LLAMA, &["target=trn1"]);
    let options = CompileOptions { explain: true, ..CompileOptions::default() };
    let compiled = session.compile(&source, &options).unwrap_or_else(|errors| panic!("{errors:?}"));
    let step = compiled.bundle.module_with_role(&ModuleRole::TRAIN_STEP).expect("the bundle has all roles");
    let decompositions = |prefix: &str| {
        step.decompositions.iter().filter(|decomposition| decomposition.name.starts_with(prefix)).count()
    };
    assert_eq!((decompositions("own.softmax"), decompositions("neuron.softmax")), (1, 0));
    let missed = |rule: &str, message: &str| {
        let mut remarks = compiled.remarks.iter().flat_map(|(_, remarks)| remarks);
        assert!(remarks.any(|remark| remark.rule == rule && !remark.taken && remark.message == message), "{rule}");
    };
    missed("own.never", "never");
    missed("neuron.softmax", "`own.softmax` comes first");
    let plain = compile(LLAMA, &["target=trn1", "dialect.off=['*']"]).bundle;
    assert!(run(&compiled.bundle, &ModuleRole::TRAIN_STEP) == run(&plain, &ModuleRole::TRAIN_STEP));
}
