//! Loading and running programs on the PJRT plugin for CPUs.

use crate::container::{Refusal, StandInNeff};
use crate::state::{Memory, hold};
use crate::statuses::{
    EXEC_BAD_INPUT, FAILURE, HW_ERR_COLLECTIVES, HW_ERROR, INVALID, LOAD_NOT_ENOUGH_NC, SUCCESS,
    UNSUPPORTED_NEFF_VERSION,
};
use crate::{defects, memory, once, orders, ranks};
use halite_runtime::{
    ClientOptions, CompileOptions, Executable, Executor, Pjrt, Signature, TensorSpec, evaluate_replicas, find_plugin,
};
use halite_tensor::HostTensor;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

/// A program that was loaded.
pub(crate) struct Program {
    pub(crate) neff: StandInNeff,
    signature: Signature,
    /// `None` where another process runs it.
    executable: Option<Box<dyn Executable>>,
    place: Place,
}

/// The rank and number of ranks that it is loaded for, and its number among the programs of all of them.
struct Place {
    rank: u32,
    ranks: u32,
    number: u64,
}

static CPU: OnceLock<Option<Pjrt>> = OnceLock::new();

/// The plugin's client, opened once, with as many devices as the first program has ranks.
fn cpu(ranks: u32) -> Result<&'static Pjrt, c_int> {
    let open = || Pjrt::open(&find_plugin(None).ok()?, &ClientOptions::cpu(ranks as usize)).ok();
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
    let (mut neff, cores) = (parse(bytes)?, orders::number("CORES", 1));
    if defects::loads_once() {
        once::load(bytes, &neff.hlo, rank)?;
    }
    neff.hlo = defects::run_as(&neff.hlo)?;
    let target = orders::variable("TARGET").unwrap_or_else(|| "trn1".to_owned());
    if neff.target != target {
        return Err(HW_ERROR);
    }
    let is_there = u64::try_from(core).is_ok_and(|core| core + u64::from(neff.cores) <= cores);
    if !is_there {
        return Err(LOAD_NOT_ENOUGH_NC);
    }
    hold(neff.ranks == ranks && rank < ranks)?;
    let options = CompileOptions { num_replicas: ranks as usize, ..CompileOptions::default() };
    let program = halite_runtime::Program::new(&neff.hlo, options).map_err(|_| INVALID)?;
    let signature = program.signature().clone();
    // What is remembered needs no program, which is compiled when something is asked that is not.
    let executable = if rank == 0 && memory::folder().is_none() { Some(compile(&program, ranks)?) } else { None };
    let number = if ranks > 1 { agree(bytes, rank, ranks)? } else { 0 };
    Ok(Program { neff, signature, executable, place: Place { rank, ranks, number } })
}

fn compile(program: &halite_runtime::Program<'_>, ranks: u32) -> Result<Box<dyn Executable>, c_int> {
    cpu(ranks)?.compile(program).map_err(|_| INVALID)
}

/// Sees that all ranks load this program now; its number among those that they load together.
fn agree(bytes: &[u8], rank: u32, ranks: u32) -> Result<u64, c_int> {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let mut met = ranks::meet(rank, ranks)?;
    let answer = met.ask(hasher.finish().to_le_bytes().to_vec(), |all| {
        let is_one = all.iter().all(|said| *said == all[0]);
        vec![vec![u8::from(is_one)]; all.len()]
    });
    hold(answer? == [1])?;
    Ok(met.next())
}

/// Runs a program on the tensors of two sets.
pub(crate) fn run(
    program: &Program,
    tensors: &mut BTreeMap<usize, Memory>,
    inputs: &BTreeMap<String, usize>,
    outputs: &BTreeMap<String, usize>,
    is_nan: bool,
) -> Result<(), c_int> {
    check(program, tensors, inputs, outputs)?;
    let read = program.neff.inputs.iter().map(|input| {
        let memory = tensors.get(&inputs[&input.name]).filter(|memory| memory.is_written).ok_or(EXEC_BAD_INPUT)?;
        Ok(memory.bytes.as_slice())
    });
    let read: Vec<u8> = read.collect::<Result<Vec<_>, c_int>>()?.concat();
    let results = if program.place.ranks == 1 { program.of_one(read)? } else { program.of_all(read)? };
    for (output, result) in program.neff.outputs.iter().zip(split(&program.signature.outputs, &results)?) {
        if output.alias.is_some() && defects::keeps_aliases() {
            continue;
        }
        let result = if is_nan && output.alias.is_none() { not_a_number(&result) } else { result };
        let memory = Memory { bytes: result.into_bytes(), is_written: true };
        tensors.insert(outputs[&output.name], memory);
    }
    Ok(())
}

