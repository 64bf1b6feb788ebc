//! Training steps through the PJRT plugin of another platform than the CPU: the stand-in for one that the runtime's tests
//! open too.

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::ModuleRole;
use halite_runtime::{ClientOptions, Executor, Pjrt};
use halite_tensor::HostTensor;
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_train::TrainStep;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, LazyLock};

/// The plugin, an example of the runtime, as its sources are now.
static STAND_IN: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("a process knows its program");
    let folder = test.ancestors().nth(2).expect("tests are in a folder of the target folder");
    let name = format!("{}other_platform{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = folder.join("examples").join(name);
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    // Who names a program has built everything.
    if std::env::var_os("HALITE_PROGRAM").is_some() && path.is_file() {
        return path;
    }
    // Of the whole workspace, as the tests are: with the features of one package alone, all below would be built again.
    let mut cargo = halite_tests::command_line::cargo();
    cargo.args(["build", "--offline", "--quiet", "--workspace", "--example", "other_platform"]);
    cargo.args(["--profile", profile]).arg("--target-dir").arg(folder.parent().expect("profiles are in a folder"));
    let status = cargo.status().expect("Cargo runs");
    assert!(status.success() && path.is_file(), "Cargo makes {}", path.display());
    path
});

/// An executor of the stand-in, as whatever platform it is to be.
fn executor(platform: &str) -> Arc<dyn Executor> {
    let options = ClientOptions::default().with("platform_name", platform);
    let executor = Pjrt::open(&STAND_IN, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(executor.platform(), platform);
    Arc::new(executor)
}

fn compile(target: &str) -> Bundle {
    let mut session = Session::new();
    let settings = [format!("target={target}"), "layers=1".to_owned(), "seq=16".to_owned()];
    let source = expect(session.load("tiny", &settings));
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    expect(session.compile(&source, &options)).bundle
}

fn load(executor: Arc<dyn Executor>, bundle: &Bundle) -> (TrainStep, HostTensor) {
    let mut step = expect(TrainStep::load(executor, bundle));
    expect(step.init_state(3));
    let tokens = step.fed().next().expect("a language model is fed tokens");
    let count: usize = tokens.shape.iter().product();
    let tokens =
        HostTensor::from_ints(tokens.dtype, tokens.shape.as_slice(), (0..count as i128).map(|index| index * 7 % 250));
    (step, tokens)
}

/// The losses of some updates.
fn losses(executor: Arc<dyn Executor>, bundle: &Bundle) -> Vec<f64> {
    let (mut step, tokens) = load(executor, bundle);
    (0..4).map(|_| expect(step.step(&tokens)).loss()).collect()
}

#[test]
fn a_step_trains_on_any_platform_as_it_does_on_the_cpu() {
    // The second has kernels, whose decompositions run here.
    for target in ["cpu", "trn2"] {
        let bundle = compile(target);
        let found = losses(executor("cuda"), &bundle);
        assert_eq!(found, losses(xla::executor(), &bundle), "{target}");
        assert!(found[3] < found[0], "{target}: {found:?}");
    }
}

#[test]
fn a_batch_of_another_platform_is_refused_and_the_state_stays() {
    let bundle = compile("cpu");
    let (mut step, tokens) = load(executor("cuda"), &bundle);
    let foreign = expect(load(xla::executor(), &bundle).0.upload(&tokens));
    let mut found = Vec::new();
    for _ in 0..4 {
        let errors = step.step(&foreign).unwrap_err();
        assert!(errors[0].message().ends_with("is on a device of another executor"), "{errors:?}");
        found.push(expect(step.step(&tokens)).loss());
    }
    assert_eq!(found, losses(executor("cuda"), &bundle));
}

/// By the command line, on a platform that takes StableHLO alone.
#[test]
fn fifty_updates_on_a_platform_of_stablehlo_are_those_of_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..400).map(|line| format!("line {line} of {} is {}\n", line * 7 % 13, line * line)).collect();
    std::fs::write(folder.path().join("text.txt"), text).unwrap();
    let train = |run: &str, more: &[&str]| {
        let mut command = Command::new(halite_tests::command_line::halite());
        command.current_dir(folder.path()).args(["train", "tiny", "--set", "layers=1", "--set", "seq=16"]);
        command.args(["--set", "batch=2", "--text", "text.txt", "--steps", "50", "--quiet", "-o", run]);
        command.args(more).output().unwrap()
    };
    let taken = |output: std::process::Output| {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    taken(train("cpu", &[]));
    let plugin = ["--plugin", STAND_IN.to_str().unwrap()];
    let neuron = ["--plugin-option", "platform_name=neuron"];
    taken(train("neuron", &[&plugin[..], &neuron, &["--plugin-option", "node_id=0"]].concat()));
    for file in ["metrics.jsonl", "state.safetensors"] {
        let bytes = |run: &str| std::fs::read(folder.path().join(run).join(file)).unwrap();
        assert!(bytes("cpu") == bytes("neuron"), "{file}");
    }
    // The program in another format, an option of another type, and one that the plugin does not know.
    for (more, part) in [
        (&["--program-format", "hlo"][..], "programs are taken as mlir, this one is hlo"),
        (&["--plugin-option", "preallocate=0"], "the option preallocate has another type"),
        (&["--plugin-option", "cpu_device_count=1"], "there is no option cpu_device_count"),
    ] {
        let refused = train("none", &[&plugin[..], &neuron, more].concat());
        let said = String::from_utf8_lossy(&refused.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(refused.status.code() == Some(2) && said.contains(part), "{said}");
    }
}
