//! What is said of a function as a whole.

use super::Builder;

impl Builder<'_> {
    /// Says of the function that it rounds its first parameter at random; see [`Function::rounds`](crate::Function).
    pub fn set_rounds(&mut self, rounds: bool) {
        self.function.rounds = rounds;
    }

    /// Has calls of the function stay calls.
    pub fn set_noinline(&mut self, noinline: bool) {
        self.function.noinline = noinline;
    }
}
