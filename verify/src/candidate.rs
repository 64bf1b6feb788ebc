//! The programs to verify, as a bundle would hold them.

use crate::program::Loaded;
use crate::stages::{Stages, StagesRun};
use halite_passes::Audit;

/// The programs to verify.
pub(super) enum Candidate {
    /// One program.
    Whole(Box<Loaded>),
    /// The programs of several stages.
    Stages(Box<Stages>),
}

impl Candidate {
    /// Its precision audit.
    pub(super) fn audit(&self) -> &Audit {
        match self {
            Self::Whole(loaded) => &loaded.program.audit,
            Self::Stages(stages) => &stages.audit,
        }
    }

    /// The stages that run, where there are several.
    pub(super) fn stages(&self) -> Option<StagesRun> {
        match self {
            Self::Whole(_) => None,
            Self::Stages(stages) => Some(stages.run.clone()),
        }
    }
}
