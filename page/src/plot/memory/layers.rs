//! The layers that run, one after another.

use std::ops::Range;

/// Steps of one layer that follow one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// Its number.
    pub(super) layer: u32,
    /// The first of its steps.
    pub(super) start: usize,
    /// The first step behind them.
    pub(super) end: usize,
}

impl Run {
    pub(super) fn middle(&self) -> f64 {
        self.start.midpoint(self.end) as f64
    }
}

/// A run of fewer than one in so many of the steps of the longest is a stray: what was moved out of its layer.
const STRAY: usize = 10;

/// The layers of steps as runs of them, those of the backward apart: steps of no layer between two of one layer are of that one, and strays of
/// none.
pub(super) fn runs(layers: &[Option<u32>], backward_at: Option<usize>) -> Vec<Run> {
    let split = backward_at.unwrap_or(layers.len()).min(layers.len());
    let of = |part: Range<usize>| {
        let own = part.filter_map(|at| Some(Run { layer: layers[at]?, start: at, end: at + 1 }));
        let all = joined(own);
        let longest = all.iter().map(|run| run.end - run.start).max().unwrap_or(0);
        let kept: Vec<Run> = all.into_iter().filter(|run| (run.end - run.start) * STRAY >= longest).collect();
        joined(kept.into_iter())
    };
    [of(0..split), of(split..layers.len())].concat()
}

/// Those of one layer that follow one another as one.
fn joined(runs: impl Iterator<Item = Run>) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for run in runs {
        match all.last_mut() {
            Some(last) if last.layer == run.layer => last.end = run.end,
            _ => all.push(run),
        }
    }
    all
}

/// Those whose middles are so many steps apart at least, from the first on.
pub(super) fn apart(runs: &[Run], steps: usize) -> impl Iterator<Item = &Run> {
    let mut last = None;
    runs.iter().filter(move |run| {
        let is_apart = last.is_none_or(|last: f64| run.middle() - last >= steps as f64);
        if is_apart {
            last = Some(run.middle());
        }
        is_apart
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_layer_are_one_run() {
        let layers = [None, Some(0), None, Some(0), Some(1), Some(1), None, Some(0)];
        let run = |layer, start, end| Run { layer, start, end };
        assert_eq!(runs(&layers, None), [run(0, 1, 4), run(1, 4, 6), run(0, 7, 8)]);
        assert_eq!(runs(&layers, Some(5))[1..], [run(1, 4, 5), run(1, 5, 6), run(0, 7, 8)]);
        assert_eq!(runs(&[None; 4], Some(9)), []);
    }

    #[test]
    fn a_stray_splits_no_run() {
        let mut layers = vec![Some(3); 3000];
        layers[1500] = Some(7);
        assert_eq!(runs(&layers, None), [Run { layer: 3, start: 0, end: 3000 }]);
    }

    #[test]
    fn numbers_keep_apart() {
        let all: Vec<Run> =
            (0..10).map(|at| Run { layer: at, start: 10 * at as usize, end: 10 * at as usize + 10 }).collect();
        let named: Vec<u32> = apart(&all, 25).map(|run| run.layer).collect();
        assert_eq!(named, [0, 3, 6, 9]);
    }
}
