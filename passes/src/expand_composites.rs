//! `expand-composites`.

use crate::pass::{Changed, Kind, Pass, PassCx, PassInfo, Relation};
use halite_ir::{
    Builder, Composite, Function, Module, Op, Phase, Registry, TensorType, Value, Values, rewrite_functions,
};
use halite_support::Result;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Replaces every composite by its decomposition, and those inside it likewise, until only primitives are left.
///
/// ```text
/// %y = relu %x : f32[4]      =>    %0 = constant 0.0 : f32[4]
///                                  %y = maximum %x, %0 : f32[4]
/// ```
#[derive(Debug)]
pub(crate) struct ExpandComposites;

impl Pass for ExpandComposites {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "expand-composites",
            summary: "replace composites by their decompositions",
            kind: Kind::Required,
            needs: Phase::Built..=Phase::Step,
            gives: None,
            relation: Relation::Identical,
        }
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let mut bodies = Bodies::default();
        let mut expanded = 0;
        rewrite_functions(module, cx.registry, |rewriter, source| {
            for inst in &source.insts {
                let Op::Composite(composite) = &inst.op else {
                    rewriter.copy(source, inst)?;
                    continue;
                };
                expanded += 1;
                let args = rewriter.values(&inst.args)?;
                let types = args.iter().map(|&arg| rewriter.ty(arg).clone()).collect();
                let body = bodies.get(cx.registry, composite, types)?;
                let outer = rewriter.set_loc(inst.loc);
                let results = copy_primitives(rewriter, &body, &args)?;
                rewriter.set_loc(outer);
                rewriter.replace_all(inst, &results);
            }
            Ok(())
        })?;
        Ok(Changed::when(expanded > 0))
    }
}

/// Decompositions down to primitives. Layers repeat the same composites on the same types, so each is made once.
#[derive(Default)]
pub(crate) struct Bodies(FxHashMap<(Composite, Vec<TensorType>), Arc<Function>>);

impl Bodies {
    /// The primitives of a composite on operands of these types.
    pub(crate) fn get(
        &mut self,
        registry: &Registry,
        composite: &Composite,
        types: Vec<TensorType>,
    ) -> Result<Arc<Function>> {
        let key = (composite.clone(), types);
        if let Some(body) = self.0.get(&key) {
            return Ok(body.clone());
        }
        let surface = composite.decompose(registry, &key.1.iter().collect::<Vec<_>>())?;
        let body = Arc::new(self.flatten(registry, &surface)?);
        self.0.insert(key, body.clone());
        Ok(body)
    }

    /// The decomposition with the composites in it replaced.
    fn flatten(&mut self, registry: &Registry, surface: &Function) -> Result<Function> {
        let mut module = Module { functions: vec![surface.clone()], ..Module::default() };
        rewrite_functions(&mut module, registry, |rewriter, source| {
            for inst in &source.insts {
                let Op::Composite(inner) = &inst.op else {
                    rewriter.copy(source, inst)?;
                    continue;
                };
                let args = rewriter.values(&inst.args)?;
                let types = args.iter().map(|&arg| rewriter.ty(arg).clone()).collect();
                let body = self.get(registry, inner, types)?;
                let results = copy_primitives(rewriter, &body, &args)?;
                rewriter.replace_all(inst, &results);
            }
            Ok(())
        })?;
        Ok(module.functions.swap_remove(0))
    }
}

fn copy_primitives(b: &mut Builder<'_>, body: &Function, args: &[Value]) -> Result<Values> {
    b.copy_body(body, args, Builder::emit_like)
}
