//! A machine, as one rank sees it.

use crate::provenance::Provenance;
use serde::{Deserialize, Serialize};

/// A machine as one rank sees it: rates of the rank, and the links to others. Rates are those of documents; [`Efficiency`] says what of
/// them programs reach.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The name, such as that of a target.
    pub name: String,
    /// Peak rates of products.
    pub peaks: Vec<Peak>,
    /// The sizes that one pass of the matrix engine works on, which take its time whole: inner size, rows of the side that stays,
    /// columns of the side that moves.
    pub tile: [u64; 3],
    /// Elements that arithmetic outside of products makes in a second.
    pub elements: f64,
    /// Bytes of device memory that are read or written in a second.
    pub memory: f64,
    /// Bytes of device memory.
    pub capacity: u64,
    /// Links to other ranks, those to the nearest first. The last one reaches all.
    pub links: Vec<Link>,
    /// Seconds that an execution takes beside its work, on a group of ranks with collectives.
    pub launch: f64,
    /// The shares of these rates that programs reach.
    pub efficiency: Efficiency,
    /// The unit that is rented.
    pub instance: Instance,
}

impl Machine {
    /// The peak rate of products of a type in operations per second, by its name in HLO; of a type without a row the lowest of all.
    pub fn peak(&self, dtype: &str) -> f64 {
        let stated = self.peaks.iter().find(|peak| peak.dtype == dtype).map(|peak| peak.flops);
        stated.unwrap_or_else(|| self.peaks.iter().map(|peak| peak.flops).fold(f64::INFINITY, f64::min))
    }
}

impl Machine {
    /// The figure with which no time can be told, in words; `None` where all can be used.
    pub fn fault(&self) -> Option<String> {
        let Self { elements, memory, launch, efficiency, instance, .. } = self;
        let peaks = self.peaks.iter().map(|peak| (format!("the peak of `{}`", peak.dtype), peak.flops));
        let links = self.links.iter().map(|link| (format!("the bandwidth of link `{}`", link.name), link.bandwidth));
        let shares = [efficiency.products, efficiency.elements, efficiency.memory];
        let shares = shares.iter().chain(&efficiency.links).map(|share| ("a share in `efficiency`".to_owned(), *share));
        let rates = [("`elements`".to_owned(), *elements), ("`memory`".to_owned(), *memory)];
        let latencies = self.links.iter().map(|link| (format!("the latency of link `{}`", link.name), link.latency));
        let times = latencies.chain([("`launch`".to_owned(), *launch)]);
        let positive = peaks.chain(links).chain(shares).chain(rates);
        let bad_rate = positive.filter(|(_, value)| !(value.is_finite() && *value > 0.0)).map(|(of, _)| of).next();
        let bad_time = times.filter(|(_, value)| !(value.is_finite() && *value >= 0.0)).map(|(of, _)| of).next();
        let said = |of: String, expected: &str| format!("{of} is no {expected} number");
        let nothing = || match self {
            Self { peaks, .. } if peaks.is_empty() => Some("`peaks` has no row".to_owned()),
            Self { links, .. } if links.last().is_none_or(|link| link.ranks != 0) => {
                Some("the last of `links` does not reach all ranks, which `ranks = 0` says".to_owned())
            }
            Self { capacity: 0, .. } => Some("`capacity` is 0".to_owned()),
            Self { tile, .. } if tile.contains(&0) => Some("`tile` has a size of 0".to_owned()),
            _ if instance.ranks == 0 => Some("`instance` has no ranks".to_owned()),
            _ => None,
        };
        let bad = bad_rate.map(|of| said(of, "positive")).or(bad_time.map(|of| said(of, "non-negative")));
        bad.or_else(nothing)
    }
}

/// The peak rate of products of a type.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peak {
    /// The type of the operands, as HLO names it.
    pub dtype: String,
    /// Operations per second, two for each multiply-add.
    pub flops: f64,
}

/// Links of one kind, such as those within an instance.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The unit that they join: `chip`, `instance`, `cluster`.
    pub name: String,
    /// The ranks that they join, counted from a multiple of this number; 0 for all.
    pub ranks: u64,
    /// Bytes that one rank sends over them in a second, while all others do.
    pub bandwidth: f64,
    /// Seconds that a collective takes on them, however small it is.
    pub latency: f64,
    /// The source of these numbers.
    pub provenance: Provenance,
}

/// The shares of the rates of documents that programs reach, from 0 to 1.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Efficiency {
    /// Of the peak rate of products.
    pub products: f64,
    /// Of the elements in a second.
    pub elements: f64,
    /// Of the bandwidth of device memory.
    pub memory: f64,
    /// Of the bandwidth of links, by the order of [`Machine::links`]; the last one for those beyond.
    pub links: Vec<f64>,
    /// Where these are from.
    pub provenance: Provenance,
}

impl Efficiency {
    /// The share of the bandwidth of a link that is reached.
    pub fn link(&self, at: usize) -> f64 {
        self.links.get(at).or(self.links.last()).copied().unwrap_or(1.0)
    }
}

/// The unit that is rented: a number of ranks, at prices.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// Its name.
    pub name: String,
    /// Its ranks.
    pub ranks: u64,
    /// Its prices, by kind of contract.
    #[serde(default)]
    pub prices: Vec<Price>,
}

/// A price of an instance.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The kind of contract.
    pub kind: PriceKind,
    /// US dollars for an hour.
    pub dollars: f64,
    /// The source.
    pub provenance: Provenance,
}

/// A kind of contract for an instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriceKind {
    /// By the hour, whenever it is there.
    OnDemand,
    /// Reserved for some days ahead of time (Capacity Blocks).
    Block,
    /// Reserved for years.
    Reserved,
    /// Capacity that is left over, and can be taken back.
    Spot,
}

impl PriceKind {
    /// The words for people.
    pub fn name(self) -> &'static str {
        match self {
            PriceKind::OnDemand => "on demand",
            PriceKind::Block => "capacity block",
            PriceKind::Reserved => "reserved",
            PriceKind::Spot => "spot",
        }
    }
}
