//! The evidence that a module was verified.

use crate::syntax::{Module, Phase};
use std::ops::Deref;

/// A module that [`verify`](super::verify) found sound, for as long as nobody changes it. Lowering asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Verified<'m>(&'m Module);

impl<'m> Verified<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        Self(module)
    }

    /// The evidence without a borrow of the module, for as long as it is lent to somebody who may change it.
    pub fn seal(self) -> Seal {
        Seal::of(self.0)
    }
}

impl Deref for Verified<'_> {
    type Target = Module;

    fn deref(&self) -> &Module {
        self.0
    }
}

/// Evidence that a module was verified, without a borrow of it. A pass runner, which knows whether the module changed, keeps it and
/// drops it on every change: it need not verify again what passes left alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seal {
    phase: Phase,
    functions: usize,
    insts: usize,
}

impl Seal {
    fn of(module: &Module) -> Self {
        Self { phase: module.phase, functions: module.functions.len(), insts: module.num_insts() }
    }

    /// The evidence again, for the module that has not changed since; `None` for one of another phase or size.
    pub fn reopen(self, module: &Module) -> Option<Verified<'_>> {
        (self == Self::of(module)).then_some(Verified(module))
    }
}
