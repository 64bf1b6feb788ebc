//! A module that was lifted.

use crate::claims::Claims;
use halite_ir::{FuncId, Function, InferCx, Layout, Module, Op, ParamRole, Registry, rewrite_planned};
use halite_support::Result;
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
    /// Sets the shardings of parameters and results over a mesh, and writes out composites, as the analysis of ranks follows primitives.
    ///
    /// # Errors
    /// When something in a decomposition has more bytes than can be counted.
    ///
    /// # Panics
    /// When the claims are those of another entry.
    pub fn lay(&mut self, mesh: &Mesh, claims: &Claims) -> Result<()> {
        primitives(&mut self.module)?;
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
        Ok(())
    }
}

/// Replaces composites by their decompositions, level by level.
fn primitives(module: &mut Module) -> Result<()> {
    let registry = Registry::builtin();
    let has_composites = |function: &Function| function.insts.iter().any(|inst| matches!(inst.op, Op::Composite(_)));
    let plan = |_: InferCx<'_>, function: &Function| has_composites(function).then_some(());
    while rewrite_planned(module, &registry, plan, |rewriter, source, ()| {
        for inst in &source.insts {
            let Op::Composite(composite) = &inst.op else {
                rewriter.copy(source, inst)?;
                continue;
            };
            let (args, outer) = (rewriter.values(&inst.args)?, rewriter.set_loc(inst.loc));
            let results = rewriter.expand(composite, &args)?;
            rewriter.set_loc(outer);
            rewriter.replace_all(inst, &results);
        }
        Ok(())
    })? {}
    Ok(())
}
