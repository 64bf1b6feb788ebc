//! The input and the answer of a rule.

use super::Rule;
use halite_ir::ops::Constant;
use halite_ir::{Function, InferCx, Op, TensorType, Value};
use smallvec::SmallVec;

/// The instruction that a rule is offered.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    /// The rules that are tried on it.
    pub(super) rules: &'static [Rule],
    /// The function, at least as far as the arguments.
    pub(super) function: &'a Function,
    /// The context of type inference.
    pub(super) cx: InferCx<'a>,
    /// The number of reads of each value.
    pub(super) uses: &'a Uses,
    pub(super) op: &'a Op,
    pub(super) args: &'a [Value],
}

/// A replacement of an instruction.
pub(super) enum Rewrite {
    /// A value that exists already.
    To(Value),
    /// Another instruction.
    As(Box<Op>, SmallVec<[Value; 4]>),
    /// An instruction, and another one of its result.
    Then(Box<Op>, SmallVec<[Value; 4]>, Box<Op>),
}

impl Rewrite {
    /// An op applied to values.
    pub(super) fn apply(op: impl Into<Op>, args: &[Value]) -> Self {
        Self::As(Box::new(op.into()), SmallVec::from_slice(args))
    }

    /// `last` applied to what `first` gives for values.
    pub(super) fn chain(first: impl Into<Op>, args: &[Value], last: impl Into<Op>) -> Self {
        Self::Then(Box::new(first.into()), SmallVec::from_slice(args), Box::new(last.into()))
    }
}

impl<'a> Candidate<'a> {
    /// The type of an argument.
    pub(super) fn ty(&self, position: usize) -> &'a TensorType {
        self.function.ty(self.args[position])
    }

    /// The op that defines an argument and its arguments.
    pub(super) fn def(&self, position: usize) -> Option<(&'a Op, &'a [Value])> {
        self.def_of(self.args[position])
    }

    /// The op that defines a value and its arguments.
    pub(super) fn def_of(&self, value: Value) -> Option<(&'a Op, &'a [Value])> {
        let inst = self.function.def(value)?;
        (!inst.rounds_at_random()).then_some((&inst.op, inst.args.as_slice()))
    }

    /// The constant that defines an argument.
    pub(super) fn constant(&self, position: usize) -> Option<&'a Constant> {
        if let Some((Op::Constant(constant), _)) = self.def(position) { Some(constant) } else { None }
    }

    /// Whether an argument is one number everywhere: bit for bit when it is a float.
    pub(super) fn is_splat(&self, position: usize, number: f64) -> bool {
        self.constant(position).filter(|constant| constant.is_splat()).is_some_and(|constant| {
            if constant.value.dtype().is_float() {
                constant.value.f64s()[0].to_bits() == number.to_bits()
            } else {
                constant.value.ints()[0] as f64 == number
            }
        })
    }
}

/// The number of reads of each value of a function; of one that is being built, as far as the old function tells, and then never too low.
#[derive(Default)]
pub(super) struct Uses(Vec<u32>);

impl Uses {
    /// Counts the uses in a function.
    pub(super) fn of(function: &Function) -> Self {
        let mut counts = vec![0; function.values.len()];
        let args = function.insts.iter().flat_map(|inst| &inst.args);
        for value in args.chain(function.results.iter().map(|result| &result.value)) {
            counts[value.index()] += 1;
        }
        Self(counts)
    }

    /// Notes that a new value stands for an old one.
    pub(super) fn inherit(&mut self, new: Value, old: Value, counts: &Uses) {
        if self.0.len() <= new.index() {
            self.0.resize(new.index() + 1, 0);
        }
        self.0[new.index()] += counts.0[old.index()];
    }

    /// Whether one place at most reads a value.
    pub(super) fn at_most_one(&self, value: Value) -> bool {
        self.0.get(value.index()).is_none_or(|&count| count <= 1)
    }
}
