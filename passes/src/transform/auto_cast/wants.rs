//! Which values are read at full precision.

use halite_ir::{Function, InferCx, Op, OpClass, Policy, ResultRole, Value};

/// Who reads each value at the precision it was made in: a sensitive op, a sum, the loss, a gradient, a callee or a
/// caller; a movement whose result is read so; an element-wise op whose result nothing else reads; or an element-wise
/// composite, which computes wide, when nothing else reads the value. So a difference made for an exponential, a square made
/// for a sum and a query made to be rotated are not rounded on the way; a residual, which many read, is.
pub(super) struct Readers {
    wide: Vec<bool>,
    /// Read so by something that computes wide but is content with less.
    wide_if_alone: Vec<bool>,
    count: Vec<u32>,
}

impl Readers {
    pub(super) fn of(function: &Function, cx: &InferCx<'_>, is_entry: bool) -> Self {
        let size = function.values.len();
        let mut readers = Self { wide: vec![false; size], wide_if_alone: vec![false; size], count: vec![0; size] };
        for result in &function.results {
            let stays = matches!(result.role, ResultRole::Loss | ResultRole::Count | ResultRole::Gradient(_));
            readers.note(result.value, stays || !is_entry);
        }
        for inst in function.insts.iter().rev() {
            let reads_wide = match inst.op.def().policy(cx).class {
                OpClass::Sensitive | OpClass::Accumulate | OpClass::Integer => true,
                _ if inst.op.callee().is_some() => true,
                OpClass::Storage => inst.results.iter().any(|&result| readers.some_wide(result)),
                OpClass::Elementwise => readers.on_the_way(&inst.results),
                OpClass::Matmul => false,
            };
            let composite = matches!(inst.op, Op::Composite(_)) && inst.op.def().policy(cx) == Policy::ELEMENTWISE;
            for &arg in &inst.args {
                readers.note(arg, reads_wide);
                readers.wide_if_alone[arg.index()] |= composite;
            }
        }
        readers
    }

    fn note(&mut self, value: Value, wide: bool) {
        self.wide[value.index()] |= wide;
        self.count[value.index()] += 1;
    }

    /// Whether some reader takes it so.
    pub(super) fn some_wide(&self, value: Value) -> bool {
        self.wide[value.index()] || self.alone(value)
    }

    /// Whether its one reader computes wide.
    pub(super) fn alone(&self, value: Value) -> bool {
        self.wide_if_alone[value.index()] && self.count[value.index()] == 1
    }

    /// Whether each of these results has one reader, which takes it so.
    pub(super) fn on_the_way(&self, results: &[Value]) -> bool {
        results.iter().all(|&result| self.wide[result.index()] && self.count[result.index()] == 1)
    }
}
