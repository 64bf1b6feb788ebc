//! The opcodes of our set: one table with a row each, from which all else that is said of opcodes in general is made.

#[macro_use]
mod rows;

use crate::takes::Takes;
use halite_tensor::DType;
use std::fmt;

/// The table. It gives its rows to a macro, which takes the columns that it wants.
#[rustfmt::skip]
macro_rules! opcodes {
    ($take:ident) => {
        $take! {
            // Element by element: the name in HLO, that in StableHLO, the method of the builder with the elements it takes (and gives,
            // if others), the work for one element.
            unary {
                Abs                 = "abs",                   "stablehlo.abs",                   abs(Signed),                  Simple;
                Cbrt                = "cbrt",                  "stablehlo.cbrt",                  cbrt(Float),                  Costly;
                Ceil                = "ceil",                  "stablehlo.ceil",                  ceil(Float),                  Simple;
                Cosine              = "cosine",                "stablehlo.cosine",                cosine(Float),                Costly;
                CountLeadingZeros   = "count-leading-zeros",   "stablehlo.count_leading_zeros",   count_leading_zeros(Int),     Simple;
                // StableHLO has no `erf`; that of CHLO, which JAX writes, XLA reads as its own.
                Erf                 = "erf",                   "chlo.erf",                        erf(Float),                   Costly;
                Exponential         = "exponential",           "stablehlo.exponential",           exponential(Float),           Costly;
                ExponentialMinusOne = "exponential-minus-one", "stablehlo.exponential_minus_one", exponential_minus_one(Float), Costly;
                Floor               = "floor",                 "stablehlo.floor",                 floor(Float),                 Simple;
                IsFinite            = "is-finite",             "stablehlo.is_finite",             is_finite(Float) -> Pred,     Simple;
                Log                 = "log",                   "stablehlo.log",                   log(Float),                   Costly;
                LogPlusOne          = "log-plus-one",          "stablehlo.log_plus_one",          log_plus_one(Float),          Costly;
                Logistic            = "logistic",              "stablehlo.logistic",              logistic(Float),              Costly;
                Negate              = "negate",                "stablehlo.negate",                negate(Number),               Simple;
                Not                 = "not",                   "stablehlo.not",                   not(Logic),                   Simple;
                PopulationCount     = "popcnt",                "stablehlo.popcnt",                popcnt(Int),                  Simple;
                RoundNearestAfz     = "round-nearest-afz",     "stablehlo.round_nearest_afz",     round_nearest_afz(Float),     Simple;
                RoundNearestEven    = "round-nearest-even",    "stablehlo.round_nearest_even",    round_nearest_even(Float),    Simple;
                Rsqrt               = "rsqrt",                 "stablehlo.rsqrt",                 rsqrt(Float),                 Costly;
                Sign                = "sign",                  "stablehlo.sign",                  sign(Signed),                 Simple;
                Sine                = "sine",                  "stablehlo.sine",                  sine(Float),                  Costly;
                Sqrt                = "sqrt",                  "stablehlo.sqrt",                  sqrt(Float),                  Costly;
                Tan                 = "tan",                   "stablehlo.tan",                   tan(Float),                   Costly;
                Tanh                = "tanh",                  "stablehlo.tanh",                  tanh(Float),                  Costly;
            }
            binary {
                Add                  = "add",                    "stablehlo.add",                    add(Any),                    Simple;
                And                  = "and",                    "stablehlo.and",                    and(Logic),                  Simple;
                Atan2                = "atan2",                  "stablehlo.atan2",                  atan2(Float),                Costly;
                Divide               = "divide",                 "stablehlo.divide",                 divide(Number),              Costly;
                Maximum              = "maximum",                "stablehlo.maximum",                maximum(Any),                Simple;
                Minimum              = "minimum",                "stablehlo.minimum",                minimum(Any),                Simple;
                Multiply             = "multiply",               "stablehlo.multiply",               multiply(Any),               Simple;
                Or                   = "or",                     "stablehlo.or",                     or(Logic),                   Simple;
                Power                = "power",                  "stablehlo.power",                  power(Number),               Costly;
                Remainder            = "remainder",              "stablehlo.remainder",              remainder(Number),           Costly;
                ShiftLeft            = "shift-left",             "stablehlo.shift_left",             shift_left(Int),             Simple;
                ShiftRightArithmetic = "shift-right-arithmetic", "stablehlo.shift_right_arithmetic", shift_right_arithmetic(Int), Simple;
                ShiftRightLogical    = "shift-right-logical",    "stablehlo.shift_right_logical",    shift_right_logical(Int),    Simple;
                Subtract             = "subtract",               "stablehlo.subtract",               subtract(Number),            Simple;
                Xor                  = "xor",                    "stablehlo.xor",                    xor(Logic),                  Simple;
            }
            // The name in HLO, that in StableHLO, the computations that are called, the function in `check/rules.rs` that infers the type.
            other {
                AllGather           = "all-gather",           Some("stablehlo.all_gather"),           Nothing,  all_gather;
                AllReduce           = "all-reduce",           Some("stablehlo.all_reduce"),           Combiner, all_reduce;
                AllToAll            = "all-to-all",           Some("stablehlo.all_to_all"),           Nothing,  all_to_all;
                BitcastConvert      = "bitcast-convert",      Some("stablehlo.bitcast_convert"),      Nothing,  bitcast_convert;
                Broadcast           = "broadcast",            Some("stablehlo.broadcast_in_dim"),     Nothing,  broadcast;
                Call                = "call",                 Some("func.call"),                      Function, call;
                Clamp               = "clamp",                Some("stablehlo.clamp"),                Nothing,  clamp;
                CollectivePermute   = "collective-permute",   Some("stablehlo.collective_permute"),   Nothing,  collective_permute;
                Compare             = "compare",              Some("stablehlo.compare"),              Nothing,  compare;
                Concatenate         = "concatenate",          Some("stablehlo.concatenate"),          Nothing,  concatenate;
                Constant            = "constant",             Some("stablehlo.constant"),             Nothing,  constant;
                Convert             = "convert",              Some("stablehlo.convert"),              Nothing,  convert;
                Convolution         = "convolution",          Some("stablehlo.convolution"),          Nothing,  convolution;
                Copy                = "copy",                 None,                                   Nothing,  same;
                CustomCall          = "custom-call",          Some("stablehlo.custom_call"),          Anything, custom_call;
                Dot                 = "dot",                  Some("stablehlo.dot_general"),          Nothing,  dot;
                DynamicSlice        = "dynamic-slice",        Some("stablehlo.dynamic_slice"),        Nothing,  dynamic_slice;
                DynamicUpdateSlice  = "dynamic-update-slice", Some("stablehlo.dynamic_update_slice"), Nothing,  dynamic_update_slice;
                Gather              = "gather",               Some("stablehlo.gather"),               Nothing,  gather;
                GetTupleElement     = "get-tuple-element",    None,                                   Nothing,  get_tuple_element;
                Iota                = "iota",                 Some("stablehlo.iota"),                 Nothing,  iota;
                OptimizationBarrier = "opt-barrier",          Some("stablehlo.optimization_barrier"), Nothing,  same;
                Pad                 = "pad",                  Some("stablehlo.pad"),                  Nothing,  pad;
                Parameter           = "parameter",            None,                                   Nothing,  parameter;
                Reduce              = "reduce",               Some("stablehlo.reduce"),               Combiner, reduce;
                ReduceScatter       = "reduce-scatter",       Some("stablehlo.reduce_scatter"),       Combiner, reduce_scatter;
                ReduceWindow        = "reduce-window",        Some("stablehlo.reduce_window"),        Combiner, reduce_window;
                ReplicaId           = "replica-id",           Some("stablehlo.replica_id"),           Nothing,  replica_id;
                Reshape             = "reshape",              Some("stablehlo.reshape"),              Nothing,  reshape;
                Reverse             = "reverse",              Some("stablehlo.reverse"),              Nothing,  reverse;
                RngBitGenerator     = "rng-bit-generator",    Some("stablehlo.rng_bit_generator"),    Nothing,  rng_bit_generator;
                Scatter             = "scatter",              Some("stablehlo.scatter"),              Combiner, scatter;
                Select              = "select",               Some("stablehlo.select"),               Nothing,  select;
                SelectAndScatter    = "select-and-scatter",   Some("stablehlo.select_and_scatter"),   Selector, select_and_scatter;
                Slice               = "slice",                Some("stablehlo.slice"),                Nothing,  slice;
                Transpose           = "transpose",            Some("stablehlo.transpose"),            Nothing,  transpose;
                Tuple               = "tuple",                None,                                   Nothing,  tuple;
            }
        }
    };
}
pub(crate) use opcodes;

