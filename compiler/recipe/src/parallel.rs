//! The layout over ranks: the mesh, and the dimensions that its axes shard.

use crate::schema::Kind;
use crate::{Cuts, table, words};
use halite_schedule::ScheduleKind;
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexMap;

/// The part of a step that the ranks along an axis divide among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Divides {
    /// The sequences of a step: each rank has different ones and computes a partial sum of each gradient.
    Batch,
    /// The weights of a layer, and the computation with them.
    Weights,
}

/// The axes, a row each: its word, its key in `[parallel]` and what that is, what its ranks divide, and the stage of ZeRO along it. Then the
/// other keys of the table.
macro_rules! axes {
    (
        { $($(#[$($on:tt)*])* $axis:ident = $word:literal, $key:ident $degree:literal, $divides:ident, $stage:expr;)* }
        $(#[$($table_on:tt)*])* pub struct $table:ident { $($body:tt)* }
    ) => {
        words! {
            /// An axis of the mesh of ranks.
            pub enum MeshAxis { $($(#[$($on)*])* $axis = $word,)* }
        }

        table! {
            $(#[$($table_on)*])*
            pub struct $table { $(#[doc = $degree] pub $key: u32 as Kind::DEGREE = 1,)* $($body)* }
        }

        impl MeshAxis {
            /// The part of a step that its ranks divide among them.
            pub fn divides(self) -> Divides {
                match self { $(Self::$axis => Divides::$divides,)* }
            }
        }

        impl $table {
            /// The number of ranks along an axis.
            pub fn degree(&self, axis: MeshAxis) -> u32 {
                match axis { $(MeshAxis::$axis => self.$key,)* }
            }

            /// The stage of ZeRO by which ranks along an axis share state, sums of gradients and weights.
            pub fn stage_of_zero(&self, axis: MeshAxis) -> u32 {
                let stage: fn(&Self) -> u32 = match axis { $(MeshAxis::$axis => $stage,)* };
                stage(self)
            }

            /// The number of ranks along an axis, to be changed.
            pub fn degree_mut(&mut self, axis: MeshAxis) -> &mut u32 {
                match axis { $(MeshAxis::$axis => &mut self.$key,)* }
            }
        }
    };
}

axes! {
    {
        /// Ranks along it train on different sequences.
        Data = "data", data " Degree of data parallelism.", Batch, |own| own.zero;
        /// Ranks along it train on different sequences, and each stores a part of the weights, their gradients and their state.
        Fsdp = "fsdp", fsdp " Degree of fully sharded data parallelism: a rank stores a part of each weight, and gathers it where it is read.", Batch, |_| SHARDS_WEIGHTS;
        /// Ranks along it share the weights of each layer.
        Tensor = "tensor", tensor " Degree of tensor parallelism.", Weights, |_| 0;
    }

    /// Layout over devices. By default, that of one.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Parallel {
        /// Stages of the pipeline. `halite inspect --schedule` shows what each does.
        pub pipeline: u32 as Kind::DEGREE = 1,
        /// Parts of the model on each stage of the pipeline.
        #[serde(skip_serializing_if = "is_one")]
        pub chunks: u32 as Kind::DEGREE = 1,
        /// Where the model is cut into the parts that stages hold: the number of layers of each, as `[9, 10, 10, 9]`, or the layer that
        /// each but the first begins with, as `["layers.9", "layers.19", "layers.29"]`. What is before the first layer goes with the
        /// first part, what is after the last one with the last. Left out, parts cost about the same.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub stages: Option<Cuts> = None,
        /// The order in which stages of the pipeline run forwards and backwards.
        #[serde(skip_serializing_if = "is_default_schedule")]
        pub schedule: ScheduleKind = ScheduleKind::OneForwardOneBackward,
        /// Whether activations between blocks are sharded along the sequence.
        pub sequence: bool = false,
        /// The stage of ZeRO over the ranks of `data`: 1 shards the state of the optimizer, 2 the sums of gradients over micro-batches too,
        /// 3 also the weights, as `fsdp` does.
        pub zero: u32 as Kind::ZERO = 0,
        /// Weights of fewer bytes on a rank are stored whole, where others are sharded over the ranks of `fsdp`, or of `data` with
        /// `zero = 3`: norms, biases.
        #[serde(skip_serializing_if = "is_default_least")]
        pub fsdp_min_bytes: u32 as Kind::COUNT = LEAST_STORED,
        /// So many layers before its own a weight that ranks store parts of is gathered, where layers are written out: the gather runs beside
        /// what the layers before compute. With 0 each is gathered where it is read.
        #[serde(skip_serializing_if = "is_one")]
        pub fsdp_prefetch: u32 as Kind::COUNT = 1,
        /// So many layers later than its own the gradient of such a weight is scattered.
        #[serde(skip_serializing_if = "is_zero")]
        pub fsdp_delay: u32 as Kind::COUNT = 0,
        /// The most bytes of gathered weights that a rank holds at once for this, and of gradients that wait to be scattered: where it is
        /// reached, weights are gathered fewer layers early, and gradients scattered fewer layers late.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub fsdp_bytes: Option<u32> as Kind::COUNT = None,
        /// The axes in the order of ranks, the major one first: ranks that are neighbours lie along the last one. An axis of one rank
        /// may be left out.
        #[serde(skip_serializing_if = "is_default_order")]
        pub order: Vec<MeshAxis> = MeshAxis::ALL.to_vec(),
        /// Sequences in one update: `batch` x `data` x `accumulate`. It gives `accumulate` where that is left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub global_batch: Option<u32> as Kind::DEGREE = None,
        /// The dimensions of weights that an axis shards, by the names that the model has for them.
        #[serde(skip_serializing_if = "Shard::is_default")]
        pub shard: Shard = Shard::default(),
        /// Exceptions by pattern over parameters (`*` matches any text): for each dimension the axis that shards it, or `""`. Of
        /// several patterns that match, the last one holds.
        #[serde(skip_serializing_if = "IndexMap::is_empty")]
        pub place: IndexMap<String, Vec<String>> as Kind::Lists = IndexMap::new(),
    }
}

table! {
    /// The dimensions of weights that an axis of the mesh shards: keys of the model's configuration, or names of its `let`s.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Shard {
        /// Those that tensor parallelism shards.
        pub tensor: Vec<String> = ["heads", "kv_heads", "ffn", "vocab"].map(str::to_owned).to_vec(),
    }
}

impl Shard {
    /// Whether tensor parallelism shards the dimensions of this name.
    pub fn names(&self, name: Option<&str>) -> bool {
        name.is_some_and(|name| self.tensor.iter().any(|own| own == name))
    }

    /// Whether nothing else is stated than the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The default of [`Parallel::fsdp_min_bytes`]: a matrix of 256 by 256 in `f32`.
const LEAST_STORED: u32 = 256 << 10;

/// The stage of ZeRO from which on ranks share the state of the optimizer.
pub const SHARDS_STATE: u32 = 1;
/// The one from which on they share the sums of gradients over micro-batches.
pub const SHARDS_SUMS: u32 = 2;
/// The one from which on they share the weights.
pub const SHARDS_WEIGHTS: u32 = 3;

fn is_default_least(bytes: &u32) -> bool {
    *bytes == LEAST_STORED
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn is_default_schedule(kind: &ScheduleKind) -> bool {
    *kind == ScheduleKind::OneForwardOneBackward
}

fn is_default_order(order: &[MeshAxis]) -> bool {
    order == MeshAxis::ALL
}

impl MeshAxis {
    /// The axes whose ranks divide `what`.
    pub fn that_divide(what: Divides) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |axis| axis.divides() == what)
    }

    /// Its key in a recipe: `parallel.data`.
    pub fn key(self) -> String {
        format!("parallel.{}", self.name())
    }
}

impl Parallel {
    /// The number of ranks that divide `what`, at most `u64::MAX`.
    pub fn ranks_that_divide(&self, what: Divides) -> u64 {
        MeshAxis::that_divide(what).map(|axis| self.degree(axis).into()).fold(1, u64::saturating_mul)
    }

    /// The axes along which ranks hold parts as this stage of ZeRO has it, or a later one.
    pub fn axes_of_zero(&self, stage: u32) -> impl Iterator<Item = MeshAxis> {
        MeshAxis::ALL.into_iter().filter(move |&axis| self.stage_of_zero(axis) >= stage)
    }

    /// Whether ranks store parts of weights that they compute with whole.
    pub fn stores_parts(&self) -> bool {
        self.axes_of_zero(SHARDS_WEIGHTS).any(|axis| self.degree(axis) > 1)
    }

    /// The axis that shards each dimension of a parameter of this rank, or `""`, as [`place`](Self::place) states it; `None` where no
    /// pattern matches. `matches` says whether a pattern matches a name.
    ///
    /// # Errors
    /// When the pattern that matches states another number of dimensions, at its key.
    pub fn placed(
        &self,
        parameter: &str,
        rank: usize,
        matches: impl Fn(&str, &str) -> bool,
    ) -> Result<Option<&[String]>> {
        let Some((pattern, axes)) = self.place.iter().rev().find(|(pattern, _)| matches(pattern, parameter)) else {
            return Ok(None);
        };
        if axes.len() == rank {
            return Ok(Some(axes));
        }
        let (found, dims) = (axes.len(), if rank == 1 { "dimension" } else { "dimensions" });
        let message = format!("`parallel.place` says of {found} dimensions of `{parameter}`, which has {rank} {dims}");
        Err(Diagnostic::error(codes::RECIPE_CLASH, message)
            .key(format!("parallel.place.{pattern}"))
            .help(format!("state {rank} of them: `tensor`, or `\"\"` for a dimension that each rank holds whole")))
    }
}
