//! The rank as an input.

use crate::bench::Bench;
use crate::check::{Case, Check, Told, Within};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// The uses of a rank's number: it takes its slice of a replicated tensor, and returns its offset.
const PROGRAM: &str = "
module @rank {phase = built}

func @main(%rank: u32[], %x: f32[32]) -> (f32[4], u32[]) {
  %four = constant 4 : u32[]
  %at = multiply %rank, %four : u32[]
  %start = convert %at : s32[]
  %part = dynamic_slice %x, %start : f32[4]
  return %part, %at
}
";

/// The numbers that are fed, more than one core has.
const RANKS: usize = 8;

pub(super) struct Rank;

impl Check for Rank {
    fn name(&self) -> &'static str {
        "rank-input"
    }

    fn about(&self) -> &'static str {
        "the number of a rank as an input, and the shard that it picks"
    }

    fn meaning(&self) -> &'static str {
        "Ranks would take each other's shards: nothing on a mesh can be trusted."
    }

    fn told(&self) -> Vec<Told> {
        vec![Told::new(
            "runtime/rank-input",
            "a scalar `u32` input is read anew in each run, and may be a position of `dynamic-slice`",
            "meshes keep the rank as an input (`RankSource::Input`)",
            "the rank becomes a constant of each rank's program, which is compiled once for each",
        )]
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let program = bench.program_of("rank-input", PROGRAM)?;
        let table = HostTensor::from_ints(DType::F32, [32], 100..132);
        let run = |rank: usize| {
            let rank = HostTensor::from_ints(DType::U32, [], [rank as i128]);
            vec![program.inputs(&[rank, table.clone()])]
        };
        let runs = (0..RANKS).map(run).collect();
        let case = Case::of(bench, "rank-input", program, runs)?;
        Ok(vec![case.probing("the fours of 32 numbers by rank", vec!["runtime/rank-input".into()], Within::Exact)])
    }
}
