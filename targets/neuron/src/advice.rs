//! Advice on making a module fit.

use crate::memory::INSTRUCTION_LIMIT;
use crate::tables::{CoreGroups, Hardware};
use crate::{Generation, Tables};
use halite_bundle::estimate::{Estimate, Fit, FitVerdict, MemoryByKind};
use halite_bundle::{Buffer, Manifest, ModuleRole};
use halite_recipe::{MeshAxis, Recipe, SHARDS_WEIGHTS, batch_ranks};
use halite_support::units::bytes;
use halite_support::{Diagnostic, codes};
use halite_target::PolicyNeed;
use halite_tensor::DType;

/// A warning about the module of a bundle that is furthest from fitting; `None` when all fit or nothing was estimated.
pub(crate) fn warning(manifest: &Manifest, policies: &[PolicyNeed]) -> Option<Diagnostic> {
    let generation = Generation::of(&manifest.recipe)?;
    let hardware = Tables::builtin().hardware(generation)?;
    let (name, estimate, fit) = manifest.furthest_from_fitting()?;
    if fit.verdict() == FitVerdict::Fits {
        return None;
    }
    let policies: Vec<_> = policies.iter().filter(|need| need.module == name).collect();
    Some(Advice { manifest, generation, hardware, name, estimate, policies }.diagnose())
}

struct Advice<'a> {
    manifest: &'a Manifest,
    generation: Generation,
    hardware: &'a Hardware,
    name: &'a str,
    estimate: &'a Estimate,
    /// The needs of the module under policies that recompute more.
    policies: Vec<&'a PolicyNeed>,
}

/// A possible change, and how many bytes or instructions less the module needs with it.
struct Measure {
    saves: u64,
    text: String,
}

