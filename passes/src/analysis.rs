//! What is found out of a module and changes nothing: causality, precision, replicas, initial values, unused names.

pub(crate) mod audit;
pub(crate) mod causality;
pub(crate) mod check_causality;
pub(crate) mod check_precision;
pub(crate) mod check_replicas;
pub(crate) mod init_lint;
pub(crate) mod replicas;
mod trial;
pub(crate) mod unused;
