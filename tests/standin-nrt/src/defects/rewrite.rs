//! Writing instructions otherwise.

use halite_hlo::proto::{HloInstructionProto, HloModuleProto, LiteralProto, ShapeProto, Shared};
use halite_tensor::DType;
use halite_tensor::element_type::number;

/// Instructions that come before the one that is written otherwise.
pub(super) struct Before<'a> {
    next: i64,
    made: Vec<HloInstructionProto>,
    known: &'a [HloInstructionProto],
}

impl Before<'_> {
    /// The instruction of this computation with this number.
    pub(super) fn known(&self, id: i64) -> Option<&HloInstructionProto> {
        self.known.iter().find(|inst| inst.id == id)
    }

    /// A new instruction.
    pub(super) fn emit(&mut self, opcode: &str, shape: &ShapeProto, operands: &[i64]) -> i64 {
        self.add(HloInstructionProto {
            opcode: opcode.to_owned().into(),
            shape: Some(shape.clone().into()),
            operand_ids: operands.into(),
            ..HloInstructionProto::default()
        })
    }

    /// A copy of an instruction.
    pub(super) fn add(&mut self, mut inst: HloInstructionProto) -> i64 {
        inst.id = self.next;
        inst.name = format!("defect.{}", self.next).into();
        self.next += 1;
        self.made.push(inst);
        self.next - 1
    }

    /// Words, one for each element of a shape.
    pub(super) fn words(&mut self, shape: &ShapeProto, mut word: impl FnMut(usize) -> u32) -> i64 {
        let shape: Shared<ShapeProto> = of(shape, DType::U32).into();
        let count: i64 = shape.dimensions.iter().product();
        let words = (0..usize::try_from(count).unwrap_or(0)).map(&mut word).collect();
        let literal = LiteralProto { shape: Some(shape.clone()), u32s: words, ..LiteralProto::default() };
        self.add(HloInstructionProto {
            opcode: "constant".into(),
            shape: Some(shape),
            literal: Some(Box::new(literal)),
            ..HloInstructionProto::default()
        })
    }
}

/// The same shape with other elements.
pub(super) fn of(shape: &ShapeProto, dtype: DType) -> ShapeProto {
    ShapeProto { element_type: number(dtype), ..shape.clone() }
}

/// Whether an instruction has this opcode and elements of this type.
pub(super) fn is(inst: &HloInstructionProto, opcode: &str, dtype: DType) -> bool {
    inst.opcode == opcode && has(inst, dtype)
}

/// Whether an instruction has elements of this type.
pub(super) fn has(inst: &HloInstructionProto, dtype: DType) -> bool {
    inst.shape.as_ref().is_some_and(|shape| shape.element_type == number(dtype))
}

/// Goes through all instructions; `change` may put others before one, and change it. Numbers of instructions stay.
pub(super) fn rewrite(module: &mut HloModuleProto, mut change: impl FnMut(&mut HloInstructionProto, &mut Before<'_>)) {
    let ids = module.computations.iter().flat_map(|computation| &computation.instructions).map(|inst| inst.id);
    let mut next = ids.max().unwrap_or(0) + 1;
    for computation in &mut module.computations {
        let known = std::mem::take(&mut computation.instructions);
        for inst in &known {
            let mut inst = inst.clone();
            let mut before = Before { next, made: Vec::new(), known: &known };
            change(&mut inst, &mut before);
            next = before.next;
            computation.instructions.append(&mut before.made);
            computation.instructions.push(inst);
        }
    }
}
