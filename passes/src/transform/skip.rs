//! Replacements of state that may be skipped: `select` between the new value and the old one.

use halite_ir::{Function, Inst, Op, Origin, Trace, Value};

/// The value that is written where the update is made: the new value of a replacement that is chosen by a `select` with a parameter or
/// with the shard of one, the value that ranks gather where each has updated its shard, or the replacement itself.
pub(crate) fn written(functions: &[Function], function: &Function, replacement: Value) -> Value {
    let (mut written, mut at, mut gathers) = (replacement, replacement, false);
    while let Some(def) = function.def(at) {
        at = match (&def.op, &def.args[..]) {
            (Op::Select(_), &[_, new, old]) if is_of_param(functions, function, old) => new,
            (Op::AllGather(_) | Op::DynamicSlice(_) | Op::Reshape(_), shards) => {
                let result = def.results.iter().position(|&result| result == at);
                match result.and_then(|result| shards.get(result)) {
                    Some(&shard) => shard,
                    None => break,
                }
            }
            _ => break,
        };
        gathers |= matches!(def.op, Op::AllGather(_) | Op::DynamicSlice(_));
        // A reshape is part of a gather, or of what makes the new value.
        if gathers || matches!(def.op, Op::Select(_)) {
            written = at;
        }
    }
    written
}

/// Whether a value is a parameter, or the shard of it that a rank updates, which a function that is called may take.
fn is_of_param(functions: &[Function], function: &Function, value: Value) -> bool {
    let mut trace = Trace::new(functions, function, value);
    loop {
        match trace.origin(|_| true) {
            Origin::Param => return true,
            Origin::Inst(Inst { op: Op::DynamicSlice(_) | Op::Reshape(_), args, .. }) => trace.step(args[0]),
            Origin::Inst(_) | Origin::TooFar => return false,
        }
    }
}
