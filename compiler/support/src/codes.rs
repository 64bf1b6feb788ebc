//! The table of diagnostic codes: one constant and one paragraph each.
//!
//! `E01xx` syntax, `E02xx` types and IR, `E03xx` the model language, `E04xx` recipes and configuration,
//! `E05xx` bundles, tensors and files, `E06xx` passes and pipelines, `E07xx` the runtime, `E09xx` the compiler itself.

use std::fmt;

/// A diagnostic code with its explanation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// `E` and four digits.
    pub id: &'static str,
    /// One paragraph: what it means and what usually mends it.
    pub explanation: &'static str,
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

macro_rules! codes {
    ($($name:ident = $id:literal: $text:literal;)*) => {
        $(#[doc = $text] pub const $name: Code = Code { id: $id, explanation: $text };)*

        /// Every code, in order.
        pub const ALL: &[Code] = &[$($name),*];
    };
}

codes! {
    SYNTAX = "E0101": "The text does not follow the grammar. The message lists what could stand at that place.";
    VERSION = "E0102": "The text or file was written in a format version that this build does not read.";

    ARITY = "E0201": "An op was given the wrong number of operands.";
    DTYPE = "E0202": "An operand's element type is not one the op takes.";
    SHAPE = "E0203": "The shapes of the operands do not fit together.";
    ATTRIBUTE = "E0204": "An attribute is missing, unknown or out of range.";
    UNDEFINED_VALUE = "E0205": "A value, function or resource is used before it is defined.";
    TYPE_MISMATCH = "E0206": "A stated type differs from the inferred one.";
    UNKNOWN_OP = "E0207": "No primitive or registered composite has this name.";
    DUPLICATE = "E0208": "A name is defined twice.";
    PHASE = "E0209": "The module contains something that its phase forbids.";
    NOT_DIFFERENTIABLE = "E0210": "A derivative was asked for where the op has none.";
    EVALUATION = "E0211": "The reference interpreter cannot run this module on these inputs.";

    INTERNAL = "E0901": "An invariant of the compiler is broken. This is a bug in Halite, not in the input.";
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_are_unique_and_sorted() {
        let ids: Vec<_> = super::ALL.iter().map(|code| code.id).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    }
}
