//! Policies of mixed precision for ops: operand, compute, accumulation and result types are separate things.

use halite_tensor::DType;

/// The policy of mixed precision for an op. A precision recipe settles the types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Policy {
    /// The kind of op, for tables and findings.
    pub class: OpClass,
    /// The type in which float operands are read.
    pub operand: Follows,
    /// The type in which it computes; results narrower than that are rounded.
    pub compute: Follows,
    /// The type of its sums, if it sums.
    pub accumulate: Option<Follows>,
    /// The types of float results, the last one repeated, as readers without a demand of their own see them.
    pub results: &'static [Follows],
}

/// Kinds of ops under mixed precision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OpClass {
    /// Contracts operands: narrow operands, wide sums.
    Matmul,
    /// Works element by element at the precision of its operands.
    Elementwise,
    /// Sums many elements, or gradients.
    Accumulate,
    /// Loses its meaning at low precision.
    Sensitive,
    /// Moves or stores elements without computing.
    Storage,
    /// Has no floats to speak of.
    Integer,
}

impl OpClass {
    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            OpClass::Matmul => "matmul",
            OpClass::Elementwise => "elementwise",
            OpClass::Accumulate => "accumulate",
            OpClass::Sensitive => "sensitive",
            OpClass::Storage => "storage",
            OpClass::Integer => "integer",
        }
    }
}

/// The rule that an element type follows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Follows {
    /// Each operand, as it comes.
    Own,
    /// The widest operand.
    Widest,
    /// The engines: `f32`, or `f64` for `f64` operands. Vector and scalar engines of targets compute in `f32` and round when
    /// they write (`NKI` architecture guide).
    Engine,
    /// The recipe's type of matmul operands and activations.
    Operand,
    /// The recipe's type of sums.
    Accumulate,
    /// The recipe's type of sensitive ops.
    Sensitive,
    /// The recipe's type of gradients and their sums.
    Gradient,
    /// The recipe's type of sums over ranks.
    Reduce,
}

impl Follows {
    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            Follows::Own => "own",
            Follows::Widest => "widest",
            Follows::Engine => "engine",
            Follows::Operand => "operand",
            Follows::Accumulate => "accumulate",
            Follows::Sensitive => "sensitive",
            Follows::Gradient => "gradient",
            Follows::Reduce => "reduce",
        }
    }
}

impl Policy {
    /// Reads narrow operands, multiplies exactly and sums wide.
    pub const MATMUL: Self = Self {
        class: OpClass::Matmul,
        operand: Follows::Operand,
        compute: Follows::Engine,
        accumulate: Some(Follows::Accumulate),
        results: &[Follows::Operand],
    };

    /// Computes wide and rounds to the type of the widest operand.
    pub const ELEMENTWISE: Self = Self {
        class: OpClass::Elementwise,
        operand: Follows::Widest,
        compute: Follows::Engine,
        accumulate: None,
        results: &[Follows::Widest],
    };

    /// Works element by element without ever rounding: a comparison, a sign, a choice of one operand.
    pub const EXACT: Self = Self { compute: Follows::Widest, ..Self::ELEMENTWISE };

    /// Sums many elements of any type.
    pub const ACCUMULATE: Self = Self {
        class: OpClass::Accumulate,
        operand: Follows::Own,
        compute: Follows::Engine,
        accumulate: Some(Follows::Accumulate),
        results: &[Follows::Accumulate],
    };

    /// Adds gradients that meet.
    pub const GRADIENT_SUM: Self = Self {
        class: OpClass::Accumulate,
        operand: Follows::Gradient,
        compute: Follows::Gradient,
        accumulate: Some(Follows::Gradient),
        results: &[Follows::Gradient],
    };

    /// Sums over ranks.
    pub const REDUCE: Self = Self {
        class: OpClass::Accumulate,
        operand: Follows::Reduce,
        compute: Follows::Engine,
        accumulate: Some(Follows::Reduce),
        results: &[Follows::Reduce],
    };

    /// Computes, and answers, in the type of sensitive ops.
    pub const SENSITIVE: Self = Self {
        class: OpClass::Sensitive,
        operand: Follows::Sensitive,
        compute: Follows::Sensitive,
        accumulate: None,
        results: &[Follows::Sensitive],
    };

    /// Moves elements as they come.
    pub const STORAGE: Self = Self {
        class: OpClass::Storage,
        operand: Follows::Own,
        compute: Follows::Own,
        accumulate: None,
        results: &[Follows::Own],
    };

    /// Has no floats to convert.
    pub const INTEGER: Self = Self { class: OpClass::Integer, ..Self::STORAGE };

    /// The same with other results.
    #[must_use]
    pub const fn results(self, results: &'static [Follows]) -> Self {
        Self { results, ..self }
    }

    /// The same, computing in another type.
    #[must_use]
    pub const fn compute(self, compute: Follows) -> Self {
        Self { compute, ..self }
    }

    /// The same, summing in another type.
    #[must_use]
    pub const fn accumulate(self, accumulate: Follows) -> Self {
        Self { accumulate: Some(accumulate), ..self }
    }

    /// The rule that the type of result `index` follows.
    pub fn result(&self, index: usize) -> Follows {
        self.results.get(index).or(self.results.last()).copied().unwrap_or(Follows::Own)
    }
}

/// Whether some value of `from` is none of `to`, both floats.
pub fn loses(from: DType, to: DType) -> bool {
    match (from, to) {
        _ if from == to => false,
        (DType::Bf16 | DType::F16, DType::F32 | DType::F64) | (DType::F32, DType::F64) => false,
        _ => from.is_float() && to.is_float(),
    }
}
