//! The signatures of functions, as data.

use super::attribute::Attributes;
use super::body::Val;
use super::location::LocationId;
use super::types::TypeId;

/// The arguments and results of a function, with their attributes.
#[derive(Debug, Default)]
pub(crate) struct Signature<'t> {
    pub(crate) arguments: Vec<Argument<'t>>,
    pub(crate) results: Vec<Attributes<'t>>,
    /// The types of results.
    pub(crate) types: Vec<TypeId>,
    /// The values that it returns.
    pub(crate) returned: Vec<Val>,
}

/// An argument of a function.
#[derive(Debug)]
pub(crate) struct Argument<'t> {
    pub(crate) name: &'t str,
    pub(crate) ty: TypeId,
    pub(crate) attributes: Attributes<'t>,
    /// The name that its location gives it.
    pub(crate) location: LocationId,
}
