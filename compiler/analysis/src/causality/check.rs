//! The causality check: from a module to its verdicts.

use super::affine::{Affine, Digit};
use super::analysis::{Causality, CausalityWalk, ValueStates};
use super::assumption::{Assumption, Assumptions};
use super::flow::{Flow, Term};
use super::leak::{Culprit, Trail, blame, culprit, exceeds, is_tokens, position, reads, witness};
use super::levels::{Level, Levels};
use super::loss::{Comparison, comparisons, pairs};
use super::region::Region;
use super::state::State;
use super::verdict::{CausalityReport, Finding, Reads, Verdict, Witness};
use crate::forward::{needed, needed_values};
use halite_ir::{FuncResult, Function, Module, Param, ParamRole, Registry, ResultRole, Value};
use halite_support::{Name, Result};
use halite_tensor::Content;
use std::rc::Rc;

/// Checks the causality of a module: whether its probes, each `[batch, seq, ..]`, depend at each position only on tokens up to that
/// position, and whether each label that the loss looks up in a prediction, by `cross_entropy`, a look-up or a one-hot product, is a
/// token that the prediction has not read. Tokens are the batch inputs `s32[batch, seq]` or `s32[batch, seq + 1]`. Works in every
/// phase; nothing is run.
///
/// # Errors
/// When a composite cannot be decomposed.
pub fn causality(module: &Module, registry: &Registry) -> Result<CausalityReport> {
    let Some(entry) = module.entry() else { return Ok(CausalityReport::none("the module is empty")) };
    if module.bidirectional {
        return Ok(CausalityReport::none("the model says `causal = false`"));
    }
    let Some(tokens) = entry.params.iter().find(|param| is_tokens(entry, param)) else {
        return Ok(CausalityReport::none("no input is `s32[batch, seq]`"));
    };
    let [batch, length] = entry.ty(tokens.value).shape()[..] else { return Ok(CausalityReport::none("no tokens")) };
    let results = || entry.results.iter().enumerate();
    let outputs: Vec<(usize, &FuncResult)> = results()
        .filter(|(_, result)| result.role == ResultRole::Probe && is_sequence(entry, result, batch, length))
        .collect();
    let loss = results().find(|(_, result)| result.role == ResultRole::Loss).map(|(at, _)| at);
    let compared = loss.map(|loss| comparisons(entry, &needed(entry, |at| at == loss)));
    let predictions = compared.iter().flatten().flat_map(|compared| [compared.prediction, compared.label]);
    let wanted = needed_values(entry, outputs.iter().map(|(_, output)| output.value).chain(predictions));
    let params: Vec<_> = entry.params.iter().map(|param| Rc::new(param_state(entry, param))).collect();
    let mut walk = Causality::walk(module, registry);
    let known = walk.run(entry, &params, Some(wanted))?;
    let assumptions = walk.analysis.assumptions.clone();
    let mut check = Check { module, entry, known, walk };
    let loss = match compared.as_deref() {
        None => Verdict::NotApplicable("there is none"),
        Some([]) => Verdict::NotApplicable("it compares no prediction with a token"),
        Some(compared) => {
            let verdicts = compared.iter().map(|compared| check.comparison(compared));
            worst(verdicts.collect::<Result<_>>()?, &assumptions)
        }
    };
    let names = outputs.iter().map(|(_, output)| output.name.clone()).collect();
    let outputs = if outputs.is_empty() {
        Verdict::NotApplicable("no output is `[batch, seq, ..]`")
    } else {
        let verdicts = outputs.iter().map(|(_, output)| check.output(output));
        worst(verdicts.collect::<Result<_>>()?, &assumptions)
    };
    Ok(CausalityReport { names, outputs, loss })
}

/// The first leak, or the first doubt, or the proof.
fn worst(findings: Vec<Option<Verdict>>, assumptions: &Assumptions) -> Verdict {
    let mut findings: Vec<Verdict> = findings.into_iter().flatten().collect();
    findings.sort_by_key(|verdict| !matches!(verdict, Verdict::Leaks(_)));
    findings.into_iter().next().unwrap_or_else(|| Verdict::Proven(assumptions.clone().into_vec()))
}

fn is_sequence(entry: &Function, result: &FuncResult, batch: usize, length: usize) -> bool {
    let shape = entry.ty(result.value).shape();
    matches!(shape[..], [own, seq, ..] if own == batch && (seq == length || seq + 1 == length))
}

