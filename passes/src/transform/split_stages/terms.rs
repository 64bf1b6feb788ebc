//! The terms of sums that several parts make.

use super::owners::Owner;
use halite_ir::composites::AddAny;
use halite_ir::{Builder, Function, Inst, Linear, Op, TensorType, Value};
use halite_support::{Diagnostic, Result, codes};
use std::collections::BTreeMap;

/// A term of a sum: a value, and what is made of it before it is a term.
#[derive(Clone, Debug)]
pub(in crate::transform) struct Term {
    value: Value,
    /// The last instruction first, each with the position of the operand that it takes the term as.
    through: Vec<(Inst, usize)>,
}

impl Term {
    /// A value that is a sum by itself.
    pub(in crate::transform) fn whole(value: Value) -> Self {
        Self { value, through: Vec::new() }
    }

    /// Writes what is made of the value.
    ///
    /// # Errors
    /// None but bugs.
    pub(in crate::transform) fn emit(&self, b: &mut Builder<'_>) -> Result<Value> {
        let mut value = self.value;
        for (inst, operand) in self.through.iter().rev() {
            let mut args = inst.args.clone();
            args[*operand] = value;
            value = b.emit_like(inst, &args)?[0];
        }
        Ok(value)
    }
}

/// The terms of a value by the part that makes them: the value itself where one part makes it. What no part makes is given to `last`.
///
/// # Errors
/// When several parts make it and it is no sum of theirs.
pub(in crate::transform) fn terms(
    entry: &Function,
    owners: &[Owner],
    value: Value,
    last: usize,
) -> Result<BTreeMap<usize, Vec<Term>>> {
    let (mut terms, mut open): (BTreeMap<usize, Vec<Term>>, _) = (BTreeMap::new(), vec![Term::whole(value)]);
    while let Some(term) = open.pop() {
        let part = match owners[term.value.index()] {
            Owner::Part(part) => part,
            Owner::Reader => last,
            Owner::Joined => {
                let made = entry.def(term.value);
                let inner = made.and_then(|inst| inner(entry, owners, &term, inst));
                open.extend(inner.ok_or_else(|| no_sum(entry, value, made))?.into_iter().rev());
                continue;
            }
        };
        terms.entry(part).or_default().push(term);
    }
    Ok(terms)
}

/// The terms of what an instruction makes of sums; `None` where it does not make a sum of theirs.
fn inner(entry: &Function, owners: &[Owner], term: &Term, inst: &Inst) -> Option<Vec<Term>> {
    let is_sum = match &inst.op {
        Op::Add(_) => true,
        Op::Composite(composite) => composite.is(&AddAny),
        _ => false,
    };
    if is_sum {
        return Some(inst.args.iter().map(|&arg| Term { value: arg, ..term.clone() }).collect());
    }
    let joined = |at: &usize| owners[inst.args[*at].index()] == Owner::Joined;
    let operand = (0..inst.args.len()).find(joined)?;
    let others = (0..inst.args.len()).filter(|&at| at != operand);
    let is_alone = others.clone().all(|at| owners[inst.args[at].index()] == Owner::Reader);
    let ty = |value: &Value| entry.ty(*value).clone();
    let (args, results): (Vec<TensorType>, Vec<TensorType>) =
        (inst.args.iter().map(ty).collect(), inst.results.iter().map(ty).collect());
    let passes = match inst.op.def().linear(&args, &results) {
        Linear::No => false,
        Linear::Jointly => args.len() == 1,
        Linear::Each => true,
        Linear::First => operand == 0,
        Linear::Rest => false,
    };
    (passes && is_alone && results.len() == 1).then(|| {
        let mut through = term.through.clone();
        through.push((inst.clone(), operand));
        vec![Term { value: inst.args[operand], through }]
    })
}

fn no_sum(entry: &Function, value: Value, made: Option<&Inst>) -> Diagnostic {
    let op = made.map(|inst| format!(" by `{}`", inst.op.name())).unwrap_or_default();
    let ty = entry.ty(value);
    let message = format!("a gradient or a sum, `{ty}`, is made{op} of what several parts of the model make");
    Diagnostic::error(codes::NOT_SUPPORTED, message)
        .key("parallel.pipeline")
        .note("stages add up what each of them makes, and nothing else goes together")
        .help("choose fewer stages, so that one part makes all of it")
}
