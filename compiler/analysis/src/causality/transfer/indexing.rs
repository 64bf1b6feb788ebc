//! Elements at positions that another operand names.

use super::TransferCx;
use crate::causality::affine::{Affine, Digit};
use crate::causality::levels::Level;
use crate::causality::region::Region;
use crate::causality::space::Space;
use crate::causality::state::State;

/// Elements of the first operand at the positions along `dim` that the second names: exactly those where positions are a
/// function of the index, or constants by region; any otherwise. Positions out of range are clamped.
pub(super) fn take(cx: &TransferCx<'_>, dim: usize) -> State {
    let space = cx.space();
    let indices = cx.args[1].carried(&|digit| space.lift(1, digit));
    let last = cx.types[0].shape()[dim] as i64 - 1;
    let lower = |digit: Digit| space.lower(0, digit);
    let mut state: Option<State> = None;
    for (region, position) in positions(&indices, last) {
        let part = taken(cx.args[0], &space, space.factor(0, dim), position.as_ref()).within(&region);
        match &mut state {
            Some(state) => state.absorb(&part),
            None => state = Some(part),
        }
    }
    let taken = state.unwrap_or_default();
    let mut state = State { unsure: taken.unsure, ..taken.carried(&lower) };
    state.flow.join(&indices.flow.carried(&lower, &lower));
    state
}

/// The positions that indices name, by region; `None` for those that are not known.
fn positions(indices: &State, last: i64) -> Vec<(Region, Option<Affine>)> {
    let by_level = |level: Level| Some(Affine::from((level.as_constant()? as i64).clamp(0, last)));
    match &indices.number {
        Some(number) => {
            let (below, above) = (number.negated().plus_constant(-1), number.clone().plus_constant(-last - 1));
            let inside = [number.clone(), number.negated().plus_constant(last)];
            let parts = [
                (Region::new(inside), number.clone()),
                (Region::new([below]), 0.into()),
                (Region::new([above]), last.into()),
            ];
            parts.into_iter().filter_map(|(region, position)| Some((region?, Some(position)))).collect()
        }
        None if indices.levels.cover_all() && indices.levels.iter().all(|(level, _)| by_level(level).is_some()) => {
            let parts = indices
                .levels
                .iter()
                .flat_map(|(level, area)| area.regions().iter().map(move |region| (region.clone(), by_level(level))));
            parts.collect()
        }
        None => vec![(Region::default(), None)],
    }
}

/// Elements of `x` at a position along the dimension of `factor`, in the index space of the instruction.
fn taken(x: &State, space: &Space, factor: Option<Digit>, position: Option<&Affine>) -> State {
    let whole = |digit: Digit| Some(digit) == factor;
    let place = |digit: Digit| {
        let form = space.lift(0, digit)?;
        form.replaced(&|digit| {
            let along = factor.is_some_and(|factor| factor.dim == digit.dim);
            match position {
                Some(position) if along => part(position, digit, whole(digit)),
                _ => Some(digit.into()),
            }
        })
    };
    // A permutation of positions is numbered anew.
    let number = |digit: Digit| {
        let form = space.lift(0, digit)?;
        form.replaced(&|digit| match position {
            Some(position) if whole(digit) => match position.terms() {
                [(own, _)] if own.size == digit.size => Some((*own).into()),
                _ => Some(position.clone()),
            },
            _ => Some(digit.into()),
        })
    };
    let taken = x.renumbered(&place, &number);
    let flow = taken.flow.eliminated(&|digit| space.lacks(0, digit), true);
    State { flow, ..taken }
}

/// A digit of a known position.
fn part(position: &Affine, digit: Digit, whole: bool) -> Option<Affine> {
    if whole {
        return Some(position.clone());
    }
    let at = usize::try_from(position.as_constant()?).ok()?;
    i64::try_from(at / digit.stride % digit.size).ok().map(Affine::from)
}
