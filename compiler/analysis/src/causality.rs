//! The causality analysis: which tokens each element of a program may depend on, by abstract interpretation.
//!
//! One walk over the instructions, with one transfer function for each kind of op, follows three things for each value:
//! what its elements count or are (numbers as affine functions of the index, constants and fills by region), and the
//! latest token position that an element may depend on, as a maximum of affine functions of its index. Where an element
//! is exactly 0 its products and sums read nothing, which is how masks make attention causal. Numbers are taken to be
//! finite; where else a proof rests on the size of scores, it says so.

mod affine;
mod analysis;
mod assumption;
mod check;
mod flow;
mod leak;
mod levels;
mod literal;
mod loss;
mod mask;
mod region;
mod space;
mod state;
mod structure;
mod table;
mod tabulate;
mod transfer;
mod trial;
mod verdict;

pub use affine::Digit;
pub use assumption::Assumption;
pub use check::causality;
pub use mask::{Facts, Mask, MaskKind};
pub use trial::{Trial, of_loss, of_output};
pub use verdict::{CausalityReport, Finding, Reads, Verdict, Witness};
