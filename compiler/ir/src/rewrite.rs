//! Rebuilding a function instruction by instruction.

use crate::build::Builder;
use crate::infer::InferCx;
use crate::registry::Registry;
use crate::size::check_size;
use crate::syntax::{FuncId, Function, Inst, Module, Param, Value, Values};
use crate::ty::Types;
use halite_support::{Diagnostic, Result, check_cancelled};
use std::ops::{Deref, DerefMut};

/// Copies a function while mapping its values to those of the copy. A pass looks at each old instruction and either
/// copies it or emits something else and says what stands for its results.
#[derive(Debug)]
pub struct Rewriter<'a> {
    builder: Builder<'a>,
    map: Vec<Option<Value>>,
}

impl<'a> Rewriter<'a> {
    /// Starts the copy of `source` inside `module` with the same name and parameters.
    pub fn new(module: &'a mut Module, registry: &'a Registry, source: &Function) -> Self {
        let mut rewriter = Self::without_params(module, registry, source);
        for param in &source.params {
            rewriter.copy_param(source, param);
        }
        rewriter
    }

    /// Starts the copy of `source` inside `module` with the same name; the pass adds the parameters.
    pub fn without_params(module: &'a mut Module, registry: &'a Registry, source: &Function) -> Self {
        let mut builder = Builder::new(module, registry, source.name.clone());
        builder.reserve(source);
        Self { builder, map: vec![None; source.values.len()] }
    }

    /// Starts the copy of `source` while another function of the module is being built.
    pub fn nested(b: &'a mut Builder<'_>, source: &Function) -> Self {
        let mut builder = b.nested(source.name.clone());
        builder.reserve(source);
        let mut rewriter = Self { builder, map: vec![None; source.values.len()] };
        for param in &source.params {
            rewriter.copy_param(source, param);
        }
        rewriter
    }

    /// Adds a parameter of `source`.
    pub fn copy_param(&mut self, source: &Function, param: &Param) {
        let value = self.builder.param(param.name.clone(), source.ty(param.value).clone(), param.role.clone());
        self.replace(param.value, value);
    }

    /// The replacement of an old value.
    ///
    /// # Errors
    /// When the pass has not replaced it yet: a bug of the pass.
    pub fn value(&self, old: Value) -> Result<Value> {
        self.map[old.index()].ok_or_else(|| Diagnostic::bug(format!("{old:?} was read before it was rewritten")))
    }

    /// The replacement of an old value, if it has one.
    pub fn get(&self, old: Value) -> Option<Value> {
        self.map[old.index()]
    }

    /// The replacements of several old values.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn values(&self, old: &[Value]) -> Result<Values> {
        old.iter().map(|&value| self.value(value)).collect()
    }

    /// Replaces an old value.
    pub fn replace(&mut self, old: Value, new: Value) {
        self.map[old.index()] = Some(new);
    }

    /// Replaces the results of an old instruction.
    pub fn replace_all(&mut self, old: &Inst, new: &[Value]) {
        for (&old, &new) in old.results.iter().zip(new) {
            self.replace(old, new);
        }
    }

    /// Emits an instruction again with mapped arguments, keeping location and value names. When no argument changes its
    /// type, neither do the results, so that nothing is inferred; the verifier infers everything again.
    ///
    /// # Errors
    /// When the mapped arguments no longer fit.
    pub fn copy(&mut self, source: &Function, inst: &Inst) -> Result<()> {
        let args = self.values(&inst.args)?;
        let outer = self.builder.set_loc(inst.loc);
        let results = if inst.args.iter().zip(&args).all(|(&old, &new)| source.ty(old) == self.builder.ty(new)) {
            let types: Types = inst.results.iter().map(|&result| source.ty(result).clone()).collect();
            self.builder.push(inst.op.clone(), args, types, inst.rounding.clone())
        } else {
            self.builder.emit_like(inst, &args)?
        };
        self.builder.set_loc(outer);
        self.keep_names(source, inst, &results);
        self.replace_all(inst, &results);
        Ok(())
    }

    /// Gives the replacements of an old instruction's results the names of these results.
    pub fn keep_names(&mut self, source: &Function, inst: &Inst, new: &[Value]) {
        for (&old, &new) in inst.results.iter().zip(new) {
            if let Some(hint) = &source.values[old.index()].hint {
                self.builder.name_value(new, hint.clone());
            }
        }
    }

    /// The builder, without the map.
    pub fn into_builder(self) -> Builder<'a> {
        self.builder
    }

    /// Copies the results of `source` and adds the function to the module.
    ///
    /// # Errors
    /// When a result was not rewritten.
    pub fn finish(mut self, source: &Function) -> Result<FuncId> {
        self.copy_results(source)?;
        Ok(self.builder.finish())
    }

    /// Copies the results of `source`.
    ///
    /// # Errors
    /// When one was not rewritten.
    pub fn copy_results(&mut self, source: &Function) -> Result<()> {
        for result in &source.results {
            let value = self.value(result.value)?;
            self.builder.named_result(value, result.name.clone(), result.role.clone());
        }
        Ok(())
    }
}

impl<'a> Deref for Rewriter<'a> {
    type Target = Builder<'a>;

    fn deref(&self) -> &Builder<'a> {
        &self.builder
    }
}

impl<'a> DerefMut for Rewriter<'a> {
    fn deref_mut(&mut self) -> &mut Builder<'a> {
        &mut self.builder
    }
}

/// Rebuilds every function of a module in order; handles of functions stay valid.
///
/// # Errors
/// Those of `rewrite`, or a value that was not rewritten.
pub fn rewrite_functions(
    module: &mut Module,
    registry: &Registry,
    mut rewrite: impl FnMut(&mut Rewriter<'_>, &Function) -> Result<()>,
) -> Result<()> {
    rewrite_planned(module, registry, |_, _| Some(()), |rewriter, source, ()| rewrite(rewriter, source)).map(drop)
}

/// Rebuilds, in order, the functions for which there is a plan; the others stay as they are, which costs nothing. Handles
/// of functions stay valid. Returns whether there was any plan.
///
/// # Errors
/// Those of `rewrite`, or a value that was not rewritten.
pub fn rewrite_planned<P>(
    module: &mut Module,
    registry: &Registry,
    mut plan: impl FnMut(InferCx<'_>, &Function) -> Option<P>,
    mut rewrite: impl FnMut(&mut Rewriter<'_>, &Function, P) -> Result<()>,
) -> Result<bool> {
    let (mut any, mut values) = (false, 0);
    for source in std::mem::take(&mut module.functions) {
        check_cancelled()?;
        let cx = InferCx { functions: &module.functions, registry };
        let Some(plan) = plan(cx, &source) else {
            values += source.values.len();
            module.functions.push(source);
            continue;
        };
        any = true;
        let mut rewriter = Rewriter::new(module, registry, &source);
        rewrite(&mut rewriter, &source, plan)?;
        let made = rewriter.finish(&source)?;
        values += module.function(made).values.len();
        check_size(&source.name, values)?;
    }
    Ok(any)
}