impl Advice<'_> {
    fn diagnose(&self) -> Diagnostic {
        let Some(fit) = self.estimate.fit else { return Diagnostic::bug("advice on a module that was not compared") };
        let (memory, instructions) = (fit.memory != FitVerdict::Fits, fit.instructions != FitVerdict::Fits);
        let verdict = fit.verdict().name();
        let needs = short(self.estimate.instructions.total());
        let takes = match fit.raised_limit > fit.instruction_limit {
            true => format!("{}, or {} with a flag", short(fit.instruction_limit), short(fit.raised_limit)),
            false => short(fit.instruction_limit),
        };
        let headline = if memory {
            let (needs, has) = (bytes(self.estimate.memory.total()), bytes(fit.memory_limit));
            let target = &self.manifest.recipe.target;
            format!("`{}` {verdict} on one core of {target}: about {needs}, a core has {has}", self.name)
        } else {
            format!("`{}` {verdict} in one module: about {needs} instructions, neuronx-cc takes {takes}", self.name)
        };
        let mut warning = Diagnostic::warning(codes::DOES_NOT_FIT, headline);
        if memory {
            warning = warning.note(parts(&self.estimate.memory.peak));
            if let Some(state) = self.state(fit.memory_limit) {
                warning = warning.note(state);
            }
        }
        if memory && instructions {
            warning =
                warning.note(format!("it makes about {needs} instructions of the machine; neuronx-cc takes {takes}"));
        }
        if let Some(costs) = Tables::builtin().costs(self.generation).filter(|_| instructions) {
            let factor = costs.factor;
            warning =
                warning.note(format!("the estimate of instructions may be off by a factor of {factor}, either way"));
        }
        let mut measures = if memory { self.measures(fit.memory_limit) } else { self.fewer_instructions() };
        measures.extend(raise(fit));
        measures.sort_by_key(|measure| std::cmp::Reverse(measure.saves));
        let texts: Vec<String> = measures.into_iter().map(|measure| measure.text).collect();
        warning.help(texts.join("; "))
    }

    /// Returns a sentence with the size of the state and the number of cores that hold it, if one core does not.
    fn state(&self, limit: u64) -> Option<String> {
        let state = self.manifest.buffers.iter().filter(|buffer| !buffer.is_batch());
        let (mut taken, mut wide, mut is_narrow) = (0u64, 0u64, false);
        for buffer in state {
            taken += buffer.local_bytes();
            wide += buffer.local_shape().num_elements() as u64 * DType::F32.size() as u64;
            is_narrow |= buffer.dtype.is_narrow();
        }
        if taken <= limit {
            return None;
        }
        let cores = taken.div_ceil(limit.max(1));
        let in_f32 = if is_narrow { format!(" ({} in `f32`)", bytes(wide)) } else { String::new() };
        let of = if self.manifest.num_ranks() == 1 { "the state alone" } else { "the state of one rank alone" };
        Some(format!("{of} takes {}{in_f32}: at least {cores} cores", bytes(taken)))
    }

    /// All measures that would help.
    fn measures(&self, limit: u64) -> Vec<Measure> {
        let recipe = &self.manifest.recipe;
        let memory = &self.estimate.memory;
        let total = memory.total();
        let mut measures = vec![self.split(limit)];
        let is_sharded = recipe.parallel.as_ref().is_some_and(|parallel| parallel.zero > 0);
        let mesh = &self.manifest.mesh;
        let data = match mesh.num_ranks() {
            1 => 2,
            _ => batch_ranks(mesh) as u64,
        };
        // What stays beside a step of an update is state of the optimizer, too.
        let beside = if self.name == ModuleRole::EVAL.name() { 0 } else { memory.peak.resident };
        let optimizer = memory.peak.optimizer + beside;
        if !is_sharded && data > 1 && optimizer * 8 > total {
            let text =
                format!("shard the optimizer's {} over data-parallel cores (`parallel.zero = 1`)", bytes(optimizer));
            measures.push(Measure { saves: optimizer - optimizer / data, text });
        }
        measures.extend(self.store_parts(recipe, optimizer));
        measures.extend(self.narrow(recipe));
        measures.extend(self.recompute(recipe));
        let step = memory.peak.activations + memory.peak.workspace;
        if let Some(batch) = recipe.batch.filter(|batch| *batch > 1) {
            let saves = step - step / batch as u64;
            measures.push(Measure { saves, text: format!("`batch = 1` saves about {}", bytes(saves)) });
        } else if step * 8 > total {
            let text = format!("half of `seq` saves at least {}", bytes(step / 2));
            measures.push(Measure { saves: step / 2, text });
        }
        measures
    }

    /// Measures with which a module has fewer instructions: it does less.
    fn fewer_instructions(&self) -> Vec<Measure> {
        let total = self.estimate.instructions.total();
        let limit = self.estimate.fit.map_or(u64::MAX, |fit| fit.instruction_limit);
        let (shared, cores) = self.cores(total.div_ceil(limit.max(1)));
        let left = total / (cores / shared).max(1);
        let text = format!(
            "split the model over {cores} cores (`parallel.tensor = {cores}`): about {} instructions",
            short(left)
        );
        let mut measures = vec![Measure { saves: total - left, text }];
        if let Some(batch) = self.manifest.recipe.batch.filter(|batch| *batch > 1) {
            let left = total / batch as u64;
            let text = format!("`batch = 1` makes about {} instructions in a module", short(left));
            measures.push(Measure { saves: total - left, text });
        }
        measures
    }

    /// Over how many cores tensor parallelism splits the model, and over how many it is to: more than that, and so many times as many
    /// at least.
    fn cores(&self, times: u64) -> (u64, u64) {
        let shared = self.manifest.mesh.size(MeshAxis::Tensor.name()) as u64;
        (shared, group(&self.hardware.groups, times.saturating_mul(shared).max(shared + 1)))
    }

    /// Tensor parallelism divides everything.
    fn split(&self, limit: u64) -> Measure {
        let total = self.estimate.memory.total();
        let by_instructions = self
            .estimate
            .fit
            .map_or(1, |fit| self.estimate.instructions.total().div_ceil(fit.instruction_limit.max(1)));
        let (shared, cores) = self.cores(total.div_ceil(limit.max(1)).max(by_instructions));
        let text = format!("split the model over {cores} cores or more (`parallel.tensor`)");
        Measure { saves: total - total / (cores / shared).max(1), text }
    }

    /// Ranks that take different sequences store parts of the weights, their gradients and the state.
    fn store_parts(&self, recipe: &Recipe, optimizer: u64) -> Option<Measure> {
        let (memory, mesh) = (&self.estimate.memory, &self.manifest.mesh);
        let parallel = recipe.parallel.clone().unwrap_or_default();
        let held = memory.peak.weights + memory.peak.gradients;
        if parallel.stores_parts() || held * 8 <= memory.total() {
            return None;
        }
        let (cores, key) = match batch_ranks(mesh) as u64 {
            1 => {
                let limit = self.estimate.fit.map_or(u64::MAX, |fit| fit.memory_limit).max(1);
                let cores = group(&self.hardware.groups, memory.total().div_ceil(limit).max(2));
                (cores, format!("parallel.fsdp = {cores}"))
            }
            cores => (cores, format!("parallel.zero = {SHARDS_WEIGHTS}")),
        };
        let all = if parallel.zero == 0 { held + optimizer } else { held };
        let saves = all - all / cores;
        let text = format!(
            "store parts of the {} of weights, gradients and state that ranks have alike on {cores} cores (`{key}`)",
            bytes(all)
        );
        Some(Measure { saves, text })
    }

    /// Computing activations again: the first policy under which the module fits, or the last that was tried.
    fn recompute(&self, recipe: &Recipe) -> Option<Measure> {
        let (total, activations) = (self.estimate.memory.total(), self.estimate.memory.peak.activations);
        let Some(need) = self.policies.last() else {
            let text = "`recompute = [\"attention\", \"activation\"]` keeps less of the activations".to_owned();
            let helps = recipe.recompute.is_empty() && activations * 8 > total;
            return helps.then_some(Measure { saves: activations / 4, text });
        };
        let words: Vec<String> = need.policies.iter().map(|policy| format!("\"{}\"", policy.name())).collect();
        let (memory, flops) = (bytes(need.memory), 100.0 * (need.flops - 1.0));
        let verdict = need.verdict.name();
        let text = format!(
            "`recompute = [{}]` {verdict} in memory: about {memory}, for {flops:.1}% more FLOPs of matmuls",
            words.join(", ")
        );
        // What makes a module fit is what helps most.
        let saves = if need.verdict == FitVerdict::Fits { total } else { total.saturating_sub(need.memory) };
        (need.memory < total).then_some(Measure { saves, text })
    }

    /// Weights and moments in 16 bits instead of 32.
    fn narrow(&self, recipe: &Recipe) -> Option<Measure> {
        let wide = self.manifest.buffers.iter().filter(|buffer| !buffer.is_batch() && buffer.dtype == DType::F32);
        let stored: u64 = wide.map(Buffer::local_bytes).sum();
        let is_open = recipe.precision.weight == DType::F32 && stored > 0;
        is_open.then(|| Measure {
            saves: stored / 2,
            text: format!("`precision = \"bf16-sr\"` stores the state in half: {} less", bytes(stored / 2)),
        })
    }
}

