//! The layouts that a search looks at.

use serde::Serialize;
use std::fmt;

/// A layout of training: how ranks share it, and what each keeps.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Layout {
    /// Ranks that share the weights of each layer.
    pub tensor: u64,
    /// Stages of the pipeline.
    pub pipeline: u64,
    /// Parts of the model on each stage.
    pub chunks: u64,
    /// The schedule of the pipeline, as recipes name it.
    pub schedule: &'static str,
    /// Ranks with different sequences that hold weights whole.
    pub data: u64,
    /// Ranks with different sequences that store parts of weights.
    pub fsdp: u64,
    /// Sequences of a micro-batch on a rank.
    pub batch: u64,
    /// Micro-batches of an update.
    pub accumulate: u64,
    /// The values that backwards compute again, as TOML; `None` for those of the recipe.
    pub recompute: Option<&'static str>,
}

impl Layout {
    /// That of one rank, with a sequence in an update.
    pub(crate) const ALONE: Self = Self {
        tensor: 1,
        pipeline: 1,
        chunks: 1,
        schedule: "1f1b",
        data: 1,
        fsdp: 1,
        batch: 1,
        accumulate: 1,
        recompute: None,
    };

    /// The keys of a recipe that state it, each with its value.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("parallel.tensor", self.tensor.to_string()),
            ("parallel.sequence", (self.tensor > 1).to_string()),
            ("parallel.pipeline", self.pipeline.to_string()),
            ("parallel.data", self.data.to_string()),
            ("parallel.fsdp", self.fsdp.to_string()),
            ("parallel.zero", u64::from(self.data > 1 && self.fsdp == 1).to_string()),
            ("batch", self.batch.to_string()),
            ("accumulate", self.accumulate.to_string()),
        ];
        if self.pipeline > 1 {
            all.push(("parallel.schedule", format!("\"{}\"", self.schedule)));
            all.push(("parallel.chunks", self.chunks.to_string()));
        }
        all.extend(self.recompute.map(|policy| ("recompute", policy.to_owned())));
        all
    }

    /// Ranks with different sequences.
    pub fn replicas(&self) -> u64 {
        self.data * self.fsdp
    }

    /// The least that all time is a multiple of that of the busiest stage: waiting for the pipeline to fill and drain.
    pub fn bubble(&self) -> f64 {
        let (stages, batches) = (self.pipeline as f64, self.accumulate as f64);
        match self.schedule {
            "zero-bubble" => 1.0,
            _ => 1.0 + (stages - 1.0) / (self.chunks as f64 * batches),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes = [("tensor", self.tensor), ("pipeline", self.pipeline), ("data", self.data), ("fsdp", self.fsdp)];
        let axes: Vec<String> =
            axes.iter().filter(|axis| axis.1 > 1).map(|(name, size)| format!("{name} {size}")).collect();
        let axes = if axes.is_empty() { "one rank".to_owned() } else { axes.join(", ") };
        f.write_str(&axes)
    }
}

/// The choices of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Space {
    /// All ranks, each of which is used.
    pub ranks: u64,
    /// Sequences of an update.
    pub sequences: u64,
    /// Layers of the model, where its configuration says that; a stage has one at least.
    pub layers: Option<u64>,
    /// The most ranks that share a layer.
    pub most_tensor: u64,
    /// Ranks of an instance: weights are stored in parts over one, or over all.
    pub instance: u64,
    /// The values that backwards may compute again beside those of the recipe, as TOML.
    pub recompute: Vec<&'static str>,
    /// The keys that are stated and not searched, as recipes name them.
    pub fixed: Vec<(String, String)>,
}

/// Sequences of a micro-batch that are tried.
const BATCHES: [u64; 3] = [1, 2, 4];
/// The most stages.
const MOST_STAGES: u64 = 64;

impl Space {
    /// All layouts, in a fixed order.
    pub fn layouts(&self) -> Vec<Layout> {
        let mut all = Vec::new();
        for tensor in powers(self.most_tensor.min(self.ranks)).filter(|tensor| self.ranks.is_multiple_of(*tensor)) {
            for pipeline in powers(MOST_STAGES.min(self.ranks / tensor)) {
                let replicas = self.ranks / tensor / pipeline;
                if replicas * tensor * pipeline != self.ranks || self.layers.is_some_and(|layers| pipeline > layers) {
                    continue;
                }
                for (data, fsdp) in self.shared(tensor, pipeline, replicas) {
                    self.add(&mut all, Layout { tensor, pipeline, data, fsdp, ..Layout::ALONE });
                }
            }
        }
        all.retain(|layout| self.agrees(layout));
        all
    }

    /// How replicas share weights: not at all, all of them, or those of an instance.
    fn shared(&self, tensor: u64, pipeline: u64, replicas: u64) -> Vec<(u64, u64)> {
        let within = (self.instance / tensor).clamp(1, replicas);
        let mut all = vec![(replicas, 1)];
        if replicas > 1 {
            all.push((1, replicas));
        }
        if pipeline == 1 && (2..replicas).contains(&within) && replicas.is_multiple_of(within) {
            all.push((replicas / within, within));
        }
        all
    }

    /// Adds a layout in all ways to cut its sequences, to order its stages and to compute again.
    fn add(&self, all: &mut Vec<Layout>, layout: Layout) {
        let orders: &[(&'static str, u64)] = match layout.pipeline {
            1 => &[("1f1b", 1)],
            _ => &[("1f1b", 1), ("interleaved", 2), ("zero-bubble", 1)],
        };
        for batch in BATCHES {
            let each = layout.replicas() * batch;
            let accumulate = self.sequences / each;
            if accumulate * each != self.sequences || accumulate < layout.pipeline {
                continue;
            }
            for &(schedule, chunks) in orders {
                let parts = layout.pipeline * chunks;
                let cut = self.layers.is_none_or(|layers| parts <= layers);
                if !cut || schedule == "interleaved" && !accumulate.is_multiple_of(layout.pipeline) {
                    continue;
                }
                let policies = std::iter::once(None).chain(self.recompute.iter().copied().map(Some));
                all.extend(policies.map(|recompute| Layout {
                    schedule,
                    chunks,
                    batch,
                    accumulate,
                    recompute,
                    ..layout.clone()
                }));
            }
        }
    }

    /// Whether a layout is as stated.
    fn agrees(&self, layout: &Layout) -> bool {
        let settings = layout.settings();
        let agrees = |(key, value): &(String, String)| {
            let own = settings.iter().find(|(own, _)| own == key);
            // A key that is not searched is set as stated, on every layout; of one that is, an unstated default must be it.
            own.is_none_or(|(_, own)| own.trim_matches('"') == value.trim_matches('"'))
        };
        self.fixed.iter().all(agrees)
    }
}

/// The powers of two up to a number.
fn powers(most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1_u64), |power| power.checked_mul(2)).take_while(move |power| *power <= most)
}
