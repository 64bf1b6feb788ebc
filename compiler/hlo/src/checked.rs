//! The evidence that a module was checked.

use crate::check::check;
use crate::codec::encode;
use crate::proto::HloModuleProto;
use halite_support::{Diagnostic, Severity};
use std::ops::Deref;

/// A module in which [`check`] found nothing that XLA refuses. What a compile hands out is one.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckedHlo(HloModuleProto);

impl CheckedHlo {
    /// Checks a module.
    ///
    /// # Errors
    /// The first rule of XLA that it breaks.
    pub fn new(module: HloModuleProto) -> Result<Self, Diagnostic> {
        match check(&module).into_iter().find(|finding| finding.severity() >= Severity::Error) {
            Some(broken) => Err(broken),
            None => Ok(Self(module)),
        }
    }

    /// The module as protobuf bytes, see [`encode`].
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }
}

impl Deref for CheckedHlo {
    type Target = HloModuleProto;

    fn deref(&self) -> &HloModuleProto {
        &self.0
    }
}