/// The state of a parameter: token `p` of each sequence stands at position `p`, and a parameter that is declared a causal mask has the
/// levels of one.
pub(super) fn param_state(function: &Function, param: &Param) -> State {
    let shape = function.ty(param.value).shape();
    match &param.role {
        ParamRole::Batch if is_tokens(function, param) => {
            let position = position(shape[1]);
            let term = Term { form: position.clone(), guard: Region::default(), vague: false };
            State::flowing(Flow { terms: vec![term], times: vec![position] })
        }
        ParamRole::Known(Content::Causal) if shape.rank() >= 2 => {
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
        ParamRole::Weight(_) | ParamRole::State(_) | ParamRole::Known(Content::MicroBatch | Content::Keys(_)) => {
            State::default()
        }
        _ => State { unsure: true, ..State::default() },
    }
}

/// A finished walk over the entry.
struct Check<'a> {
    module: &'a Module,
    entry: &'a Function,
    known: ValueStates,
    walk: CausalityWalk<'a>,
}

impl Check<'_> {
    /// The verdict on an output that reads later tokens, or may; `None` for one that is causal.
    fn output(&mut self, output: &FuncResult) -> Result<Option<Verdict>> {
        let seq = self.entry.ty(output.value).shape()[1];
        let (position, state) = (position(seq), self.known[output.value.index()].clone());
        let settled = (*state).clone().settled();
        let read = settled.flow.terms.iter().map(|term| (term.clone(), position.clone())).collect();
        let Some((term, witness)) = beyond(read) else { return Ok(None) };
        let trail = if term.vague { Trail::Doubt } else { Trail::Future };
        let found = culprit(&mut self.walk, self.entry, &self.known, output.value, &term, trail)?;
        let reads = reads(&term, &position, seq as i64 - 1);
        Ok(Some(self.verdict((output.name.clone(), reads), output.value, found, witness)))
    }

    /// The verdict on a comparison whose prediction reads the label, or may; `None` where it does not.
    fn comparison(&mut self, compared: &Comparison) -> Result<Option<Verdict>> {
        let (value, inst) = (compared.prediction, &self.entry.insts[compared.inst]);
        let Some(pairs) = pairs(compared, self.entry, &self.known) else {
            let why = "compares a prediction with a label that is not followed";
            let found = Culprit { why, ..blame(inst) };
            return Ok(Some(self.verdict(("loss".into(), Reads::Label), value, Some(found), None)));
        };
        let Some((term, witness)) = beyond(pairs) else { return Ok(None) };
        let trail = if term.vague { Trail::Doubt } else { Trail::Future };
        let times = &self.known[value.index()].flow.times;
        let is_causal = !term.vague && times.iter().any(|time| !exceeds(&term, time));
        let found = if is_causal {
            Some(blame(inst))
        } else {
            culprit(&mut self.walk, self.entry, &self.known, value, &term, trail)?
        };
        Ok(Some(self.verdict(("loss".into(), Reads::Label), value, found, witness)))
    }

    /// The verdict on a value that reads too much at a witness, or may.
    fn verdict(
        &self,
        (output, reads): (Name, Reads),
        value: Value,
        found: Option<Culprit>,
        witness: Option<Witness>,
    ) -> Verdict {
        // An element that is NaN shows no leak.
        let is_nan = self.walk.analysis.assumptions.contains(Assumption::EmptyRows);
        let witness = witness.filter(|_| !is_nan);
        let leaks = witness.is_some();
        let locs = &self.module.locs;
        let finding = Finding {
            output,
            reads,
            witness,
            op: found.as_ref().map_or("tokens".to_owned(), |found| found.op.clone()),
            why: match &found {
                _ if leaks => "",
                _ if is_nan => "reads them, while a mask leaves some position nothing, which makes it NaN",
                Some(found) => found.why,
                None => "are read as they are",
            },
            scope: found.as_ref().map(|found| found.scope(locs)).unwrap_or_default(),
            span: found.as_ref().and_then(|found| locs.span(found.loc)),
            line: found.as_ref().and_then(|found| locs.code(found.loc)).map(|(file, line)| format!("{file}:{line}")),
            output_span: self.entry.def(value).and_then(|inst| locs.span(inst.loc)),
        };
        if leaks { Verdict::Leaks(finding) } else { Verdict::Unknown(finding) }
    }
}

/// Of terms with what each may read, one that reads more, with a witness if there is any.
fn beyond(read: Vec<(Term, Affine)>) -> Option<(Term, Option<Witness>)> {
    let beyond = read.into_iter().filter(|(term, limit)| exceeds(term, limit));
    let found = beyond.map(|(term, limit)| {
        let witness = witness(&term, &limit);
        (term, witness)
    });
    found.min_by_key(|(_, witness)| witness.is_none())
}
