//! Tuples, calls, barriers, random bits and custom calls.

use super::{ComputationBuilder, ComputationId, Id};
use crate::infer;
use crate::opcode::{Opcode, RngAlgorithm};
use crate::types::{ArrayType, Type};
use halite_support::{Diagnostic, Result, codes};
use smallvec::smallvec;

/// The attributes of a custom call.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CustomCall {
    /// The name by which the compiler of the target knows the kernel.
    pub target: String,
    /// Its configuration, in the kernel's own format.
    pub backend_config: String,
    /// Version of the calling convention, as numbered by the schema; 0 leaves it open.
    pub api_version: i32,
    /// Whether it must run even when its result is not used.
    pub has_side_effect: bool,
}

impl ComputationBuilder<'_> {
    /// Several values as one.
    pub fn tuple(&mut self, elements: &[Id]) -> Result<Id> {
        let ty = Type::Tuple(self.types_of(elements)?);
        self.push(Opcode::Tuple.name(), elements, ty, |_| {})
    }

    /// Element `index` of a tuple.
    pub fn get_tuple_element(&mut self, tuple: Id, index: usize) -> Result<Id> {
        let ty = infer::get_tuple_element(self.type_of(tuple)?, index)?.clone();
        self.push(Opcode::GetTupleElement.name(), &[tuple], ty, |inst| inst.tuple_index = index as i64)
    }

    /// The result of a finished computation on these operands.
    pub fn call(&mut self, callee: ComputationId, operands: &[Id]) -> Result<Id> {
        let signature = self.module.signature(callee)?;
        let found = self.arrays(operands)?;
        if !signature.parameters.iter().eq(found.iter().copied()) {
            let message = format!("the callee takes {:?}, found {found:?}", signature.parameters);
            return Err(Diagnostic::error(codes::TYPE_MISMATCH, message));
        }
        let ty = signature.result.clone();
        self.push(Opcode::Call.name(), operands, ty, |inst| {
            inst.called_computation_ids = smallvec![callee.index() as i64]
        })
    }

    /// The same values; none of them is available before all are.
    pub fn optimization_barrier(&mut self, operands: &[Id]) -> Result<Vec<Id>> {
        if let [operand] = operands {
            let ty = self.type_of(*operand)?.clone();
            return Ok(vec![self.push(Opcode::OptimizationBarrier.name(), &[*operand], ty, |_| {})?]);
        }
        let tuple = self.tuple(operands)?;
        let ty = self.type_of(tuple)?.clone();
        let barrier = self.push(Opcode::OptimizationBarrier.name(), &[tuple], ty, |_| {})?;
        (0..operands.len()).map(|index| self.get_tuple_element(barrier, index)).collect()
    }

    /// The tuple of a generator's new state and random bits of type `bits`.
    pub fn rng_bit_generator(&mut self, algorithm: RngAlgorithm, state: Id, bits: &ArrayType) -> Result<Id> {
        let ty = infer::rng_bit_generator(algorithm, self.array(state)?, bits)?;
        self.push(Opcode::RngBitGenerator.name(), &[state], ty, |inst| inst.rng_algorithm = algorithm as i32)
    }

    /// The result, of a type only the caller knows, of a kernel that the target provides.
    pub fn custom_call(&mut self, callee: &CustomCall, operands: &[Id], result: Type) -> Result<Id> {
        self.arrays(operands)?;
        if callee.target.is_empty() {
            return Err(Diagnostic::error(codes::ATTRIBUTE, "a custom call needs a target"));
        }
        self.push(Opcode::CustomCall.name(), operands, result, |inst| {
            inst.custom_call_target = callee.target.clone();
            inst.backend_config = callee.backend_config.clone().into_bytes();
            inst.custom_call_api_version = callee.api_version;
            inst.custom_call_has_side_effect = callee.has_side_effect;
        })
    }
}
