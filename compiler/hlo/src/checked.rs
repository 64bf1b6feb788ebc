//! The evidence that a module was checked.

use crate::check::{check, check_each};
use crate::codec::encode;
use crate::graph::Graph;
use crate::proto::HloModuleProto;
use halite_support::{Diagnostic, Severity};
use std::ops::Deref;

/// A module in which [`check`] found nothing that XLA refuses, with its graph. What a compile hands out is one.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckedHlo(Graph);

impl CheckedHlo {
    /// Checks a module.
    ///
    /// # Errors
    /// The first rule of XLA that it breaks.
    pub fn new(module: HloModuleProto) -> Result<Self, Diagnostic> {
        let graph = Graph::new(module);
        match check(&graph).into_iter().find(|finding| finding.severity() >= Severity::Error) {
            Some(broken) => Err(broken),
            None => Ok(Self(graph)),
        }
    }

    /// Checks a module whose instructions come from places of their own.
    ///
    /// # Errors
    /// Every rule of XLA that it breaks, with the position of the instruction in the graph where it is about one.
    pub fn or_each(module: HloModuleProto) -> Result<Self, Vec<(Option<usize>, Diagnostic)>> {
        let graph = Graph::new(module);
        let broken: Vec<_> =
            check_each(&graph).into_iter().filter(|(_, finding)| finding.severity() >= Severity::Error).collect();
        if broken.is_empty() { Ok(Self(graph)) } else { Err(broken) }
    }

    /// The graph of the module, made once for all that read it.
    pub fn graph(&self) -> &Graph {
        &self.0
    }

    /// The module, without the evidence and the graph.
    pub fn into_module(self) -> HloModuleProto {
        self.0.into_module()
    }

    /// The module as protobuf bytes, see [`encode`].
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }
}

impl Deref for CheckedHlo {
    type Target = HloModuleProto;

    fn deref(&self) -> &HloModuleProto {
        self.0.module()
    }
}
