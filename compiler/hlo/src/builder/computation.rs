//! The computation under construction: its instructions, their types, and what is written on each of them.

use super::{ComputationId, ModuleBuilder, Signature};
use crate::opcode::Opcode;
use crate::proto::{HloComputationProto, HloInstructionProto, OpMetadata, ProgramShapeProto, Shared};
use crate::types::{ArrayType, Type};
use halite_support::{Diagnostic, Result, codes, entity};
use halite_tensor::DType;
use std::collections::BTreeMap;
use std::fmt::Write;

entity!(
    /// An instruction of the computation under construction.
    Id,
    "%"
);

/// A computation under construction. Operands are [`Id`]s of earlier instructions; each method infers the result's type
/// and fails, without adding anything, when the operands do not fit.
#[derive(Debug)]
pub struct ComputationBuilder<'m> {
    pub(super) module: &'m mut ModuleBuilder,
    name: String,
    /// Ids and operand ids count from 0 here and are shifted when the computation is finished.
    instructions: Vec<HloInstructionProto>,
    types: Vec<Type>,
    parameters: Vec<(String, ArrayType)>,
    metadata: Option<Shared<OpMetadata>>,
    /// The constant scalars made so far: each is made once.
    pub(super) scalars: BTreeMap<(DType, Vec<u8>), Id>,
    /// The last collective and the element of its result that is the token, where they are in one order.
    pub(super) token: Option<(Id, usize)>,
}

impl<'m> ComputationBuilder<'m> {
    pub(super) fn new(module: &'m mut ModuleBuilder, name: String) -> Self {
        Self {
            module,
            name,
            instructions: Vec::new(),
            types: Vec::new(),
            parameters: Vec::new(),
            metadata: None,
            scalars: BTreeMap::new(),
            token: None,
        }
    }

    /// The module around, to make computations that this one calls.
    pub fn module(&mut self) -> &mut ModuleBuilder {
        self.module
    }

    /// The type of an instruction; an error when `id` belongs to another computation.
    pub fn type_of(&self, id: Id) -> Result<&Type> {
        let unknown = || Diagnostic::error(codes::UNDEFINED_VALUE, format!("{id:?} is not defined in `{}`", self.name));
        self.types.get(id.index()).ok_or_else(unknown)
    }

    /// The type of an instruction that gives an array.
    pub fn array(&self, id: Id) -> Result<&ArrayType> {
        self.type_of(id)?.array()
    }

    pub(super) fn arrays(&self, ids: &[Id]) -> Result<Vec<&ArrayType>> {
        ids.iter().map(|id| self.array(*id)).collect()
    }

    pub(super) fn types_of(&self, ids: &[Id]) -> Result<Vec<Type>> {
        ids.iter().map(|id| self.type_of(*id).cloned()).collect()
    }

    /// Number of instructions so far.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Whether there is no instruction yet.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// Sets where the instructions made from now on come from.
    pub fn set_metadata(&mut self, metadata: Option<OpMetadata>) {
        self.metadata = metadata.map(Shared::from);
    }

    /// Sets a frontend attribute of an instruction.
    pub fn set_frontend_attribute(&mut self, id: Id, key: impl Into<String>, value: impl Into<String>) -> Result<()> {
        self.type_of(id)?;
        let attributes = self.instructions[id.index()].frontend_attributes.get_or_insert_default();
        attributes.map.insert(key.into(), value.into());
        Ok(())
    }

    /// The next parameter, in order from 0. Its instruction is named after it.
    pub fn parameter(&mut self, name: impl Into<String>, ty: ArrayType) -> Result<Id> {
        let number = self.parameters.len() as i64;
        let name = name.into();
        let label = identifier(&name);
        let id = self.push(Opcode::Parameter.name(), &[], ty.clone(), |inst| {
            inst.parameter_number = number;
            inst.name = label.into();
        })?;
        self.parameters.push((name, ty));
        Ok(id)
    }

