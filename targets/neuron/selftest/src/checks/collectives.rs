//! Collectives.

use crate::bench::Bench;
use crate::check::{Case, Check, Needs, Told, Within};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// The numbers of ranks that are asked, each where there are as many cores.
const WORLDS: [usize; 3] = [2, 8, 32];

/// Elements that each rank has of the whole.
const SHARD: usize = 4;

/// A collective on `f32`; `N` elements on each rank, all ranks in one group `G`, that in reverse `V`, pairs of a ring `R`.
struct Collective {
    name: &'static str,
    body: &'static str,
    /// Elements of the result for `n` ranks.
    size: fn(usize) -> usize,
    /// How many sums an element is made by, for `n` ranks.
    sums: fn(usize) -> usize,
    /// The one whose program it is, run once more by other processes.
    again: Option<&'static str>,
}

const ALL: [Collective; 8] = [
    Collective {
        name: "all-reduce",
        body: "all_reduce %x {kind = sum, groups = G}",
        size: |ranks| ranks * SHARD,
        sums: |ranks| ranks - 1,
        again: None,
    },
    Collective {
        name: "all-reduce-max",
        body: "all_reduce %x {kind = max, groups = G}",
        size: |ranks| ranks * SHARD,
        sums: |_| 0,
        again: None,
    },
    Collective {
        name: "all-gather",
        body: "all_gather %x {dim = 0, groups = G}",
        size: |ranks| ranks * ranks * SHARD,
        sums: |_| 0,
        again: None,
    },
    // The same ranks in another order, in the process of the one before: a runtime that keeps groups by who is in them confuses the two.
    Collective {
        name: "all-gather-reversed",
        body: "all_gather %x {dim = 0, groups = V}",
        size: |ranks| ranks * ranks * SHARD,
        sums: |_| 0,
        again: None,
    },
    Collective {
        name: "reduce-scatter",
        body: "reduce_scatter %x {dim = 0, groups = G}",
        size: |_| SHARD,
        sums: |ranks| ranks - 1,
        again: None,
    },
    Collective {
        name: "all-to-all",
        body: "all_to_all %x {split_dim = 0, concat_dim = 0, groups = G}",
        size: |ranks| ranks * SHARD,
        sums: |_| 0,
        again: None,
    },
    Collective {
        name: "collective-permute",
        body: "collective_permute %x {pairs = R}",
        size: |ranks| ranks * SHARD,
        sums: |_| 0,
        again: None,
    },
    Collective {
        name: "all-gather-again",
        body: "all_gather %x {dim = 0, groups = G}",
        size: |ranks| ranks * ranks * SHARD,
        sums: |_| 0,
        again: Some("all-gather"),
    },
];

pub(super) struct Collectives;

impl Check for Collectives {
    fn name(&self) -> &'static str {
        "collectives"
    }

    fn about(&self) -> &'static str {
        "each collective on 2, 8 and 32 ranks, as far as there are cores"
    }

    fn needs(&self) -> Needs {
        Needs::Cores(WORLDS[0])
    }

    fn meaning(&self) -> &'static str {
        "Ranks would compute with wrong sums or with each other's shards: train on one core until it is right."
    }

    fn told(&self) -> Vec<Told> {
        let told = |collective: &Collective| {
            let name = collective.name;
            if let Some(first) = collective.again {
                return Told::new(
                    &format!("collectives/{name}"),
                    &format!(
                        "a NEFF with `{first}` that processes loaded runs once more in others, which load it after them"
                    ),
                    &format!("layouts that need `{first}` can be started again with the NEFFs that they have"),
                    &format!(
                        "a run whose layout needs `{first}` is told before each start to compile its NEFFs anew: no run is resumed with old ones"
                    ),
                );
            }
            Told::new(
                &format!("collectives/{name}"),
                &format!(
                    "`{name}` without channel gives each rank what HLO says, in the order of ranks, and adds in `f32`"
                ),
                "`partition` may use it on this target",
                &format!("layouts that need `{name}` are refused for this target"),
            )
        };
        ALL.iter().map(told).collect()
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let of = |ranks: usize| ALL.iter().map(move |collective| (collective, ranks));
        let mut asked: Vec<_> = WORLDS.into_iter().flat_map(of).collect();
        // A runtime that fails at what is loaded again was seen to fail at all that followed.
        asked.sort_by_key(|(collective, _)| collective.again.is_some());
        asked.into_iter().map(|(collective, ranks)| case(bench, collective, ranks)).collect()
    }
}

fn case(bench: &Bench, collective: &Collective, ranks: usize) -> Result<Case> {
    let numbers: Vec<String> = (0..ranks).map(|rank| rank.to_string()).collect();
    let next: Vec<String> = (0..ranks).map(|rank| ((rank + 1) % ranks).to_string()).collect();
    let reversed: Vec<String> = numbers.iter().rev().cloned().collect();
    let body = collective.body.replace('G', &format!("[[{}]]", numbers.join(", ")));
    let body = body.replace('V', &format!("[[{}]]", reversed.join(", ")));
    let body = body.replace('R', &format!("[{}] x [{}]", numbers.join(", "), next.join(", ")));
    let (size, result) = (ranks * SHARD, (collective.size)(ranks));
    let text = format!(
        "module @together {{phase = built}}\n\nfunc @main(%x: f32[{size}]) -> (f32[{result}]) {{\n  %y = {body} : f32[{result}]\n  return %y\n}}\n"
    );
    let name = format!("{}-{ranks}", collective.name);
    let program = bench.program_of(&name, &text)?;
    // Numbers with all bits of f32, so that a sum in a narrower type is seen, and different on each rank.
    let value = |rank: usize, at: usize| 1.0 + ((rank * size + at) * 7919 % 8191) as f64 / 8191.0;
    let inputs = |rank| vec![HostTensor::from_f64s(DType::F32, [size], (0..size).map(|at| value(rank, at)))];
    let mut case = Case::of(bench, &name, program, vec![(0..ranks).map(inputs).collect()])?;
    case.again = collective.again.map(|first| format!("{first}-{ranks}"));
    // Each sum of numbers of one sign errs by half a unit of the result at most, which `Units` counts as one.
    let within = Within::Units((collective.sums)(ranks) as f64);
    Ok(case.probing(
        format!("{} on {ranks} ranks", collective.name),
        vec![format!("collectives/{}", collective.name)],
        within,
    ))
}
