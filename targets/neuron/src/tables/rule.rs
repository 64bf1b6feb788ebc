//! Rules about HLO that a target refuses.

use super::{ElementUse, VersionRange};
use crate::Generation;
use halite_target::Provenance;
use serde::{Deserialize, Serialize};

/// A rule about HLO for a target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name in words and dashes.
    pub id: String,
    /// The opcodes it is about; `*` for every instruction, `module` for the module as a whole.
    pub opcodes: Vec<String>,
    /// The condition under which an instruction breaks it.
    pub breaks: Condition,
    /// The targets that have it.
    pub targets: Vec<Generation>,
    /// The versions of the compiler that have it.
    #[serde(default)]
    pub compiler: VersionRange,
    /// Its level.
    pub level: Level,
    /// The consequence on the target, in a sentence without capital and full stop.
    pub consequence: String,
    /// The remedy, likewise.
    pub remedy: String,
    /// The compiler's code for it, without `NCC_`.
    #[serde(default)]
    pub code: Option<String>,
    /// Whether a recipe may allow it (`neuron.allow`).
    #[serde(default)]
    pub waivable: bool,
    /// The source of the rule.
    pub provenance: Provenance,
}

/// Opcodes that a target is known to take, in whatever form no rule refuses.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakenOpcodes {
    /// The opcodes as HLO names them.
    pub opcodes: Vec<String>,
    /// The targets that take them.
    pub targets: Vec<Generation>,
    /// The source of this.
    pub provenance: Provenance,
}

/// The level of a rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It may work.
    Warning,
    /// It does not compile, fails at run time, or computes something else.
    Error,
}

impl Level {
    /// The word for people.
    pub fn name(self) -> &'static str {
        match self {
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// A condition under which an instruction breaks a rule. Element types and opcodes are named as in HLO.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Condition {
    /// Always.
    Always,
    /// Neither the table of taken opcodes nor a rule names its opcode.
    UnlistedOpcode,
    /// The table of element types says this of the result's.
    ElementUse(ElementUse),
    /// The first operand has one of these element types.
    ElementType(Vec<String>),
    /// A dimension has no static size.
    DynamicDimension,
    /// It has more operands, less initial values, than this.
    Operands {
        /// How many it may have.
        at_most: usize,
    },
    /// The computation it calls is not one of these opcodes on its two parameters; `assign` gives the second of them.
    Combiner {
        /// Those that are taken.
        taken: Vec<String>,
        /// The element types that it is about.
        #[serde(default)]
        of: Numbers,
    },
    /// Its initial value is not a constant.
    VariableInit,
    /// The computation it calls does not end in one of these comparisons.
    Comparator {
        /// Directions that are taken.
        taken: Vec<String>,
    },
    /// A position is not proven to lie inside.
    UnprovenIndex,
    /// It walks inside a slice along a dimension that its indices address.
    IndexedWindow,
    /// It computes on integers, and the values are not proven to stay below 2^24 in magnitude.
    UnprovenInteger {
        /// The element types of the operand that it is about; all integers when left out.
        #[serde(default)]
        of: Vec<String>,
    },
    /// Its first operand has one of these element types, and `--implicit-integer-downcast` does not name the op.
    UnnamedDowncast {
        /// The element types.
        of: Vec<String>,
    },
    /// It divides integers, and the divisor is not proven to be a power of two.
    InexactDivision,
    /// A 64-bit constant does not fit 32 bits.
    WideConstant,
    /// The number of trips does not follow from constants.
    UnknownTripCount,
    /// Its window has this form.
    Window(WindowForm),
    /// It draws by an algorithm other than the default one.
    Algorithm,
    /// It calls a kernel that the target does not have.
    UnknownKernel,
    /// It calls a kernel that the documentation does not list.
    UnlistedKernel,
    /// It calls a kernel otherwise than its schema says.
    KernelSchema,
    /// An operand is a tuple.
    TupleOperand,
    /// No groups of ranks are written.
    ImplicitGroups,
    /// A rank is in no group or in two, or groups differ in size.
    GroupRanks,
    /// A group has a size that the target's hardware does not take.
    GroupSize,
    /// A group has other cores on one instance than on another.
    GroupPlacement,
    /// Groups stand in the newer of the two fields.
    GroupField,
    /// It carries a channel, or numbers ranks by device.
    Channel,
    /// It moves more bytes than the limits of the target state.
    GatheredBytes,
    /// There are more different lists of groups than the limits of the target state.
    GroupLists,
    /// Its pairs form no rings.
    OpenRing,
    /// A parameter or result of the entry is not row-major.
    Layout,
    /// A result of the entry has one of these element types.
    ResultType(Vec<String>),
    /// A parameter of the entry is read by nothing.
    UnusedParameter,
    /// A result of the entry is a parameter itself.
    Passthrough,
    /// A parameter is read after the result that takes its buffer is computed.
    AliasedRead,
    /// A computation stands after one that calls it, the entry is not last, or ids are not unique.
    Order,
}

/// Kinds of element types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbers {
    /// All.
    #[default]
    Any,
    /// Floats.
    Floats,
    /// Integers and truth values.
    Integers,
}

/// Forms of the window of a convolution or of a reduction over windows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowForm {
    /// The operand is dilated.
    DilatedBase,
    /// The window is dilated.
    DilatedWindow,
    /// Both are.
    DilatedBoth,
    /// The operand is dilated, and the window moves by more than one.
    StridedDilation,
}
