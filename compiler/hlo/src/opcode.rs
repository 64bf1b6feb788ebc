//! The families of opcodes that share a shape rule, with their HLO names.

use std::fmt;

macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs, reason = "the HLO names say it")]
        pub enum $name { $($variant,)* }

        impl $name {
            /// Every variant, in order.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// The name in HLO.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The variant with this HLO name.
            pub fn parse(name: &str) -> Option<Self> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

names! {
    /// Elementwise ops of one operand.
    UnaryOp {
        Abs = "abs",
        Cbrt = "cbrt",
        Ceil = "ceil",
        Cosine = "cosine",
        CountLeadingZeros = "count-leading-zeros",
        Erf = "erf",
        Exponential = "exponential",
        ExponentialMinusOne = "exponential-minus-one",
        Floor = "floor",
        IsFinite = "is-finite",
        Log = "log",
        LogPlusOne = "log-plus-one",
        Logistic = "logistic",
        Negate = "negate",
        Not = "not",
        PopulationCount = "popcnt",
        RoundNearestAfz = "round-nearest-afz",
        RoundNearestEven = "round-nearest-even",
        Rsqrt = "rsqrt",
        Sign = "sign",
        Sine = "sine",
        Sqrt = "sqrt",
        Tan = "tan",
        Tanh = "tanh",
    }
}

names! {
    /// Elementwise ops of two operands of one type.
    BinaryOp {
        Add = "add",
        And = "and",
        Atan2 = "atan2",
        Divide = "divide",
        Maximum = "maximum",
        Minimum = "minimum",
        Multiply = "multiply",
        Or = "or",
        Power = "power",
        Remainder = "remainder",
        ShiftLeft = "shift-left",
        ShiftRightArithmetic = "shift-right-arithmetic",
        ShiftRightLogical = "shift-right-logical",
        Subtract = "subtract",
        Xor = "xor",
    }
}

names! {
    /// What `compare` asks. Floats compare with NaN unequal to everything.
    Comparison {
        Eq = "EQ",
        Ne = "NE",
        Ge = "GE",
        Gt = "GT",
        Le = "LE",
        Lt = "LT",
    }
}

names! {
    /// The opcodes of our set that belong to no family.
    Opcode {
        AllGather = "all-gather",
        AllReduce = "all-reduce",
        AllToAll = "all-to-all",
        BitcastConvert = "bitcast-convert",
        Broadcast = "broadcast",
        Call = "call",
        Clamp = "clamp",
        CollectivePermute = "collective-permute",
        Compare = "compare",
        Concatenate = "concatenate",
        Constant = "constant",
        Convert = "convert",
        Copy = "copy",
        CustomCall = "custom-call",
        Dot = "dot",
        DynamicSlice = "dynamic-slice",
        DynamicUpdateSlice = "dynamic-update-slice",
        Gather = "gather",
        GetTupleElement = "get-tuple-element",
        Iota = "iota",
        OptimizationBarrier = "opt-barrier",
        Pad = "pad",
        Parameter = "parameter",
        Reduce = "reduce",
        ReduceScatter = "reduce-scatter",
        ReplicaId = "replica-id",
        Reshape = "reshape",
        Reverse = "reverse",
        RngBitGenerator = "rng-bit-generator",
        Scatter = "scatter",
        Select = "select",
        Slice = "slice",
        Transpose = "transpose",
        Tuple = "tuple",
    }
}

/// Whether an opcode computes element by element: arithmetic and functions of one or two operands.
pub fn is_elementwise(opcode: &str) -> bool {
    UnaryOp::parse(opcode).is_some() || BinaryOp::parse(opcode).is_some()
}

/// How a reduction, collective or scatter combines two values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ReduceKind {
    /// Sum.
    Add,
    /// Larger of two.
    Max,
    /// Smaller of two.
    Min,
    /// Bitwise or logical and.
    And,
    /// Bitwise or logical or.
    Or,
}

impl ReduceKind {
    /// Every kind.
    pub const ALL: &[ReduceKind] =
        &[ReduceKind::Add, ReduceKind::Max, ReduceKind::Min, ReduceKind::And, ReduceKind::Or];

    /// The op on two values.
    pub fn op(self) -> BinaryOp {
        match self {
            ReduceKind::Add => BinaryOp::Add,
            ReduceKind::Max => BinaryOp::Maximum,
            ReduceKind::Min => BinaryOp::Minimum,
            ReduceKind::And => BinaryOp::And,
            ReduceKind::Or => BinaryOp::Or,
        }
    }
}

/// Generator of `rng-bit-generator`; the values are those of the schema.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RngAlgorithm {
    /// The backend's choice.
    Default = 0,
    /// Threefry 2x32; its state is `u64[2]`.
    ThreeFry = 1,
    /// Philox 4x32; its state is `u64[2]` or `u64[3]`.
    Philox = 2,
}

impl RngAlgorithm {
    /// The algorithm with this number in the schema.
    pub fn from_number(number: i32) -> Option<Self> {
        [RngAlgorithm::Default, RngAlgorithm::ThreeFry, RngAlgorithm::Philox]
            .get(usize::try_from(number).ok()?)
            .copied()
    }

    /// The name in HLO text.
    pub fn name(self) -> &'static str {
        match self {
            RngAlgorithm::Default => "rng_default",
            RngAlgorithm::ThreeFry => "rng_three_fry",
            RngAlgorithm::Philox => "rng_philox",
        }
    }
}
