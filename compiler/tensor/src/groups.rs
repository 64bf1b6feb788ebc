//! Groups of ranks.

use smallvec::SmallVec;
use std::fmt;

/// Groups of ranks, in each of which the ranks act together in the order in which they stand.
///
/// Groups that lie as a grid, as those of a [`Mesh`](crate::Mesh) do, take no more memory on thousands of ranks than on two. Text lists
/// few ranks, `[[0, 1], [2, 3]]`, and writes many as XLA does: `[8,256]<=[256,8]T(1,0)` are the 2,048 ranks from 0 up as 256 rows of 8,
/// transposed, and read off in 8 groups of 256.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Groups(Form);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Form {
    /// Each rank in one group; groups ascend by their first rank.
    Grid { ranks: usize, steps: Steps },
    /// Groups that are no grid.
    Listed(Vec<Vec<usize>>),
}

/// The counts and distances of the ranks of a group, the major step first. Steps that can be one are merged, and no count is 1.
type Steps = SmallVec<[(usize, usize); 3]>;

/// More ranks than these are not listed by text.
const LISTED: usize = 16;

/// The most ranks that groups from text may have.
const MAX_RANKS: usize = 1 << 20;

impl Groups {
    /// Groups that hold the ranks below `ranks` once each: of a rank and those at the given counts and distances from it, the major
    /// step first. Distances are those of digits of a rank, such as 4 and 1 of the counts 2 and 4.
    pub(crate) fn grid(ranks: usize, steps: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut merged = Steps::new();
        for (count, distance) in steps.into_iter().filter(|&(count, _)| count > 1) {
            match merged.last_mut() {
                Some(last) if last.1 == count * distance => *last = (last.0 * count, distance),
                _ => merged.push((count, distance)),
            }
        }
        Self(Form::Grid { ranks, steps: merged })
    }

    /// The ranks from 0 up, reshaped to `dims`, transposed by `order`, and read off in groups of `size`; `None` where these do not fit
    /// one another or make more than a million ranks.
    pub fn iota(groups: usize, size: usize, dims: &[usize], order: &[usize]) -> Option<Self> {
        let ranks = dims.iter().try_fold(1_usize, |ranks, &dim| ranks.checked_mul(dim))?;
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        let fits = groups.checked_mul(size) == Some(ranks) && (1..=MAX_RANKS).contains(&ranks);
        if !fits || !sorted.into_iter().eq(0..dims.len()) {
            return None;
        }
        let below = |dim: usize| dims[dim + 1..].iter().product::<usize>();
        let mut all = vec![0];
        for &dim in order {
            let digits = |rank: &usize| (0..dims[dim]).map(|digit| rank + digit * below(dim)).collect::<Vec<_>>();
            all = all.iter().flat_map(digits).collect();
        }
        Some(all.chunks(size).map(<[usize]>::to_vec).collect::<Vec<_>>().into())
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        match &self.0 {
            Form::Grid { ranks, .. } => *ranks,
            Form::Listed(lists) => lists.iter().map(Vec::len).sum(),
        }
    }

    /// The number of ranks of a group; `None` where groups differ in size, leave a rank out or hold one twice.
    pub fn size(&self) -> Option<usize> {
        match &self.0 {
            Form::Grid { steps, .. } => Some(steps.iter().map(|step| step.0).product()),
            Form::Listed(lists) => {
                let mut ranks: Vec<usize> = lists.iter().flatten().copied().collect();
                ranks.sort_unstable();
                let size = lists.first()?.len();
                let whole = ranks.into_iter().eq(0..size.saturating_mul(lists.len()));
                (size > 0 && whole && lists.iter().all(|list| list.len() == size)).then_some(size)
            }
        }
    }

    /// The counts and distances of the ranks of a group, the major step first; `None` where groups are no grid.
    pub fn steps(&self) -> Option<&[(usize, usize)]> {
        match &self.0 {
            Form::Grid { steps, .. } => Some(steps),
            Form::Listed(_) => None,
        }
    }

