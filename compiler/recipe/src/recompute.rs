//! Recomputation: the activations that backwards recompute.

use crate::schema::{Field, Form, Item, Kind};
use crate::{table, words};
use halite_support::units;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::borrow::Cow;
use std::fmt;

words! {
    /// A policy of recomputation, by its usual name.
    pub enum RecomputePolicy {
        /// The core of attention, from queries, keys and values to the result: its probabilities are not kept.
        Attention = "attention",
        /// Activation functions and what they multiply, as silu(gate) * up.
        Activation = "activation",
        /// All but the results of matmuls.
        Dots = "dots",
        /// All of a function that the model calls several times: what it is called with is kept.
        Block = "block",
        /// Nothing: what the backward reads is kept.
        None = "none",
    }
}

/// An entry of a recipe's `recompute`: the values that a backward may recompute from saved ones, instead of saving them. Entries add
/// up. Chains of element-wise ops and movements may always be recomputed, except with `"none"`.
///
/// In TOML `recompute = ["attention", { scope = "model.layers.0.*" }, { op = "exponential" }, { budget = "9 GiB" }]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Recompute {
    /// The values of a policy.
    Policy(RecomputePolicy),
    /// The values that patterns match, or no more than a budget asks for.
    Where(RecomputeWhere),
}

table! {
    /// The values that may be recomputed, by op and scope, where all patterns that are given match; or a budget, which says how many
    /// are. In patterns `*` stands for any text.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct RecomputeWhere {
        /// Pattern over names of ops.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub op: Option<String> = None,
        /// Pattern over scopes such as `model.layers.0.mlp`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub scope: Option<String> = None,
        /// Upper bound on saved activations; only what is needed to meet it is recomputed: of what the other entries allow, or of
        /// everything where there are no others.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub budget: Option<ByteSize> = None,
    }
}

impl Item for Recompute {
    const LIST: Kind = Kind::WordsOrTables(RecomputePolicy::WORDS, Cow::Borrowed(RecomputeWhere::KEYS));
    const MEANINGS: &'static [&'static str] = RecomputePolicy::MEANINGS;
}

/// A number of bytes, written with its unit: `"9 GiB"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ByteSize(pub u64);

impl Field for ByteSize {
    const KIND: Kind =
        Kind::Form(Form { expected: "a size such as \"9 GiB\"", is_one: |text| units::parse_bytes(text).is_some() });
}

impl fmt::Display for ByteSize {
    /// In the largest unit of which it is a whole number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = units::whole_bytes(self.0);
        write!(f, "{number} {unit}")
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        units::parse_bytes(&text)
            .map(Self)
            .ok_or_else(|| D::Error::custom(format!("`{text}` is no size such as `9 GiB`")))
    }
}
