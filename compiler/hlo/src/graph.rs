//! A module as a graph: what checks, rules, figures and estimates read instead of ids.
//!
//! - [`Graph`] has the instructions of all computations, with operands and callees resolved.
//! - [`Inlined`] has the values of the entry with its calls entered.
//! - [`Lifetimes`] says when results are last read, in any order of anything that reads.
//!
//! Any module that decodes has a graph. A reference that does not lead to something earlier is left out, so that every walk
//! ends; [`check`](crate::check()) says which are missing.

mod budget;
mod inlined;
mod lifetimes;

pub use budget::Budget;
pub use inlined::{Inlined, InlinedValue, ValueId};
pub use lifetimes::Lifetimes;

use crate::opcode::{Calls, Opcode};
use crate::proto::{HloComputationProto, HloInstructionProto, HloModuleProto, ShapeProto};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Opcodes beyond our set whose computations combine two values, or compare them.
const COMBINING: [&str; 1] = ["sort"];

fn is_combining(opcode: &str) -> bool {
    match Opcode::parse(opcode) {
        Some(opcode) => matches!(opcode.row().calls, Calls::Combiner | Calls::Selector),
        None => COMBINING.contains(&opcode),
    }
}

/// A module and its references, resolved: instructions of all computations in order, named by their position in that list;
/// computations named by theirs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    module: HloModuleProto,
    nodes: Vec<Node>,
    /// The operands of all instructions, one after another.
    operands: References,
    /// The callees of all instructions, one after another.
    callees: References,
    /// The control predecessors of all instructions, one after another.
    control: References,
    /// The different opcodes, numbered.
    opcodes: Vec<String>,
    computations: Vec<Computation>,
    entry: Option<usize>,
}

/// Facts that are asked of every instruction. The messages are large, so that each look into one costs.
#[derive(Clone, PartialEq, Debug)]
struct Node {
    computation: u32,
    opcode: u32,
    first_operand: u32,
    first_callee: u32,
    first_control: u32,
    element: i32,
    is_dynamic: bool,
}

/// References to instructions or computations, one after another.
#[derive(Clone, PartialEq, Debug, Default)]
struct References(Vec<u32>);

impl References {
    /// Stands for one that does not lead to something earlier.
    const NOWHERE: u32 = u32::MAX;

    fn extend(&mut self, references: impl Iterator<Item = Option<usize>>) {
        let number = |reference: Option<usize>| reference.and_then(|at| u32::try_from(at).ok());
        self.0.extend(references.map(|reference| number(reference).unwrap_or(Self::NOWHERE)));
    }

    fn within(&self, start: u32, end: Option<u32>) -> impl Each {
        let own = &self.0[start as usize..end.map_or(self.0.len(), |end| end as usize)];
        own.iter().map(|&reference| (reference != Self::NOWHERE).then_some(reference as usize))
    }

    /// The position of the next one.
    fn next(&self) -> u32 {
        self.0.len() as u32
    }
}

/// Instructions or computations that one refers to, `None` where a reference does not lead to something earlier.
pub trait Each: DoubleEndedIterator<Item = Option<usize>> + ExactSizeIterator + Clone {}

impl<I: DoubleEndedIterator<Item = Option<usize>> + ExactSizeIterator + Clone> Each for I {}

/// A computation and its part of the list.
#[derive(Clone, PartialEq, Debug)]
pub struct Computation {
    /// The position of its first instruction.
    pub first: usize,
    /// The position after its last instruction.
    pub end: usize,
    /// The position of its root, which it returns.
    pub root: Option<usize>,
    /// Its parameters in the order of its instructions.
    pub parameters: Vec<usize>,
    /// Whether it is only called to combine or compare two values.
    combines: bool,
}

impl Computation {
    /// The positions of its instructions.
    pub fn range(&self) -> Range<usize> {
        self.first..self.end
    }
}

impl Graph {
    /// The graph of a module. Of several instructions or computations with one id, the last before a reference is meant.
    pub fn new(module: HloModuleProto) -> Self {
        let count = module.computations.iter().map(|computation| computation.instructions.len()).sum();
        let mut graph = Self {
            nodes: Vec::with_capacity(count),
            computations: Vec::with_capacity(module.computations.len()),
            ..Self::default()
        };
        let mut known = Known::default();
        for proto in &module.computations {
            graph.add(proto, &mut known);
        }
        graph.entry = known.computations.get(&module.entry_computation_id).copied();
        graph.mark_combiners();
        Self { module, ..graph }
    }

