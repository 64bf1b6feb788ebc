//! Small sets of cases in which every choice meets every other.

use std::collections::BTreeMap;

/// The goals that one case shows: those that a set must meet, and those that it meets as far as it has room.
#[derive(Clone, Debug)]
pub struct Shows<G> {
    /// Goals that every set shows.
    pub must: Vec<G>,
    /// Goals of which a set with room left shows more.
    pub may: Vec<G>,
}

/// The cases, by position, of a set that shows all that must be shown and then has up to `most` cases. Each is the one that shows most
/// of what is still to be shown, the first among equals, so that the same cases give the same set.
pub fn covering<G: Ord>(cases: &[Shows<G>], most: usize) -> Vec<usize> {
    let must = numbered(cases.iter().map(|case| case.must.as_slice()));
    let may = numbered(cases.iter().map(|case| case.may.as_slice()));
    let mut open = [&must, &may].map(|goals| vec![true; goals.iter().flatten().max().map_or(0, |last| last + 1)]);
    let mut chosen = Vec::new();
    while chosen.len() < most || open[0].contains(&true) {
        let still = |of: usize, goals: &[usize]| goals.iter().filter(|&&goal| open[of][goal]).count();
        let shown = |&at: &usize| (still(0, &must[at]), still(1, &may[at]));
        let Some(best) = (0..cases.len()).rev().max_by_key(shown).filter(|at| shown(at) != (0, 0)) else { break };
        must[best].iter().for_each(|&goal| open[0][goal] = false);
        may[best].iter().for_each(|&goal| open[1][goal] = false);
        chosen.push(best);
    }
    chosen
}

/// The goals of each case as numbers from 0.
fn numbered<'a, G: Ord + 'a>(cases: impl Iterator<Item = &'a [G]>) -> Vec<Vec<usize>> {
    let mut known = BTreeMap::new();
    let mut number = |goal: &'a G| {
        let next = known.len();
        *known.entry(goal).or_insert(next)
    };
    cases.map(|goals| goals.iter().map(&mut number).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of three choices of two values each, with the pairs of their values.
    fn cases() -> Vec<Shows<(usize, usize, usize, usize)>> {
        let values = |case: usize| [0, 1, 2].map(|of| case >> of & 1);
        let pairs = |case| [(0, 1), (0, 2), (1, 2)].map(|(x, y)| (x, values(case)[x], y, values(case)[y])).to_vec();
        (0..8).map(|case| Shows { must: pairs(case), may: vec![(case, 0, 0, 0)] }).collect()
    }

    #[test]
    fn pairs_of_three_choices_meet_in_four_cases() {
        let found = covering(&cases(), 0);
        assert_eq!(found.len(), 4, "{found:?}");
        for goal in cases().iter().flat_map(|case| &case.must) {
            assert!(found.iter().any(|&at| cases()[at].must.contains(goal)), "{goal:?}: {found:?}");
        }
    }

    #[test]
    fn room_is_filled_with_what_shows_more() {
        let found = covering(&cases(), 6);
        assert_eq!(found.len(), 6, "{found:?}");
        assert_eq!(covering(&cases(), 100).len(), 8);
    }
}
