//! A module as one list of values: calls are entered, tuples taken apart, and what only renames a value is gone.

use super::{Budget, Graph};
use crate::proto::ShapeProto;
use halite_support::{Diagnostic, Result, codes};
use smallvec::SmallVec;
use std::ops::Range;

/// A value of [`Inlined`].
pub type ValueId = u32;

/// One array that an instruction makes, in one of the calls of its computation.
#[derive(Clone, Debug)]
pub struct InlinedValue<'m> {
    /// The instruction, in the [`Graph`].
    pub at: usize,
    /// The array: the result, or a part of a tuple.
    pub shape: &'m ShapeProto,
    operands: Range<u32>,
    /// The call in whose callee it is made, the innermost one.
    call: Option<u32>,
}

/// A call that is entered.
#[derive(Clone, Copy, Debug)]
struct Entered {
    /// The instruction, in the [`Graph`].
    at: usize,
    /// The call in whose callee it is itself.
    within: Option<u32>,
}

/// The values of a computation with its calls entered, operands before users.
///
/// `parameter`s of callees, `call`, `tuple`, `get-tuple-element`, `opt-barrier`, `reshape` and `bitcast` make no value: they stand
/// for others. An instruction that gives a tuple makes a value for each part.
#[derive(Debug, Default)]
pub struct Inlined<'m> {
    values: Vec<InlinedValue<'m>>,
    operands: Vec<ValueId>,
    calls: Vec<Entered>,
    /// The computation's parameters in order.
    pub parameters: Vec<ValueId>,
    /// Its results in order.
    pub results: Vec<ValueId>,
}

impl<'m> Inlined<'m> {
    /// The values of the entry of a sound module ([`check`](crate::check())).
    ///
    /// # Errors
    /// When the module has no entry, calls what does not stand before, reads what is not there, has an instruction without a
    /// shape, or is too large with its calls entered.
    pub fn new(graph: &'m Graph, budget: &mut Budget) -> Result<Self> {
        let entry = graph.entry_number().ok_or_else(|| malformed("the HLO module has no entry"))?;
        Self::of(graph, entry, |_| false, budget)
    }

    /// The values of a computation, by its number. Calls that `keeps` names by their positions make values of their own.
    ///
    /// # Errors
    /// As [`new`](Inlined::new).
    pub fn of(
        graph: &'m Graph,
        computation: usize,
        keeps: impl Fn(usize) -> bool,
        budget: &mut Budget,
    ) -> Result<Self> {
        let computation = &graph.computations()[computation];
        let mut walk =
            Walk { graph, keeps: &keeps, budget, inlined: Self::default(), pool: Vec::new(), depth: 0, call: None };
        let results = walk.enter(computation.range(), computation.root, None)?;
        walk.inlined.results = walk.pool[results.range()].to_vec();
        Ok(walk.inlined)
    }

    /// The number of values.
    #[allow(clippy::len_without_is_empty, reason = "positions are asked for, never whether there is one")]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The instruction and the array that a handle stands for.
    pub fn value(&self, value: ValueId) -> &InlinedValue<'m> {
        &self.values[value as usize]
    }

    /// The calls in whose callees a value is made, by their instructions, the innermost first.
    pub fn calls(&self, value: ValueId) -> impl Iterator<Item = usize> {
        let entered = |call: u32| self.calls[call as usize];
        let first = self.values[value as usize].call.map(entered);
        std::iter::successors(first, move |call| call.within.map(entered)).map(|call| call.at)
    }

    /// The values that a value is computed from: the operands of its instruction, tuples taken apart.
    pub fn operands(&self, value: ValueId) -> &[ValueId] {
        let Range { start, end } = self.values[value as usize].operands;
        &self.operands[start as usize..end as usize]
    }
}

/// Says that a module is not sound.
fn malformed(message: &str) -> Diagnostic {
    Diagnostic::error(codes::FILE, message).help("give a module that `halite hlo check` takes")
}

/// Calls nest no deeper than this.
const MAX_DEPTH: usize = 64;

struct Walk<'w, 'm> {
    graph: &'m Graph,
    keeps: &'w dyn Fn(usize) -> bool,
    budget: &'w mut Budget,
    inlined: Inlined<'m>,
    /// The values that meanings are ranges of.
    pool: Vec<ValueId>,
    depth: usize,
    /// The call that is being entered.
    call: Option<u32>,
}

/// The values of an instruction: one, or those of a tuple, as a range of the pool.
#[derive(Clone, Copy)]
struct Meaning {
    start: u32,
    len: u32,
}

