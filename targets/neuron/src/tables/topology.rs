//! Engines, links, fixed costs and prices, from which the time of a program follows.

use crate::Generation;
use halite_target::Provenance;
use halite_target::estimate::time::{Efficiency, Price};
use serde::{Deserialize, Serialize};

/// Rates of one physical core, and what joins it to others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// The targets that this applies to.
    pub targets: Vec<Generation>,
    /// The instance, where it is not that of the table of hardware.
    #[serde(default)]
    pub instance: Option<String>,
    /// Elements that arithmetic outside of products makes in a second.
    pub elements: f64,
    /// Seconds that an execution with collectives takes beside its work.
    pub launch: f64,
    /// Links to other cores, those to the nearest first.
    pub links: Vec<CoreLink>,
    /// The shares of the rates that programs reach.
    pub efficiency: Efficiency,
    /// Prices of the instance.
    pub prices: Vec<Price>,
    /// The source of the rates.
    pub provenance: Provenance,
}

/// Links of one kind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreLink {
    /// The unit that they join.
    pub name: String,
    /// How many physical cores they join; 0 for all.
    pub cores: u32,
    /// Bytes that one physical core sends over them in a second, while all others do.
    pub bandwidth: f64,
    /// Seconds that a collective takes on them, however small it is.
    pub latency: f64,
    /// The source of these numbers.
    pub provenance: Provenance,
}
