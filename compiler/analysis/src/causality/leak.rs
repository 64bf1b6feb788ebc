//! The search for the instruction where later tokens enter.

use super::affine::{Affine, Digit};
use super::analysis::{CausalityWalk, ValueStates};
use super::flow::{Flow, Term};
use super::state::State;
use super::verdict::{Reads, Witness};
use crate::forward::needed;
use halite_ir::paths::nested;
use halite_ir::{Def, Function, Inst, LocId, LocTable, Op, Param, ParamRole, Value};
use halite_support::Result;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

/// How many elements are tried as witnesses.
const MAX_TRIED: usize = 1 << 14;

/// The position of an output of sequence length `seq`: its dimension 1.
pub(super) fn position(seq: usize) -> Affine {
    Digit::whole(1, seq).into()
}

/// Whether a parameter holds tokens.
pub(super) fn is_tokens(function: &Function, param: &Param) -> bool {
    let ty = function.ty(param.value);
    param.role == ParamRole::Batch && ty.dtype().is_int() && ty.rank() == 2
}

/// An element at which a term reads beyond the position of its element, if one is found: its position, and the token.
pub(super) fn witness(term: &Term, position: &Affine) -> Option<Witness> {
    if term.vague {
        return None;
    }
    let beyond = term.form.minus(position).plus_constant(-1);
    let forms: Vec<&Affine> = term.guard.spaces().iter().chain([&beyond]).collect();
    let digits: Vec<Digit> = forms.iter().flat_map(|form| form.terms()).map(|(digit, _)| *digit).collect();
    let mut dims: Vec<usize> = digits.iter().map(|digit| digit.dim).collect();
    dims.sort_unstable();
    dims.dedup();
    let tried: Vec<Vec<usize>> = dims.iter().map(|&dim| witnesses(&digits, dim)).collect();
    let combinations = tried.iter().try_fold(1usize, |product, tried| product.checked_mul(tried.len()));
    (0..combinations.unwrap_or(0).min(MAX_TRIED)).find_map(|mut choice| {
        let mut index = Vec::with_capacity(dims.len());
        for tried in &tried {
            index.push(tried[choice % tried.len()]);
            choice /= tried.len();
        }
        let at = |digit: Digit| {
            let along = dims.iter().position(|&dim| dim == digit.dim).map_or(0, |dim| index[dim]);
            (along / digit.stride % digit.size) as i64
        };
        let found = forms.iter().all(|form| form.value(&at) >= 0);
        found.then(|| Witness { position: position.value(&at), token: term.form.value(&at) })
    })
}

/// Positions along a dimension that are tried: the ends and the middle, and the same for each of its digits.
fn witnesses(digits: &[Digit], dim: usize) -> Vec<usize> {
    let digits = digits.iter().filter(|digit| digit.dim == dim);
    let size = digits.clone().map(|digit| digit.end()).max().unwrap_or(1);
    let mut all: BTreeSet<usize> = [0, 1, 2, size / 2, size.saturating_sub(2), size - 1].into();
    for digit in digits {
        all.extend([digit.stride - 1, digit.stride, digit.stride + 1, digit.end() - 1, digit.end(), digit.end() + 1]);
    }
    all.into_iter().filter(|&position| position < size).collect()
}

/// Whether a term may read beyond `position`.
pub(super) fn exceeds(term: &Term, position: &Affine) -> bool {
    term.guard.max_of(&term.form.minus(position)) > 0
}

/// The tokens that a term reads, seen from `position`; `last` is the last position.
pub(super) fn reads(term: &Term, position: &Affine, last: i64) -> Reads {
    match (term.form.as_constant(), term.form.minus(position).as_constant()) {
        (Some(latest), _) if latest >= last => Reads::Everything,
        (Some(latest), _) => Reads::UpTo(latest),
        (_, Some(ahead)) => Reads::Ahead(ahead),
        _ => Reads::Later,
    }
}

/// An instruction at fault.
pub(super) struct Culprit {
    /// The calls that it is in, outermost first.
    pub(super) calls: Vec<LocId>,
    pub(super) loc: LocId,
    pub(super) op: String,
    pub(super) why: &'static str,
}

/// The terms that are walked back along.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trail {
    /// Terms beyond the position of their element, to where they were not.
    Future,
    /// Vague terms, to where they were not.
    Doubt,
}

