//! What a target refuses in HLO.

use super::{Provenance, Target, VersionRange};
use serde::{Deserialize, Serialize};

/// A rule about HLO for a target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name in words and dashes.
    pub id: String,
    /// The opcodes it is about; `*` for every instruction, `module` for the module as a whole.
    pub opcodes: Vec<String>,
    /// When an instruction breaks it.
    pub breaks: Condition,
    /// The targets that have it.
    pub targets: Vec<Target>,
    /// The versions of the compiler that have it.
    #[serde(default)]
    pub compiler: VersionRange,
    /// How bad it is.
    pub level: Level,
    /// What happens on the target, in a sentence without capital and full stop.
    pub consequence: String,
    /// What to do, likewise.
    pub remedy: String,
    /// The compiler's code for it.
    #[serde(default)]
    pub code: Option<String>,
    /// Whether a recipe may allow it (`neuron.allow`).
    #[serde(default)]
    pub waivable: bool,
    /// Where it is known from.
    pub provenance: Provenance,
}

/// How bad it is to break a rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It may work.
    Warning,
    /// It does not compile, fails at run time, or computes something else.
    Error,
}

/// When an instruction breaks a rule. Element types and opcodes are named as in HLO.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Condition {
    /// Always.
    Always,
    /// An operand or the result has one of these element types.
    ElementType(Vec<String>),
    /// An operand or the result has an element type that the table of element types refuses for the target.
    RefusedElementType,
    /// It has more operands, less initial values, than this.
    Operands {
        /// The most.
        at_most: usize,
    },
    /// A dimension has no static size.
    DynamicDimension,
    /// A position is not proven to lie inside.
    UnprovenIndex,
    /// It computes on integers, and the values are not proven to stay below 2^24 in magnitude.
    UnprovenInteger,
    /// The number of trips does not follow from constants.
    UnknownTripCount,
    /// The computation it calls is not one of these opcodes on its two parameters.
    Combiner {
        /// Those that are taken.
        taken: Vec<String>,
    },
    /// The computation it calls combines integers or truth values.
    IntegerCombiner,
    /// It compares other than by order.
    Comparator,
    /// A parameter or result of the entry is not row-major.
    Layout,
    /// A parameter of the entry is read by nothing.
    UnusedParameter,
    /// A result of the entry is a parameter itself.
    Passthrough,
    /// No groups of ranks are written.
    ImplicitGroups,
    /// A group has a size that the target's hardware does not take, lacks ranks, or repeats one.
    GroupShape,
    /// It moves more bytes than the limits of the target state.
    GatheredBytes,
    /// It calls a kernel that the target does not have.
    UnknownKernel,
    /// It calls a kernel otherwise than its schema says.
    KernelSchema,
    /// An operand is a tuple.
    TupleOperand,
    /// It draws by an algorithm other than the default one.
    Algorithm,
    /// A constant does not fit 32 bits.
    WideConstant,
    /// A computation stands after one that calls it, the entry is not last, or ids are not unique.
    Order,
    /// A window is dilated, or moves over several operands.
    DilatedWindow,
    /// It dilates both sides, or strides over a dilated left side.
    DilatedConvolution,
}