    /// The ranks of each group.
    pub fn lists(&self) -> Vec<Vec<usize>> {
        match &self.0 {
            Form::Grid { ranks, steps } => {
                let mut offsets = vec![0];
                for &(count, distance) in steps {
                    let step = |offset: &usize| (0..count).map(|at| offset + at * distance).collect::<Vec<_>>();
                    offsets = offsets.iter().flat_map(step).collect();
                }
                let leads =
                    |rank: &usize| steps.iter().all(|&(count, distance)| (rank / distance).is_multiple_of(count));
                let group = |rank: usize| offsets.iter().map(|offset| rank + offset).collect();
                (0..*ranks).filter(leads).map(group).collect()
            }
            Form::Listed(lists) => lists.clone(),
        }
    }

    /// The same with the ranks of each group in ascending order.
    #[must_use]
    pub fn ascending(&self) -> Self {
        match &self.0 {
            Form::Grid { ranks, steps } => {
                let mut steps = steps.clone();
                steps.sort_unstable_by_key(|step| std::cmp::Reverse(step.1));
                Self::grid(*ranks, steps)
            }
            Form::Listed(lists) => {
                let mut lists = lists.clone();
                lists.iter_mut().for_each(|list| list.sort_unstable());
                lists.into()
            }
        }
    }
}

impl Default for Groups {
    fn default() -> Self {
        Self(Form::Listed(Vec::new()))
    }
}

impl From<Vec<Vec<usize>>> for Groups {
    fn from(lists: Vec<Vec<usize>>) -> Self {
        let mut sorted = lists.clone();
        sorted.sort_unstable();
        let ranks = lists.iter().map(Vec::len).sum();
        let first = sorted.first().filter(|_| lists.iter().flatten().all(|&rank| rank < ranks));
        let grid = first.map(|first| Self::grid(ranks, group_steps(first)));
        grid.filter(|grid| grid.lists() == sorted).unwrap_or(Self(Form::Listed(lists)))
    }
}

/// The counts and distances of the ranks of one group, the major step first, where it is one of a grid; of any other group some.
///
/// Each step is found as what the last rank of the step below is followed by.
pub fn group_steps(group: &[usize]) -> Vec<(usize, usize)> {
    let Some(&lead) = group.first() else { return Vec::new() };
    let (mut steps, mut length) = (Vec::new(), 1);
    while length < group.len() && group[length] > lead {
        let distance = group[length] - lead;
        let at = |count: &usize| group.get(count * length) == Some(&(lead + count * distance));
        let count = (1..).take_while(at).count() + 1;
        steps.insert(0, (count, distance));
        length *= count;
    }
    steps
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Grid { ranks, steps } if *ranks > LISTED => iota(f, *ranks, steps),
            _ => write!(f, "{:?}", self.lists()),
        }
    }
}

/// A grid as XLA writes it: `[groups,size]<=[dims]T(order)`.
fn iota(f: &mut fmt::Formatter<'_>, ranks: usize, steps: &[(usize, usize)]) -> fmt::Result {
    let mut falling: Vec<usize> = (0..steps.len()).collect();
    falling.sort_unstable_by_key(|&step| std::cmp::Reverse(steps[step].1));
    let (mut dims, mut leads, mut rest) = (Vec::new(), Vec::new(), ranks);
    let mut places = vec![0; steps.len()];
    for step in falling {
        let (count, distance) = steps[step];
        if rest > count * distance {
            leads.push(dims.len());
            dims.push(rest / (count * distance));
        }
        places[step] = dims.len();
        dims.push(count);
        rest = distance;
    }
    if rest > 1 {
        leads.push(dims.len());
        dims.push(rest);
    }
    let order: Vec<usize> = leads.into_iter().chain(places).collect();
    let size: usize = steps.iter().map(|step| step.0).product();
    write!(f, "[{},{size}]<=", ranks / size)?;
    if order.is_sorted() {
        return write!(f, "[{ranks}]");
    }
    write!(f, "[{}]T({})", list(&dims), list(&order))
}

