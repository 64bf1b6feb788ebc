//! The types that instructions state.

use crate::proto::ShapeProto;
use crate::shape::require_permutation;
use crate::types::Type;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::element_type;
use rustc_hash::FxHashMap;
use std::ptr;

/// The type of an instruction: inside our set, or XLA's but not ours.
pub(super) type Stated = Option<Type>;

/// The types of the instructions so far. Instructions that share a shape share its type.
pub(super) struct StatedTypes {
    /// The numbers of their types, by their positions.
    numbers: Vec<u32>,
    /// The types; the first is that of instructions whose own is wrong.
    types: Vec<Stated>,
    by_shape: FxHashMap<*const ShapeProto, u32>,
}

impl StatedTypes {
    /// Room for the types of so many instructions.
    pub(super) fn with_capacity(count: usize) -> Self {
        Self { numbers: Vec::with_capacity(count), types: vec![None], by_shape: FxHashMap::default() }
    }

    /// Adds the type of the next instruction.
    ///
    /// # Errors
    /// When its shape is wrong; it has no type then.
    pub(super) fn add(&mut self, shape: Option<&ShapeProto>) -> Result<()> {
        let key = shape.map_or(ptr::null(), ptr::from_ref);
        if let Some(&known) = self.by_shape.get(&key) {
            self.numbers.push(known);
            return Ok(());
        }
        let stated = stated_type(shape);
        let number = if stated.is_ok() { self.types.len() as u32 } else { 0 };
        self.numbers.push(number);
        self.types.push(stated?);
        self.by_shape.insert(key, number);
        Ok(())
    }

    /// The type of an instruction; `None` where it is wrong or outside our set.
    pub(super) fn of(&self, at: usize) -> Option<&Type> {
        self.types[self.numbers[at] as usize].as_ref()
    }
}

/// The type a shape states; `None` when some element type is XLA's but not ours.
pub(super) fn stated_type(shape: Option<&ShapeProto>) -> Result<Stated> {
    let shape = shape.ok_or_else(|| Diagnostic::error(codes::SHAPE, "it has no shape"))?;
    require_layouts(shape)?;
    if has_foreign_element(shape) { Ok(None) } else { Type::from_proto(shape).map(Some) }
}

fn has_foreign_element(shape: &ShapeProto) -> bool {
    let is_foreign = |array: &ShapeProto| array.dtype().is_none() && element_type::name(array.element_type).is_some();
    if shape.is_tuple() { shape.tuple_shapes.iter().any(|part| has_foreign_element(part)) } else { is_foreign(shape) }
}

fn require_layouts(shape: &ShapeProto) -> Result<()> {
    shape.tuple_shapes.iter().try_for_each(|part| require_layouts(part))?;
    require_permutation(shape)
}
