//! The IR of instructions, by families of opcodes.

mod branches;
mod collective;
mod contraction;
mod convolution;
mod elementwise;
mod extremes;
mod folding;
mod indexing;
pub(crate) mod loops;
mod movement;
mod order;
mod sorting;
mod source;
mod structure;
mod trial;
mod windows;

use crate::site::Site;
use halite_ir::Values;

/// The results of an instruction, one for each array; `None` where the IR has no op for it.
pub(crate) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    let families = [
        structure::lifted,
        loops::lifted,
        branches::lifted,
        elementwise::lifted,
        sorting::lifted,
        movement::lifted,
        source::lifted,
        contraction::lifted,
        convolution::lifted,
        extremes::lifted,
        folding::lifted,
        windows::lifted,
        indexing::lifted,
        collective::lifted,
    ];
    families.into_iter().find_map(|family| family(site))
}
