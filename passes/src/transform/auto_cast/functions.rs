//! The functions of a module, each rewritten for what its callers hand over and do with its results.

use super::callee::{Callees, CastFunction, Context};
use super::caster::{Caster, Place, Site};
use super::overrides::Overrides;
use super::wants::{AllReaders, Readers, outside};
use halite_ir::{Builder, FuncId, Function, InferCx, Module, Op, Registry, Rewriter};
use halite_support::{Diagnostic, Names, Result, codes};
use rustc_hash::FxHashMap;

/// The deepest nesting of calls: a callee is rewritten while its caller is.
const MAX_DEPTH: usize = 64;

/// The functions before the pass, and those made of them.
pub(super) struct Functions<'a> {
    old: &'a [Function],
    overrides: &'a Overrides<'a>,
    readers: AllReaders<'a>,
    made: FxHashMap<Context, CastFunction>,
    /// The versions of each function; contexts that differ may ask for the same one.
    versions: FxHashMap<FuncId, Vec<FuncId>>,
    /// The decompositions of kernels, which stay as they are.
    kept: FxHashMap<FuncId, FuncId>,
    /// The names of the functions that are made.
    names: Names,
}

/// Rewrites the functions of a module: those that nothing calls, and what these call once for each context.
///
/// # Errors
/// When calls nest deeper than [`MAX_DEPTH`], or the recipe contradicts itself.
pub(super) fn cast(module: &mut Module, registry: &Registry, overrides: &Overrides<'_>) -> Result<()> {
    let old = std::mem::take(&mut module.functions);
    let called = called(&old)?;
    let cx = InferCx { functions: &old, registry };
    let readers = AllReaders::new(cx);
    let (made, versions, kept) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
    let is_kept = kept_functions(&old);
    let named = old.iter().enumerate().filter(|(index, _)| is_kept[*index] || !called[*index]);
    let names = named.map(|(_, function)| function.name.clone()).collect();
    let mut all = Functions { old: &old, overrides, readers, made, versions, kept, names };
    for (index, function) in old.iter().enumerate() {
        if is_kept[index] {
            all.keep(module, registry, FuncId::new(index))?;
        } else if !called[index] {
            all.root(module, registry, function, index + 1 == old.len())?;
        }
    }
    Ok(())
}

/// For each function, whether it is called.
///
/// # Errors
/// When calls nest too deep.
fn called(functions: &[Function]) -> Result<Vec<bool>> {
    let mut called = vec![false; functions.len()];
    let mut depths: Vec<usize> = Vec::with_capacity(functions.len());
    for function in functions {
        let mut depth = 0;
        for inst in &function.insts {
            for edge in inst.calls() {
                called[edge.callee.index()] = true;
                depth = depth.max(depths[edge.callee.index()] + 1);
            }
        }
        if depth > MAX_DEPTH {
            let message = format!("calls of `@{}` nest {depth} deep, at most {MAX_DEPTH} can be cast", function.name);
            return Err(Diagnostic::error(codes::LIMIT, message).help("run `inline` before `auto-cast`"));
        }
        depths.push(depth);
    }
    Ok(called)
}

/// For each function, whether it is a decomposition of a kernel or is called by one.
fn kept_functions(functions: &[Function]) -> Vec<bool> {
    let mut kept = vec![false; functions.len()];
    for (index, function) in functions.iter().enumerate().rev() {
        for inst in &function.insts {
            for edge in inst.edges() {
                kept[edge.callee.index()] |= kept[index] || !edge.runs;
            }
        }
    }
    kept
}

impl Functions<'_> {
    fn keep(&mut self, module: &mut Module, registry: &Registry, id: FuncId) -> Result<()> {
        let source = &self.old[id.index()];
        let mut rewriter = Rewriter::new(module, registry, source);
        for inst in &source.insts {
            let mut inst = inst.clone();
            self.renumber(&mut inst.op)?;
            rewriter.copy(source, &inst)?;
        }
        let kept = rewriter.finish(source)?;
        self.kept.insert(id, kept);
        Ok(())
    }

    fn root(&mut self, module: &mut Module, registry: &Registry, source: &Function, is_entry: bool) -> Result<()> {
        let readers = self.readers.of(source, &outside(source, is_entry));
        let place = if is_entry { Place::Entry } else { Place::Apart };
        let mut rewriter = Rewriter::new(module, registry, source);
        let site = Site { place, scope: String::new(), readers };
        Caster::new(&mut rewriter, source, self.overrides, self, site).run()?;
        rewriter.finish(source)?;
        Ok(())
    }
}

impl Callees for Functions<'_> {
    fn callee(&mut self, b: &mut Builder<'_>, context: Context) -> Result<CastFunction> {
        if let Some(made) = self.made.get(&context) {
            return Ok(made.clone());
        }
        let old = self.old;
        let source = &old[context.callee.index()];
        let readers = self.readers.of_callee(context.callee, &context.results);
        let mut readers = Readers::clone(&readers);
        let params = source.params.iter().zip(&context.args);
        params.for_each(|(param, arg)| readers.set(param.value, arg.readers));
        let mut rewriter = Rewriter::nested(b, source);
        let place = Place::Callee(context.args.clone());
        let site = Site { place, scope: context.scope.clone(), readers };
        let results = Caster::new(&mut rewriter, source, self.overrides, self, site).run()?;
        rewriter.copy_results(source)?;
        let versions = self.versions.entry(context.callee).or_default();
        let id = rewriter.into_builder().finish_or(versions, &mut self.names);
        if !versions.contains(&id) {
            versions.push(id);
        }
        let made = CastFunction { id, results };
        self.made.insert(context, made.clone());
        Ok(made)
    }

    fn renumber(&self, op: &mut Op) -> Result<()> {
        let Some(callee) = op.callee() else { return Ok(()) };
        let kept = self.kept.get(&callee).copied();
        let kept = kept.ok_or_else(|| Diagnostic::bug("a kernel was read before its decomposition"))?;
        op.map_callees(|_| kept);
        Ok(())
    }
}
