//! Computations that instructions call.

use super::{Checked, Checker};
use crate::opcode::{Calls, Opcode};
use crate::types::{ArrayType, Type};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;

impl Checker<'_> {
    /// Every callee is defined earlier, and opcodes of our set have as many as they take.
    pub(super) fn require_callees(&self, at: usize) -> Result<()> {
        let inst = self.graph.inst(at);
        if let Some(missing) = self.graph.callees(at).position(|callee| callee.is_none()) {
            let id = inst.called_computation_ids[missing];
            let message = format!("the called computation {id} is not defined before it");
            return Err(Diagnostic::error(codes::UNDEFINED_VALUE, message));
        }
        let expected = match Opcode::parse(&inst.opcode).map(|opcode| opcode.row().calls) {
            Some(Calls::Nothing) => 0,
            Some(Calls::Combiner | Calls::Function) => 1,
            Some(Calls::Selector) => 2,
            Some(Calls::Anything) | None => return Ok(()),
        };
        let found = inst.called_computation_ids.len();
        if found == expected {
            return Ok(());
        }
        Err(Diagnostic::error(codes::ARITY, format!("{expected} called computations needed, found {found}")))
    }

    fn callee(&self, at: usize) -> Option<&Checked> {
        self.graph.callee(at, 0).and_then(|callee| self.computations.get(callee))
    }

    /// The type of the only callee's result, if it is of our set.
    pub(super) fn callee_result(&self, at: usize) -> Option<Type> {
        self.callee(at).and_then(|callee| callee.result.clone())
    }

    /// Checks that the callee takes these operands.
    pub(super) fn call(&self, at: usize, operands: &[&Type]) -> Result<()> {
        let Some(callee) = self.callee(at) else { return Ok(()) };
        if callee.parameters.len() != operands.len() {
            let message = format!("the callee takes {} operands, found {}", callee.parameters.len(), operands.len());
            return Err(Diagnostic::error(codes::ARITY, message));
        }
        let mut pairs = callee.parameters.iter().zip(operands);
        match pairs.find_map(|(parameter, found)| parameter.as_ref().filter(|ty| ty != found).map(|ty| (ty, found))) {
            Some((expected, found)) => {
                Err(Diagnostic::error(codes::TYPE_MISMATCH, format!("the callee takes `{expected}`, found `{found}`")))
            }
            None => Ok(()),
        }
    }

    /// The callee takes two scalars of this element type and returns one.
    pub(super) fn require_combiner(&self, at: usize, dtype: DType) -> Result<()> {
        self.require_of_two((at, 0), dtype, dtype)
    }

    /// The first callee takes two scalars of this element type and returns a truth value, the second returns such a scalar.
    pub(super) fn require_selector(&self, at: usize, dtype: DType) -> Result<()> {
        self.require_of_two((at, 0), dtype, DType::Pred)?;
        self.require_of_two((at, 1), dtype, dtype)
    }

    /// A callee takes two scalars of one element type and returns one of another.
    fn require_of_two(&self, (at, number): (usize, usize), dtype: DType, result: DType) -> Result<()> {
        let callee = self.graph.callee(at, number).and_then(|callee| self.computations.get(callee));
        let Some(callee) = callee else { return Ok(()) };
        let [scalar, result] = [dtype, result].map(|dtype| Type::Array(ArrayType::scalar(dtype)));
        let is = |ty: &Option<Type>, expected: &Type| ty.as_ref() == Some(expected);
        let takes = callee.parameters.len() == 2 && callee.parameters.iter().all(|ty| is(ty, &scalar));
        if takes && is(&callee.result, &result) {
            return Ok(());
        }
        let message = match scalar == result {
            true => format!("the callee must combine two `{scalar}` into one"),
            false => format!("the callee must take two `{scalar}` and give `{result}`"),
        };
        Err(Diagnostic::error(codes::TYPE_MISMATCH, message))
    }

    /// The callee of a collective combines by a single op, since backends recognise the kind by it.
    pub(super) fn require_combining_op(&self, at: usize, dtype: DType) -> Result<()> {
        self.require_combiner(at, dtype)?;
        if self.callee(at).is_some_and(|callee| callee.ops != 1) {
            return Err(Diagnostic::error(
                codes::ATTRIBUTE,
                "the callee of a collective must be a single op on its parameters",
            ));
        }
        Ok(())
    }
}
