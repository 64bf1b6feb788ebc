//! A stand-in for `neuronx-cc`, for tests only. It compiles nothing.
//!
//! It takes the command line of the real one, decodes the module, holds it to the rules of XLA, refuses flags that the
//! tables of targets do not know, and writes a file that looks like a NEFF from outside: a header of 1024 bytes that says
//! what it is, then text that follows from the module and the flags alone. Variables have it misbehave:
//!
//! | variable | effect |
//! |---|---|
//! | `STAND_IN_VERSION` | what `--version` prints |
//! | `STAND_IN_SLEEP` | milliseconds that a compile takes, half of them with the output half written |
//! | `STAND_IN_STARTED` | a file that gets a line `<process> <work folder>` for each compile |
//! | `STAND_IN_FAULT` | one of [`FAULTS`], or a code such as `NCC_EVRF056` to fail with |
//! | `STAND_IN_FAULT_IN` | the only module with the fault |
//! | `STAND_IN_PROGRAMS` | set, NEFFs are programs for the stand-in for libnrt, which run |
//! | `STAND_IN_WRONG_KERNEL` | the kernel whose programs compute a thousandth too much |
//! | `STAND_IN_REFUSES` | a flag, or an opcode, that is not taken |
//! | `STAND_IN_GATE` | `<stage> <file>`: in one of [`STAGES`] its process is added to the file, and it waits until that is gone |

#![allow(clippy::print_stdout, reason = "this program is a command line")]

use halite_bundle::sha256;
use halite_hlo::CheckedHlo;
use halite_hlo::proto::{HloInstructionProto, HloModuleProto};
use halite_neuron::Tables;
use halite_neuron::tables::FlagGiver;
use halite_tests::{standin_kernels, standin_nrt};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The faults that `STAND_IN_FAULT` may ask for.
const FAULTS: [&str; 6] = ["hang", "crash", "partial", "blank", "silent", "fail"];

/// The stages at which `STAND_IN_GATE` may have it wait: when it is asked for its version, before it has written anything, and when
/// half of the output is written.
const STAGES: [&str; 3] = ["asked", "started", "writing"];

const VERSION: &str = "NeuronX Compiler version 2.27.5334.0+standin";
const BANNER: &str = "\nThis is the stand-in of Halite's tests and no compiler.\nPython version none\n";

/// The arguments of a compile.
struct Arguments {
    input: PathBuf,
    output: PathBuf,
    log: PathBuf,
    flags: Vec<String>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((first, [])) if first == "--version" => {
            wait_at_gate("asked");
            println!("{}\n{BANNER}", variable("STAND_IN_VERSION").unwrap_or_else(|| VERSION.to_owned()));
            ExitCode::SUCCESS
        }
        Some((first, rest)) if first == "compile" => match parse(rest).and_then(|arguments| compile(&arguments)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                println!("ERROR: {error}");
                ExitCode::from(70)
            }
        },
        _ => {
            println!("usage: neuronx-cc compile FILE --framework XLA --target TARGET --output FILE");
            ExitCode::from(2)
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn parse(words: &[String]) -> Result<Arguments, String> {
    let (mut input, mut output, mut log) = (None, None, None);
    let mut flags = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            input = Some(PathBuf::from(word));
            continue;
        }
        let (name, mut value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        if value.is_none() && rest.peek().is_some_and(|next| !next.starts_with('-')) {
            value = rest.next().cloned();
        }
        // What such a flag takes beside its first value stays out of the input's way.
        if Tables::builtin().flag(name).is_some_and(|flag| flag.words) {
            let more = std::iter::from_fn(|| rest.next_if(|next| !next.starts_with('-')).cloned());
            value = value.map(|value| more.fold(value, |all, word| all + " " + &word));
        }
        match (name, value) {
            ("--output", Some(value)) => output = Some(PathBuf::from(value)),
            ("--logfile", Some(value)) => log = Some(PathBuf::from(value)),
            ("--framework", Some(value)) if value == "XLA" => {}
            (name, value) => flags.push(check_flag(name, value)?),
        }
    }
    let log = log.unwrap_or_else(|| PathBuf::from("log-neuron-cc.txt"));
    match (input, output) {
        (Some(input), Some(output)) => Ok(Arguments { input, output, log, flags }),
        _ => Err("the input or `--output` is missing".to_owned()),
    }
}

/// A flag that the tables know, with a value that it takes.
fn check_flag(name: &str, value: Option<String>) -> Result<String, String> {
    let (name, value) = match name.strip_prefix("-O") {
        Some(level) if !level.is_empty() => ("-O", Some(level.to_owned())),
        _ => (name, value),
    };
    let known = Tables::builtin().flag(name).filter(|flag| flag.given_by != FlagGiver::Wrapper);
    let flag = known.ok_or_else(|| format!("unrecognized arguments: {name}"))?;
    if variable("STAND_IN_REFUSES").is_some_and(|refused| refused == flag.name) {
        return Err(format!("unrecognized arguments: {name}"));
    }
    match value {
        Some(value) if flag.takes(&value) => Ok(format!("{}={value}", flag.name)),
        Some(value) => Err(format!("argument {name}: invalid choice: {value}")),
        None if !flag.has_value() => Ok(flag.name.clone()),
        None => Err(format!("argument {name}: expected one argument")),
    }
}

