//! A module as one list of values: calls are entered, tuples taken apart, and what only renames a value is gone.

use super::budget::Budget;
use halite_hlo::proto::{DotDimensionNumbers, HloComputationProto, HloInstructionProto, HloModuleProto, ShapeProto};
use halite_hlo::types::{TUPLE, dtype, element_name};
use halite_support::{Diagnostic, Result, codes};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::ops::Range;

/// A value of a [`Graph`].
pub(super) type ValueId = u32;

/// How a value comes to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// An entry parameter.
    Parameter,
    /// Element by element, or by moving elements: it can be computed where it is read.
    Fused {
        /// Whether that takes a division or a function.
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
    /// What cores compute together.
    Collective,
    /// A kernel of the target, or an opcode that is not known here.
    Kernel,
}

/// How a product reads an operand.
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
#[derive(Debug)]
pub(super) struct Value<'m> {
    /// The instruction.
    pub(super) inst: &'m HloInstructionProto,
    /// How it comes to be.
    pub(super) class: Class,
    /// Its number of elements.
    pub(super) elements: u64,
    /// Bytes of one element.
    pub(super) width: u64,
    /// Whether it is a float of less than 32 bits.
    pub(super) is_narrow: bool,
    operands: Range<u32>,
}

impl Value<'_> {
    /// Its bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.elements.saturating_mul(self.width)
    }
}

/// The values of a module, operands before users.
#[derive(Debug, Default)]
pub(super) struct Graph<'m> {
    /// All values.
    pub(super) values: Vec<Value<'m>>,
    /// The entry's parameters in order.
    pub(super) parameters: Vec<ValueId>,
    /// The entry's results in order.
    pub(super) results: Vec<ValueId>,
    /// Opcodes that are not known here.
    pub(super) unknown: BTreeSet<&'m str>,
    /// What making it took of the estimate's budget.
    pub(super) budget: Budget,
    operands: Vec<ValueId>,
}

impl<'m> Graph<'m> {
    /// The values of a sound module ([`halite_hlo::check`]).
    ///
    /// # Errors
    /// When the module has no entry, calls itself, has a type of unknown size, or is too large with its calls entered.
    pub(super) fn new(module: &'m HloModuleProto) -> Result<Self> {
        let computations = module.computations.iter().map(|computation| (computation.id, computation)).collect();
        let mut builder = Builder { computations, graph: Self::default(), depth: 0, pool: Vec::new() };
        let results = builder.enter(module.entry_computation_id, None)?;
        builder.graph.results = builder.pool_of(results).to_vec();
        let mut graph = builder.graph;
        for &result in &graph.results {
            graph.budget.take_bytes(graph.values[result as usize].bytes())?;
        }
        Ok(graph)
    }

    /// What a value is computed from.
    pub(super) fn operands(&self, value: ValueId) -> &[ValueId] {
        let Range { start, end } = self.values[value as usize].operands;
        &self.operands[start as usize..end as usize]
    }

    /// The value of a handle.
    pub(super) fn value(&self, value: ValueId) -> &Value<'m> {
        &self.values[value as usize]
    }
}

/// Calls nest no deeper than this.
const MAX_DEPTH: usize = 64;

struct Builder<'m> {
    computations: FxHashMap<i64, &'m HloComputationProto>,
    graph: Graph<'m>,
    depth: usize,
    /// The values that meanings are ranges of.
    pool: Vec<ValueId>,
}

/// What an instruction stands for.
#[derive(Clone, Copy)]
struct Meaning {
    /// Where its value, or those of a tuple, begin in the pool.
    start: u32,
    /// How many they are.
    len: u32,
    /// Its number of dimensions.
    rank: i64,
}

