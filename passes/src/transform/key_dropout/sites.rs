//! Streams that a module draws from.

use halite_ir::{Function, Inst, LocId, LocTable, Module, Op};
use halite_support::{Diagnostic, Name, Result, codes};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The most dropouts that an entry runs.
const MAX_SITES: usize = 1 << 16;

/// The number of dropouts that each function runs, in callees or not.
///
/// # Errors
/// When the entry runs more than [`MAX_SITES`].
pub(super) fn counts(module: &Module) -> Result<Vec<usize>> {
    let mut counts: Vec<usize> = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        counts.push(function.insts.iter().map(|inst| drawn(inst, &counts)).fold(0, usize::saturating_add));
    }
    if counts.iter().all(|&count| count <= MAX_SITES) {
        return Ok(counts);
    }
    let message = format!("the model runs more than {MAX_SITES} dropouts");
    Err(Diagnostic::error(codes::LIMIT, message).help("call functions that drop out less often"))
}

/// The number of dropouts that an instruction runs, given those of each function.
pub(super) fn drawn(inst: &Inst, counts: &[usize]) -> usize {
    match inst.call() {
        Some(edge) => counts[edge.callee.index()],
        None => usize::from(is_dropout(&inst.op)),
    }
}

fn is_dropout(op: &Op) -> bool {
    matches!(op, Op::Composite(composite) if composite.keyed_dropout().is_some())
}

/// A function whose dropouts are being named.
struct Frame<'m> {
    function: &'m Function,
    next: usize,
    /// The scopes around the call, with a dot behind.
    prefix: String,
}

/// The names of the streams of the entry, in the order in which its dropouts run: the scopes of the calls and of the dropout, and a
/// number where several have the same. Calls under way stand in a list.
pub(super) fn streams(module: &Module, counts: &[usize]) -> IndexSet<Name, FxBuildHasher> {
    let frame = |function, prefix| Frame { function, next: 0, prefix };
    let mut open: Vec<Frame<'_>> = module.entry().map(|entry| frame(entry, String::new())).into_iter().collect();
    let (mut streams, mut numbers) = (IndexSet::default(), FxHashMap::default());
    while let Some(top) = open.last_mut() {
        let Some(inst) = top.function.insts.get(top.next) else {
            open.pop();
            continue;
        };
        top.next += 1;
        if let Some(edge) = inst.call().filter(|edge| counts[edge.callee.index()] > 0) {
            let prefix = within(&module.locs, &top.prefix, inst.loc, ".");
            open.push(frame(module.function(edge.callee), prefix));
        } else if is_dropout(&inst.op) {
            let scope = within(&module.locs, &top.prefix, inst.loc, ":");
            let number: &mut usize = numbers.entry(scope.clone()).or_default();
            streams.insert(Name::from(format!("{scope}dropout.{number}")));
            *number += 1;
        }
    }
    streams
}

/// The scopes of a location behind those around it, with `end` behind where there are any.
fn within(locs: &LocTable, prefix: &str, loc: LocId, end: &str) -> String {
    let scope = locs.scope(loc);
    if scope.is_empty() { prefix.to_owned() } else { format!("{prefix}{scope}{end}") }
}
