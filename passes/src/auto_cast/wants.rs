//! Which values are read at full precision.

use halite_ir::{Function, InferCx, Op, OpClass, ResultRole, Value};

/// Who reads each value at the precision it was made in: a sensitive op, a sum, the loss, a gradient, a callee or a
/// caller; a movement whose result is read so; or an element-wise op whose result nothing else reads. So a difference made
/// for an exponential and a square made for a sum are not rounded on the way; a residual, which many read, is.
pub(super) struct Readers {
    wide: Vec<bool>,
    count: Vec<u32>,
}

impl Readers {
    pub(super) fn of(function: &Function, cx: &InferCx<'_>, is_entry: bool) -> Self {
        let size = function.values.len();
        let mut readers = Self { wide: vec![false; size], count: vec![0; size] };
        for result in &function.results {
            let stays = matches!(result.role, ResultRole::Loss | ResultRole::Count | ResultRole::Gradient(_));
            readers.note(result.value, stays || !is_entry);
        }
        for inst in function.insts.iter().rev() {
            let reads_wide = match inst.op.def().policy(cx).class {
                OpClass::Sensitive | OpClass::Accumulate | OpClass::Integer => true,
                _ if matches!(inst.op, Op::Call(_)) => true,
                OpClass::Storage => inst.results.iter().any(|&result| readers.some_wide(result)),
                OpClass::Elementwise => readers.on_the_way(&inst.results),
                OpClass::Matmul => false,
            };
            inst.args.iter().for_each(|&arg| readers.note(arg, reads_wide));
        }
        readers
    }

    fn note(&mut self, value: Value, wide: bool) {
        self.wide[value.index()] |= wide;
        self.count[value.index()] += 1;
    }

    /// Whether some reader takes it so.
    pub(super) fn some_wide(&self, value: Value) -> bool {
        self.wide[value.index()]
    }

    /// Whether each of these results has one reader, which takes it so.
    pub(super) fn on_the_way(&self, results: &[Value]) -> bool {
        results.iter().all(|&result| self.wide[result.index()] && self.count[result.index()] == 1)
    }
}