fn list(numbers: &[usize]) -> String {
    let words: Vec<String> = numbers.iter().map(usize::to_string).collect();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mesh, SubAxisId};

    fn listed(lists: &[&[usize]]) -> Groups {
        lists.iter().map(|list| list.to_vec()).collect::<Vec<_>>().into()
    }

    /// All orders of some of the sub-axes.
    fn choices(sub_axes: usize) -> Vec<Vec<SubAxisId>> {
        let mut all = vec![Vec::new()];
        let mut at = 0;
        while at < all.len() {
            let more = (0..sub_axes).filter(|sub_axis| !all[at].contains(sub_axis));
            let more: Vec<Vec<SubAxisId>> = more.map(|sub_axis| [&all[at][..], &[sub_axis]].concat()).collect();
            all.extend(more);
            at += 1;
        }
        all
    }

    #[test]
    fn groups_of_a_mesh_are_grids_however_they_are_given() {
        let mesh = Mesh::new([("data", 6), ("tensor", 4)]).unwrap();
        for sub_axes in choices(mesh.sub_axes().len()) {
            let groups = mesh.groups(&sub_axes);
            assert!(groups.steps().is_some());
            assert_eq!(Groups::from(groups.lists()), groups, "{sub_axes:?}");
            let size: usize = sub_axes.iter().map(|&sub_axis| mesh.sub_axes()[sub_axis].size).product();
            assert_eq!((groups.size(), groups.ranks()), (Some(size), 24));
        }
    }

    #[test]
    fn many_ranks_are_written_as_xla_does() {
        let mesh = Mesh::new([("data", 256), ("tensor", 8)]).unwrap();
        let (data, tensor): (Vec<_>, Vec<_>) =
            (mesh.sub_axes_of("data").collect(), mesh.sub_axes_of("tensor").collect());
        assert_eq!(mesh.groups(&tensor).to_string(), "[256,8]<=[2048]");
        assert_eq!(mesh.groups(&data).to_string(), "[8,256]<=[256,8]T(1,0)");
        assert_eq!(mesh.groups(&[tensor[2], data[7]]).to_string(), "[512,4]<=[128,2,4,2]T(0,2,3,1)");
        assert_eq!(Groups::iota(512, 4, &[128, 2, 4, 2], &[0, 2, 3, 1]), Some(mesh.groups(&[tensor[2], data[7]])));
        assert_eq!(Groups::iota(256, 8, &[2048], &[0]), Some(mesh.groups(&tensor)));
        for wrong in
            [(2, 3, &[8][..], &[0][..]), (2, 4, &[8], &[1]), (2, 4, &[2, 4], &[0]), (1 << 40, 1, &[1 << 40], &[0])]
        {
            assert_eq!(Groups::iota(wrong.0, wrong.1, wrong.2, wrong.3), None);
        }
    }

    #[test]
    fn what_is_no_grid_is_listed() {
        let odd = listed(&[&[0, 2], &[3, 1]]);
        assert_eq!((odd.steps(), odd.size(), odd.ranks()), (None, Some(2), 4));
        assert_eq!(odd.to_string(), "[[0, 2], [3, 1]]");
        assert_eq!(odd.ascending(), listed(&[&[1, 3], &[0, 2]]));
        assert!(odd.ascending().steps().is_some());
        assert_eq!(listed(&[&[1, 0]]).ascending(), listed(&[&[0, 1]]));
        for wrong in [&[&[0, 0][..]][..], &[&[0], &[1, 2]], &[&[0, 2]], &[&[]], &[], &[&[0, 1], &[1, 2]], &[&[5, 0]]] {
            assert_eq!(listed(wrong).size(), None, "{wrong:?}");
        }
    }
}
