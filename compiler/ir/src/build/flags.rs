//! Flags of a function as a whole.

use super::Builder;
use crate::StageTask;

impl Builder<'_> {
    /// Declares that the function rounds its first parameter at random; see [`Function::rounds`](crate::Function).
    pub fn set_rounds(&mut self, rounds: bool) {
        self.function.rounds = rounds;
    }

    /// Declares that the function is a task of a pipeline.
    pub fn set_task(&mut self, task: Option<StageTask>) {
        self.function.task = task;
    }

    /// Keeps calls of the function as calls.
    pub fn set_noinline(&mut self, noinline: bool) {
        self.function.noinline = noinline;
    }
}
