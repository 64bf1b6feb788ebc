//! A machine for tests: chips of 2 ranks, instances of 8.

use super::{Efficiency, Instance, Link, Machine, Peak};
use crate::provenance::{Basis, Provenance};

/// Rates are round numbers that programs reach whole.
pub(super) fn machine() -> Machine {
    let provenance = Provenance { source: "a test".to_owned(), read: "2026-11".to_owned(), basis: Basis::Inferred };
    let link = |name: &str, ranks, bandwidth| Link {
        name: name.to_owned(),
        ranks,
        bandwidth,
        latency: 0.0,
        provenance: provenance.clone(),
    };
    Machine {
        name: "test".to_owned(),
        peaks: vec![Peak { dtype: "bf16".to_owned(), flops: 1e12 }, Peak { dtype: "f32".to_owned(), flops: 1e11 }],
        tile: [128, 128, 512],
        elements: 1e9,
        memory: 1e9,
        capacity: 1 << 34,
        links: vec![link("chip", 2, 1e9), link("instance", 8, 5e8), link("cluster", 0, 1e8)],
        launch: 1e-3,
        efficiency: Efficiency { products: 1.0, elements: 1.0, memory: 1.0, links: vec![1.0], provenance },
        instance: Instance { name: "test.8".to_owned(), ranks: 8, prices: Vec::new() },
    }
}
