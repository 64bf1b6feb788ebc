//! Kinds of state that several rules keep.

/// The first moment of AdamW, or the momentum of SGD.
pub const M: &str = "m";
/// The second moment of AdamW.
pub const V: &str = "v";
