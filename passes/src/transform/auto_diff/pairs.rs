//! The functions that derivatives have become, and their calls.

use halite_ir::ops::Call;
use halite_ir::{Builder, Edge, FuncId, Function, Inst, Rewriter, Value, Values, Vjp};
use halite_support::{Diagnostic, Result};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The two functions of a derivative.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) forward: FuncId,
    pub(super) backward: FuncId,
    /// The number of operands of the call that the forward takes: all but the cotangents of a function that gives its own gradient.
    pub(super) takes: usize,
    /// The arguments of the forward that the backward takes, before residuals and cotangents.
    pub(super) args: Vec<usize>,
    /// The results of the forward whose cotangents the backward takes, and how many results there are before the residuals.
    pub(super) present: SmallVec<[bool; 4]>,
}

/// The pairs of a plan, by the numbers of derivatives.
#[derive(Debug)]
pub(super) struct Pairs {
    pairs: Vec<Option<Pair>>,
    by_forward: FxHashMap<FuncId, usize>,
}

impl Pairs {
    /// Those of so many derivatives, none of which is made yet.
    pub(super) fn new(count: usize) -> Self {
        Self { pairs: (0..count).map(|_| None).collect(), by_forward: FxHashMap::default() }
    }

    /// Keeps the pair of a derivative.
    pub(super) fn made(&mut self, number: usize, pair: Pair) {
        self.by_forward.insert(pair.forward, number);
        self.pairs[number] = Some(pair);
    }

    fn pair(&self, number: usize) -> Result<&Pair> {
        self.pairs[number].as_ref().ok_or_else(|| Diagnostic::bug("a derivative was called before it was made"))
    }

    /// Calls the forward in the place of the function.
    pub(super) fn call_forward(
        &self,
        rewriter: &mut Rewriter<'_>,
        source: &Function,
        inst: &Inst,
        number: usize,
    ) -> Result<()> {
        let pair = self.pair(number)?;
        let args = rewriter.values(&inst.args[..pair.takes])?;
        let outer = rewriter.set_loc(inst.loc);
        let results = rewriter.emit_all(Call { callee: pair.forward }, &args)?;
        rewriter.set_loc(outer);
        let values = &results[..pair.present.len()];
        rewriter.keep_names(source, inst, values);
        rewriter.replace_all(inst, values);
        Ok(())
    }

    /// The cotangents of the arguments of a call of a forward: a call of the backward.
    pub(super) fn call_backward(
        &self,
        b: &mut Builder<'_>,
        call: Edge<'_>,
        cts: &[Option<Value>],
        wanted: &[bool],
    ) -> Result<Vjp> {
        let number = self.by_forward.get(&call.callee);
        let number = *number.ok_or_else(|| Diagnostic::bug("a call has a cotangent and no derivative"))?;
        let pair = self.pair(number)?;
        let mut args: Values = pair.args.iter().map(|&at| call.args[at]).collect();
        args.extend_from_slice(&call.results[pair.present.len()..]);
        for ((&result, &ct), _) in call.results.iter().zip(cts).zip(&pair.present).filter(|(_, present)| **present) {
            args.push(match ct {
                Some(ct) => ct,
                None => b.splat_like(result, 0.0)?,
            });
        }
        let mut results = b.emit_all(Call { callee: pair.backward }, &args)?.into_iter();
        Ok(Vjp::of(wanted.iter().map(|&wanted| if wanted { results.next() } else { None })))
    }
}
