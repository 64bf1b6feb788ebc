//! A machine as the time model sees it: logical cores of an instance.

use crate::memory::logical_core;
use crate::{Generation, Tables};
use halite_target::estimate::time::{Instance, Link, Machine, Peak};

/// The machine of a generation with the logical cores that the flags of a manifest ask for; `None` where its topology is not known.
pub(crate) fn machine(generation: Generation, flags: &[String]) -> Option<Machine> {
    let tables = Tables::builtin();
    let (hardware, topology) = (tables.hardware(generation)?, tables.topology(generation)?);
    let joined = logical_core(generation, flags).max(1);
    let times = f64::from(joined);
    let link = |own: &crate::tables::CoreLink| Link {
        name: own.name.clone(),
        ranks: u64::from(own.cores / joined),
        bandwidth: own.bandwidth * times,
        latency: own.latency,
        provenance: own.provenance.clone(),
    };
    let peak = |own: &crate::tables::Peak| Peak { dtype: own.dtype.clone(), flops: own.flops * times };
    Some(Machine {
        name: generation.name().to_owned(),
        peaks: hardware.peaks.iter().map(peak).collect(),
        tile: tables.costs(generation)?.matmul,
        elements: topology.elements * times,
        memory: hardware.core_bandwidth * times,
        capacity: hardware.core_memory * u64::from(joined),
        links: topology.links.iter().map(link).collect(),
        launch: topology.launch,
        efficiency: topology.efficiency.clone(),
        instance: Instance {
            name: hardware.instance.clone(),
            ranks: u64::from(hardware.cores / joined),
            prices: topology.prices.clone(),
        },
    })
}
