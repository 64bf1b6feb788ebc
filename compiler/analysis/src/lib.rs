//! Analyses of the IR: what is known of every value of a module, whatever its inputs. They change nothing, and know no pass and no recipe.
//!
//! - [`causality`]: which tokens each element may depend on.
//! - [`replicas`]: what the ranks of a mesh hold of each value.
//! - [`check_init`]: how large values are at the first step.
//! - [`check_exact_integers`]: whether integers are exact where they are computed in `f32`.

mod causality;
mod exact_integers;
mod forward;
mod init;
mod replicas;
mod trial;

pub use causality::{
    Assumption, CausalityReport, Digit, Facts, Finding, Mask, MaskKind, Reads, Trial, Verdict, Witness, causality,
    of_loss, of_output,
};
pub use exact_integers::check_exact_integers;
pub use init::{InitReport, ResidualBranch, ResidualStream, check_init};
pub use replicas::{
    Moves, ReplicaFinding, ReplicaSuspicion, ReplicaWitness, held_elsewhere, replicas, unlike_ranks, unlike_whole,
};
