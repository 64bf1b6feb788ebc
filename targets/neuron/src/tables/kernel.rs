//! Kernels of the Neuron compiler that HLO calls by name.

use super::{VersionRange, rows};
use crate::Generation;
use halite_target::Provenance;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Apart from the other tables: every session names kernels, and few ask for more.
static BUILTIN: LazyLock<Vec<KernelSchema>> =
    LazyLock::new(|| rows("kernels.toml", include_str!("../../data/kernels.toml")));

/// The interface of a kernel. Fields that are left out are not known.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelSchema {
    /// The target of the custom call.
    pub name: String,
    /// Whether the documentation lists the name among those that the compiler knows.
    pub listed: bool,
    /// The targets that have it.
    pub targets: Vec<Generation>,
    /// The versions of the compiler that have it.
    #[serde(default)]
    pub compiler: VersionRange,
    /// Its operands, in order, in words; with `...` behind the last, it may repeat.
    #[serde(default)]
    pub operands: Option<Vec<String>>,
    /// The element types that its first operand may have.
    #[serde(default)]
    pub element_types: Option<Vec<String>>,
    /// The type of its result.
    #[serde(default)]
    pub result: Option<KernelResult>,
    /// The format of its configuration.
    #[serde(default)]
    pub config: Option<KernelConfig>,
    /// A caveat, in words; a sentence without capital and full stop.
    #[serde(default)]
    pub note: String,
    /// The source of this.
    pub provenance: Provenance,
}

impl KernelSchema {
    /// All kernels of this build. The first call parses their table.
    pub fn builtin() -> &'static [Self] {
        &BUILTIN
    }

    /// The kernel of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        BUILTIN.iter().find(|row| row.name == name)
    }
}

/// The type that a kernel gives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelResult {
    /// That of its first operand.
    LikeFirst,
    /// The types of all operands: one as it is, several as a tuple.
    LikeOperands,
    /// `u32`, `s32` or `s64` positions, of the shape of its first operand without the dimension of the configuration.
    Positions,
    /// Values like its first operand with as many as the configuration says along the last dimension, and their
    /// positions.
    Top,
    /// A pair like its first and its third operand.
    GradientPair,
}

/// The format of a kernel's configuration, which is ASCII.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum KernelConfig {
    /// Nothing.
    Empty,
    /// A dimension of the first operand, in decimal.
    Dimension,
    /// A count in decimal.
    Count {
        /// The largest count that is taken.
        at_most: u64,
    },
    /// `key=value` pairs between commas or semicolons.
    Pairs,
    /// JSON, or JSON in base 64.
    Json,
}
