//! The bill of an update: time by cause, memory by owner, money.

use halite::Session;
use halite::compile::CompileOptions;
use halite::source::Source;
use halite_bundle::estimate::{FitVerdict, MemoryByKind};
use halite_bundle::{Bundle, Manifest, ModuleRole};
use halite_estimate::time::{Machine, PriceKind, StepTime, step_time};
use halite_support::{Diagnostic, Diagnostics};
use serde::Serialize;

/// The bill of an update of a bundle on a machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Bill {
    /// Ranks that take part.
    pub ranks: u64,
    /// Instances that these need; a part of one counts as a whole.
    pub instances: u64,
    /// Tokens, or examples where the model has no sequences, of an update over all ranks.
    pub tokens: u64,
    /// The time of an update, in seconds, by cause.
    pub step: StepTime,
    /// Model FLOPs utilization: the share of the peak rate of all ranks that products take which the model asks for.
    pub mfu: f64,
    /// Hardware FLOPs utilization: the same with the products that are computed again.
    pub hfu: f64,
    /// Bytes of a rank at the peak, by kind, of the module that needs most.
    pub peak: MemoryByKind,
    /// Bytes that a rank needs for that module, and how many it has, 0 where the target does not say.
    pub memory: [u64; 2],
    /// Whether all modules fit; `None` where the target does not say.
    pub fits: Option<Fits>,
    /// The cost of a billion tokens, by kind of contract.
    pub costs: Vec<Cost>,
}

/// The verdicts on all modules, the worst of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Fits {
    /// Of the memory of a rank.
    pub memory: FitVerdict,
    /// Of the instructions that the target's compiler takes in one module.
    pub instructions: FitVerdict,
}

impl Fits {
    /// The worse of both.
    pub fn verdict(self) -> FitVerdict {
        self.memory.max(self.instructions)
    }

    fn worst(self, other: Self) -> Self {
        let instructions = self.instructions.max(other.instructions);
        Self { memory: self.memory.max(other.memory), instructions }
    }
}

/// A price for the tokens.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Cost {
    /// The kind of contract.
    pub kind: PriceKind,
    /// US dollars for an hour of all instances.
    pub hour: f64,
    /// US dollars for a billion tokens.
    pub billion_tokens: f64,
}

impl Bill {
    /// The bill of a bundle; `None` where its modules have no estimates, or nothing is scheduled.
    pub fn of(manifest: &Manifest, machine: &Machine) -> Option<Self> {
        let step = step_time(manifest, machine)?;
        let ranks = manifest.num_ranks() as u64;
        let instances = ranks.div_ceil(machine.instance.ranks.max(1));
        let (tokens, statistics) = (manifest.statistics.tokens_per_step, &manifest.statistics);
        let peak_rate = machine.peak(&manifest.recipe.precision.operand.to_string()) * ranks as f64;
        let utilization = |flops: u64| flops as f64 * tokens as f64 / (peak_rate * step.total);
        let (mfu, hfu) =
            (utilization(statistics.model_flops_per_token), utilization(statistics.matmul_flops_per_token));
        let (fits, peak, memory) = memory(manifest);
        let cost = |price: &halite_estimate::time::Price| {
            let hour = price.dollars * instances as f64;
            Cost { kind: price.kind, hour, billion_tokens: hour / 3600.0 * step.total / tokens as f64 * 1e9 }
        };
        let costs = machine.instance.prices.iter().map(cost).collect();
        Some(Self { ranks, instances, tokens, step, mfu, hfu, peak, memory, fits, costs })
    }

    /// Compiles the training of a recipe alone, and prices it.
    ///
    /// # Errors
    /// Those of [`Session::compile`].
    pub fn compiled(session: &Session, source: &Source, machine: &Machine) -> Result<(Bundle, Self), Diagnostics> {
        let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
        let bundle = session.compile(source, &options)?.bundle;
        let bill = Self::of(&bundle.manifest, machine);
        let bill = bill.ok_or_else(|| Diagnostic::bug("a compiled recipe has no estimate of its time"))?;
        Ok((bundle, bill))
    }

    /// Tokens in a second, over all ranks.
    pub fn tokens_per_second(&self) -> f64 {
        self.tokens as f64 / self.step.total
    }

    /// The cost under the cheapest contract that cannot be taken back, or of any where there is none.
    pub fn cost(&self) -> Option<&Cost> {
        let order = |cost: &&Cost| (cost.kind == PriceKind::Spot, (cost.billion_tokens * 1e6) as u64);
        self.costs.iter().min_by_key(order)
    }
}

/// The verdicts, and the peak by kind with bytes needed and there of the module that needs most.
fn memory(manifest: &Manifest) -> (Option<Fits>, MemoryByKind, [u64; 2]) {
    let estimates = || manifest.modules.iter().filter_map(|module| module.estimate.as_ref());
    let verdicts = estimates().filter_map(|estimate| estimate.fit);
    let verdicts = verdicts.map(|fit| Fits { memory: fit.memory, instructions: fit.instructions });
    let fits = verdicts.reduce(Fits::worst);
    let Some(most) = estimates().max_by_key(|estimate| estimate.memory.total()) else {
        return (fits, MemoryByKind::default(), [0, 0]);
    };
    let there = most.fit.map_or(0, |fit| fit.memory_limit);
    (fits, most.memory.peak, [most.memory.total(), there])
}
