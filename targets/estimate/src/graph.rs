//! The values of a module with its calls entered, classified by how a compiler makes them.

use halite_hlo::graph::{Budget, Graph as Hlo, Inlined};
use halite_hlo::proto::{DotDimensionNumbers, HloInstructionProto, ShapeProto};
use halite_hlo::{Opcode, Work};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::element_type;
use std::collections::BTreeSet;

pub(super) use halite_hlo::graph::ValueId;

/// The class of a value, by how it is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// A parameter.
    Parameter,
    /// Element by element, or by moving elements: it can be computed where it is read.
    Fused {
        /// Whether that takes a division or a function, which are not computed again for each reader.
        costly: bool,
    },
    /// A reduction of so many elements to one.
    Reduce {
        /// Elements of the operand for one of the result.
        extent: u64,
    },
    /// A product of matrices.
    Dot([Access; 2]),
    /// Rows read at positions.
    Gather,
    /// The first operand, changed in places.
    Update,
    /// Operands one after the other.
    Concatenate,
    /// A collective.
    Collective,
    /// A result of a call that stays one, of the computation with this number.
    Call {
        callee: u32,
        /// Whether it is the last of its results.
        is_last: bool,
    },
    /// A kernel of the target, or an opcode that is not known here.
    Kernel,
}

/// The layout in which a product reads an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Access {
    /// As it lies in memory.
    AsIs,
    /// With dimensions in another order.
    Transposed,
    /// As one of two matrices of which the first is contracted along rows.
    AlongRows,
}

/// One value.
pub(super) struct Value<'m> {
    /// The instruction, in the module.
    pub(super) at: usize,
    pub(super) inst: &'m HloInstructionProto,
    /// Its class.
    pub(super) class: Class,
    /// Its number of elements.
    pub(super) elements: u64,
    /// Bytes of one element.
    pub(super) width: u64,
    /// Whether it is a float of less than 32 bits.
    pub(super) is_narrow: bool,
}

impl Value<'_> {
    pub(super) fn bytes(&self) -> u64 {
        self.elements.saturating_mul(self.width)
    }
}

/// Bytes of all values: sums of them, of their copies in other types, and small multiples of these fit 64 bits.
const MAX_BYTES: u64 = 1 << 56;

/// The values of a module, operands before users.
pub(super) struct Graph<'m> {
    pub(super) hlo: &'m Hlo,
    /// All values.
    pub(super) values: Vec<Value<'m>>,
    /// Opcodes that are not known here.
    pub(super) unknown: BTreeSet<&'m str>,
    inlined: Inlined<'m>,
    /// The classes of the different opcodes, by their numbers.
    by_opcode: Vec<Option<Class>>,
}

impl<'m> Graph<'m> {
    /// The values of a computation of a sound module ([`halite_hlo::check`]), by its number.
    ///
    /// # Errors
    /// When it calls itself, has a type of unknown size, or is too large with its calls entered.
    pub(super) fn new(hlo: &'m Hlo, computation: usize, keeps_calls: bool, budget: &mut Budget) -> Result<Self> {
        let inlined = Inlined::of(hlo, computation, |at| keeps_calls && is_kept(hlo, at), budget)?;
        let values = Vec::with_capacity(inlined.len());
        let by_opcode = hlo.opcodes().iter().map(|opcode| of_opcode(opcode)).collect();
        let mut graph = Self { hlo, values, unknown: BTreeSet::new(), inlined, by_opcode };
        for id in 0..graph.inlined.len() as ValueId {
            let value = graph.classified(id)?;
            graph.values.push(value);
        }
        let results = graph.results().iter().map(|result| graph.value(*result));
        let held = results.chain(&graph.values).map(|value| value.elements.saturating_mul(value.width.max(1)));
        if held.fold(0, u64::saturating_add) > MAX_BYTES {
            return Err(Budget::exceeded("values of more bytes than any machine has"));
        }
        Ok(graph)
    }

    /// The computation's parameters in order.
    pub(super) fn parameters(&self) -> &[ValueId] {
        &self.inlined.parameters
    }

    /// Its results in order.
    pub(super) fn results(&self) -> &[ValueId] {
        &self.inlined.results
    }

    /// The operands of a value.
    pub(super) fn operands(&self, value: ValueId) -> &[ValueId] {
        self.inlined.operands(value)
    }

