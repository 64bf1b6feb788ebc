//! The values that cross the places where a model can be cut.

use super::source::Source;
use halite_ir::Function;

/// For each value that parts own, the instructions of the line that make it and that read it last.
pub(super) struct Boundaries {
    lives: Vec<(usize, usize, u64)>,
    places: usize,
}

impl Boundaries {
    pub(super) fn of(entry: &Function, insts: &[usize], sources: &[Source]) -> Self {
        let mut last = vec![0; entry.values.len()];
        for (number, &at) in insts.iter().enumerate() {
            entry.insts[at].args.iter().for_each(|arg| last[arg.index()] = number);
        }
        let mut lives = Vec::new();
        for (number, &at) in insts.iter().enumerate() {
            let owned = entry.insts[at].results.iter().filter(|result| sources[result.index()].is_own());
            lives.extend(owned.map(|&result| (number, last[result.index()], entry.ty(result).bytes())));
        }
        Self { lives, places: insts.len() + 1 }
    }

    /// The bytes that cross before each instruction of the line, and after the last one.
    pub(super) fn bytes(&self) -> Vec<u64> {
        let mut change = vec![0_i128; self.places + 1];
        for &(made, last, bytes) in self.lives.iter().filter(|(made, last, _)| last > made) {
            change[made + 1] += i128::from(bytes);
            change[last + 1] -= i128::from(bytes);
        }
        let mut now = 0;
        let running = change.into_iter().take(self.places).map(|change| {
            now += change;
            u64::try_from(now).unwrap_or(u64::MAX)
        });
        running.collect()
    }
}