impl Meaning {
    fn range(self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

impl<'m> Walk<'_, 'm> {
    /// Adds the instructions of a computation with the given arguments; the entry's are parameters. Gives its result.
    fn enter(&mut self, insts: Range<usize>, root: Option<usize>, arguments: Option<&[Meaning]>) -> Result<Meaning> {
        if self.depth == MAX_DEPTH {
            return Err(malformed("computations of the HLO module call each other too deep or without end"));
        }
        self.depth += 1;
        let first = insts.start;
        let mut meanings = Vec::with_capacity(insts.len());
        for at in insts {
            let meaning = self.meaning(at, first, arguments, &meanings)?;
            meanings.push(meaning);
        }
        self.depth -= 1;
        let root = root.ok_or_else(|| malformed("a computation of the HLO module has no root"))?;
        Ok(meanings[root - first])
    }

    /// The values of an instruction: existing values, or new ones.
    fn meaning(
        &mut self,
        at: usize,
        first: usize,
        arguments: Option<&[Meaning]>,
        meanings: &[Meaning],
    ) -> Result<Meaning> {
        self.budget.take_entries(1)?;
        let graph = self.graph;
        let mut operands: SmallVec<[Meaning; 4]> = SmallVec::new();
        for operand in graph.operands(at) {
            let operand = operand.ok_or_else(|| malformed("an HLO instruction reads a value before it is made"))?;
            operands.push(meanings[operand - first]);
        }
        match graph.opcode(at) {
            "parameter" => match (arguments, usize::try_from(graph.inst(at).parameter_number)) {
                (None, _) => {
                    let made = self.add(at, &[])?;
                    self.inlined.parameters.extend_from_slice(&self.pool[made.range()]);
                    Ok(made)
                }
                (Some(arguments), Ok(number)) if number < arguments.len() => Ok(arguments[number]),
                _ => Err(malformed("a call in the HLO module gives too few arguments")),
            },
            "call" if !(self.keeps)(at) => {
                let missing = || malformed("the HLO module calls a computation that does not stand before the call");
                let callee = &graph.computations()[graph.callee(at, 0).ok_or_else(missing)?];
                let within = self.call.replace(self.inlined.calls.len() as u32);
                self.inlined.calls.push(Entered { at, within });
                let result = self.enter(callee.range(), callee.root, Some(&operands))?;
                self.call = within;
                Ok(result)
            }
            "get-tuple-element" => match (operands.first(), u32::try_from(graph.inst(at).tuple_index)) {
                (Some(tuple), Ok(index)) if index < tuple.len => Ok(Meaning { start: tuple.start + index, len: 1 }),
                _ => Err(malformed("an HLO instruction takes no part of its tuple")),
            },
            "tuple" | "opt-barrier" | "reshape" | "bitcast" => self.join(&operands),
            _ => self.add(at, &operands),
        }
    }

    /// The values of all operands, one after the other.
    fn join(&mut self, operands: &[Meaning]) -> Result<Meaning> {
        if let [only] = operands {
            return Ok(*only);
        }
        let start = self.pool.len() as u32;
        for operand in operands {
            self.budget.take_entries(operand.len)?;
            self.pool.extend_from_within(operand.range());
        }
        Ok(Meaning { start, len: self.pool.len() as u32 - start })
    }

    /// Adds what an instruction makes: one value for each part of its result.
    fn add(&mut self, at: usize, operands: &[Meaning]) -> Result<Meaning> {
        let shape = self.graph.shape(at).ok_or_else(|| malformed("an HLO instruction has no shape"))?;
        let first = self.inlined.operands.len() as u32;
        for operand in operands {
            self.budget.take_entries(operand.len)?;
            self.inlined.operands.extend_from_slice(&self.pool[operand.range()]);
        }
        let operands = first..self.inlined.operands.len() as u32;
        let start = self.pool.len() as u32;
        self.add_parts(at, &operands, shape)?;
        Ok(Meaning { start, len: self.pool.len() as u32 - start })
    }

    fn add_parts(&mut self, at: usize, operands: &Range<u32>, shape: &'m ShapeProto) -> Result<()> {
        if shape.is_tuple() {
            return shape.tuple_shapes.iter().try_for_each(|part| self.add_parts(at, operands, part));
        }
        self.budget.take_entries(1)?;
        self.budget.take_visits(operands.len() as u64)?;
        self.pool.push(self.inlined.values.len() as ValueId);
        self.inlined.values.push(InlinedValue { at, shape, operands: operands.clone(), call: self.call });
        Ok(())
    }
}
