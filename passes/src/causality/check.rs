//! From a module to a verdict.

use super::affine::{Affine, Digit};
use super::analysis::{Analysis, Known, needed};
use super::assumption::Assumption;
use super::flow::{Flow, Term};
use super::leak::{Trail, culprit, exceeds, is_certain, position, reads};
use super::levels::{Level, Levels};
use super::region::Region;
use super::state::State;
use super::verdict::{Finding, Verdict};
use halite_ir::{FuncResult, Function, Module, Param, ParamRole, Registry, ResultRole};
use halite_support::Result;
use std::rc::Rc;

/// Whether the probes of a module, each `[batch, seq, ..]`, depend at each position only on tokens up to that position.
/// Tokens are the batch inputs `s32[batch, seq]` or `s32[batch, seq + 1]`. Works in every phase; nothing is run.
///
/// # Errors
/// When a composite cannot be decomposed.
pub fn causality(module: &Module, registry: &Registry) -> Result<Verdict> {
    let Some(entry) = module.entry() else { return Ok(Verdict::NotApplicable("the module is empty")) };
    let Some(tokens) = entry.params.iter().find(|param| is_tokens(entry, param)) else {
        return Ok(Verdict::NotApplicable("no input is `s32[batch, seq]`"));
    };
    let [batch, length] = entry.ty(tokens.value).shape()[..] else { return Ok(Verdict::Proven(Vec::new())) };
    let outputs: Vec<(usize, &FuncResult)> = entry
        .results
        .iter()
        .enumerate()
        .filter(|(_, result)| result.role == ResultRole::Probe && is_sequence(entry, result, batch, length))
        .collect();
    if outputs.is_empty() {
        return Ok(Verdict::NotApplicable("no output is `[batch, seq, ..]`"));
    }
    let params: Vec<_> = entry.params.iter().map(|param| Rc::new(param_state(entry, param))).collect();
    let wanted = needed(entry, |at| outputs.iter().any(|(own, _)| *own == at));
    let mut analysis = Analysis::new(module, registry);
    let known = analysis.run(entry, &params, &wanted)?;
    let assumptions = analysis.assumptions.clone();
    let mut check = Check { module, entry, known, analysis };
    let mut doubt = None;
    for (_, output) in outputs {
        match check.output(output)? {
            Some(Verdict::Unknown(finding)) => doubt = doubt.or(Some(finding)),
            Some(verdict) => return Ok(verdict),
            None => {}
        }
    }
    Ok(doubt.map_or_else(|| Verdict::Proven(assumptions.into_vec()), Verdict::Unknown))
}

fn is_tokens(entry: &Function, param: &Param) -> bool {
    let ty = entry.ty(param.value);
    param.role == ParamRole::Batch && ty.dtype().is_int() && ty.rank() == 2
}

fn is_sequence(entry: &Function, result: &FuncResult, batch: usize, length: usize) -> bool {
    let shape = entry.ty(result.value).shape();
    matches!(shape[..], [own, seq, ..] if own == batch && (seq == length || seq + 1 == length))
}

/// What is known of a parameter: token `p` of each sequence stands at position `p`, and what is declared a causal mask is
/// one.
pub(super) fn param_state(function: &Function, param: &Param) -> State {
    let shape = function.ty(param.value).shape();
    match param.role {
        ParamRole::Batch if is_tokens(function, param) => {
            let position = position(shape[1]);
            let term = Term { form: position.clone(), guard: Region::default(), vague: false };
            State::flowing(Flow { terms: vec![term], times: vec![position] })
        }
        ParamRole::CausalMask if shape.rank() >= 2 => {
            let index = |dim: usize| Affine::from(Digit::whole(dim, shape[dim]));
            let ahead = index(shape.rank() - 2).minus(&index(shape.rank() - 1));
            let mut levels = Levels::default();
            for (value, space) in [(0.0, ahead.negated().plus_constant(-1)), (1.0, ahead)] {
                if let Some(region) = Region::new([space]) {
                    levels.add(Level::constant(value), &region.into());
                }
            }
            State { levels, ..State::default() }
        }
        ParamRole::Weight(_) | ParamRole::State(_) => State::default(),
        _ => State { unsure: true, ..State::default() },
    }
}

/// A finished walk over the entry.
struct Check<'a> {
    module: &'a Module,
    entry: &'a Function,
    known: Known,
    analysis: Analysis<'a>,
}

impl Check<'_> {
    /// What is wrong with an output, if anything.
    fn output(&mut self, output: &FuncResult) -> Result<Option<Verdict>> {
        let seq = self.entry.ty(output.value).shape()[1];
        let (position, state) = (position(seq), self.known[output.value.index()].clone());
        let settled = (*state).clone().settled();
        let mut beyond: Vec<&Term> = settled.flow.terms.iter().filter(|term| exceeds(term, &position)).collect();
        beyond.sort_by_key(|term| !is_certain(term, &position));
        let Some(&term) = beyond.first() else { return Ok(None) };
        // What is NaN shows no leak.
        let is_nan = self.analysis.assumptions.contains(Assumption::EmptyRows);
        let leaks = is_certain(term, &position) && !is_nan;
        let trail = if term.vague { Trail::Doubt } else { Trail::Future };
        let found = culprit(&mut self.analysis, self.entry, &self.known, output.value, term, trail)?;
        let locs = &self.module.locs;
        let finding = Finding {
            output: output.name.clone(),
            reads: reads(term, &position, seq as i64 - 1),
            op: found.as_ref().map_or("tokens".to_owned(), |found| found.op.clone()),
            why: match &found {
                _ if leaks => "",
                _ if is_nan => "reads them, while a mask leaves some position nothing, which makes it NaN",
                Some(found) => found.why,
                None => "are read as they are",
            },
            scope: found.as_ref().map(|found| locs.scope(found.loc)).unwrap_or_default(),
            span: found.as_ref().and_then(|found| locs.span(found.loc)),
            output_span: self.entry.def(output.value).and_then(|inst| locs.span(inst.loc)),
        };
        Ok(Some(if leaks { Verdict::Leaks(finding) } else { Verdict::Unknown(finding) }))
    }
}
