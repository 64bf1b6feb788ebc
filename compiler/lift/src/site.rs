//! An instruction of HLO that is being lifted.

use crate::ranks::Ranks;
use halite_hlo::ReduceKind;
use halite_hlo::graph::Graph;
use halite_hlo::proto::HloInstructionProto;
use halite_ir::ops::{BroadcastInDim, Constant, Convert, Reshape};
use halite_ir::{Builder, FuncId, Op, TensorType, Value, Values};
use halite_tensor::{DType, Dims, Shape};
use smallvec::smallvec;

/// An instruction with what its operands have become.
pub(crate) struct Site<'a, 'b> {
    pub(crate) graph: &'a Graph,
    pub(crate) at: usize,
    pub(crate) b: &'a mut Builder<'b>,
    /// The arrays of all operands, in order.
    pub(crate) args: &'a [Value],
    /// The types of the arrays that it gives.
    pub(crate) types: &'a [TensorType],
    pub(crate) ranks: &'a Ranks,
    /// The functions that computations have become.
    pub(crate) functions: &'a [Option<FuncId>],
}

impl Site<'_, '_> {
    pub(crate) fn inst(&self) -> &HloInstructionProto {
        self.graph.inst(self.at)
    }

    pub(crate) fn opcode(&self) -> &str {
        self.graph.opcode(self.at)
    }

    /// The function that it calls first.
    pub(crate) fn callee(&self) -> Option<FuncId> {
        self.functions.get(self.graph.callee(self.at, 0)?).copied().flatten()
    }

    /// The operands, where they are so many.
    pub(crate) fn operands<const N: usize>(&self) -> Option<[Value; N]> {
        self.args.try_into().ok()
    }

    /// The type of the only result.
    pub(crate) fn ty(&self) -> Option<&TensorType> {
        if let [ty] = self.types { Some(ty) } else { None }
    }

    /// The attribute `dimensions`.
    pub(crate) fn dims(&self) -> Option<Dims> {
        dims(&self.inst().dimensions)
    }

    /// The only dimension of the attribute `dimensions`.
    pub(crate) fn dim(&self) -> Option<usize> {
        if let [dim] = self.dims()?.as_slice() { Some(*dim) } else { None }
    }

    /// The computation that combines two values, by its opcode; of truth values by the one that says the same of bits.
    pub(crate) fn combiner(&self) -> Option<&str> {
        let root = self.graph.root(self.graph.callee(self.at, 0)?)?;
        let operands = [self.graph.operand(root, 0)?, self.graph.operand(root, 1)?];
        let is_parameter = |&at: &usize| self.graph.opcode(at) == "parameter";
        let both = operands[0] != operands[1] && operands.iter().all(is_parameter);
        let is_pred = self.graph.shape(root).is_some_and(|shape| shape.dtype() == Some(DType::Pred));
        both.then(|| if is_pred { of_bits(self.graph.opcode(root)) } else { self.graph.opcode(root) })
    }

    /// An op applied to all operands.
    pub(crate) fn apply(&mut self, op: impl Into<Op>) -> Option<Values> {
        self.b.emit_all(op, self.args).ok()
    }

    /// An op with one result.
    pub(crate) fn emit(&mut self, op: impl Into<Op>, args: &[Value]) -> Option<Value> {
        self.b.emit(op, args).ok()
    }

    /// A value in another element type, or as it is.
    pub(crate) fn converted(&mut self, x: Value, dtype: DType) -> Option<Value> {
        if self.b.dtype(x) == dtype { Some(x) } else { self.emit(Convert { dtype }, &[x]) }
    }

    /// A value under another shape, or as it is.
    pub(crate) fn reshaped(&mut self, x: Value, shape: Shape) -> Option<Value> {
        if *self.b.shape(x) == shape { Some(x) } else { self.emit(Reshape { shape }, &[x]) }
    }

    /// A value with its dimensions in another order, or as it is.
    pub(crate) fn transposed(&mut self, x: Value, permutation: Dims) -> Option<Value> {
        if permutation.is_sorted() { Some(x) } else { self.emit(halite_ir::ops::Transpose { permutation }, &[x]) }
    }

    /// The constant that a value is, or that it repeats.
    pub(crate) fn constant(&self, value: Value) -> Option<&Constant> {
        let function = self.b.function();
        match &function.def(value)?.op {
            Op::Constant(constant) => Some(constant),
            Op::BroadcastInDim(BroadcastInDim { .. }) => match &function.def(function.def(value)?.args[0])?.op {
                Op::Constant(constant) => Some(constant),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The opcode that does to truth values what this one does, or this one.
pub(crate) fn of_bits(opcode: &str) -> &str {
    let is = |kinds: [ReduceKind; 2]| kinds.iter().any(|kind| kind.op().name() == opcode);
    if is([ReduceKind::Add, ReduceKind::Max]) {
        ReduceKind::Or.op().name()
    } else if is([ReduceKind::Multiply, ReduceKind::Min]) {
        ReduceKind::And.op().name()
    } else {
        opcode
    }
}

/// Numbers of dimensions from a message.
pub(crate) fn dims(numbers: &[i64]) -> Option<Dims> {
    numbers.iter().map(|&number| usize::try_from(number).ok()).collect()
}

/// One value.
pub(crate) fn one(value: Value) -> Values {
    smallvec![value]
}
