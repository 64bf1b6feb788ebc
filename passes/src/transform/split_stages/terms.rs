//! The terms of sums that several parts make.

use super::owners::Owner;
use halite_ir::composites::AddAny;
use halite_ir::{Function, Inst, Op, Value};
use halite_support::{Diagnostic, Result, codes};
use std::collections::BTreeMap;

/// The terms of a value by the part that makes them: the value itself where one part makes it. What no part makes is given to `last`.
///
/// # Errors
/// When several parts make it and it is no sum of theirs.
pub(in crate::transform) fn terms(
    entry: &Function,
    owners: &[Owner],
    value: Value,
    last: usize,
) -> Result<BTreeMap<usize, Vec<Value>>> {
    let (mut terms, mut open): (BTreeMap<usize, Vec<Value>>, _) = (BTreeMap::new(), vec![value]);
    while let Some(term) = open.pop() {
        let part = match owners[term.index()] {
            Owner::Part(part) => part,
            Owner::Reader => last,
            Owner::Joined => match entry.def(term) {
                Some(inst) if passes_terms(&inst.op) => {
                    open.extend(inst.args.iter().rev());
                    continue;
                }
                made => return Err(no_sum(entry, value, made)),
            },
        };
        terms.entry(part).or_default().push(term);
    }
    Ok(terms)
}

/// Whether what an op makes of sums is the sum of what it makes of their terms.
fn passes_terms(op: &Op) -> bool {
    match op {
        Op::Add(_) | Op::Convert(_) => true,
        Op::Composite(composite) => composite.is(&AddAny),
        _ => false,
    }
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
