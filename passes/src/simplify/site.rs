//! What a rule sees and what it answers.

use halite_ir::ops::Constant;
use halite_ir::{Builder, Function, Op, TensorType, Value};
use smallvec::SmallVec;

/// The instruction that a rule is offered.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    /// The function so far; it defines the arguments.
    pub(super) b: &'a Builder<'a>,
    /// How often values are read.
    pub(super) uses: &'a Uses,
    /// The op.
    pub(super) op: &'a Op,
    /// Its arguments.
    pub(super) args: &'a [Value],
}

/// What may stand for an instruction.
pub(super) enum Rewrite {
    /// A value that exists already.
    To(Value),
    /// Another instruction.
    As(Box<Op>, SmallVec<[Value; 4]>),
}

impl Rewrite {
    /// An op applied to values.
    pub(super) fn apply(op: impl Into<Op>, args: &[Value]) -> Self {
        Self::As(Box::new(op.into()), SmallVec::from_slice(args))
    }
}

impl<'a> Site<'a> {
    /// The type of an argument.
    pub(super) fn ty(&self, position: usize) -> &'a TensorType {
        self.b.ty(self.args[position])
    }

    /// The op that defines an argument and its arguments.
    pub(super) fn def(&self, position: usize) -> Option<(&'a Op, &'a [Value])> {
        self.b.function().def(self.args[position]).map(|inst| (&inst.op, inst.args.as_slice()))
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

/// How often each value of the function being built is read, as far as the old function tells. Never too low.
pub(super) struct Uses {
    old: Vec<u32>,
    new: Vec<u32>,
}

impl Uses {
    /// Counts the uses in a function; its parameters come first in the new one as well.
    pub(super) fn new(source: &Function) -> Self {
        let mut old = vec![0; source.values.len()];
        let args = source.insts.iter().flat_map(|inst| &inst.args);
        for value in args.chain(source.results.iter().map(|result| &result.value)) {
            old[value.index()] += 1;
        }
        let mut uses = Self { old, new: Vec::new() };
        for (position, param) in source.params.iter().enumerate() {
            uses.replace(param.value, Value::new(position));
        }
        uses
    }

    /// Notes that `new` stands for `old`.
    pub(super) fn replace(&mut self, old: Value, new: Value) {
        if self.new.len() <= new.index() {
            self.new.resize(new.index() + 1, 0);
        }
        self.new[new.index()] += self.old[old.index()];
    }

    /// Whether one place at most reads a value.
    pub(super) fn at_most_one(&self, value: Value) -> bool {
        self.new.get(value.index()).is_none_or(|&count| count <= 1)
    }
}
