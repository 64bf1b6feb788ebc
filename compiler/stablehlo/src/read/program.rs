//! The computations of a text, by number and by name.

use super::body::Body;
use halite_hlo::proto::HloInstructionProto;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A function besides its instructions.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) is_private: bool,
    /// The place of its name, or of the first call of it.
    pub(crate) place: (usize, usize),
}

/// The computations of a text: functions, and regions of operations.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Those that are read; `None` for functions that are only called so far.
    pub(crate) bodies: Vec<Option<Body>>,
    /// Functions by number.
    pub(crate) functions: BTreeMap<usize, Function>,
    by_name: FxHashMap<String, usize>,
    /// Combining computations of a single instruction: by its opcode, the order of its operands and the element type.
    combiners: FxHashMap<(String, Vec<i64>, i32), usize>,
}

impl Program {
    /// Adds the computation of a region. Those that combine two values by one instruction are there once.
    pub(crate) fn add(&mut self, body: Body) -> usize {
        let key = combiner(&body);
        if let Some(&known) = key.as_ref().and_then(|key| self.combiners.get(key)) {
            return known;
        }
        self.bodies.push(Some(body.shrunk()));
        let number = self.bodies.len() - 1;
        if let Some(key) = key {
            self.combiners.insert(key, number);
        }
        number
    }

    /// The number of a function, read or not.
    pub(crate) fn of_name(&mut self, name: &str, place: (usize, usize)) -> usize {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let number = self.bodies.len();
        self.bodies.push(None);
        self.by_name.insert(name.to_owned(), number);
        self.functions.insert(number, Function { name: name.to_owned(), place, ..Function::default() });
        number
    }

    /// The number of a function that was named.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

/// The key of a computation of two parameters and at most one instruction on them, of scalars of one type.
fn combiner(body: &Body) -> Option<(String, Vec<i64>, i32)> {
    let element = |inst: &HloInstructionProto| {
        inst.shape
            .as_ref()
            .filter(|shape| shape.dimensions.is_empty() && !shape.is_tuple())
            .map(|shape| shape.element_type)
    };
    let only = body.instructions.last()?;
    let elements = body.instructions.iter().map(element).collect::<Option<Vec<i32>>>()?;
    let is_plain = body.parameters.len() == 2
        && (2..=3).contains(&elements.len())
        && elements.iter().all(|&own| own == elements[0])
        && only.comparison_direction.is_empty()
        && only.frontend_attributes.is_none()
        && only.literal.is_none();
    match elements.len() {
        _ if !is_plain => None,
        2 => Some((String::new(), vec![i64::from(body.root)], elements[0])),
        _ => (body.root == 2).then(|| (only.opcode.to_string(), only.operand_ids.to_vec(), elements[0])),
    }
}
