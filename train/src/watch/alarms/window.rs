//! The last numbers of a series.

use std::collections::VecDeque;

/// The last so many numbers.
#[derive(Clone, Debug)]
pub(super) struct Window {
    size: usize,
    numbers: VecDeque<f64>,
}

impl Window {
    pub(super) fn new(size: usize) -> Self {
        Self { size, numbers: VecDeque::with_capacity(size) }
    }

    /// Adds a number. Returns the one that leaves the window for it.
    pub(super) fn push(&mut self, number: f64) -> Option<f64> {
        let gone = if self.is_full() { self.numbers.pop_front() } else { None };
        self.numbers.push_back(number);
        gone
    }

    pub(super) fn is_full(&self) -> bool {
        self.numbers.len() == self.size
    }

    pub(super) fn clear(&mut self) {
        self.numbers.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn sum(&self) -> f64 {
        self.numbers.iter().sum()
    }

    /// The middle of them in order of size, the upper one of two; NaN of none.
    pub(super) fn median(&self) -> f64 {
        let mut sorted: Vec<f64> = self.numbers.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_the_last_numbers() {
        let mut window = Window::new(3);
        let gone = [5.0, 1.0, 4.0, 2.0, 9.0].map(|number| window.push(number));
        assert_eq!(gone, [None, None, None, Some(5.0), Some(1.0)]);
        assert_eq!((window.median(), window.sum(), window.len()), (4.0, 15.0, 3));
    }
}
