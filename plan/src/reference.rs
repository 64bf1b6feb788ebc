//! Machines that Halite has no target for, which published figures are of: programs are priced on them to check the arithmetic.

use crate::table;
use halite_bundle::estimate::MemoryKind;
use halite_estimate::time::Machine;
use halite_estimate::{Analysis, Backend, Order, Provenance, analyze};
use halite_hlo::graph::Graph;
use halite_passes::RankSource;
use halite_recipe::{Form, TargetName};
use halite_support::Result;
use halite_target::{Target, Variant};
use serde::Deserialize;

/// A machine of which figures are published, and what is known of it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceMachine {
    /// A line for people.
    pub summary: String,
    /// The source of its rates, capacity and sizes; those of links, shares and prices are with them.
    pub provenance: Provenance,
    /// The machine.
    pub machine: Machine,
}

/// The reference machines of this build.
///
/// # Errors
/// A bug: the table is part of the build, and a test reads it.
pub fn reference_machines() -> Result<Vec<ReferenceMachine>> {
    table::rows(include_str!("../data/reference.toml"), "reference machines")
}

/// The reference machines as a target, a variant for each, so that a recipe can be compiled for them. It takes any sound module, and has no
/// limits. No session has it by itself, since nothing runs what is compiled for it.
#[derive(Clone, Debug)]
pub struct ReferenceTarget {
    machines: Vec<ReferenceMachine>,
}

/// A compiler that computes on narrow floats as they are, and keeps to the order in which passes write a program.
const BACKEND: Backend =
    Backend { order: Order::Program, widens: false, recomputes: false, keeps_calls: false, borrows_results: false };

impl ReferenceTarget {
    /// The target of this build's machines.
    ///
    /// # Errors
    /// As [`reference_machines`].
    pub fn new() -> Result<Self> {
        Ok(Self { machines: reference_machines()? })
    }

    /// The target of one machine, which somebody describes.
    pub fn of(machine: Machine, provenance: Provenance) -> Self {
        let summary = format!("`{}`, as a file describes it", machine.name);
        Self { machines: vec![ReferenceMachine { summary, provenance, machine }] }
    }
}

impl Target for ReferenceTarget {
    fn variants(&self) -> Vec<Variant> {
        self.machines.iter().map(|row| Variant::new(row.machine.name.as_str(), row.summary.as_str())).collect()
    }

    fn analyze(&self, hlo: &Graph, _: &TargetName, _: &[String], arguments: &[MemoryKind]) -> Result<Analysis> {
        analyze(hlo, halite_estimate::Question { backend: BACKEND, arguments, costs: None })
    }

    fn machines(&self, variant: &TargetName, _: &[String]) -> Vec<Machine> {
        let own = self.machines.iter().filter(|row| row.machine.name == variant.as_str());
        own.map(|row| row.machine.clone()).collect()
    }

    fn ranks(&self) -> Option<RankSource> {
        Some(RankSource::Instruction)
    }

    /// Two modules, since all micro-batches in one would hold the values of each.
    fn accumulate_form(&self) -> Form {
        Form::Two
    }

    fn has_estimates(&self) -> bool {
        true
    }
}