impl<'m> Builder<'m> {
    /// Adds the instructions of a computation with the given arguments; the entry's are parameters. Gives its results.
    fn enter(&mut self, id: i64, arguments: Option<&[Meaning]>) -> Result<Meaning> {
        let Some(&computation) = self.computations.get(&id) else {
            return Err(malformed("the HLO module calls a computation that it does not have"));
        };
        if self.depth == MAX_DEPTH {
            return Err(malformed("computations of the HLO module call each other too deep or without end"));
        }
        self.depth += 1;
        let mut meanings: FxHashMap<i64, Meaning> = FxHashMap::default();
        meanings.reserve(computation.instructions.len());
        for inst in &computation.instructions {
            let meaning = self.meaning(inst, arguments, &meanings)?;
            let rank = inst.shape.as_ref().map_or(0, |shape| shape.dimensions.len() as i64);
            meanings.insert(inst.id, Meaning { rank, ..meaning });
        }
        self.depth -= 1;
        let root = meanings.get(&computation.root_id).copied();
        root.ok_or_else(|| malformed("a computation of the HLO module has no root"))
    }

    /// What an instruction stands for: values that are there, or new ones. The rank is set by the caller.
    fn meaning(
        &mut self,
        inst: &'m HloInstructionProto,
        arguments: Option<&[Meaning]>,
        meanings: &FxHashMap<i64, Meaning>,
    ) -> Result<Meaning> {
        self.graph.budget.take_entries(1)?;
        let mut operands: SmallVec<[Meaning; 4]> = SmallVec::new();
        for id in &inst.operand_ids {
            let meaning = meanings.get(id);
            operands.push(*meaning.ok_or_else(|| malformed("an HLO instruction reads a value before it is made"))?);
        }
        match inst.opcode.as_str() {
            "parameter" => match (arguments, usize::try_from(inst.parameter_number)) {
                (None, _) => {
                    let made = self.add(inst, Class::Parameter, &[])?;
                    let values = made.start as usize..(made.start + made.len) as usize;
                    self.graph.parameters.extend_from_slice(&self.pool[values]);
                    Ok(made)
                }
                (Some(arguments), Ok(number)) if number < arguments.len() => Ok(arguments[number]),
                _ => Err(malformed("a call in the HLO module gives too few arguments")),
            },
            "call" => {
                let callee = inst.called_computation_ids.first().copied().unwrap_or(-1);
                self.enter(callee, Some(&operands))
            }
            "get-tuple-element" => match (operands.first(), u32::try_from(inst.tuple_index)) {
                (Some(tuple), Ok(index)) if index < tuple.len => {
                    Ok(Meaning { start: tuple.start + index, len: 1, rank: 0 })
                }
                _ => Err(malformed("an HLO instruction takes no part of its tuple")),
            },
            "tuple" | "opt-barrier" | "reshape" | "bitcast" => self.join(&operands),
            opcode => {
                let class = self.class(inst, opcode, &operands);
                self.add(inst, class, &operands)
            }
        }
    }

    fn pool_of(&self, meaning: Meaning) -> &[ValueId] {
        &self.pool[meaning.start as usize..(meaning.start + meaning.len) as usize]
    }

    /// The values of all operands, one after the other.
    fn join(&mut self, operands: &[Meaning]) -> Result<Meaning> {
        if let [only] = operands {
            return Ok(*only);
        }
        let start = self.pool.len() as u32;
        for operand in operands {
            self.graph.budget.take_entries(operand.len)?;
            self.pool.extend_from_within(operand.start as usize..(operand.start + operand.len) as usize);
        }
        Ok(Meaning { start, len: self.pool.len() as u32 - start, rank: 0 })
    }

    /// Adds what an instruction makes: one value for each part of its result.
    fn add(&mut self, inst: &'m HloInstructionProto, class: Class, operands: &[Meaning]) -> Result<Meaning> {
        let shape = inst.shape.as_ref().ok_or_else(|| malformed("an HLO instruction has no shape"))?;
        let first = self.graph.operands.len() as u32;
        for operand in operands {
            self.graph.budget.take_entries(operand.len)?;
            let values = operand.start as usize..(operand.start + operand.len) as usize;
            self.graph.operands.extend_from_slice(&self.pool[values]);
        }
        let operands = first..self.graph.operands.len() as u32;
        let start = self.pool.len() as u32;
        self.add_parts(inst, class, &operands, shape)?;
        Ok(Meaning { start, len: self.pool.len() as u32 - start, rank: 0 })
    }

