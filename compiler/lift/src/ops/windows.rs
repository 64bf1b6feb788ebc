//! Reductions over windows.

use super::contraction::{kind, reduced};
use crate::site::{Site, one};
use halite_hlo::proto::WindowDimension;
use halite_ir::Values;
use halite_tensor::{Dims, Shape};

/// A reduction over windows that follow one another without a gap: of each dimension its windows, and over what is in each.
pub(super) fn lifted(site: &mut Site<'_, '_>) -> Option<Values> {
    let ("reduce-window", [x, init]) = (site.opcode(), site.operands()?) else { return None };
    let sizes: Option<Dims> = site.inst().window.as_deref()?.dimensions.iter().map(block).collect();
    let (sizes, whole) = (sizes?, site.b.shape(x).clone());
    let fits = |(&size, &all): (&usize, &usize)| all.is_multiple_of(size);
    if sizes.len() != whole.rank() || !sizes.iter().zip(whole.iter()).all(fits) {
        return None;
    }
    let apart: Shape = whole.iter().zip(&sizes).flat_map(|(&all, &size)| [all / size, size]).collect();
    let x = site.reshaped(x, apart)?;
    let inside: Dims = (0..sizes.len()).map(|dim| 2 * dim + 1).collect();
    let kind = kind(site)?;
    reduced(site, kind, (x, init), inside).map(one)
}

/// The size of a window that the next one follows at once.
fn block(dim: &WindowDimension) -> Option<usize> {
    let plain = dim.padding_low == 0 && dim.padding_high == 0 && dim.window_dilation <= 1 && dim.base_dilation <= 1;
    let size = usize::try_from(dim.size).ok().filter(|&size| size > 0)?;
    (plain && dim.stride == dim.size && !dim.window_reversal).then_some(size)
}
