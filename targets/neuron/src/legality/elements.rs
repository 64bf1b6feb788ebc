//! Element types and static sizes.

use super::describe::describe;
use super::{Broken, Checker, Profile};
use crate::Tables;
use crate::tables::{ElementType, ElementUse};
use halite_hlo::Opcode;
use halite_tensor::element_type;

/// The row of the table for each element type, by its number in HLO.
pub(super) struct Elements([Option<&'static ElementType>; NUMBERS]);

/// Numbers of element types are below this.
const NUMBERS: usize = 64;

impl Elements {
    pub(super) fn new(profile: &Profile) -> Self {
        let row = |number: usize| {
            let name = element_type::name(number as i32)?;
            Tables::builtin().element(profile.target, &profile.version, name)
        };
        Self(std::array::from_fn(row))
    }

    fn get(&self, number: i32) -> Option<&'static ElementType> {
        usize::try_from(number).ok().and_then(|number| *self.0.get(number)?)
    }

    fn has(&self, number: i32, wanted: ElementUse) -> bool {
        self.get(number).is_some_and(|row| row.taken == wanted)
    }
}

impl Checker<'_, '_> {
    /// An element type of the result of which the table says this. Tuples and their parts are left to what makes them.
    pub(super) fn element_use(&self, at: usize, wanted: ElementUse) -> Option<Broken> {
        let fits = |number: i32| self.elements.has(number, wanted);
        let element = self.graph.element(at);
        if !fits(element) && (element != element_type::TUPLE || self.graph.is(at, Opcode::Tuple)) {
            return None;
        }
        let shape = self.graph.inst(at).shape.as_ref()?;
        let found = shape.arrays().into_iter().find(|shape| fits(shape.element_type))?;
        let row = self.elements.get(found.element_type)?;
        let note = if row.note.is_empty() { String::new() } else { format!(": {}", row.note) };
        Some(Broken {
            found: format!("elements of type `{}`{note}", row.dtype),
            code: row.code.as_deref(),
            provenance: Some(&row.provenance),
        })
    }

    /// The first operand has one of these element types.
    pub(super) fn element_type(&self, at: usize, refused: &[String]) -> Option<String> {
        let shape = self.graph.operand_shape(at, 0)?;
        let name = shape.element_name();
        let opcode = &self.graph.inst(at).opcode;
        refused.iter().any(|refused| refused == name).then(|| format!("`{opcode}` of `{}`", describe(Some(shape))))
    }

    /// A size is not static.
    pub(super) fn dynamic_dimension(&self, at: usize) -> Option<String> {
        if !self.graph.is_dynamic(at) {
            return None;
        }
        let shape = self.graph.inst(at).shape.as_ref()?;
        let dynamic = shape.arrays().into_iter().find(|shape| shape.is_dynamic_dimension.contains(&true))?;
        let dim = dynamic.is_dynamic_dimension.iter().position(|dynamic| *dynamic)?;
        Some(format!("dimension {dim} of `{}` has no static size", describe(Some(dynamic))))
    }
}
