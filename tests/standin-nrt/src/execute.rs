//! Loading and running programs on the PJRT plugin for CPUs.

use crate::container::{Refusal, StandInNeff};
use crate::orders;
use crate::state::{Memory, hold};
use crate::statuses::{EXEC_BAD_INPUT, FAILURE, HW_ERROR, INVALID, LOAD_NOT_ENOUGH_NC, UNSUPPORTED_NEFF_VERSION};
use halite_runtime::{ClientOptions, CompileOptions, Executable, Executor, Pjrt, evaluate, find_plugin};
use halite_tensor::HostTensor;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::sync::OnceLock;

/// A program that was loaded.
pub(crate) struct Program {
    pub(crate) neff: StandInNeff,
    executable: Box<dyn Executable>,
}

static CPU: OnceLock<Option<Pjrt>> = OnceLock::new();

/// The plugin's client, opened once.
fn cpu() -> Result<&'static Pjrt, c_int> {
    let open = || Pjrt::open(&find_plugin(None).ok()?, &ClientOptions::cpu(1)).ok();
    CPU.get_or_init(open).as_ref().ok_or(FAILURE)
}

/// The first result, where it is a status.
fn parse(bytes: &[u8]) -> Result<StandInNeff, c_int> {
    StandInNeff::parse(bytes).map_err(|refusal| match refusal {
        Refusal::NotOne => INVALID,
        Refusal::OtherVersion => UNSUPPORTED_NEFF_VERSION,
    })
}

/// Loads a program, on a core, of a rank of so many.
pub(crate) fn load(bytes: &[u8], core: i32, (rank, ranks): (u32, u32)) -> Result<Program, c_int> {
    let (neff, cores) = (parse(bytes)?, orders::number("CORES", 1));
    let target = orders::variable("TARGET").unwrap_or_else(|| "trn1".to_owned());
    if neff.target != target {
        return Err(HW_ERROR);
    }
    let is_there = u64::try_from(core).is_ok_and(|core| core + u64::from(neff.cores) <= cores);
    if !is_there {
        return Err(LOAD_NOT_ENOUGH_NC);
    }
    hold(neff.ranks == ranks && rank < ranks)?;
    let options = CompileOptions::default();
    let program = halite_runtime::Program::new(&neff.hlo, options).map_err(|_| INVALID)?;
    let executable = cpu()?.compile(&program).map_err(|_| INVALID)?;
    Ok(Program { neff, executable })
}

/// Runs a program on the tensors of two sets.
pub(crate) fn run(
    program: &Program,
    tensors: &mut BTreeMap<usize, Memory>,
    inputs: &BTreeMap<String, usize>,
    outputs: &BTreeMap<String, usize>,
    is_nan: bool,
) -> Result<(), c_int> {
    // What several ranks do together, this cannot.
    hold(program.neff.ranks == 1)?;
    check(program, tensors, inputs, outputs)?;
    let specs = &program.executable.signature().inputs;
    let read = program.neff.inputs.iter().zip(specs).map(|(input, spec)| {
        let memory = tensors.get(&inputs[&input.name]).filter(|memory| memory.is_written).ok_or(EXEC_BAD_INPUT)?;
        HostTensor::from_bytes(spec.dtype, spec.shape.clone(), memory.bytes.clone()).map_err(|_| INVALID)
    });
    let read = read.collect::<Result<Vec<_>, _>>()?;
    let results = evaluate(cpu()?, program.executable.as_ref(), &read).map_err(|_| FAILURE)?;
    for (output, result) in program.neff.outputs.iter().zip(results) {
        let result = if is_nan && output.alias.is_none() { not_a_number(&result) } else { result };
        let memory = Memory { bytes: result.into_bytes(), is_written: true };
        tensors.insert(outputs[&output.name], memory);
    }
    Ok(())
}

/// As many NaN; whole numbers stay.
fn not_a_number(tensor: &HostTensor) -> HostTensor {
    match tensor.dtype().is_float() {
        true => HostTensor::from_f64s(tensor.dtype(), tensor.shape().clone(), vec![f64::NAN; tensor.len()]),
        false => tensor.clone(),
    }
}

/// The sets hold the tensors of the program and no others, of the right sizes, and memory is shared only where it may be.
fn check(
    program: &Program,
    tensors: &BTreeMap<usize, Memory>,
    inputs: &BTreeMap<String, usize>,
    outputs: &BTreeMap<String, usize>,
) -> Result<(), c_int> {
    for (named, set) in [(&program.neff.inputs, inputs), (&program.neff.outputs, outputs)] {
        hold(named.len() == set.len())?;
        for tensor in named {
            let memory = set.get(&tensor.name).and_then(|handle| tensors.get(handle)).ok_or(INVALID)?;
            hold(memory.bytes.len() == tensor.bytes)?;
        }
    }
    let mut written = BTreeSet::new();
    for output in &program.neff.outputs {
        let handle = outputs[&output.name];
        let of_input = program.neff.inputs.iter().position(|input| inputs[&input.name] == handle);
        hold(written.insert(handle) && (of_input.is_none() || of_input == output.alias))?;
    }
    Ok(())
}
