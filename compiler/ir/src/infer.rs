//! The context of type inference.

use crate::registry::Registry;
use crate::syntax::{FuncId, Function};

/// The context of type inference, besides the operands.
#[derive(Clone, Copy, Debug)]
pub struct InferCx<'a> {
    /// Functions that may be called.
    pub functions: &'a [Function],
    /// Known composites.
    pub registry: &'a Registry,
}

impl InferCx<'_> {
    /// A function that may be called.
    pub fn function(&self, id: FuncId) -> Option<&Function> {
        self.functions.get(id.index())
    }
}
