//! A rollback: a run goes back before an update that spoiled it.

use serde::{Deserialize, Serialize};

/// A rollback of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rollback {
    /// The update that spoiled it, the last one that was undone.
    pub update: u64,
    /// The update after which it went on.
    pub to: u64,
    /// The first and the last batch that it skipped, counted from 1 in the order of the data.
    pub batches: [u64; 2],
}

impl Rollback {
    /// A rollback from an update to another, in a run with these earlier ones.
    pub(super) fn new(before: &[Self], update: u64, to: u64) -> Self {
        let skipped = |last: Option<&Self>| last.map_or(0, |last| last.batches[1] - last.to);
        let (then, now) = (before.iter().rfind(|earlier| earlier.to <= to), before.last());
        Self { update, to, batches: [to + skipped(then) + 1, update + skipped(now)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_counted_in_the_data_however_often_a_run_went_back() {
        let mut all = vec![Rollback::new(&[], 13, 10)];
        assert_eq!(all[0].batches, [11, 13]);
        // Batch 14 makes update 11.
        all.push(Rollback::new(&all, 17, 15));
        assert_eq!(all[1].batches, [19, 20]);
        // To the same update again: what was skipped before is not skipped twice.
        assert_eq!(Rollback::new(&all, 16, 15).batches, [21, 21]);
        // To one before both: batch 6 made update 6, batch 21 made update 16.
        all.push(Rollback::new(&all, 16, 5));
        assert_eq!(all[2].batches, [6, 21]);
        assert_eq!(Rollback::new(&all, 8, 5).batches, [22, 24]);
    }
}
