//! What is handed to executors of different platforms.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use halite::compile::CompileOptions;
use halite::execute::LoadedModule;
use halite::session::Session;
use halite::{Bundle, source};
use halite_runtime::{Buffer, DeviceBuffer, Executable, Executor, Program, Result, RuntimeError};
use halite_spec::ModuleRole;
use halite_tensor::HostTensor;
use std::sync::Mutex;

/// An executor of any platform that keeps the HLO it is to compile and goes no further.
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
        Err(RuntimeError::Unsupported("recorded".to_owned()))
    }

    fn upload(&self, _tensor: &HostTensor, _device: usize) -> Result<Buffer> {
        Err(RuntimeError::Unsupported("this executor has no memory".to_owned()))
    }
}

/// The HLO that an executor of a platform gets of the first module of a bundle.
fn handed_to(platform: &'static str, bundle: &Bundle) -> Vec<u8> {
    let recorder = Recorder { platform, hlo: Mutex::default() };
    let error = LoadedModule::load(&recorder, bundle, &bundle.manifest.modules[0]).unwrap_err();
    assert_eq!(error.message(), "recorded");
    recorder.hlo.into_inner().unwrap()
}

fn compile(target: &str) -> Bundle {
    let mut session = Session::new();
    let settings = [format!("target={target}"), "layers=1".to_owned()];
    let source = source::load("tiny", &settings, &mut session.sources).unwrap();
    let options = CompileOptions { roles: vec![ModuleRole::TrainStep], ..CompileOptions::default() };
    session.compile(&source, &options).unwrap().bundle
}

fn calls_kernels(hlo: &[u8]) -> bool {
    let module = halite_hlo::decode(hlo).unwrap();
    module.computations.iter().flat_map(|computation| &computation.instructions).any(halite_hlo::is_custom_call)
}

#[test]
fn kernels_run_on_the_platform_of_their_target_and_twins_elsewhere() {
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
