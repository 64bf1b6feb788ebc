//! The elements of a constant in IR text.

/// The elements after an op's name.
#[derive(Clone, Debug)]
pub(super) enum Literal<'t> {
    /// One value for all elements.
    Splat(&'t str),
    /// All elements.
    Listed(Vec<&'t str>),
    /// The bytes of a resource.
    Bytes(&'t [u8]),
}
