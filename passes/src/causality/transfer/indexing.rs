//! Elements at positions that another operand names.

use super::Site;
use crate::causality::affine::{Affine, Digit};
use crate::causality::state::State;

/// Elements of the first operand at the positions along `dim` that the second names: exactly those where positions are a
/// function of the index, any otherwise.
pub(super) fn take(site: &Site<'_>, dim: usize) -> State {
    let space = site.space();
    let indices = site.args[1].carried(&|digit| space.lift(1, digit));
    let size = site.types[0].shape()[dim];
    let factor = space.factor(0, dim);
    let inside = |number: &Affine| number.low() >= 0 && number.high() < size as i64;
    let position = indices.number.clone().filter(inside);
    let whole = |digit: Digit| Some(digit) == factor;
    let place = |digit: Digit| {
        let form = space.lift(0, digit)?;
        form.replaced(&|digit| {
            let along = factor.is_some_and(|factor| factor.dim == digit.dim);
            match &position {
                Some(position) if along => part(position, digit, whole(digit)),
                _ => Some(digit.into()),
            }
        })
    };
    // A permutation of positions is numbered anew.
    let number = |digit: Digit| {
        let form = space.lift(0, digit)?;
        form.replaced(&|digit| match &position {
            Some(position) if whole(digit) => match position.terms() {
                [(own, _)] if own.size == digit.size => Some((*own).into()),
                _ => Some(position.clone()),
            },
            _ => Some(digit.into()),
        })
    };
    let taken = site.args[0].renumbered(&place, &number);
    let gone = |digit: Digit| space.lacks(0, digit);
    let lower = |digit: Digit| space.lower(0, digit);
    let flow = taken.flow.eliminated(&gone, true);
    let unsure = taken.unsure;
    let mut state = State { flow, ..taken }.carried(&lower);
    state.unsure = unsure;
    state.flow.join(&indices.flow.carried(&lower, &lower));
    state
}

/// A digit of a known position.
fn part(position: &Affine, digit: Digit, whole: bool) -> Option<Affine> {
    if whole {
        return Some(position.clone());
    }
    let at = usize::try_from(position.as_constant()?).ok()?;
    i64::try_from(at / digit.stride % digit.size).ok().map(Affine::from)
}
