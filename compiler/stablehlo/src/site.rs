//! An instruction and what stands around it.

use crate::channels::Channels;
use crate::fault::fault;
use crate::form::Form;
use crate::op::{Op, Value};
use crate::symbols::Symbols;
use halite_hlo::graph::Graph;
use halite_hlo::proto::{HloInstructionProto, ShapeProto};
use halite_hlo::{ArrayType, Calls, Opcode, Type};
use halite_support::{Diagnostic, Result};

/// An instruction that is to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub(crate) graph: &'a Graph,
    /// The form of the text.
    pub(crate) form: Form<'a>,
    /// Its position in the graph.
    pub(crate) at: usize,
    /// The values of the instructions before it.
    pub(crate) values: &'a [Vec<Value>],
    /// The names of functions.
    pub(crate) symbols: &'a Symbols,
    /// The channels of collectives.
    pub(crate) channels: &'a Channels,
}

impl<'a> Site<'a> {
    pub(crate) fn inst(&self) -> &'a HloInstructionProto {
        self.graph.inst(self.at)
    }

    /// The opcode, which is one of our set.
    pub(crate) fn opcode(&self) -> Result<Opcode> {
        let opcode = Opcode::parse(self.graph.opcode(self.at));
        opcode.ok_or_else(|| self.fault("the opcode is none that Halite makes"))
    }

    /// The diagnostic that says why it is not written.
    pub(crate) fn fault(&self, reason: &str) -> Diagnostic {
        fault(self.inst(), reason)
    }

    /// Refuses what may be said of an instruction of any opcode, and has no place in StableHLO as we write it.
    pub(crate) fn require_plain(&self) -> Result<()> {
        if !self.inst().control_predecessor_ids.is_empty() {
            return Err(self.fault("it waits for instructions that it does not read"));
        }
        if self.inst().sharding.is_some() {
            return Err(self.fault("it has a sharding"));
        }
        Ok(())
    }

    /// The content of a field that opcodes of this kind have.
    pub(crate) fn needed<T>(&self, field: Option<T>, name: &str) -> Result<T> {
        field.ok_or_else(|| self.fault(&format!("it has no {name}")))
    }

    /// The values of an operand: one for an array, as many as a tuple has.
    pub(crate) fn values_of(&self, number: usize) -> Result<&'a [Value]> {
        let operand = self.needed(self.graph.operand(self.at, number), "such operand")?;
        Ok(&self.values[operand])
    }

    /// The values of all operands, one after another.
    pub(crate) fn operands(&self) -> Result<Vec<Value>> {
        let values = (0..self.graph.operands(self.at).len()).map(|number| self.values_of(number));
        Ok(values.collect::<Result<Vec<_>>>()?.concat())
    }

    /// The types of the results: one for an array, as many as a tuple has.
    pub(crate) fn results(&self) -> Result<Vec<ArrayType>> {
        let shape = self.needed(self.graph.shape(self.at), "shape")?;
        arrays(shape).map_err(|error| self.fault(error.message()))
    }

    /// The operation of the opcode on all operands with all results, and the computations of two values that it has.
    pub(crate) fn op(&self) -> Result<Op> {
        let row = self.opcode()?.row();
        let name = self.needed(row.stablehlo, "operation of its own")?;
        let regions = match row.calls {
            Calls::Combiner => 1,
            Calls::Selector => 2,
            _ => 0,
        };
        let callee = |number| self.needed(self.graph.callee(self.at, number), "called computation");
        let regions = (0..regions).map(callee).collect::<Result<_>>()?;
        let (operands, results) = (self.operands()?, self.results()?);
        Ok(Op { name, operands, properties: Vec::new(), regions, results })
    }
}

/// The arrays of a shape. Tuples of tuples have no form, since operations have no tuples.
pub(crate) fn arrays(shape: &ShapeProto) -> Result<Vec<ArrayType>> {
    match Type::from_proto(shape)? {
        Type::Array(array) => Ok(vec![array]),
        Type::Tuple(items) => items.iter().map(|item| item.array().cloned()).collect(),
    }
}
