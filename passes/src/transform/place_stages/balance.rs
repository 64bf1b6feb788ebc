//! Cutting a line of costs into parts that cost alike.

/// The most places at which cuts are looked for: of more, one in each of so many stretches of equal cost, that which the fewest bytes cross.
const MOST: usize = 512;

/// The part of the most expensive part's cost by which another may be more expensive, where it sends fewer bytes: one in so many.
const SLACK: u64 = 32;

/// A line of instructions.
pub(super) struct Costs<'a> {
    /// The cost of each.
    pub(super) flops: &'a [u64],
    /// The bytes that cross before each, and after the last one.
    pub(super) crossing: &'a [u64],
}

/// The instruction that each of so many parts begins with, `None` where there are fewer places to cut: the most expensive part costs the
/// least, up to a slack; of such cuts, those that the fewest bytes cross, and of these the most even ones.
pub(super) fn cuts(costs: &Costs<'_>, parts: usize) -> Option<Vec<usize>> {
    let places = places(costs, parts)?;
    let mut before = vec![0_u64];
    for flops in costs.flops {
        before.push(before[before.len() - 1].saturating_add(*flops));
    }
    let part = |from: usize, to: usize| before[places[to]] - before[places[from]];
    let least = best(places.len(), parts, |from, to| Some(part(from, to)), u64::max)?.0;
    let limit = least.saturating_add(least / SLACK);
    let price = |from: usize, to: usize| {
        let cost = part(from, to);
        let crossing = if from == 0 { 0 } else { costs.crossing[places[from]] };
        (cost <= limit).then(|| (crossing, u128::from(cost) * u128::from(cost)))
    };
    let add = |a: (u64, u128), b: (u64, u128)| (a.0.saturating_add(b.0), a.1.saturating_add(b.1));
    let (_, chosen) = best(places.len(), parts, price, add)?;
    Some(chosen.into_iter().map(|place| places[place]).collect())
}

/// The places at which parts may begin, and the end of the line.
fn places(costs: &Costs<'_>, parts: usize) -> Option<Vec<usize>> {
    let end = costs.flops.len();
    let crossing = |at: usize| costs.crossing.get(at).copied().unwrap_or(u64::MAX);
    let mut inner: Vec<usize> = (1..end).collect();
    if inner.len() > MOST {
        let all: u128 = costs.flops.iter().map(|&flops| u128::from(flops) + 1).sum();
        let mut best: Vec<Option<usize>> = vec![None; MOST];
        let mut before = 0;
        for at in inner {
            before += u128::from(costs.flops[at - 1]) + 1;
            let kept = &mut best[usize::try_from(before * (MOST as u128 - 1) / all).unwrap_or(0)];
            if kept.is_none_or(|kept| crossing(at) < crossing(kept)) {
                *kept = Some(at);
            }
        }
        inner = best.into_iter().flatten().collect();
    }
    let places: Vec<usize> = std::iter::once(0).chain(inner).chain([end]).collect();
    (places.len() > parts && end > 0).then_some(places)
}

/// The best way from the first place to the last in so many steps, and where each begins. `price` is that of a step, `None` for one that is
/// not taken.
fn best<P: Copy + Ord>(
    places: usize,
    steps: usize,
    price: impl Fn(usize, usize) -> Option<P>,
    join: impl Fn(P, P) -> P,
) -> Option<(P, Vec<usize>)> {
    let mut reached: Vec<Vec<Option<(P, usize)>>> = vec![(0..places).map(|to| Some((price(0, to)?, 0))).collect()];
    for step in 1..steps {
        let known = &reached[step - 1];
        let to = |to: usize| {
            let ways = (step..to).filter_map(|from| Some((join(known[from]?.0, price(from, to)?), from)));
            ways.min_by_key(|&(price, _)| price)
        };
        let next = (0..places).map(to).collect();
        reached.push(next);
    }
    let (price, _) = reached[steps - 1][places - 1]?;
    let mut begins = Vec::new();
    let mut place = places - 1;
    for step in reached.iter().rev() {
        place = step[place]?.1;
        begins.push(place);
    }
    begins.reverse();
    Some((price, begins))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(flops: &[u64], crossing: &[u64], parts: usize) -> Option<Vec<usize>> {
        cuts(&Costs { flops, crossing }, parts)
    }

    #[test]
    fn parts_cost_alike() {
        // An embedding that costs nothing, eight layers, a head that costs half a layer.
        let flops = [0, 10, 10, 10, 10, 10, 10, 10, 10, 5];
        let crossing = [0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0];
        assert_eq!(of(&flops, &crossing, 2).unwrap(), [0, 5]);
        assert_eq!(of(&flops, &crossing, 4).unwrap(), [0, 3, 5, 7]);
        assert_eq!(of(&flops, &crossing, 10).unwrap().len(), 10);
        assert_eq!(of(&flops, &crossing, 11), None);
        assert_eq!(of(&[], &[0], 2), None);
    }

    #[test]
    fn long_lines_are_cut_evenly_too() {
        let (flops, mut crossing) = (vec![1; 3000], vec![4; 3000]);
        crossing.push(0);
        let begins = of(&flops, &crossing, 4).unwrap();
        let even = |(at, begin): (usize, &usize)| begin.abs_diff(at * 750) <= 8;
        assert!(begins.iter().enumerate().all(even), "{begins:?}");
    }

    #[test]
    fn of_cuts_that_cost_about_the_same_the_smallest_are_taken() {
        // Between two layers a norm in pieces, of which two values are alive.
        let flops = [100, 1, 1, 1, 100];
        let crossing = [0, 4, 8, 8, 4, 0];
        assert_eq!(of(&flops, &crossing, 2).unwrap(), [0, 1]);
        let wide = [0, 8, 8, 8, 4, 0];
        assert_eq!(of(&flops, &wide, 2).unwrap(), [0, 4]);
    }
}
