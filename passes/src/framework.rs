//! The framework of passes: the trait, the context of a pass, names, pipelines, reports, kernels by entry.

pub(crate) mod calls;
pub(crate) mod dialect;
pub(crate) mod example;
pub(crate) mod exception;
pub(crate) mod findings;
pub(crate) mod membership;
pub(crate) mod pass;
pub(crate) mod pattern;
pub(crate) mod pipeline;
pub(crate) mod registry;
pub(crate) mod remark;
pub(crate) mod report;
pub(crate) mod runner;
pub(crate) mod target;
pub(crate) mod watch;