    /// The scope of a value as its instruction has it, then those of the calls in whose callees it is made, the innermost first.
    pub(super) fn scopes(&self, value: ValueId) -> impl Iterator<Item = &'m str> {
        let hlo = self.hlo;
        let scope = move |at: usize| hlo.inst(at).metadata.as_ref().map_or("", |metadata| metadata.op_name.as_str());
        std::iter::once(self.value(value).at).chain(self.inlined.calls(value)).map(scope)
    }

    /// The value of a handle.
    pub(super) fn value(&self, value: ValueId) -> &Value<'m> {
        &self.values[value as usize]
    }

    /// Classifies a value whose operands were classified before.
    fn classified(&mut self, id: ValueId) -> Result<Value<'m>> {
        let inlined = self.inlined.value(id);
        let (at, shape) = (inlined.at, inlined.shape);
        let width = element_type::bytes(shape.element_type).ok_or_else(|| {
            Diagnostic::error(codes::FILE, "an HLO instruction has an element type that the schema does not define")
                .help("give a module that `halite hlo check` takes")
        })?;
        let is_narrow = shape.dtype().is_some_and(|dtype| dtype.is_narrow());
        let class = self.class(id, at);
        Ok(Value { at, inst: self.hlo.inst(at), class, elements: shape.num_elements(), width, is_narrow })
    }

    fn class(&mut self, id: ValueId, at: usize) -> Class {
        if let Some(class) = self.by_opcode[self.hlo.opcode_number(at)] {
            return class;
        }
        match self.hlo.opcode(at) {
            "call" => {
                let callee = self.hlo.callee(at, 0).unwrap_or_default() as u32;
                let next = id as usize + 1;
                let is_last = next == self.inlined.len() || self.inlined.value(next as ValueId).at != at;
                Class::Call { callee, is_last }
            }
            "dot" | "convolution" => Class::Dot(accesses(self.hlo, at)),
            "reduce" => {
                let source = self.operands(id).first().map_or(1, |source| self.value(*source).elements);
                let result = self.hlo.shape(at).map(|shape| shape.tuple_shapes.first().map_or(shape, |first| first));
                Class::Reduce { extent: source / result.map_or(1, ShapeProto::num_elements).max(1) }
            }
            opcode => {
                self.unknown.insert(opcode);
                Class::Kernel
            }
        }
    }
}

/// Whether a call says that it stays one.
pub(super) fn is_kept(hlo: &Hlo, at: usize) -> bool {
    let attributes = hlo.inst(at).frontend_attributes.as_ref();
    hlo.opcode(at) == "call"
        && attributes.is_some_and(|all| all.map.get("inlineable").is_some_and(|says| says == "false"))
}

/// The class that all values of an opcode have; `None` where it depends on more, or the opcode is not known here.
fn of_opcode(opcode: &str) -> Option<Class> {
    let fused = |work: Work| Class::Fused { costly: work == Work::Costly };
    Some(match Opcode::parse(opcode) {
        Some(Opcode::Unary(op)) => fused(op.work()),
        Some(Opcode::Binary(op)) => fused(op.work()),
        Some(Opcode::Parameter) => Class::Parameter,
        Some(Opcode::Gather) => Class::Gather,
        Some(Opcode::Scatter | Opcode::DynamicUpdateSlice) => Class::Update,
        Some(Opcode::Concatenate) => Class::Concatenate,
        Some(Opcode::CustomCall | Opcode::RngBitGenerator) => Class::Kernel,
        Some(
            Opcode::AllGather
            | Opcode::AllReduce
            | Opcode::AllToAll
            | Opcode::CollectivePermute
            | Opcode::ReduceScatter,
        ) => Class::Collective,
        _ if MOVES.contains(&opcode) => fused(Work::Simple),
        _ => return None,
    })
}

/// Movements of elements, which take single cycles.
const MOVES: [&str; 17] = [
    "bitcast-convert",
    "broadcast",
    "clamp",
    "compare",
    "constant",
    "convert",
    "copy",
    "dynamic-slice",
    "iota",
    "pad",
    "partition-id",
    "reduce-precision",
    "replica-id",
    "reverse",
    "select",
    "slice",
    "transpose",
];

/// Returns the layouts in which a product reads its operands. Products run on matrices `[batch, rows, inner] x [batch, inner,
/// columns]`; a convolution reads its operands as they are.
fn accesses(hlo: &Hlo, at: usize) -> [Access; 2] {
    let ranks = [0, 1].map(|side| hlo.operand_shape(at, side).map_or(0, |shape| shape.dimensions.len() as i64));
    let Some(dims) = hlo.inst(at).dot_dimension_numbers.as_deref() else { return [Access::AsIs; 2] };
    let DotDimensionNumbers { lhs_contracting_dimensions: lhs, rhs_contracting_dimensions: rhs, .. } = dims;
    let batch = dims.lhs_batch_dimensions.len() as i64;
    let ascends = |dims: &[i64], first: i64| dims.iter().enumerate().all(|(at, dim)| *dim == first + at as i64);
    if !ascends(&dims.lhs_batch_dimensions, 0) || !ascends(&dims.rhs_batch_dimensions, 0) {
        return [Access::Transposed; 2];
    }
    if ranks == [batch + 2; 2] && lhs.len() == 1 && rhs.len() == 1 {
        return if lhs[0] == batch { [Access::AlongRows; 2] } else { [Access::AsIs; 2] };
    }
    let access = |is_plain: bool| if is_plain { Access::AsIs } else { Access::Transposed };
    // A right side that is one matrix is read either way.
    let is_matrix = batch == 0 && ranks[1] == 2;
    [access(ascends(lhs, ranks[0] - lhs.len() as i64)), access(ascends(rhs, batch) || is_matrix)]
}
