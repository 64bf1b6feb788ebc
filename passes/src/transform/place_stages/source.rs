//! The sources of values: weights, the batch.

use halite_ir::{Function, ParamRole};

/// The inputs that a value follows from. Parts of a model own what follows from weights and from the batch both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::transform) struct Source {
    pub(in crate::transform) weights: bool,
    pub(in crate::transform) batch: bool,
}

impl Source {
    /// Whether a part owns such a value. Others are made where they are read.
    pub(in crate::transform) fn is_own(self) -> bool {
        self.weights && self.batch
    }

    fn and(self, other: Self) -> Self {
        Self { weights: self.weights || other.weights, batch: self.batch || other.batch }
    }
}

/// The sources of each value of an entry.
pub(in crate::transform) fn sources(entry: &Function) -> Vec<Source> {
    let mut sources = vec![Source::default(); entry.values.len()];
    for param in &entry.params {
        sources[param.value.index()] = match &param.role {
            ParamRole::Weight(_) => Source { weights: true, batch: false },
            ParamRole::Batch | ParamRole::Argument => Source { weights: false, batch: true },
            ParamRole::State(spec) => Source { weights: spec.of.is_some(), batch: false },
            ParamRole::Known(_) => Source::default(),
        };
    }
    for inst in &entry.insts {
        let all = inst.args.iter().fold(Source::default(), |all, arg| all.and(sources[arg.index()]));
        inst.results.iter().for_each(|result| sources[result.index()] = all);
    }
    sources
}