fn compile(arguments: &Arguments) -> Result<(), String> {
    note_start()?;
    wait_at_gate("started");
    println!("Running the stand-in on {}", arguments.input.display());
    let log = |text: &str| std::fs::write(&arguments.log, text).map_err(|error| error.to_string());
    log("INFO: the stand-in has started\n")?;
    let bytes = std::fs::read(&arguments.input).map_err(|error| format!("{}: {error}", arguments.input.display()))?;
    let module = halite_hlo::decode(&bytes).map_err(|error| error.to_string())?;
    let module = CheckedHlo::new(module).map_err(|finding| format!("[NCC_EVRF064] {}", finding.message()))?;
    let mut instructions = module.computations.iter().flat_map(|computation| &computation.instructions);
    if let Some(refused) = instructions.find(|inst| variable("STAND_IN_REFUSES").as_deref() == Some(&*inst.opcode)) {
        log("ERROR: [NCC_EVRF001] an op is not supported\n")?;
        return Err(format!("[NCC_EVRF001] `{}` is not supported", refused.opcode));
    }
    let mut neff = match variable("STAND_IN_PROGRAMS") {
        None => neff(&bytes, &arguments.flags),
        Some(_) => program(&module, &arguments.flags)?,
    };
    match fault(&arguments.input).as_deref() {
        None => {}
        Some("hang") => std::thread::sleep(Duration::from_secs(600)),
        Some("crash") => std::process::abort(),
        Some("partial") => neff.truncate(600),
        Some("blank") => neff.fill(0),
        Some("silent") => return Ok(()),
        Some("fail") => return Err("the stand-in was asked to fail".to_owned()),
        Some(code) => {
            let blamed = blamed(&module).map_or_else(String::new, |inst| format!(" in %{}", inst.name));
            log(&format!("INFO: the stand-in has started\nERROR: [{code}] as asked for{blamed}\n"))?;
            return Err(format!("[{code}] as asked for{blamed}"));
        }
    }
    write_slowly(&arguments.output, &neff)?;
    log("INFO: the stand-in has ended\n")?;
    println!("Compiler status PASS");
    Ok(())
}

fn note_start() -> Result<(), String> {
    let Some(path) = variable("STAND_IN_STARTED") else { return Ok(()) };
    let folder = std::env::current_dir().map_err(|error| error.to_string())?;
    let file = std::fs::File::options().create(true).append(true).open(path);
    let line = format!("{} {}\n", std::process::id(), folder.display());
    file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(|error| error.to_string())
}

/// Waits until the gate of this stage is gone, if there is one; a minute at most.
fn wait_at_gate(stage: &str) {
    let Some(gate) = variable("STAND_IN_GATE") else { return };
    let (at, path) = gate.split_once(' ').expect("a gate is a stage and a file");
    assert!(STAGES.contains(&at), "no such stage: {at}");
    let file = if at == stage { std::fs::File::options().append(true).open(path).ok() } else { None };
    let Some(mut file) = file else { return };
    file.write_all(format!("{}\n", std::process::id()).as_bytes()).expect("the gate can be written to");
    let start = Instant::now();
    while Path::new(path).exists() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The fault that is asked for in this module.
fn fault(input: &Path) -> Option<String> {
    let module = input.to_string_lossy().into_owned();
    let elsewhere = variable("STAND_IN_FAULT_IN").is_some_and(|only| module != format!("{only}.hlo.pb"));
    let fault = variable("STAND_IN_FAULT").filter(|_| !elsewhere)?;
    assert!(FAULTS.contains(&fault.as_str()) || fault.starts_with("NCC_"), "no such fault: {fault}");
    Some(fault)
}

/// The first instruction that comes from a line of the model.
fn blamed(module: &HloModuleProto) -> Option<&HloInstructionProto> {
    let mut instructions = module.computations.iter().flat_map(|computation| &computation.instructions);
    instructions
        .find(|inst| inst.name.contains('.') && inst.metadata.as_ref().is_some_and(|metadata| metadata.source_line > 0))
}

/// A program for the stand-in for libnrt.
fn program(module: &HloModuleProto, flags: &[String]) -> Result<Vec<u8>, String> {
    let target = flags.iter().find_map(|flag| flag.strip_prefix("--target=")).unwrap_or("trn1");
    let wrong = variable("STAND_IN_WRONG_KERNEL");
    let linked = standin_kernels::link(module, wrong.as_deref()).map_err(|error| error.message().to_owned())?;
    standin_nrt::of_hlo(&halite_hlo::encode(&linked), target).map(|neff| neff.to_bytes())
}

/// Bytes that look like a NEFF and follow from the input alone.
fn neff(hlo: &[u8], flags: &[String]) -> Vec<u8> {
    let mut neff = b"STAND-IN NEFF OF HALITE'S TESTS, NOT A PROGRAM\n".to_vec();
    neff.resize(1024, b'.');
    let mut flags = flags.to_vec();
    flags.sort();
    let text = format!("{} {}\n", sha256(hlo), flags.join(" "));
    neff.extend(text.as_bytes().repeat(500));
    neff
}

/// Writes in two parts, taking as long as is asked for.
fn write_slowly(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let sleep: u64 = variable("STAND_IN_SLEEP").and_then(|text| text.parse().ok()).unwrap_or(0);
    let pause = || std::thread::sleep(Duration::from_millis(sleep / 2));
    let (first, second) = bytes.split_at(bytes.len() / 2);
    pause();
    let written = std::fs::File::create(path).and_then(|mut file| {
        file.write_all(first)?;
        pause();
        wait_at_gate("writing");
        file.write_all(second)
    });
    written.map_err(|error| error.to_string())
}
