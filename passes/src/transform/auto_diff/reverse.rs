//! The walk from the objective to what gradients are wanted by.

use super::pairs::Pairs;
use super::plan::useful;
use halite_ir::{Builder, Derivation, Inst, Value, Vjp, VjpCx};
use halite_support::{Diagnostic, Result, codes};
use smallvec::SmallVec;

/// The backward walk over the instructions of the function being built.
pub(super) struct Reverse<'a> {
    pairs: &'a Pairs,
    wanted: Vec<Value>,
    /// For each primal value, whether it depends on a wanted one through floats.
    useful: Vec<bool>,
    /// Number of primal instructions.
    primal: usize,
}

impl<'a> Reverse<'a> {
    pub(super) fn new(b: &Builder<'_>, wanted: &[Value], pairs: &'a Pairs) -> Self {
        let function = b.function();
        Self { pairs, wanted: wanted.to_vec(), useful: useful(function, wanted), primal: function.insts.len() }
    }

    /// The cotangents of the wanted values, given those of some others.
    pub(super) fn run(self, b: &mut Builder<'_>, seeds: &[(Value, Value)]) -> Result<Vec<Option<Value>>> {
        let mut cotangents: Vec<Option<Value>> = vec![None; self.useful.len()];
        for &(value, seed) in seeds {
            accumulate(b, &mut cotangents[value.index()], seed)?;
        }
        for position in (0..self.primal).rev() {
            let inst = &b.function().insts[position];
            let reached = inst.results.iter().any(|result| cotangents[result.index()].is_some());
            if !reached || !inst.args.iter().any(|arg| self.useful[arg.index()]) {
                continue;
            }
            let inst = inst.clone();
            let outer = b.enter_derived(Derivation::Vjp, inst.loc);
            self.step(b, &inst, &mut cotangents)?;
            b.set_loc(outer);
        }
        Ok(self.wanted.iter().map(|value| cotangents[value.index()]).collect())
    }

    /// Adds the cotangents that one instruction sends to its operands.
    fn step(&self, b: &mut Builder<'_>, inst: &Inst, all: &mut [Option<Value>]) -> Result<()> {
        let cts: SmallVec<[Option<Value>; 4]> = inst.results.iter().map(|result| all[result.index()]).collect();
        let wanted: SmallVec<[bool; 4]> = inst.args.iter().map(|arg| self.useful[arg.index()]).collect();
        let answer = match inst.call() {
            Some(edge) => self.pairs.call_backward(b, edge, &cts, &wanted)?,
            None => {
                let cx = VjpCx { args: &inst.args, results: &inst.results, cts: &cts, wanted: &wanted };
                inst.op.def().vjp(b, &cx)?
            }
        };
        let sent = match answer {
            Vjp::Cotangents(sent) => sent,
            Vjp::None(reason) => {
                let message = format!("the objective depends on a weight through `{}`: {reason}", inst.op.name());
                let span = b.module().locs.span(inst.loc);
                return Err(Diagnostic::error(codes::NOT_DIFFERENTIABLE, message).or_at(span, "no derivative here"));
            }
        };
        check_types(b, inst, &sent)?;
        for ((&arg, ct), wanted) in inst.args.iter().zip(sent).zip(wanted) {
            if let (Some(ct), true) = (ct, wanted) {
                accumulate(b, &mut all[arg.index()], ct)?;
            }
        }
        Ok(())
    }
}

fn accumulate(b: &mut Builder<'_>, sum: &mut Option<Value>, term: Value) -> Result<()> {
    *sum = Some(match *sum {
        Some(sum) => b.composite("add_any", &[], &[sum, term])?[0],
        None => term,
    });
    Ok(())
}

/// Each cotangent has the type of its operand.
fn check_types(b: &Builder<'_>, inst: &Inst, sent: &[Option<Value>]) -> Result<()> {
    let name = inst.op.name();
    if sent.len() != inst.args.len() {
        let message = format!("the gradient of `{name}` answers {} operands of {}", sent.len(), inst.args.len());
        return Err(Diagnostic::bug(format!("internal error: auto-diff: {message}")));
    }
    for (position, (&arg, ct)) in inst.args.iter().zip(sent).enumerate() {
        if let Some(ct) = *ct
            && b.ty(ct) != b.ty(arg)
        {
            let (found, expected) = (b.ty(ct), b.ty(arg));
            let message = format!("the gradient of `{name}` by operand {position} is `{found}`, expected `{expected}`");
            return Err(Diagnostic::bug(format!("internal error: auto-diff: {message}")));
        }
    }
    Ok(())
}