/// Raising the instruction limit by a flag. It helps most where only instructions exceed a limit and the flag is enough.
fn raise(fit: Fit) -> Option<Measure> {
    let text = format!(
        "`{INSTRUCTION_LIMIT}={}` in `neuron.flags` has the compiler take them: it then takes longer and more memory",
        fit.raised_limit
    );
    (fit.verdict() == FitVerdict::FitsWithFlag).then_some(Measure { saves: u64::MAX, text })
}

/// The smallest number of cores that work together and are at least so many.
fn group(groups: &CoreGroups, least: u64) -> u64 {
    let inside = groups.sizes.iter().map(|size| u64::from(*size)).filter(|size| *size >= least).min();
    inside.unwrap_or_else(|| least.next_multiple_of(u64::from(groups.multiple).max(1)))
}

/// The parts of the peak, the largest first.
fn parts(peak: &MemoryByKind) -> String {
    let mut kinds: Vec<_> = halite_bundle::estimate::MemoryKind::ALL.map(|kind| (peak.of(kind), kind.name())).into();
    kinds.retain(|(size, _)| *size * 100 > peak.total());
    kinds.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let kinds: Vec<String> = kinds.into_iter().map(|(size, name)| format!("{name} {}", bytes(size))).collect();
    format!("at the peak: {}", kinds.join(", "))
}

/// Millions with one decimal.
fn short(number: u64) -> String {
    format!("{:.1} million", number as f64 / 1e6)
}
