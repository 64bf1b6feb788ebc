//! An operation, as data.

use super::attribute::{Attribute, Attributes};
use super::body::{Place, Region, Val};
use super::types::TypeId;

/// An operation that was read.
#[derive(Debug)]
pub(crate) struct Op<'t> {
    /// The name with its dialect.
    pub(crate) name: &'t str,
    /// The opcode of HLO that it is.
    pub(crate) opcode: &'static str,
    pub(crate) place: Place,
    pub(crate) operands: Vec<Val>,
    pub(crate) attributes: Attributes<'t>,
    pub(crate) regions: Vec<Region>,
    pub(crate) results: Vec<TypeId>,
    /// Whether no fault of an operand was told before.
    pub(crate) is_whole: bool,
}

/// The types that are stated of an operation.
#[derive(Debug, Default)]
pub(crate) struct Stated {
    /// Those of operands, or of all there is where results are not told apart.
    pub(crate) types: Vec<TypeId>,
    pub(crate) results: Option<Vec<TypeId>>,
}

impl<'t> Op<'t> {
    /// Takes an attribute out, under one of its names.
    pub(crate) fn take(&mut self, names: [&str; 2]) -> Option<Attribute<'t>> {
        names.iter().find_map(|name| self.attributes.take(name))
    }
}
