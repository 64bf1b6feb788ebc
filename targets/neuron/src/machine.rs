//! A machine as the time model sees it: logical cores of an instance.

use crate::memory::logical_core;
use crate::tables::Topology;
use crate::{Generation, Tables};
use halite_target::estimate::time::{Instance, Link, Machine, Peak};

/// The machines of a generation, one for each instance that has its cores, with the logical cores that the flags of a manifest ask for: the
/// usual instance first, none where its links are not known.
pub(crate) fn machines(generation: Generation, flags: &[String]) -> Vec<Machine> {
    Tables::builtin().topologies(generation).filter_map(|topology| machine(generation, topology, flags)).collect()
}

/// The machine of a row; `None` where other tables have none for the generation.
fn machine(generation: Generation, topology: &Topology, flags: &[String]) -> Option<Machine> {
    let tables = Tables::builtin();
    let hardware = tables.hardware(generation)?;
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
            name: topology.instance.as_ref().unwrap_or(&hardware.instance).clone(),
            ranks: u64::from(hardware.cores / joined),
            prices: topology.prices.clone(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(machine: &Machine) -> Vec<(&str, u64)> {
        machine.links.iter().map(|link| (link.name.as_str(), link.ranks)).collect()
    }

    /// Logical cores of two physical ones: 64 of an instance, 256 of an UltraServer, which is what the links of `trn2u.48xlarge` join.
    #[test]
    fn instances_with_the_same_cores_differ_by_links() {
        let all = machines(Generation::Trn2, &[]);
        let names: Vec<&str> = all.iter().map(|own| own.instance.name.as_str()).collect();
        assert_eq!(names, ["trn2.48xlarge", "trn2u.48xlarge"]);
        assert_eq!(links(&all[0]), [("chip", 4), ("instance", 64), ("cluster", 0)]);
        assert_eq!(links(&all[1]), [("chip", 4), ("instance", 64), ("UltraServer", 256), ("cluster", 0)]);
        assert!(
            all[1].links[2].bandwidth < all[1].links[1].bandwidth,
            "an instance is joined faster than an UltraServer"
        );
        assert_eq!((all[0].peaks.clone(), all[0].instance.ranks), (all[1].peaks.clone(), all[1].instance.ranks));
    }

    /// A chip is the unit of trn3, of which 144 are an UltraServer.
    #[test]
    fn trn3_has_servers_racks_and_ultraservers() {
        let own = &machines(Generation::Trn3, &[])[0];
        assert_eq!(links(own), [("server", 16), ("rack", 288), ("UltraServer", 576), ("cluster", 0)]);
        assert!(own.instance.prices.is_empty() && own.instance.ranks == 4);
    }

    #[test]
    fn shares_are_those_of_each_link() {
        for own in Generation::ALL.into_iter().flat_map(|generation| machines(generation, &[])) {
            assert_eq!(own.links.last().map(|link| link.ranks), Some(0), "{}", own.instance.name);
            assert_eq!(own.efficiency.links.len(), own.links.len(), "{}", own.instance.name);
        }
    }
}
