//! Known differences of CPU XLA and the interpreter, and their reasons. Each entry is needed: the sample test fails when one is not.

use halite_ir::Sample;
use halite_tensor::DType;
use std::collections::BTreeSet;

/// A sample on which XLA is wrong or free to differ.
#[derive(Clone, Copy, Debug)]
pub struct KnownDifference {
    /// The op as text spells it.
    pub op: &'static str,
    /// The label of the sample.
    pub label: &'static str,
    /// The float types with which it differs.
    pub floats: &'static [DType],
    /// Why.
    pub reason: &'static str,
}

/// Every known difference.
pub const KNOWN_DIFFERENCES: &[KnownDifference] = &[KnownDifference {
    op: "multiply",
    label: "subnormal",
    floats: &[DType::F32, DType::F64, DType::Bf16],
    reason: "XLA CPU computes with subnormals flushed to zero; f16 is computed in f32, where the product is normal",
}];

/// The table, with a note of the entries that were needed.
#[derive(Debug, Default)]
pub struct Known {
    hits: BTreeSet<(usize, DType)>,
}

/// The entry for a sample, if there is one.
pub fn find(sample: &Sample, float: DType) -> Option<usize> {
    KNOWN_DIFFERENCES
        .iter()
        .position(|known| known.op == sample.op.name() && sample.label == known.label && known.floats.contains(&float))
}

impl Known {
    /// Whether a difference of this sample is known; the entry counts as needed.
    pub fn covers(&mut self, sample: &Sample, float: DType) -> bool {
        let found = find(sample, float);
        found.is_some_and(|index| {
            self.hits.insert((index, float));
            true
        })
    }

    /// The entries that were not needed.
    pub fn unused(&self) -> Vec<String> {
        let entries = KNOWN_DIFFERENCES.iter().enumerate();
        let entries = entries.flat_map(|(index, known)| known.floats.iter().map(move |&float| (index, known, float)));
        let unused = entries.filter(|(index, _, float)| !self.hits.contains(&(*index, *float)));
        unused.map(|(_, known, float)| format!("{} `{}` in {float}", known.op, known.label)).collect()
    }
}
