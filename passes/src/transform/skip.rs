//! Replacements of state that may be skipped: `select` between the new value and the old one.

use halite_ir::{Def, Function, Op, Value};

/// What is written where the update is made: the new value of a replacement that is chosen by a `select` with a parameter, or the
/// replacement itself.
pub(crate) fn written(function: &Function, replacement: Value) -> Value {
    let Some(def) = function.def(replacement).filter(|def| matches!(def.op, Op::Select(_))) else { return replacement };
    match def.args[..] {
        [_, new, old] if matches!(function.values[old.index()].def, Def::Param(_)) => new,
        _ => replacement,
    }
}