    fn add<'m>(&mut self, proto: &'m HloComputationProto, known: &mut Known<'m>) {
        let (number, first) = (self.computations.len(), self.nodes.len());
        let (mut by_id, mut parameters) = (ById::new(proto, first), Vec::new());
        for inst in &proto.instructions {
            let at = self.nodes.len();
            let opcode = *known.opcodes.entry(&inst.opcode).or_insert_with(|| {
                self.opcodes.push(inst.opcode.to_string());
                self.opcodes.len() as u32 - 1
            });
            self.nodes.push(Node {
                computation: number as u32,
                opcode,
                first_operand: self.operands.next(),
                first_callee: self.callees.next(),
                first_control: self.control.next(),
                element: inst.shape.as_ref().map_or(0, |shape| shape.element_type),
                is_dynamic: inst.shape.as_deref().is_some_and(ShapeProto::is_dynamic),
            });
            self.operands.extend(inst.operand_ids.iter().map(|&id| by_id.get(id)));
            self.control.extend(inst.control_predecessor_ids.iter().map(|&id| by_id.get(id)));
            self.callees.extend(inst.called_computation_ids.iter().map(|id| known.computations.get(id).copied()));
            if self.opcodes[opcode as usize] == Opcode::Parameter.name() {
                parameters.push(at);
            }
            by_id.add(inst.id, at);
        }
        let (end, root) = (self.nodes.len(), by_id.get(proto.root_id));
        self.computations.push(Computation { first, end, root, parameters, combines: false });
        known.computations.insert(proto.id, number);
    }

    fn mark_combiners(&mut self) {
        let mut combining = vec![false; self.computations.len()];
        let mut running = vec![false; self.computations.len()];
        for at in (0..self.len()).filter(|&at| self.calls(at)) {
            let marks = if is_combining(self.opcode(at)) { &mut combining } else { &mut running };
            self.callees(at).flatten().for_each(|callee| marks[callee] = true);
        }
        for (number, computation) in self.computations.iter_mut().enumerate() {
            computation.combines = combining[number] && !running[number] && self.entry != Some(number);
        }
    }

    /// The messages that it is the graph of.
    pub fn module(&self) -> &HloModuleProto {
        &self.module
    }

    /// The module, without the graph.
    pub fn into_module(self) -> HloModuleProto {
        self.module
    }

    /// The number of instructions.
    #[allow(clippy::len_without_is_empty, reason = "positions are asked for, never whether there is one")]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The message of an instruction.
    pub fn inst(&self, at: usize) -> &HloInstructionProto {
        let computation = self.nodes[at].computation as usize;
        &self.module.computations[computation].instructions[at - self.computations[computation].first]
    }

    /// The id of an instruction.
    pub fn id(&self, at: usize) -> i64 {
        self.inst(at).id
    }

    /// The opcode of an instruction.
    pub fn opcode(&self, at: usize) -> &str {
        &self.opcodes[self.nodes[at].opcode as usize]
    }

    /// Whether an instruction has this opcode.
    pub fn is(&self, at: usize, opcode: Opcode) -> bool {
        self.opcode(at) == opcode.name()
    }

    /// The different opcodes of the module.
    pub fn opcodes(&self) -> &[String] {
        &self.opcodes
    }

    /// The number of an instruction's opcode among the different ones.
    pub fn opcode_number(&self, at: usize) -> usize {
        self.nodes[at].opcode as usize
    }

    /// The shape of a result.
    pub fn shape(&self, at: usize) -> Option<&ShapeProto> {
        self.inst(at).shape.as_deref()
    }

    /// The number of the element type of a result; 0 when none is stated.
    pub fn element(&self, at: usize) -> i32 {
        self.nodes[at].element
    }

    /// Whether a size of a result is not static.
    pub fn is_dynamic(&self, at: usize) -> bool {
        self.nodes[at].is_dynamic
    }

    /// The instructions that give the operands: those that stand earlier in the same computation.
    pub fn operands(&self, at: usize) -> impl Each {
        self.operands.within(self.nodes[at].first_operand, self.nodes.get(at + 1).map(|next| next.first_operand))
    }

    /// The instruction that gives an operand.
    pub fn operand(&self, at: usize, number: usize) -> Option<usize> {
        self.operands(at).nth(number).flatten()
    }

    /// The shape of an operand.
    pub fn operand_shape(&self, at: usize, number: usize) -> Option<&ShapeProto> {
        self.shape(self.operand(at, number)?)
    }

    /// The instructions that run before one though it does not read them: those that stand earlier in the same computation.
    pub fn control_predecessors(&self, at: usize) -> impl Each {
        self.control.within(self.nodes[at].first_control, self.nodes.get(at + 1).map(|next| next.first_control))
    }

    /// Whether an instruction names computations, there or not.
    pub fn calls(&self, at: usize) -> bool {
        self.callees(at).len() > 0
    }

    /// The computations that an instruction calls: those that stand before its own.
    pub fn callees(&self, at: usize) -> impl Each {
        self.callees.within(self.nodes[at].first_callee, self.nodes.get(at + 1).map(|next| next.first_callee))
    }

    /// One of the computations that an instruction calls.
    pub fn callee(&self, at: usize, number: usize) -> Option<usize> {
        self.callees(at).nth(number).flatten()
    }

    /// All computations, callees before callers, in the order of the module's.
    pub fn computations(&self) -> &[Computation] {
        &self.computations
    }

    /// The number of the entry among the computations.
    pub fn entry_number(&self) -> Option<usize> {
        self.entry
    }

    /// The computation that runs; `None` when its id is that of none.
    pub fn entry(&self) -> Option<&Computation> {
        self.entry.map(|entry| &self.computations[entry])
    }

    /// The parameters of a computation in the order of their numbers.
    pub fn parameters(&self, computation: &Computation) -> Vec<usize> {
        let mut parameters = computation.parameters.clone();
        parameters.sort_by_key(|&at| self.inst(at).parameter_number);
        parameters
    }

    /// The instruction that a computation returns.
    pub fn root(&self, computation: usize) -> Option<usize> {
        self.computations.get(computation)?.root
    }

    /// Whether the instruction belongs to a computation that only combines two values.
    pub fn is_combiner(&self, at: usize) -> bool {
        self.computations[self.nodes[at].computation as usize].combines
    }

    /// The number of times that one execution of the entry executes each computation, by `call` alone; counts stay at `u64::MAX`. Zero: it
    /// is not reached.
    pub fn executions(&self) -> Vec<u64> {
        let mut times = vec![0u64; self.computations.len()];
        if let Some(entry) = self.entry {
            times[entry] = 1;
        }
        for number in (0..times.len()).rev() {
            let own = times[number];
            if own > 0 {
                for at in self.computations[number].range().filter(|&at| self.is(at, Opcode::Call)) {
                    let callees = self.callees(at).flatten();
                    callees.for_each(|callee| times[callee] = times[callee].saturating_add(own));
                }
            }
        }
        times
    }
}

