//! `expand-composites`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_ir::{
    Builder, Composite, Function, LocKind, Module, Op, Registry, TensorType, Types, Value, Values, rewrite_functions,
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
        PassInfo::new("expand-composites", "replace composites by their decompositions", Relation::Identical)
            .required()
            .example(golden!("expand_composites" @ "activations"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        expand(module, cx.registry, |_| true)
    }
}

/// Replaces the composites of a module that are `chosen` by primitives.
///
/// # Errors
/// When something in a decomposition has more bytes than can be counted.
pub(crate) fn expand(module: &mut Module, registry: &Registry, chosen: impl Fn(&Op) -> bool) -> Result<Changed> {
    let mut bodies = Bodies::default();
    let mut expanded = 0;
    rewrite_functions(module, registry, |rewriter, source| {
        for inst in &source.insts {
            if !matches!(inst.op, Op::Composite(_)) || !chosen(&inst.op) {
                rewriter.copy(source, inst)?;
                continue;
            }
            expanded += 1;
            let args = rewriter.values(&inst.args)?;
            let outer = rewriter.set_loc(inst.loc);
            let results = if inst.rounds_at_random() {
                let types: Types = inst.results.iter().map(|&result| source.ty(result).clone()).collect();
                rewriter.round_apart(inst, &args, &types, |b, op, args| bodies.write(b, op, args))?
            } else {
                bodies.write(rewriter, &inst.op, &args)?
            };
            rewriter.set_loc(outer);
            rewriter.replace_all(inst, &results);
        }
        Ok(())
    })?;
    Ok(Changed::when(expanded > 0))
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

    /// Writes the primitives of a composite in place.
    fn write(&mut self, b: &mut Builder<'_>, op: &Op, args: &[Value]) -> Result<Values> {
        let Op::Composite(composite) = op else { return b.emit_all(op.clone(), args) };
        let types = args.iter().map(|&arg| b.ty(arg).clone()).collect();
        let outer = b.enter(LocKind::Composite(composite.name.clone()));
        let body = self.get(b.registry(), composite, types).map_err(|error| b.locate(error))?;
        let results = b.copy_body(&body, args, Builder::emit_like);
        b.set_loc(outer);
        results
    }

    /// The decomposition with the composites in it replaced.
    fn flatten(&mut self, registry: &Registry, surface: &Function) -> Result<Function> {
        let mut module = Module { functions: vec![surface.clone()], ..Module::default() };
        rewrite_functions(&mut module, registry, |rewriter, source| {
            for inst in &source.insts {
                let Op::Composite(_) = &inst.op else {
                    rewriter.copy(source, inst)?;
                    continue;
                };
                let args = rewriter.values(&inst.args)?;
                let results = self.write(rewriter, &inst.op, &args)?;
                rewriter.replace_all(inst, &results);
            }
            Ok(())
        })?;
        Ok(module.functions.swap_remove(0))
    }
}
