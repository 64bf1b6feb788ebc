//! A module that was lifted.

use crate::claims::Claims;
use halite_ir::{FuncId, Layout, Module, ParamRole};
use halite_tensor::{Content, Mesh};
use std::collections::BTreeMap;
use std::sync::Arc;

/// HLO as a module of the IR.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// The module. Its entry has a parameter and a result for each array of those of the HLO. It is for analyses: what could not be
    /// followed has no meaning in it.
    pub module: Module,
    /// The ops that could not be followed, and how often each.
    pub unfollowed: BTreeMap<String, usize>,
    /// The functions that are one round of a loop.
    pub rounds: Vec<FuncId>,
}

impl Lifted {
    /// Sets the shardings of parameters and results over a mesh.
    ///
    /// # Panics
    /// When the claims are those of another entry.
    pub fn lay(&mut self, mesh: &Mesh, claims: &Claims) {
        let mut layout = Layout { mesh: mesh.clone(), ..Layout::default() };
        if let Some(entry) = self.module.functions.last_mut() {
            for &at in &claims.ranks {
                entry.params[at].role = ParamRole::Known(Content::Ranks);
            }
            let params = entry.params.iter().map(|param| &param.name).zip(&claims.params);
            let results = entry.results.iter().map(|result| &result.name).zip(&claims.results);
            let all = params.chain(results).map(|(name, sharding)| (name.clone(), sharding.clone()));
            layout.shardings = all.collect();
        }
        self.module.layout = Some(Arc::new(layout));
    }
}
