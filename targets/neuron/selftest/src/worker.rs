//! The process that runs programs: a crash or a call that never comes back takes nothing else along.

use crate::blob;
use crate::job::{self, Answer, Job, Order, Ready};
use crate::place::Runtime;
use halite_runtime::{
    Buffer, ClientOptions, CompileOptions, Executable, Executor, Input, Neff, Nrt, NrtOptions, Pjrt, Program,
};
use halite_stablehlo::Form;
use halite_support::files::read;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::HostTensor;
use std::path::Path;
use std::time::Duration;

/// Does what the job in a folder says, and leaves the answers there. After a program that fails nothing more is run: who started the
/// process starts another one for the rest, since no source says what a core is good for after a failure.
///
/// # Errors
/// When the folder has no job, the runtime does not start, or an answer cannot be written.
pub fn work(folder: &Path) -> Result<()> {
    let missing = || Diagnostic::error(codes::SELFTEST, "the folder has no job of the self-test");
    let job: Job = job::get(&job::job(folder)).ok_or_else(missing)?;
    let (executor, version) = open(&job)?;
    let cores = match &executor {
        Opened::Nrt(nrt) => nrt.cores()? as usize,
        Opened::Pjrt(pjrt) => pjrt.num_devices(),
    };
    let executor = executor.as_dyn();
    job::put(&job::ready(folder), &Ready { platform: executor.platform(), version, cores })?;
    for order in &job.programs {
        let outcome = run(executor, order, folder, if is_one_process(&job) { order.ranks } else { 1 });
        let error = outcome.err().map(|error| error.message().to_owned());
        let failed = error.is_some();
        job::put(&job::answer(folder, &order.name), &Answer { error })?;
        if failed {
            break;
        }
    }
    Ok(())
}

enum Opened {
    Nrt(Nrt),
    Pjrt(Pjrt),
}

impl Opened {
    fn as_dyn(&self) -> &dyn Executor {
        match self {
            Opened::Nrt(nrt) => nrt,
            Opened::Pjrt(pjrt) => pjrt,
        }
    }
}

/// Whether one process runs all ranks of a program.
fn is_one_process(job: &Job) -> bool {
    matches!(job.runtime, Runtime::Pjrt(_))
}

/// The executor, and the version that it states.
fn open(job: &Job) -> Result<(Opened, String)> {
    match &job.runtime {
        Runtime::Nrt(library) => {
            let call_timeout = Duration::from_secs(job.call_seconds);
            let load_timeout = Duration::from_secs(job.load_seconds);
            let options = NrtOptions { call_timeout, load_timeout, rank: job.rank, ..NrtOptions::default() };
            let nrt = Nrt::open(library, &options)?;
            let version = nrt.version().to_string();
            Ok((Opened::Nrt(nrt), version))
        }
        Runtime::Pjrt(plugin) => {
            let pjrt = Pjrt::open(plugin, &ClientOptions::default())?;
            let version = pjrt.platform();
            Ok((Opened::Pjrt(pjrt), version))
        }
    }
}

/// Runs one program and leaves its results.
fn run(executor: &dyn Executor, order: &Order, folder: &Path, ranks: usize) -> Result<()> {
    let hlo = read(&order.hlo)?;
    let neff = order.neff.as_deref().map(read).transpose()?;
    let options = CompileOptions { num_replicas: order.ranks, ..CompileOptions::default() };
    let program = Program::new(&hlo, options)?.in_format(executor.format(), |hlo| {
        halite_stablehlo::translate(hlo, Form::Program { num_replicas: order.ranks })
    })?;
    let program = match &neff {
        None => program,
        Some(bytes) => program.with_neff(Neff {
            bytes,
            inputs: order.inputs.clone(),
            outputs: order.outputs.clone(),
            aliases: order.aliases.clone(),
        })?,
    };
    let executable = executor.compile(&program)?;
    let given = blob::load(&job::inputs(folder, &order.name))?;
    let results = repeat(executor, executable.as_ref(), order, given, ranks)?;
    blob::write(&job::results(folder, &order.name), results.iter())
}

/// Runs a program as often as is asked for. Inputs that are replaced are donated and their results carried on; all others are passed
/// again.
fn repeat(
    executor: &dyn Executor,
    executable: &dyn Executable,
    order: &Order,
    given: Vec<HostTensor>,
    ranks: usize,
) -> Result<Vec<HostTensor>> {
    let width = order.inputs.len();
    let mut given = given.into_iter();
    let mut carried: Vec<Vec<Option<Buffer>>> = (0..ranks).map(|_| (0..width).map(|_| None).collect()).collect();
    let mut results = Vec::new();
    for _ in 0..order.runs {
        let mut inputs = Vec::with_capacity(ranks);
        for (rank, carried) in carried.iter_mut().enumerate() {
            let device = executable.devices().get(rank).copied().unwrap_or(rank);
            let tensors = given.by_ref().take(width);
            let one = |(at, tensor): (usize, HostTensor)| match carried.get_mut(at).and_then(Option::take) {
                Some(buffer) => Ok(Input::Donate(buffer)),
                None => executor.upload(&tensor, device).map(Input::Donate),
            };
            inputs.push(tensors.enumerate().map(one).collect::<halite_runtime::Result<Vec<_>>>()?);
        }
        for (outputs, carried) in executable.execute_replicas(inputs)?.into_iter().zip(&mut carried) {
            for (output, alias) in outputs.into_iter().zip(&order.aliases) {
                results.push(output.download()?);
                if let Some(place) = alias.and_then(|input| carried.get_mut(input)) {
                    *place = Some(output);
                }
            }
        }
    }
    Ok(results)
}
