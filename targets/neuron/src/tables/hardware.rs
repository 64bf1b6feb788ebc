//! The hardware of a target and what fits on it.

use super::{CompilerVersion, VersionRange};
use crate::Generation;
use halite_target::Provenance;
use serde::{Deserialize, Serialize};

/// An instance type and its cores.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// The generation that the cores are of.
    pub target: Generation,
    /// The largest instance type.
    pub instance: String,
    /// Whether the row is of a part of an instance, since no document says what is in a whole one.
    #[serde(default)]
    pub is_part: bool,
    /// Adapters of the Elastic Fabric Adapter, over which instances talk.
    #[serde(default)]
    pub efa: u32,
    /// Whether the rows of this target were never used by a training that is public.
    pub untested: bool,
    /// Chips of the instance.
    pub chips: u32,
    /// Physical cores of the instance.
    pub cores: u32,
    /// How many physical cores one logical core may join (`--logical-nc-config`); the first is the default.
    pub logical_core_sizes: Vec<u32>,
    /// Device memory of one physical core, in bytes.
    pub core_memory: u64,
    /// Memory of the host, in bytes; left out where unknown.
    #[serde(default)]
    pub host_memory: Option<u64>,
    /// Bandwidth of device memory for one physical core, in bytes per second.
    pub core_bandwidth: f64,
    /// On-chip memory of one physical core, in bytes: state buffer (SBUF), then accumulators (PSUM).
    pub on_chip: [u64; 2],
    /// Peak rates of one physical core.
    pub peaks: Vec<Peak>,
    /// Sizes of groups that collectives take.
    pub groups: CoreGroups,
    /// The source of these figures.
    pub provenance: Provenance,
}

impl Hardware {
    /// The instance type, where the row is of a whole one.
    pub fn instance_type(&self) -> Option<&str> {
        (!self.is_part).then_some(self.instance.as_str())
    }
}

/// The peak rate of matrix products of one physical core.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peak {
    /// The element type of the operands, as HLO names it.
    pub dtype: String,
    /// Operations per second.
    pub flops: f64,
}

/// Sizes of groups of logical cores that collectives take.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreGroups {
    /// Sizes within an instance.
    pub sizes: Vec<u32>,
    /// Sizes over instances are multiples of this.
    pub multiple: u32,
    /// Sizes that are taken of ranks at a distance alone, with that distance.
    #[serde(default)]
    pub strided: Vec<StridedGroup>,
    /// The source of this.
    pub provenance: Provenance,
}

/// A group of logical cores at a distance from one another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StridedGroup {
    /// The number of ranks.
    pub size: u32,
    /// The distance from one rank to the next.
    pub stride: u32,
    /// The source of this.
    pub provenance: Provenance,
}

/// A row on how a target takes an element type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElementType {
    /// The name in HLO.
    pub dtype: String,
    /// The targets that this applies to.
    pub targets: Vec<Generation>,
    /// The versions of the compiler that this applies to.
    #[serde(default)]
    pub compiler: VersionRange,
    /// Whether and how they take it.
    pub taken: ElementUse,
    /// The consequence where it is not taken, or a caveat; a sentence without a capital.
    #[serde(default)]
    pub note: String,
    /// The compiler's code where it is not taken, without `NCC_`.
    #[serde(default)]
    pub code: Option<String>,
    /// The source of this.
    pub provenance: Provenance,
}

/// The support of a target for an element type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElementUse {
    /// As it is.
    Native,
    /// By some operations only.
    Partial,
    /// Cut to its lower 32 bits.
    Truncated,
    /// Not at all.
    Refused,
}

/// Limits of one compiled module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The targets of which this is said.
    pub targets: Vec<Generation>,
    /// Instructions of the machine that the compiler accepts in one module.
    pub instructions: u64,
    /// Instructions to which a flag of the compiler is known to have raised that.
    pub raised_instructions: u64,
    /// Bytes of the result of one all-gather or operand of one reduce-scatter that are known to work.
    pub gathered_bytes: u64,
    /// The number of different lists of groups of ranks that one program may have, by the version of the compiler that comes with the
    /// runtime.
    pub group_lists: Vec<GroupLists>,
    /// Bytes of device memory that a loaded model takes on each core beside its buffers.
    pub model_overhead: u64,
    /// The source of these figures.
    pub provenance: Provenance,
}

impl Limits {
    /// The number of different lists of groups that one program may have under a version of the compiler.
    pub fn group_lists(&self, version: &CompilerVersion) -> Option<usize> {
        self.group_lists.iter().find(|row| row.compiler.contains(version)).map(|row| row.count)
    }
}

/// The number of different lists of groups that a program may have.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupLists {
    /// How many.
    pub count: usize,
    /// The versions of the compiler that come with a runtime of which this is said.
    #[serde(default)]
    pub compiler: VersionRange,
}