opcodes!(define);

/// A row of the table: the facts about an opcode.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name in HLO.
    pub name: &'static str,
    /// The operation in StableHLO; `None` where its values are written in another way.
    pub stablehlo: Option<&'static str>,
    /// The computations that it calls.
    pub calls: Calls,
}

/// The computations that an opcode calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calls {
    /// None.
    Nothing,
    /// One that combines two values.
    Combiner,
    /// One that selects between two values, and one that combines them.
    Selector,
    /// One that is run on the operands.
    Function,
    /// As many as it likes: they are the business of a kernel.
    Anything,
}

/// The cost of one element of an elementwise result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Arithmetic of single cycles.
    Simple,
    /// A division or a function.
    Costly,
}

impl Opcode {
    /// The name in HLO.
    pub fn name(self) -> &'static str {
        self.row().name
    }
}

/// The comparison that `compare` makes. Floats compare with NaN unequal to everything.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the HLO names say it")]
pub enum Comparison {
    Eq,
    Ne,
    Ge,
    Gt,
    Le,
    Lt,
}

impl Comparison {
    /// Every direction.
    pub const ALL: &[Comparison] =
        &[Comparison::Eq, Comparison::Ne, Comparison::Ge, Comparison::Gt, Comparison::Le, Comparison::Lt];

    /// The name in HLO.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::Eq => "EQ",
            Comparison::Ne => "NE",
            Comparison::Ge => "GE",
            Comparison::Gt => "GT",
            Comparison::Le => "LE",
            Comparison::Lt => "LT",
        }
    }

    /// The direction with this name in HLO.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|direction| direction.name() == name)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The operation by which a reduction, collective or scatter combines two values.
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
    /// Product.
    Multiply,
    /// Bitwise or logical exclusive or.
    Xor,
}

impl ReduceKind {
    /// Every kind.
    pub const ALL: &[ReduceKind] = &[
        ReduceKind::Add,
        ReduceKind::Max,
        ReduceKind::Min,
        ReduceKind::And,
        ReduceKind::Or,
        ReduceKind::Multiply,
        ReduceKind::Xor,
    ];

    /// The op on two values.
    pub fn op(self) -> BinaryOp {
        match self {
            ReduceKind::Add => BinaryOp::Add,
            ReduceKind::Max => BinaryOp::Maximum,
            ReduceKind::Min => BinaryOp::Minimum,
            ReduceKind::And => BinaryOp::And,
            ReduceKind::Or => BinaryOp::Or,
            ReduceKind::Multiply => BinaryOp::Multiply,
            ReduceKind::Xor => BinaryOp::Xor,
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