/// The opcodes and computations before the computation at hand.
#[derive(Default)]
struct Known<'m> {
    opcodes: FxHashMap<&'m str, u32>,
    computations: FxHashMap<i64, usize>,
}

/// The instructions of a computation by their ids.
struct ById<'m> {
    instructions: &'m [HloInstructionProto],
    /// The position of the first.
    first: usize,
    /// Those whose ids do not count on from that of the first.
    others: FxHashMap<i64, usize>,
    /// The position behind those so far.
    end: usize,
}

impl<'m> ById<'m> {
    fn new(proto: &'m HloComputationProto, first: usize) -> Self {
        Self { instructions: &proto.instructions, first, others: FxHashMap::default(), end: first }
    }

    /// The position that an id has where ids count on.
    fn counted(&self, id: i64) -> Option<usize> {
        let offset = usize::try_from(id.checked_sub(self.instructions.first()?.id)?).ok()?;
        self.instructions.get(offset).filter(|inst| inst.id == id).map(|_| self.first + offset)
    }

    /// Adds the next instruction.
    fn add(&mut self, id: i64, at: usize) {
        self.end = at + 1;
        if self.counted(id) == Some(at) {
            self.others.remove(&id);
        } else {
            self.others.insert(id, at);
        }
    }

    /// The last instruction so far that has an id.
    fn get(&self, id: i64) -> Option<usize> {
        let other = || self.others.get(&id).copied();
        other().or_else(|| self.counted(id).filter(|&at| at < self.end))
    }
}