    /// Adds an instruction of a known type; `fill` writes its attributes.
    pub(super) fn push(
        &mut self,
        opcode: &'static str,
        operands: &[Id],
        ty: impl Into<Type>,
        fill: impl FnOnce(&mut HloInstructionProto),
    ) -> Result<Id> {
        let ty = ty.into();
        require_representable(&ty)?;
        let id = Id::new(self.instructions.len());
        self.instructions.push(HloInstructionProto {
            opcode: opcode.into(),
            shape: Some(ty.to_proto().into()),
            metadata: self.metadata.clone(),
            operand_ids: operands.iter().map(|operand| operand.index() as i64).collect(),
            ..HloInstructionProto::default()
        });
        fill(&mut self.instructions[id.index()]);
        self.types.push(ty);
        Ok(id)
    }

    /// The tuple of an entry's results. A parameter among them, or a result named twice, goes through `copy`, so that
    /// every result has a buffer of its own.
    pub fn root_tuple(&mut self, results: &[Id]) -> Result<Id> {
        let elements = self.own_buffers(results)?;
        self.tuple(&elements)
    }

    /// The root of a computation that is called: one result as it is, any other number as a tuple. Results get buffers of their own as
    /// in [`root_tuple`](Self::root_tuple).
    pub fn root_results(&mut self, results: &[Id]) -> Result<Id> {
        match self.own_buffers(results)?.as_slice() {
            [only] => Ok(*only),
            elements => self.tuple(elements),
        }
    }

    fn own_buffers(&mut self, results: &[Id]) -> Result<Vec<Id>> {
        let mut seen = vec![false; self.len()];
        let mut elements = Vec::with_capacity(results.len());
        for result in results {
            self.array(*result)?;
            let is_parameter = self.instructions[result.index()].opcode == Opcode::Parameter.name();
            let repeated = std::mem::replace(&mut seen[result.index()], true);
            elements.push(if is_parameter || repeated { self.copy(*result)? } else { *result });
        }
        Ok(elements)
    }

    /// Ends the computation with `root` as its result.
    pub fn finish(self, root: Id) -> Result<ComputationId> {
        let result = self.type_of(root)?.clone();
        let module = self.module;
        let first = module.next_instruction;
        let mut instructions = self.instructions;
        for (position, inst) in instructions.iter_mut().enumerate() {
            inst.id = first + position as i64;
            inst.operand_ids.iter_mut().for_each(|operand| *operand += first);
            let base = if inst.name.is_empty() { &*inst.opcode } else { &*inst.name };
            inst.name = numbered(base, inst.id).into();
        }
        module.next_instruction = first + instructions.len() as i64;
        let (parameter_names, parameters): (Vec<_>, Vec<_>) = self.parameters.into_iter().unzip();
        let id = ComputationId::new(module.computations.len());
        module.computations.push(HloComputationProto {
            name: self.name,
            program_shape: Some(ProgramShapeProto {
                parameters: parameters.iter().map(|ty| Type::Array(ty.clone()).to_proto().into()).collect(),
                result: Some(result.to_proto().into()),
                parameter_names,
            }),
            id: id.index() as i64,
            root_id: first + root.index() as i64,
            instructions,
            ..HloComputationProto::default()
        });
        module.signatures.push(Signature { parameters, result });
        Ok(id)
    }
}

/// `base.id`: unique over the module because ids are.
fn numbered(base: &str, id: i64) -> String {
    let mut name = String::with_capacity(base.len() + 8);
    name.push_str(base);
    write!(name, ".{id}").expect("writing to a string succeeds");
    name
}

/// A name as XLA takes it: letters, digits, `_`, `.` and `-`, not starting with a digit or mark.
pub fn identifier(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') { c } else { '_' };
    let text: String = name.chars().map(allowed).collect();
    if text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { text } else { format!("_{text}") }
}

fn require_representable(ty: &Type) -> Result<()> {
    match ty {
        Type::Array(array) if array.num_elements().is_none() => {
            Err(Diagnostic::error(codes::SHAPE, format!("`{array}` has more bytes than fit in 63 bits")))
        }
        Type::Array(_) => Ok(()),
        Type::Tuple(items) => items.iter().try_for_each(require_representable),
    }
}
