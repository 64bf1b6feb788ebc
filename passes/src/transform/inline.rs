//! `inline`.

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Milestone, Pass, PassCx, PassInfo, Relation};
use halite_ir::graph::{decompositions, stating_gradients};
use halite_ir::{Edge, FuncId, Function, Inst, Module, inline_calls};
use halite_recipe::Calls;
use halite_support::{Diagnostic, Result, codes};

/// The most instructions and calls that are copied.
const MAX_INSTS: u64 = 1 << 20;

/// Calls of functions with as many instructions may stay calls.
const KEPT_INSTS: usize = 16;

/// Replaces every call in every function by the body of its callee and drops what is no longer reached, so that the entry,
/// the decompositions of its kernels and what is marked `noinline` are the only functions left. Where calls of the model's
/// functions stay calls (`emit.calls`), those of 16 instructions and more are marked so. Before gradients are taken a function that states
/// its own, called by `call_with_gradient`, stays one.
/// A module of which that makes more than a million instructions is refused.
///
/// ```text
/// func @f(%x: f32[4]) -> (f32[4]) {
///   %y = negate %x : f32[4]
///   return %y
/// }                                                =>    func @main(%x: f32[4]) -> (f32[4]) {
/// func @main(%x: f32[4]) -> (f32[4]) {                     %y = negate %x : f32[4]
///   %0 = call %x {callee = @f} : f32[4]                    return %y
///   return %0                                            }
/// }
/// ```
#[derive(Debug)]
pub(crate) struct Inline;

impl Pass for Inline {
    fn info(&self) -> PassInfo {
        PassInfo::new("inline", "replace calls by the bodies of their callees", Relation::Identical)
            .required()
            .milestone(Milestone::WritesOut)
            .example(golden!("inline" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let kept = cx.target.calls != Calls::Inline && keep_large(module);
        let mut insts = module.functions.iter().flat_map(|function| &function.insts);
        if !insts.any(|inst| inlined(&module.functions, inst).is_some()) {
            return Ok(Changed::when(module.drop_unreached() | kept));
        }
        let gradients = stating_gradients(module);
        let stays = stays(module, &gradients);
        check_size(module, &stays)?;
        let written = module.functions.iter().zip(&gradients).map(|(function, states)| !function.noinline && !states);
        let written: Vec<bool> = written.collect();
        let inlined = inline_calls(module, cx.registry, &written, &stays)?;
        Ok(Changed::when(inlined | module.drop_unreached() | kept))
    }
}

/// Marks the functions whose calls are worth more than what they call in their place; whether there were any that were not.
fn keep_large(module: &mut Module) -> bool {
    let kept = decompositions(module);
    let callees = module.functions.len().saturating_sub(1);
    let mut changed = false;
    for (index, function) in module.functions[..callees].iter_mut().enumerate() {
        let is_large = function.insts.len() >= KEPT_INSTS && !kept.contains(&FuncId::new(index));
        changed |= is_large && !function.noinline;
        function.noinline |= is_large;
    }
    changed
}

/// The call that an instruction is, if it is to be replaced.
fn inlined<'i>(callees: &[Function], inst: &'i Inst) -> Option<Edge<'i>> {
    inst.call().filter(|edge| callees.get(edge.callee.index()).is_some_and(|callee| !callee.noinline))
}

/// For each function, whether it is left: the entry, marked functions, those that state their `gradients`, and the decompositions of the
/// kernels that the entry reaches.
fn stays(module: &Module, gradients: &[bool]) -> Vec<bool> {
    let marked = module.functions.iter().zip(gradients).map(|(function, states)| function.noinline || *states);
    let mut stays: Vec<bool> = marked.collect();
    decompositions(module).into_iter().for_each(|decomposition| stays[decomposition.index()] = true);
    if let Some(entry) = stays.last_mut() {
        *entry = true;
    }
    stays
}

/// A function that calls another twice doubles it, so that a short text can stand for more than any machine holds.
///
/// # Errors
/// When more than [`MAX_INSTS`] instructions and calls would be copied.
pub(in crate::transform) fn check_size(module: &Module, stays: &[bool]) -> Result<()> {
    let mut sizes: Vec<u64> = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let size = |inst: &Inst| {
            inlined(&module.functions, inst).map_or(1, |call| sizes[call.callee.index()].saturating_add(1))
        };
        sizes.push(function.insts.iter().map(size).fold(0, u64::saturating_add));
    }
    let left = sizes.iter().zip(stays).filter(|(_, stays)| **stays);
    if left.fold(0, |sum: u64, (size, _)| sum.saturating_add(*size)) <= MAX_INSTS {
        return Ok(());
    }
    let entry = module.entry().map_or("", |entry| &*entry.name);
    let largest = sizes.last().copied().unwrap_or_default();
    let found = if largest == u64::MAX { "2^64 or more".to_owned() } else { largest.to_string() };
    let message = format!(
        "replacing the calls of `@{entry}` copies {found} instructions and calls, at most {MAX_INSTS} are copied"
    );
    let call = module.entry().and_then(|entry| entry.insts.iter().find(|inst| inst.call().is_some()));
    let span = call.and_then(|call| module.locs.span(call.loc));
    let error = Diagnostic::error(codes::LIMIT, message).or_at(span, "a call that is replaced by what it calls");
    Err(error.help("call functions that call others less often: each call becomes a copy of the whole body"))
}