    fn add_parts(
        &mut self,
        inst: &'m HloInstructionProto,
        class: Class,
        operands: &Range<u32>,
        shape: &ShapeProto,
    ) -> Result<()> {
        if shape.element_type == TUPLE {
            return shape.tuple_shapes.iter().try_for_each(|part| self.add_parts(inst, class, operands, part));
        }
        let width = width(shape.element_type)?;
        let is_narrow = dtype(shape.element_type).is_some_and(|dtype| dtype.is_narrow());
        let (elements, operands) = (elements(shape), operands.clone());
        let budget = &mut self.graph.budget;
        budget.take_entries(1)?;
        budget.take_visits(operands.len() as u64)?;
        budget.take_bytes(elements.saturating_mul(width.max(1)))?;
        self.pool.push(self.graph.values.len() as ValueId);
        self.graph.values.push(Value { inst, class, elements, width, is_narrow, operands });
        Ok(())
    }

    fn class(&mut self, inst: &'m HloInstructionProto, opcode: &'m str, operands: &[Meaning]) -> Class {
        let rank = |side: usize| operands.get(side).map_or(0, |operand| operand.rank);
        match opcode {
            "dot" => Class::Dot(accesses(inst, [rank(0), rank(1)])),
            "reduce" => {
                let source = operands.first().and_then(|operand| self.pool_of(*operand).first());
                let source = source.map_or(1, |value| self.graph.value(*value).elements);
                let shape = inst.shape.as_ref().map(|shape| shape.tuple_shapes.first().unwrap_or(shape));
                Class::Reduce { extent: source / shape.map_or(1, elements).max(1) }
            }
            "gather" => Class::Gather,
            "scatter" | "dynamic-update-slice" => Class::Update,
            "concatenate" => Class::Concatenate,
            "custom-call" | "rng-bit-generator" => Class::Kernel,
            "all-gather" | "all-reduce" | "all-to-all" | "collective-permute" | "reduce-scatter" => Class::Collective,
            _ if is_costly(opcode) => Class::Fused { costly: true },
            _ if is_cheap(opcode) => Class::Fused { costly: false },
            _ => {
                self.graph.unknown.insert(opcode);
                Class::Kernel
            }
        }
    }
}

fn malformed(message: &str) -> Diagnostic {
    Diagnostic::error(codes::FILE, message).help("give a module that `halite hlo check` takes")
}

fn elements(shape: &ShapeProto) -> u64 {
    shape.dimensions.iter().fold(1, |product, size| product.saturating_mul(u64::try_from(*size).unwrap_or(0)))
}

/// Bytes of one element. Types of less than a byte take one; tokens take none.
fn width(element_type: i32) -> Result<u64> {
    if let Some(dtype) = dtype(element_type) {
        return Ok(dtype.size() as u64);
    }
    match element_name(element_type) {
        Some("token" | "opaque") => Ok(0),
        Some("c64") => Ok(8),
        Some("c128") => Ok(16),
        Some(_) => Ok(1),
        None => Err(malformed("an HLO instruction has an element type that the schema does not define")),
    }
}

/// Divisions and functions: not computed again for each reader.
fn is_costly(opcode: &str) -> bool {
    matches!(
        opcode,
        "atan2"
            | "cbrt"
            | "cosine"
            | "divide"
            | "erf"
            | "exponential"
            | "exponential-minus-one"
            | "log"
            | "log-plus-one"
            | "logistic"
            | "power"
            | "remainder"
            | "rsqrt"
            | "sine"
            | "sqrt"
            | "tan"
            | "tanh"
    )
}

/// Arithmetic of single cycles, and movements of elements.
fn is_cheap(opcode: &str) -> bool {
    use halite_hlo::{BinaryOp, UnaryOp};
    BinaryOp::parse(opcode).is_some() || UnaryOp::parse(opcode).is_some() || MOVES.contains(&opcode)
}

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

/// How a product reads its operands, of so many dimensions. Products run on matrices
/// `[batch, rows, inner] x [batch, inner, columns]`.
fn accesses(inst: &HloInstructionProto, ranks: [i64; 2]) -> [Access; 2] {
    let Some(dims) = inst.dot_dimension_numbers.as_deref() else { return [Access::AsIs; 2] };
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
