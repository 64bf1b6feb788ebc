//! Putting the decompositions of kernels in the place of custom calls.

use crate::builder::identifier;
use crate::opcode::Opcode;
use crate::proto::{HloComputationProto, HloInstructionProto, HloModuleProto, ShapeProto};
use halite_support::{Diagnostic, Names, Result, codes};
use halite_tensor::element_type::TUPLE;
use rustc_hash::FxHashMap;
use smallvec::smallvec;
use std::collections::BTreeMap;

/// The frontend attribute of a custom call that names the module which means the same: its decomposition.
pub const DECOMPOSITION: &str = "halite.twin";

/// The module with a call of its decomposition in the place of each custom call, so that any XLA runs it. `decomposition` gives the module
/// of a name; its entry takes the operands of the kernel and returns the tuple of its results.
///
/// # Errors
/// When a custom call names no decomposition or one that `decomposition` does not have, and those of `decomposition`.
pub fn link_decompositions(
    module: &HloModuleProto,
    mut decomposition: impl FnMut(&str) -> Result<HloModuleProto>,
) -> Result<HloModuleProto> {
    let mut linker = Linker::default();
    for inst in module.computations.iter().flat_map(|computation| &computation.instructions) {
        if is_custom_call(inst) {
            let name = decomposition_name(inst)?;
            if !linker.decompositions.contains_key(name) {
                let linked = decomposition(name)?;
                let entry = linker.append(&linked, Some(name))?;
                linker.decompositions.insert(name.to_owned(), entry);
            }
        }
    }
    let entry = linker.append(module, None)?;
    Ok(HloModuleProto {
        entry_computation_name: linker.computations[entry as usize].name.clone(),
        entry_computation_id: entry,
        computations: linker.computations,
        ..module.clone()
    })
}

/// Whether an instruction calls a kernel of the target.
pub fn is_custom_call(inst: &HloInstructionProto) -> bool {
    inst.opcode == Opcode::CustomCall.name()
}

fn decomposition_name(inst: &HloInstructionProto) -> Result<&str> {
    let name = inst.frontend_attributes.as_ref().and_then(|attributes| attributes.map.get(DECOMPOSITION));
    name.map(String::as_str).ok_or_else(|| {
        let message =
            format!("`{}` calls the kernel `{}` and names no decomposition", inst.name, inst.custom_call_target);
        Diagnostic::error(codes::ATTRIBUTE, message)
    })
}

/// Computations of several modules on their way into one, numbered anew.
#[derive(Default)]
struct Linker {
    computations: Vec<HloComputationProto>,
    names: Names,
    next_instruction: i64,
    /// The entry computations of the decompositions so far.
    decompositions: BTreeMap<String, i64>,
}

impl Linker {
    /// Adds the computations of a module, those of a decomposition under its name; the number of its entry.
    fn append(&mut self, module: &HloModuleProto, decomposition: Option<&str>) -> Result<i64> {
        let mut numbers = FxHashMap::default();
        for computation in &module.computations {
            let is_entry = computation.id == module.entry_computation_id;
            let name = match decomposition {
                None => computation.name.clone(),
                Some(decomposition) if is_entry => identifier(decomposition),
                Some(decomposition) => identifier(&format!("{decomposition}.{}", computation.name)),
            };
            let name = self.names.unused(&name).to_string();
            let number = self.computations.len() as i64;
            let linked = self.computation(computation, number, name, &numbers)?;
            self.computations.push(linked);
            numbers.insert(computation.id, number);
        }
        let missing = || Diagnostic::error(codes::UNDEFINED_VALUE, format!("`{}` has no entry", module.name));
        numbers.get(&module.entry_computation_id).copied().ok_or_else(missing)
    }

    fn computation(
        &mut self,
        source: &HloComputationProto,
        number: i64,
        name: String,
        computations: &FxHashMap<i64, i64>,
    ) -> Result<HloComputationProto> {
        let mut ids = FxHashMap::default();
        let mut instructions = Vec::with_capacity(source.instructions.len());
        for inst in &source.instructions {
            let mut linked = inst.clone();
            for id in &mut linked.operand_ids {
                *id = renumbered(&ids, *id)?;
            }
            if !inst.control_predecessor_ids.is_empty() {
                for id in &mut linked.control_predecessor_ids {
                    *id = renumbered(&ids, *id)?;
                }
            }
            for id in &mut linked.called_computation_ids {
                *id = renumbered(computations, *id)?;
            }
            if is_custom_call(inst) {
                instructions.extend(self.call(linked)?);
            } else {
                instructions.push(self.number(linked));
            }
            ids.insert(inst.id, self.next_instruction - 1);
        }
        Ok(HloComputationProto {
            id: number,
            name,
            root_id: renumbered(&ids, source.root_id)?,
            instructions,
            ..source.clone()
        })
    }

    /// The instructions that replace a custom call: a call of the decomposition, and its only result where it has one.
    fn call(&mut self, custom: HloInstructionProto) -> Result<Vec<HloInstructionProto>> {
        let name = decomposition_name(&custom)?;
        let missing =
            || Diagnostic::error(codes::UNDEFINED_VALUE, format!("the decomposition `{name}` calls a kernel itself"));
        let decomposition = *self.decompositions.get(name).ok_or_else(missing)?;
        let shape = custom.shape.clone().unwrap_or_default();
        let is_tuple = shape.element_type == TUPLE;
        let tuple = ShapeProto { element_type: TUPLE, tuple_shapes: vec![shape.clone()], ..ShapeProto::default() };
        let call = self.number(HloInstructionProto {
            name: "call".into(),
            opcode: Opcode::Call.name().into(),
            shape: Some(if is_tuple { shape } else { tuple.into() }),
            metadata: custom.metadata.clone(),
            operand_ids: custom.operand_ids.clone(),
            called_computation_ids: smallvec![decomposition],
            ..HloInstructionProto::default()
        });
        if is_tuple {
            return Ok(vec![call]);
        }
        let result = HloInstructionProto {
            name: "get-tuple-element".into(),
            opcode: Opcode::GetTupleElement.name().into(),
            shape: custom.shape,
            metadata: custom.metadata,
            operand_ids: smallvec![call.id],
            ..HloInstructionProto::default()
        };
        Ok(vec![call, self.number(result)])
    }

    /// The instruction with the next number, in its name too.
    fn number(&mut self, inst: HloInstructionProto) -> HloInstructionProto {
        let id = self.next_instruction;
        self.next_instruction += 1;
        let base = match inst.name.rsplit_once('.') {
            Some((base, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => base,
            _ => &inst.name,
        };
        HloInstructionProto { id, name: format!("{base}.{id}").into(), ..inst }
    }
}

fn renumbered(numbers: &FxHashMap<i64, i64>, id: i64) -> Result<i64> {
    let undefined = || Diagnostic::error(codes::UNDEFINED_VALUE, format!("{id} is read before it is defined"));
    numbers.get(&id).copied().ok_or_else(undefined)
}
