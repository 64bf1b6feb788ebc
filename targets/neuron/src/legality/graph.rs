//! A module with its references resolved. References that lead nowhere, or not to something earlier, are left out, so
//! that every walk ends.

use halite_hlo::proto::{HloComputationProto, HloInstructionProto, HloModuleProto, ShapeProto};
use halite_hlo::{Opcode, types};
use halite_tensor::DType;
use rustc_hash::FxHashMap;

/// Opcodes whose computations combine two values, or compare them.
const COMBINING: [&str; 7] =
    ["all-reduce", "reduce", "reduce-scatter", "reduce-window", "scatter", "select-and-scatter", "sort"];

/// A module as lists: instructions of all computations in order, named by their position.
pub(super) struct Graph<'a> {
    pub(super) module: &'a HloModuleProto,
    insts: Vec<&'a HloInstructionProto>,
    nodes: Vec<Node>,
    /// The operands of all instructions, one after another.
    operands: Vec<Option<usize>>,
    /// The different opcodes, numbered.
    opcodes: Vec<&'a str>,
    computations: Vec<Computation<'a>>,
    computation_by_id: FxHashMap<i64, usize>,
}

/// What is asked of every instruction. The messages are large, so that each look into one costs.
struct Node {
    id: i64,
    computation: usize,
    opcode: usize,
    first_operand: usize,
    /// The number of the element type; 0 without a shape.
    element: i32,
    /// Whether it calls a computation.
    calls: bool,
    /// Whether a size of its result is not static.
    dynamic: bool,
}

/// A computation and its part of the list.
pub(super) struct Computation<'a> {
    pub(super) proto: &'a HloComputationProto,
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) root: Option<usize>,
    /// Its parameters in the order of its instructions.
    pub(super) parameters: Vec<usize>,
    /// Whether it is only called to combine or compare two values.
    combines: bool,
}

impl<'a> Graph<'a> {
    pub(super) fn new(module: &'a HloModuleProto) -> Self {
        let count = module.computations.iter().map(|computation| computation.instructions.len()).sum();
        let mut graph = Self {
            module,
            insts: Vec::with_capacity(count),
            nodes: Vec::with_capacity(count),
            operands: Vec::with_capacity(2 * count),
            opcodes: Vec::new(),
            computations: Vec::with_capacity(module.computations.len()),
            computation_by_id: FxHashMap::default(),
        };
        let mut opcodes = FxHashMap::default();
        for proto in &module.computations {
            graph.add(proto, &mut opcodes);
        }
        graph.mark_combiners();
        graph
    }

    fn add(&mut self, proto: &'a HloComputationProto, opcodes: &mut FxHashMap<&'a str, usize>) {
        let (number, first) = (self.computations.len(), self.insts.len());
        let (mut by_id, mut parameters) = (FxHashMap::default(), Vec::new());
        by_id.reserve(proto.instructions.len());
        for inst in &proto.instructions {
            let at = self.insts.len();
            let opcode = *opcodes.entry(&inst.opcode).or_insert_with(|| {
                self.opcodes.push(&inst.opcode);
                self.opcodes.len() - 1
            });
            let first_operand = self.operands.len();
            self.operands.extend(inst.operand_ids.iter().map(|id| by_id.get(id).copied()));
            self.nodes.push(Node {
                id: inst.id,
                computation: number,
                opcode,
                first_operand,
                element: inst.shape.as_ref().map_or(0, |shape| shape.element_type),
                calls: !inst.called_computation_ids.is_empty(),
                dynamic: inst.shape.as_ref().is_some_and(is_dynamic),
            });
            if self.opcodes[opcode] == Opcode::Parameter.name() {
                parameters.push(at);
            }
            self.insts.push(inst);
            by_id.insert(inst.id, at);
        }
        let (end, root) = (self.insts.len(), by_id.get(&proto.root_id).copied());
        self.computations.push(Computation { proto, first, end, root, parameters, combines: false });
        self.computation_by_id.insert(proto.id, number);
    }

    fn mark_combiners(&mut self) {
        let mut combining = vec![false; self.computations.len()];
        let mut running = vec![false; self.computations.len()];
        for at in (0..self.len()).filter(|&at| self.nodes[at].calls) {
            let marks = if COMBINING.contains(&self.opcode(at)) { &mut combining } else { &mut running };
            let callees = self.insts[at].called_computation_ids.iter();
            for callee in callees.filter_map(|id| self.computation_by_id.get(id)) {
                marks[*callee] = true;
            }
        }
        for (computation, (combining, running)) in self.computations.iter_mut().zip(combining.into_iter().zip(running))
        {
            computation.combines = combining && !running && computation.proto.id != self.module.entry_computation_id;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.insts.len()
    }

    pub(super) fn inst(&self, at: usize) -> &'a HloInstructionProto {
        self.insts[at]
    }

