//! Plugins of other platforms than the CPU: opening them, and running through them.
//!
//! `examples/other_platform.rs` stands in for such a plugin: it computes on the CPU plugin, refuses options that it does not
//! know, as CUDA's and Neuron's plugins do, and reports another platform.

use crate::common::{add, add_in_place, compile};
use halite_runtime::{
    ClientOptions, CompileOptions, Executor, Input, OptionValue, Pjrt, Program, ProgramFormat, Result, RuntimeError,
    StatusCode, evaluate, find_plugin,
};
use halite_tensor::{DType, HostTensor};
use std::path::PathBuf;

/// The stand-in, which Cargo puts beside the tests' folder when it builds all targets of the package.
fn stand_in() -> PathBuf {
    find_plugin(None).expect("the stand-in computes on the CPU plugin");
    let test = std::env::current_exe().expect("a process knows its program");
    let folder = test.ancestors().nth(2).expect("tests are in a folder of the target folder").join("examples");
    let name = format!("{}other_platform{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = folder.join(name);
    assert!(path.is_file(), "`cargo build -p halite-runtime --example other_platform` makes {}", path.display());
    path
}

fn open(options: &ClientOptions) -> Result<Pjrt> {
    Pjrt::open(&stand_in(), options)
}

/// The message of the error with which these options are refused.
fn refused(options: &ClientOptions) -> String {
    let error = open(options).err().expect("the options are refused");
    assert!(matches!(&error, RuntimeError::Client(status) if status.code == StatusCode::InvalidArgument), "{error:?}");
    error.to_string()
}

fn vector(values: [f64; 4]) -> HostTensor {
    HostTensor::from_f64s(DType::F32, [4], values)
}

#[test]
fn a_plugin_that_takes_no_options_is_opened_without() {
    let executor = open(&ClientOptions::default()).unwrap();
    assert_eq!(executor.platform(), "stand-in");
    assert!(executor.num_devices() >= 1);
}

#[test]
fn options_of_another_platform_are_refused_by_name() {
    let message = refused(&ClientOptions::cpu(1));
    assert_eq!(
        message,
        "cannot start the devices: there is no option cpu_device_count; the options given are `cpu_device_count` \
         (INVALID_ARGUMENT)"
    );
    let message = refused(&ClientOptions::default().with("node_id", 0).with("node", 0));
    assert!(message.contains("there is no option node; the options given are `node_id`, `node`"), "{message}");
}

#[test]
fn options_of_every_type_arrive() {
    let options = ClientOptions::default()
        .with("platform_name", "neuron")
        .with("memory_fraction", 0.75)
        .with("preallocate", false)
        .with("node_id", 0)
        .with("visible_devices", [0]);
    assert_eq!(open(&options).unwrap().platform(), "neuron");
    let refused = |name, value: OptionValue| refused(&ClientOptions::default().with(name, value));
    assert!(refused("memory_fraction", 1.5.into()).contains("no memory is 1.5 of it"));
    assert!(refused("preallocate", true.into()).contains("memory cannot be reserved"));
    assert!(refused("node_id", (-7).into()).contains("there is no node -7"));
    assert!(refused("visible_devices", [0, 1 << 40].into()).contains("the devices [0, 1099511627776] are not there"));
    assert!(refused("node_id", "0".into()).contains("the option node_id has another type"));
}

/// Neuron's gets StableHLO, and no program that is not written in it, unless it is told otherwise.
#[test]
fn plugins_get_the_format_of_their_platform() {
    let named = |platform: &str| open(&ClientOptions::default().with("platform_name", platform)).unwrap();
    assert_eq!(named("cuda").format(), ProgramFormat::Hlo);
    let neuron = named("Neuron");
    assert_eq!(neuron.format(), ProgramFormat::Mlir);
    let hlo = add(DType::F32);
    let program = Program::new(&hlo, CompileOptions::default()).unwrap();
    let error = neuron.compile(&program).err().expect("there is no StableHLO").to_string();
    assert!(error.ends_with("the plugin of `Neuron` takes StableHLO, and the program is HLO alone"), "{error}");
    assert!(neuron.with_format(ProgramFormat::Hlo).compile(&program).is_ok());
}

#[test]
fn programs_run_and_take_what_is_donated() {
    let executor = open(&ClientOptions::default().with("platform_name", "neuron")).unwrap();
    let (x, y) = (vector([1.0, 2.0, 3.0, 4.0]), vector([10.0, 20.0, 30.0, 40.0]));
    let sum = vector([11.0, 22.0, 33.0, 44.0]);
    let executable = compile(&executor, &add(DType::F32));
    assert_eq!(evaluate(&executor, executable.as_ref(), &[x.clone(), y.clone()]).unwrap(), std::slice::from_ref(&sum));
    let in_place = compile(&executor, &add_in_place());
    let (given, kept) = (executor.upload(&x, 0).unwrap(), executor.upload(&y, 0).unwrap());
    let outputs = in_place.execute(vec![Input::Donate(given), Input::Keep(kept.as_ref())]).unwrap();
    assert_eq!((outputs[0].download().unwrap(), kept.download().unwrap()), (sum, y));
}

#[test]
fn an_executor_knows_its_buffers() {
    let (one, other) = (open(&ClientOptions::default()).unwrap(), open(&ClientOptions::default()).unwrap());
    let buffer = one.upload(&vector([0.0; 4]), 0).unwrap();
    assert!(one.owns(buffer.as_ref()) && one.clone().owns(buffer.as_ref()));
    assert!(!other.owns(buffer.as_ref()) && !crate::common::client(1).owns(buffer.as_ref()));
}

#[test]
fn errors_of_the_platform_below_come_through() {
    let executor = open(&ClientOptions::default()).unwrap();
    let mut module = halite_hlo::decode(&add(DType::F32)).unwrap();
    let entry = module.computations.last_mut().unwrap();
    entry.instructions.iter_mut().filter(|inst| inst.opcode == "add").for_each(|inst| inst.opcode = "plus".into());
    let hlo = halite_hlo::encode(&module);
    let error = executor.compile(&Program::new(&hlo, CompileOptions::default()).unwrap()).err();
    assert!(matches!(&error, Some(RuntimeError::Compile(status)) if status.message.contains("plus")), "{error:?}");
}
