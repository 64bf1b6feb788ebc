//! Computations while their instructions are read.

use super::location::LocationId;
use super::types::{TypeId, Types};
use halite_hlo::Opcode;
use halite_hlo::proto::{HloInstructionProto, ShapeProto, Shared};
use halite_tensor::element_type::TUPLE;
use rustc_hash::FxHashMap;

/// A value: the instruction of the computation that gives it, and its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Val {
    pub(crate) inst: u32,
    pub(crate) ty: TypeId,
}

/// The place of an operation in the text, and the location that it says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Place {
    start: u32,
    end: u32,
    pub(crate) location: LocationId,
}

impl Place {
    /// A place from one byte up to another, without a location. As in a span, bytes are counted as far as 32 bits go.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        let [start, end] = [start, end].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
        Self { start, end, location: LocationId::default() }
    }

    /// The bytes of the text.
    pub(crate) fn bytes(self) -> (usize, usize) {
        (self.start as usize, self.end as usize)
    }
}

/// The instructions of a computation. Ids are positions among them, and callees are numbers of [`Program`](super::program::Program).
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) instructions: Vec<HloInstructionProto>,
    pub(crate) places: Vec<Place>,
    /// Names of parameters in the text.
    pub(crate) parameters: Vec<String>,
    pub(crate) root: u32,
}

impl Body {
    /// Adds an instruction.
    pub(crate) fn push(
        &mut self,
        opcode: &'static str,
        operands: &[u32],
        shape: Shared<ShapeProto>,
        place: Place,
    ) -> u32 {
        let id = self.instructions.len() as u32;
        self.instructions.push(HloInstructionProto {
            opcode: opcode.into(),
            shape: Some(shape),
            operand_ids: operands.iter().map(|&operand| i64::from(operand)).collect(),
            ..HloInstructionProto::default()
        });
        self.places.push(place);
        id
    }

    /// The same without room for more instructions.
    pub(crate) fn shrunk(mut self) -> Self {
        self.instructions.shrink_to_fit();
        self.places.shrink_to_fit();
        self
    }

    pub(crate) fn inst(&mut self, id: u32) -> &mut HloInstructionProto {
        &mut self.instructions[id as usize]
    }

    /// The next parameter.
    pub(crate) fn parameter(&mut self, name: String, shape: Shared<ShapeProto>, place: Place) -> u32 {
        let id = self.push(Opcode::Parameter.name(), &[], shape, place);
        self.inst(id).parameter_number = self.parameters.len() as i64;
        self.parameters.push(name);
        id
    }

    /// An element of a tuple.
    pub(crate) fn element(&mut self, tuple: u32, index: usize, shape: Shared<ShapeProto>, place: Place) -> u32 {
        let id = self.push(Opcode::GetTupleElement.name(), &[tuple], shape, place);
        self.inst(id).tuple_index = index as i64;
        id
    }

    /// A tuple of values.
    pub(crate) fn tuple(&mut self, values: &[Val], types: &Types<'_>, place: Place) -> u32 {
        let operands: Vec<u32> = values.iter().map(|value| value.inst).collect();
        self.push(Opcode::Tuple.name(), &operands, tuple_of(values.iter().map(|value| types.shape(value.ty))), place)
    }
}

/// The shape of a tuple.
pub(crate) fn tuple_of(shapes: impl Iterator<Item = Shared<ShapeProto>>) -> Shared<ShapeProto> {
    ShapeProto { element_type: TUPLE, tuple_shapes: shapes.collect(), ..ShapeProto::default() }.into()
}

/// The way in which a region takes values: one by one, or in a tuple of them, to which values of what is around it are added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Takes {
    /// One by one, as what combines two values.
    Each,
    /// In a tuple, as the body of a loop.
    Tuple,
}

/// A value of what is around a region, and the instruction that reads it inside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capture {
    pub(crate) outer: Val,
    pub(crate) inst: u32,
}

/// Values under one name: as many as its operation has results.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: u32,
    count: u32,
}

/// The answer to what value a name has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    Value(Val),
    /// The result of an operation with a fault that was told already.
    Faulty,
    /// The name has only so many values.
    Only(u32),
}

/// A computation that is being read: its instructions and the names of values.
#[derive(Debug)]
pub(crate) struct Frame<'t> {
    pub(crate) body: Body,
    pub(crate) takes: Takes,
    pub(crate) captures: Vec<Capture>,
    /// Constants and captures by the values of what is around.
    pub(crate) imported: FxHashMap<u32, Val>,
    names: FxHashMap<&'t str, Group>,
    values: Vec<Option<Val>>,
}

impl<'t> Frame<'t> {
    pub(crate) fn new(takes: Takes) -> Self {
        Self {
            body: Body::default(),
            takes,
            captures: Vec::new(),
            imported: FxHashMap::default(),
            names: FxHashMap::default(),
            values: Vec::new(),
        }
    }

    /// Gives values a name. Whether it had none.
    pub(crate) fn define(&mut self, name: &'t str, values: impl Iterator<Item = Option<Val>>) -> bool {
        let first = self.values.len() as u32;
        self.values.extend(values);
        let count = self.values.len() as u32 - first;
        self.names.insert(name, Group { first, count }).is_none()
    }

    pub(crate) fn find(&self, name: &str, index: u32) -> Option<Found> {
        let group = self.names.get(name)?;
        if index >= group.count {
            return Some(Found::Only(group.count));
        }
        Some(self.values[(group.first + index) as usize].map_or(Found::Faulty, Found::Value))
    }
}

/// A region that was read.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) body: Body,
    pub(crate) captures: Vec<Capture>,
    /// The types of the arguments of its block.
    pub(crate) arguments: Vec<TypeId>,
    /// The values that it returns; `None` where faults of its operations were told.
    pub(crate) returned: Option<Vec<Val>>,
    pub(crate) place: Place,
}