    pub(super) fn id(&self, at: usize) -> i64 {
        self.nodes[at].id
    }

    pub(super) fn opcode(&self, at: usize) -> &'a str {
        self.opcodes[self.nodes[at].opcode]
    }

    /// The different opcodes of the module.
    pub(super) fn opcodes(&self) -> &[&'a str] {
        &self.opcodes
    }

    /// The number of an instruction's opcode among the different ones.
    pub(super) fn opcode_number(&self, at: usize) -> usize {
        self.nodes[at].opcode
    }

    /// The number of the element type of a result; 0 when none is stated.
    pub(super) fn element(&self, at: usize) -> i32 {
        self.nodes[at].element
    }

    /// Whether an instruction calls a computation.
    pub(super) fn calls(&self, at: usize) -> bool {
        self.nodes[at].calls
    }

    /// Whether a size of a result is not static.
    pub(super) fn is_dynamic(&self, at: usize) -> bool {
        self.nodes[at].dynamic
    }

    pub(super) fn computations(&self) -> &[Computation<'a>] {
        &self.computations
    }

    pub(super) fn entry(&self) -> Option<&Computation<'a>> {
        self.computation_by_id.get(&self.module.entry_computation_id).map(|&at| &self.computations[at])
    }

    /// Whether the instruction belongs to a computation that only combines two values.
    pub(super) fn is_combiner(&self, at: usize) -> bool {
        self.computations[self.nodes[at].computation].combines
    }

    /// The instructions that give the operands: those that stand earlier in the same computation.
    pub(super) fn operands(&self, at: usize) -> &[Option<usize>] {
        let end = self.nodes.get(at + 1).map_or(self.operands.len(), |next| next.first_operand);
        &self.operands[self.nodes[at].first_operand..end]
    }

    /// The instruction that gives an operand.
    pub(super) fn operand(&self, at: usize, number: usize) -> Option<usize> {
        self.operands(at).get(number).copied().flatten()
    }

    /// The shape of an operand.
    pub(super) fn operand_shape(&self, at: usize, number: usize) -> Option<&'a ShapeProto> {
        self.insts[self.operand(at, number)?].shape.as_ref()
    }

    /// The computations that an instruction calls, of those before its own.
    pub(super) fn callee(&self, at: usize, number: usize) -> Option<usize> {
        let callee = *self.computation_by_id.get(self.insts[at].called_computation_ids.get(number)?)?;
        (callee < self.nodes[at].computation).then_some(callee)
    }

    /// The instruction that a computation returns.
    pub(super) fn root(&self, computation: usize) -> Option<usize> {
        self.computations.get(computation)?.root
    }

    pub(super) fn is(&self, at: usize, opcode: Opcode) -> bool {
        self.opcode(at) == opcode.name()
    }
}

fn is_dynamic(shape: &ShapeProto) -> bool {
    shape.is_dynamic_dimension.contains(&true) || shape.tuple_shapes.iter().any(is_dynamic)
}

/// The element type of an array; `None` for tuples and types that are not ours.
pub(super) fn dtype(shape: Option<&ShapeProto>) -> Option<DType> {
    shape.and_then(|shape| types::dtype(shape.element_type))
}

/// The name of an element type.
pub(super) fn element_name(shape: &ShapeProto) -> &'static str {
    types::element_name(shape.element_type).unwrap_or("?")
}

/// An array type as HLO writes it: `s32[4,8]`; `(..)` for tuples.
pub(super) fn describe(shape: Option<&ShapeProto>) -> String {
    match shape {
        None => "?".to_owned(),
        Some(shape) if shape.element_type == types::TUPLE => "(..)".to_owned(),
        Some(shape) => {
            let sizes: Vec<String> = shape.dimensions.iter().map(i64::to_string).collect();
            format!("{}[{}]", element_name(shape), sizes.join(","))
        }
    }
}

/// The arrays of a shape, those of tuples in order.
pub(super) fn arrays(shape: &ShapeProto) -> Vec<&ShapeProto> {
    if shape.element_type == types::TUPLE { shape.tuple_shapes.iter().flat_map(arrays).collect() } else { vec![shape] }
}

/// The number of elements, as far as it can be counted; 0 for negative sizes.
pub(super) fn num_elements(shape: &ShapeProto) -> i128 {
    shape.dimensions.iter().fold(1i128, |product, &size| product.saturating_mul(i128::from(size.max(0))))
}
