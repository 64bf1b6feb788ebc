//! The values and operations of a text, as data.

use halite_hlo::ArrayType;

/// A value by its name, such as `%add.3` or `%call.5#1`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Value {
    /// The name, with its `%`.
    pub(crate) name: String,
    /// Element type and sizes.
    pub(crate) ty: ArrayType,
}

/// One operation in the generic form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Op {
    /// The name with its dialect, such as `stablehlo.add`.
    pub(crate) name: &'static str,
    /// The values that it reads.
    pub(crate) operands: Vec<Value>,
    /// Its own attributes, as text.
    pub(crate) properties: Vec<(&'static str, String)>,
    /// The computations of two values that it has as regions.
    pub(crate) regions: Vec<usize>,
    /// Types of its results.
    pub(crate) results: Vec<ArrayType>,
}

impl Op {
    /// The same with one more attribute.
    #[must_use]
    pub(crate) fn with(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.properties.push((key, value.into()));
        self
    }
}

/// The values or operations of an instruction of HLO.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// Values that are there already.
    Values(Vec<Value>),
    /// Operations, the results of one after those of another.
    Ops(Vec<Op>),
}

impl From<Op> for Meaning {
    fn from(op: Op) -> Self {
        Meaning::Ops(vec![op])
    }
}