/// The tensors that follow one another in bytes.
fn split(specs: &[TensorSpec], mut bytes: &[u8]) -> Result<Vec<HostTensor>, c_int> {
    let one = |spec: &TensorSpec| {
        let (own, rest) = bytes.split_at_checked(spec.size()).ok_or(INVALID)?;
        bytes = rest;
        HostTensor::from_bytes(spec.dtype, spec.shape.clone(), own.to_vec()).map_err(|_| INVALID)
    };
    specs.iter().map(one).collect()
}

impl Program {
    /// The results of a rank that is alone.
    fn of_one(&self, inputs: Vec<u8>) -> Result<Vec<u8>, c_int> {
        self.evaluate(&[inputs])?.pop().ok_or(FAILURE)
    }

    /// The results of this rank, which runs the program with the others.
    fn of_all(&self, inputs: Vec<u8>) -> Result<Vec<u8>, c_int> {
        let Place { rank, ranks, number } = self.place;
        let said = [&number.to_le_bytes()[..], &inputs].concat();
        let answer = ranks::meet(rank, ranks)?.ask(said, |all| self.decide(all))?;
        let (status, results) = answer.split_first_chunk::<4>().ok_or(INVALID)?;
        match c_int::from_le_bytes(*status) {
            SUCCESS => Ok(results.to_vec()),
            status => Err(status),
        }
    }

    /// The first rank's answers to each rank: a status with its results.
    fn decide(&self, all: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let results = || {
            let inputs = all.iter().map(|said| {
                let (number, inputs) = said.split_first_chunk::<8>().ok_or(INVALID)?;
                // Ranks that run other programs wait for one another without end.
                if u64::from_le_bytes(*number) == self.place.number { Ok(inputs) } else { Err(HW_ERR_COLLECTIVES) }
            });
            self.evaluate(&inputs.collect::<Result<Vec<_>, c_int>>()?)
        };
        let with = |status: c_int, results: Vec<u8>| [&status.to_le_bytes()[..], &results].concat();
        match results() {
            Ok(results) => results.into_iter().map(|results| with(SUCCESS, results)).collect(),
            Err(status) => all.iter().map(|_| with(status, Vec::new())).collect(),
        }
    }

    /// The results of all ranks, from the inputs of each.
    fn evaluate(&self, ranks: &[impl AsRef<[u8]>]) -> Result<Vec<Vec<u8>>, c_int> {
        let asked = ranks.iter().map(AsRef::as_ref);
        memory::recall(std::iter::once(self.neff.hlo.as_slice()).chain(asked), || self.compute(ranks))
    }

    fn compute(&self, ranks: &[impl AsRef<[u8]>]) -> Result<Vec<Vec<u8>>, c_int> {
        let compiled;
        let executable = match &self.executable {
            Some(executable) => executable.as_ref(),
            None => {
                let options = CompileOptions { num_replicas: ranks.len(), ..CompileOptions::default() };
                let program = halite_runtime::Program::new(&self.neff.hlo, options).map_err(|_| INVALID)?;
                compiled = compile(&program, self.place.ranks)?;
                compiled.as_ref()
            }
        };
        let inputs = ranks.iter().map(|inputs| split(&self.signature.inputs, inputs.as_ref()));
        let inputs = inputs.collect::<Result<Vec<_>, c_int>>()?;
        let inputs: Vec<&[HostTensor]> = inputs.iter().map(Vec::as_slice).collect();
        let results = evaluate_replicas(cpu(self.place.ranks)?, executable, &inputs).map_err(|_| FAILURE)?;
        Ok(results.iter().map(|rank| rank.iter().map(HostTensor::bytes).collect::<Vec<_>>().concat()).collect())
    }
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
        // Memory that is given away is that of one input, the one whose place the output takes.
        let mut shared = (0..program.neff.inputs.len()).filter(|at| inputs[&program.neff.inputs[*at].name] == handle);
        hold(written.insert(handle) && shared.all(|at| output.alias == Some(at)))?;
    }
    Ok(())
}
