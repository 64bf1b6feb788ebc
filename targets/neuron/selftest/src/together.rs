//! One program on all ranks of a launch, each a process, on any number of nodes: checks that all ranks hear all.

use crate::bench::Bench;
use crate::check::Case;
use crate::compile::compile;
use crate::place::{Limits, Place};
use halite_neuron::{Generation, settings};
use halite_runtime::{CompileOptions, Executor, Input, Neff, Nrt, Program as RuntimeProgram};
use halite_support::files::read;
use halite_support::{Diagnostics, Result};
use halite_tensor::{DType, HostTensor};
use std::path::{Path, PathBuf};

/// Elements that each rank has.
const SHARD: usize = 4;

/// Sums stay below 2^24, up to which `f32` has all integers, as long as there are fewer ranks than this.
const MOST_SUMMED: usize = 1024;

/// A sum over all ranks and a gathering of what each has, on integers, so that every rank knows every bit of both.
pub struct Together {
    bench: Bench,
    case: Case,
    ranks: usize,
}

impl Together {
    /// For so many ranks and a compiler of this version.
    ///
    /// # Errors
    /// When the program cannot be made, which is a bug.
    pub fn new(target: Generation, compiler: Option<&str>, ranks: usize) -> std::result::Result<Self, Diagnostics> {
        let bench = Bench::new(target, compiler)?;
        let name = format!("together-{ranks}");
        let program = bench.program_of(&name, &text(ranks))?;
        let case = Case::without_runs(&name, program);
        Ok(Self { bench, case, ranks })
    }

    /// Compiles the program in the folder of a place, unless it was.
    ///
    /// # Errors
    /// Why there is no NEFF, in words without paths.
    pub fn compile(&self, place: &Place, limits: &Limits<'_>) -> std::result::Result<PathBuf, String> {
        let compiler = place.compiler.as_ref().map_err(Clone::clone)?;
        let flags = settings::flags(&self.bench.recipe);
        let mut made = compile(&[&self.case], (self.bench.target, &flags), (place, compiler), limits);
        made.pop()
            .unwrap_or_else(|| Err(crate::compile::Trouble::other("no program was compiled")))
            .map_err(|trouble| trouble.reason)
    }

    /// Runs the program on a rank, beside all others. Returns the fault of its results, if there is one.
    ///
    /// # Errors
    /// When the NEFF cannot be read, or the runtime refuses or fails.
    pub fn run(&self, nrt: &Nrt, neff: &Path, rank: usize) -> Result<Option<String>> {
        let (inputs, outputs) = self.case.program.names.clone();
        let bytes = read(neff)?;
        let options = CompileOptions { num_replicas: self.ranks, ..CompileOptions::default() };
        let aliases = self.case.program.aliases.clone();
        let program = RuntimeProgram::new(&self.case.program.hlo, options)?;
        let executable = nrt.compile(&program.with_neff(Neff { bytes: &bytes, inputs, outputs, aliases })?)?;
        let given = [to_sum(rank), to_gather(rank)].map(|values| HostTensor::from_f64s(DType::F32, [SHARD], values));
        let upload = |tensor: &HostTensor| nrt.upload(tensor, 0).map(Input::Donate);
        let given = self.case.program.inputs(&given).iter().map(upload).collect::<halite_runtime::Result<Vec<_>>>()?;
        let mut results = Vec::new();
        for output in executable.execute_replicas(vec![given])?.into_iter().flatten() {
            results.push(output.download()?.f64s());
        }
        let expected = [summed(self.ranks), (0..self.ranks).flat_map(to_gather).collect()];
        let what = ["the sum over all ranks", "what was gathered of all ranks"];
        Ok(what.iter().zip(&expected).enumerate().find_map(|(at, (what, expected))| {
            let found = results.get(at).map_or(&[][..], Vec::as_slice);
            let wrong = (0..expected.len()).find(|&at| found.get(at) != expected.get(at))?;
            let found = found.get(wrong).map_or_else(|| "nothing".to_owned(), f64::to_string);
            Some(format!("{what} is wrong: element {wrong} is {found}, and should be {}", expected[wrong]))
        }))
    }
}

/// The numbers that a rank adds to the sum.
fn to_sum(rank: usize) -> Vec<f64> {
    (0..SHARD).map(|at| (rank % MOST_SUMMED + at) as f64).collect()
}

/// The numbers that a rank gives to be gathered: no other rank has them.
fn to_gather(rank: usize) -> Vec<f64> {
    (0..SHARD).map(|at| (rank * SHARD + at) as f64).collect()
}

fn summed(ranks: usize) -> Vec<f64> {
    (0..SHARD).map(|at| (0..ranks).map(|rank| to_sum(rank)[at]).sum()).collect()
}

fn text(ranks: usize) -> String {
    let numbers: Vec<String> = (0..ranks).map(|rank| rank.to_string()).collect();
    let (groups, all) = (numbers.join(", "), ranks * SHARD);
    format!(
        "module @together {{phase = built}}\n\n\
         func @main(%x: f32[{SHARD}], %y: f32[{SHARD}]) -> (f32[{SHARD}], f32[{all}]) {{\n  \
         %s = all_reduce %x {{kind = sum, groups = [[{groups}]]}} : f32[{SHARD}]\n  \
         %g = all_gather %y {{dim = 0, groups = [[{groups}]]}} : f32[{all}]\n  \
         return %s, %g\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected results are those of the interpreter.
    #[test]
    fn expectations_are_those_of_the_interpreter() {
        for ranks in [2, 8] {
            let together = Together::new(Generation::Trn1, None, ranks).unwrap();
            let tensor = |values| HostTensor::from_f64s(DType::F32, [SHARD], values);
            let inputs: Vec<_> = (0..ranks).map(|rank| vec![tensor(to_sum(rank)), tensor(to_gather(rank))]).collect();
            for results in together.bench.interpret(&together.case.program, &inputs).unwrap() {
                assert_eq!(results[0].f64s(), summed(ranks));
                assert_eq!(results[1].f64s(), (0..ranks).flat_map(to_gather).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn sums_are_exact_on_all_ranks_of_a_large_cluster() {
        assert!(summed(8192).iter().all(|sum| *sum < f64::from(1 << 24)));
    }
}