impl Trail {
    /// Whether a term of a value is on the trail.
    fn has(self, term: &Term, flow: &Flow) -> bool {
        match self {
            Trail::Future => flow.times.iter().all(|time| exceeds(term, time)),
            Trail::Doubt => term.vague,
        }
    }
}

/// Walks back from a term of a value to the instruction where its trail begins, into what that runs; `None` when it is a parameter.
///
/// # Errors
/// When a composite cannot be decomposed.
pub(super) fn culprit<'a>(
    walk: &mut CausalityWalk<'a>,
    mut function: &'a Function,
    known: &ValueStates,
    mut value: Value,
    term: &Term,
    trail: Trail,
) -> Result<Option<Culprit>> {
    let (mut known, mut term) = (Cow::Borrowed(known), term.clone());
    let (mut calls, mut found) = (Vec::new(), None);
    while let Some((inst, result)) = beginning(walk, function, &known, &mut value, &mut term, trail)? {
        found = Some(Culprit { calls: calls.clone(), ..blame(inst) });
        let Some(callee) = inst.op.callee().and_then(|callee| walk.function(callee)) else { break };
        let params: Vec<_> = inst.args.iter().map(|arg| known[arg.index()].clone()).collect();
        known = Cow::Owned(walk.run(callee, &params, Some(needed(callee, |_| true)))?);
        calls.push(inst.loc);
        (function, value) = (callee, callee.results[result].value);
    }
    Ok(found)
}

/// The instruction of a function where a trail begins, and which result of it. `value` and `term` become those.
fn beginning<'f>(
    walk: &mut CausalityWalk<'_>,
    function: &'f Function,
    known: &ValueStates,
    value: &mut Value,
    term: &mut Term,
    trail: Trail,
) -> Result<Option<(&'f Inst, usize)>> {
    while let Def::Inst(index, result) = function.values[value.index()].def {
        let inst = &function.insts[index as usize];
        let origins = origins(walk, function, known, inst, result as usize, term)?;
        let on_trail = origins.into_iter().find(|(arg, term)| trail.has(term, &known[arg.index()].flow));
        match on_trail {
            Some((arg, origin)) => (*value, *term) = (arg, origin),
            None => return Ok(Some((inst, result as usize))),
        }
    }
    Ok(None)
}

/// The terms of operands that lead to a term of a result.
fn origins(
    walk: &mut CausalityWalk<'_>,
    function: &Function,
    known: &ValueStates,
    inst: &Inst,
    result: usize,
    term: &Term,
) -> Result<Vec<(Value, Term)>> {
    let args: Vec<_> = inst.args.iter().map(|arg| known[arg.index()].clone()).collect();
    let mut origins = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        for own in &arg.flow.terms {
            let alone = |(other, state): (usize, &Rc<State>)| {
                let terms = if other == at { vec![own.clone()] } else { Vec::new() };
                Rc::new(State { flow: Flow { terms, times: Vec::new() }, ..(**state).clone() })
            };
            let alone: Vec<_> = args.iter().enumerate().map(alone).collect();
            let found = walk.apply(function, inst, &alone)?;
            if found[result].flow.terms.iter().any(|found| found.form == term.form) {
                origins.push((inst.args[at], own.clone()));
            }
        }
    }
    Ok(origins)
}

impl Culprit {
    /// Its scope in the entry.
    pub(super) fn scope(&self, locs: &LocTable) -> String {
        let scopes = self.calls.iter().chain([&self.loc]).map(|loc| locs.scope(*loc));
        scopes.fold(String::new(), |outer, inner| nested(&outer, inner))
    }
}

pub(super) fn blame(inst: &Inst) -> Culprit {
    let why = match inst.op {
        Op::Take(_) | Op::TakeAlongAxis(_) | Op::DynamicSlice(_) | Op::DynamicUpdateSlice(_) => {
            "reads positions that are known only when it runs"
        }
        Op::Reshape(_) => "cuts across the sequence",
        Op::Select(_) | Op::Multiply(_) | Op::DotGeneral(_) | Op::And(_) | Op::Or(_) => {
            "weighs positions by a mask that the analysis does not know exactly"
        }
        _ => "is not followed by the analysis",
    };
    Culprit { calls: Vec::new(), loc: inst.loc, op: inst.op.name().to_owned(), why }
}
