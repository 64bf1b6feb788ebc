//! The form of a text, by who runs it.

use halite_support::{Diagnostic, Result, codes};

/// The form of a text, by who runs it: the numbers of ranks and the names of functions depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form<'a> {
    /// A program of its own, whose entry is the public `@main`. Ranks are its replicas.
    ///
    /// Arguments that results replace have `tf.aliasing_output`, those that any result may replace `jax.buffer_donor`, and results
    /// are named by `jax.result_info`, all as JAX writes them.
    Program {
        /// The number of replicas that run together.
        num_replicas: usize,
    },
    /// Functions for the program of another. Ranks are partitions of one replica, as in what JAX makes of `shard_map`.
    Functions(Functions<'a>),
}

/// The names, partitions and channels of functions in the program that calls them.
///
/// All are private, so that they can be moved there as they are. What is donated is the caller's matter, so nothing says so here.
/// Groups of collectives hold the numbers of partitions: the position of a rank in the mesh, its first axis the slowest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Functions<'a> {
    /// The name of the entry, with which those of all others begin: `step` and `step_block`.
    pub prefix: &'a str,
    /// The number of partitions of the program.
    pub num_partitions: usize,
    /// The channel of the first collective, at least 1. Each has one of its own, in order from here.
    pub first_channel: i64,
}

impl Form<'_> {
    /// Refuses functions that fit no program: without a name, or with a first channel below 1.
    pub(crate) fn require_sound(self) -> Result<()> {
        let Self::Functions(Functions { prefix, first_channel, .. }) = self else { return Ok(()) };
        let fault = |message: String| Err(Diagnostic::error(codes::STABLEHLO, message));
        if prefix.is_empty() {
            return fault("functions for another program need a name, and theirs is empty".to_owned());
        }
        if first_channel < 1 {
            return fault(format!("the first channel of functions is {first_channel}; channels begin with 1"));
        }
        Ok(())
    }

    /// Partitions and replicas of the program.
    pub(crate) fn counts(self) -> (usize, usize) {
        match self {
            Self::Program { num_replicas } => (1, num_replicas),
            Self::Functions(Functions { num_partitions, .. }) => (num_partitions, 1),
        }
    }

    /// The number of partitions that ranks are; `None` where ranks are replicas.
    pub(crate) fn partitions(self) -> Option<usize> {
        match self {
            Self::Program { .. } => None,
            Self::Functions(functions) => Some(functions.num_partitions),
        }
    }

    pub(crate) fn visibility(self, is_entry: bool) -> &'static str {
        if is_entry && matches!(self, Self::Program { .. }) { "public" } else { "private" }
    }
}
