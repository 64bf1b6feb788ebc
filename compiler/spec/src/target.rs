//! What is known of the targets: hardware, element types, rules, kernels, compiler. The values are data files with the source
//! of each fact; see the crate `halite-target`.

mod compiler;
mod cost;
mod environment;
mod forms;
mod hardware;
mod kernel;
mod rule;

pub use compiler::{CompilerError, CompilerFlag, CompilerVersion, FlagDefault, FlagGiver, VersionRange};
pub use cost::InstructionCosts;
pub use environment::{ReservedVariables, Setter, Variable, VariableValues};
pub use forms::Forms;
pub use hardware::{CoreGroups, ElementType, ElementUse, Hardware, Limits, Peak};
pub use kernel::{KernelConfig, KernelResult, KernelSchema};
pub use rule::{Condition, Level, Numbers, Rule, TakenOpcodes, WindowForm};

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the HLO is for.
///
/// For Neuron the HLO calls kernels of the Neuron compiler, and the bundle holds the HLO of their twins, by which any XLA
/// runs the same program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// CPU XLA.
    #[default]
    Cpu,
    /// The first generation of Trainium.
    Trn1,
    /// The same with twice the network between instances.
    Trn1n,
    /// The second generation of Trainium.
    Trn2,
    /// The third generation of Trainium.
    Trn3,
    /// The second generation of Inferentia, which has the cores of the first Trainium.
    Inf2,
}

impl Target {
    /// All targets.
    pub const ALL: [Target; 6] = [Target::Cpu, Target::Trn1, Target::Trn1n, Target::Trn2, Target::Trn3, Target::Inf2];

    /// The name in recipes and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Cpu => "cpu",
            Target::Trn1 => "trn1",
            Target::Trn1n => "trn1n",
            Target::Trn2 => "trn2",
            Target::Trn3 => "trn3",
            Target::Inf2 => "inf2",
        }
    }

    /// Whether the HLO is compiled by `neuronx-cc`.
    pub fn is_neuron(self) -> bool {
        self != Target::Cpu
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where a fact comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Provenance {
    /// The document, or the public project and file.
    pub source: String,
    /// When it was read there, `YYYY-MM`.
    pub read: String,
    /// How much it is worth.
    pub basis: Basis,
}

/// How much the source of a fact is worth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Our conclusion from other facts.
    Inferred,
    /// One unofficial source.
    SingleSource,
    /// Code or reports of public projects that ran it.
    Observed,
    /// The vendor's documentation.
    Documented,
}

impl Basis {
    /// The words for people.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Inferred => "inferred",
            Basis::SingleSource => "single source",
            Basis::Observed => "observed",
            Basis::Documented => "documented",
        }
    }
}
