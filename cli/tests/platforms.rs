//! The HLO that executors of different platforms get.

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::ModuleRole;
use halite_runtime::{
    Buffer, DeviceBuffer, Executable, Executor, Input, MemoryStats, Program, Result, RuntimeError, Signature,
};
use halite_tensor::HostTensor;
use halite_train::{KernelChoice, LoadedModule, TrainStep};
use std::sync::{Arc, Mutex};

/// An executor of any platform that keeps the HLO it is to compile and runs nothing.
struct Recorder {
    platform: &'static str,
    hlo: Mutex<Vec<u8>>,
}

impl Executor for Recorder {
    fn platform(&self) -> String {
        self.platform.to_owned()
    }

    fn num_devices(&self) -> usize {
        1
    }

    fn owns(&self, _buffer: &dyn DeviceBuffer) -> bool {
        false
    }

    fn compile(&self, program: &Program<'_>) -> Result<Box<dyn Executable>> {
        *self.hlo.lock().unwrap() = program.hlo().to_vec();
        Ok(Box::new(Recorded(program.signature().clone())))
    }

    fn upload(&self, _tensor: &HostTensor, _device: usize) -> Result<Buffer> {
        Err(RuntimeError::Unsupported("this executor has no memory".to_owned()))
    }
}

struct Recorded(Signature);

impl Executable for Recorded {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn devices(&self) -> &[usize] {
        &[0]
    }

    fn memory_stats(&self) -> Result<MemoryStats> {
        Ok(MemoryStats::default())
    }

    fn execute_replicas(&self, _inputs: Vec<Vec<Input<'_>>>) -> Result<Vec<Vec<Buffer>>> {
        Err(RuntimeError::Unsupported("this executor runs nothing".to_owned()))
    }
}

/// The HLO that an executor of a platform gets of the first module of a bundle.
fn handed_to(platform: &'static str, bundle: &Bundle) -> Vec<u8> {
    handed_with(platform, bundle, KernelChoice::ByPlatform)
}

fn handed_with(platform: &'static str, bundle: &Bundle, kernels: KernelChoice) -> Vec<u8> {
    let recorder = Recorder { platform, hlo: Mutex::default() };
    let module = LoadedModule::load_with(&recorder, bundle, &bundle.manifest.modules[0], kernels).unwrap();
    let hlo = recorder.hlo.into_inner().unwrap();
    assert_eq!(module.calls_kernels(), calls_kernels(&hlo), "{platform}");
    hlo
}

fn compile(target: &str) -> Bundle {
    let mut session = Session::new();
    let settings = [format!("target={target}"), "layers=1".to_owned()];
    let source = session.load("tiny", &settings).unwrap();
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    session.compile(&source, &options).unwrap().bundle
}

fn calls_kernels(hlo: &[u8]) -> bool {
    let module = halite_hlo::decode(hlo).unwrap();
    module.computations.iter().flat_map(|computation| &computation.instructions).any(halite_hlo::is_custom_call)
}

#[test]
fn kernels_run_on_the_platform_of_their_target_and_decompositions_elsewhere() {
    let bundle = compile("trn2");
    let module = &bundle.manifest.modules[0];
    assert!(handed_to("neuron", &bundle) == bundle.hlo(module).unwrap());
    assert!(calls_kernels(&handed_to("neuron", &bundle)));
    for platform in ["cpu", "cuda"] {
        assert!(handed_to(platform, &bundle) == *bundle.runnable_hlo(module).unwrap(), "{platform}");
        assert!(!calls_kernels(&handed_to(platform, &bundle)), "{platform}");
    }
    // What is compiled for the CPU has no kernels, and is the same everywhere.
    let bundle = compile("cpu");
    assert!(handed_to("neuron", &bundle) == handed_to("cpu", &bundle));
}

#[test]
fn the_choice_of_kernels_can_be_made() {
    let bundle = compile("trn2");
    let module = &bundle.manifest.modules[0];
    assert!(handed_to("Neuron", &bundle) == bundle.hlo(module).unwrap());
    for platform in ["neuron", "axon"] {
        assert!(handed_with(platform, &bundle, KernelChoice::Called) == bundle.hlo(module).unwrap());
        assert!(handed_with(platform, &bundle, KernelChoice::Decompositions) == *bundle.runnable_hlo(module).unwrap());
        let executor = Arc::new(Recorder { platform, hlo: Mutex::default() });
        let step = |kernels| TrainStep::load_with(executor.clone(), &bundle, kernels).unwrap();
        assert!(step(KernelChoice::Called).calls_kernels() && !step(KernelChoice::Decompositions).calls_kernels());
    }
    let bundle = compile("cpu");
    assert!(handed_with("neuron", &bundle, KernelChoice::Called) == handed_to("cpu", &bundle));
}

#[test]
fn unsound_modules_reach_no_platform() {
    let mut bundle = compile("trn2");
    let entry = bundle.manifest.modules[0].clone();
    let mut module = halite_hlo::decode(bundle.hlo(&entry).unwrap()).unwrap();
    module.computations.last_mut().unwrap().root_id = 0;
    bundle.files.insert(entry.file.clone(), halite_hlo::encode(&module));
    for platform in ["neuron", "cpu"] {
        let recorder = Recorder { platform, hlo: Mutex::default() };
        let error = LoadedModule::load(&recorder, &bundle, &entry).unwrap_err();
        assert!(error.message().starts_with("the HLO of `train_step` is not sound: "), "{error}");
    }
}
