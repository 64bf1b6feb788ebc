//! Replacements of state that may be skipped: `select` between the new value and the old one.

use halite_ir::{Def, Function, Op, Value};

/// What is written where the update is made: the new value of a replacement that is chosen by a `select` with a parameter, what ranks gather
/// where each has updated its shard, or the replacement itself.
pub(crate) fn written(function: &Function, replacement: Value) -> Value {
    let (mut written, mut at, mut gathers) = (replacement, replacement, false);
    while let Some(def) = function.def(at) {
        at = match (&def.op, &def.args[..]) {
            (Op::Select(_), &[_, new, old]) if matches!(function.values[old.index()].def, Def::Param(_)) => new,
            (Op::AllGather(_) | Op::Reshape(_), shards) => {
                let result = def.results.iter().position(|&result| result == at);
                match result.and_then(|result| shards.get(result)) {
                    Some(&shard) => shard,
                    None => break,
                }
            }
            _ => break,
        };
        gathers |= matches!(def.op, Op::AllGather(_));
        // A reshape is part of a gather, or of what makes the new value.
        if gathers || matches!(def.op, Op::Select(_)) {
            written = at;
        }
    }
    written
}
