//! The bytes that a collective sends over each kind of link.
//!
//! A collective is done by link, the nearest first: a sum of `B` bytes over 4 ranks of an instance on 8 instances is scattered over the 4
//! (each rank sends `3/4 B`), then each quarter over the 8 (`7/8` of `B/4`), and gathered back. This is the least that ring, mesh
//! and hierarchical algorithms send (AWS Neuron SDK, about collectives; the same as NCCL's hierarchical algorithms).

use super::Machine;
use halite_bundle::work::{CollectiveKind, Collectives};

/// The bytes of one rank over one kind of link for a collective.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sent {
    /// The position of the link in [`Machine::links`].
    pub link: usize,
    /// Bytes that the rank sends.
    pub bytes: f64,
    /// Seconds that this takes.
    pub seconds: f64,
}

/// The bytes that one rank sends for one collective, over each kind of link that it crosses.
pub fn sent(collective: &Collectives, machine: &Machine) -> Vec<Sent> {
    let (all, whole) = (collective.ranks() as f64, collective.bytes as f64);
    let mut before = 1.0;
    let mut sent = Vec::new();
    for (at, link) in machine.links.iter().enumerate() {
        let within = within(&collective.group, link.ranks) as f64;
        if within <= before {
            continue;
        }
        let ratio = within / before;
        let phase = whole / before * (ratio - 1.0) / ratio;
        let (bytes, rounds) = match collective.kind {
            CollectiveKind::AllGather | CollectiveKind::ReduceScatter => (phase, 1.0),
            CollectiveKind::AllReduce => (2.0 * phase, 2.0),
            CollectiveKind::AllToAll => (whole * (within - before) / all, 1.0),
            CollectiveKind::Permute => (whole, 1.0),
        };
        let rate = link.bandwidth * machine.efficiency.link(at);
        sent.push(Sent { link: at, bytes, seconds: bytes / rate + rounds * link.latency });
        before = within;
    }
    sent
}

/// How many ranks of a group are among the first `ranks`, where the group begins with rank 0; all where `ranks` is 0.
fn within(group: &[(u64, u64)], ranks: u64) -> u64 {
    let own = |&(count, distance): &(u64, u64)| match ranks {
        0 => count,
        ranks => count.min(ranks.div_ceil(distance.max(1))).max(1),
    };
    group.iter().map(own).fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::testing::machine;

    fn bytes(kind: CollectiveKind, group: &[(u64, u64)]) -> Vec<(usize, f64)> {
        let collective = Collectives { kind, bytes: 960, group: group.to_vec(), count: 1 };
        sent(&collective, &machine()).into_iter().map(|sent| (sent.link, sent.bytes)).collect()
    }

    /// Chips of 2 ranks, instances of 8.
    #[test]
    fn each_link_takes_what_the_nearer_ones_leave() {
        let gather = CollectiveKind::AllGather;
        assert_eq!(bytes(gather, &[(2, 1)]), [(0, 480.0)]);
        assert_eq!(bytes(gather, &[(8, 1)]), [(0, 480.0), (1, 360.0)]);
        assert_eq!(bytes(gather, &[(4, 8)]), [(2, 720.0)]);
        assert_eq!(bytes(gather, &[(16, 2)]), [(1, 720.0), (2, 180.0)]);
        assert_eq!(bytes(CollectiveKind::AllReduce, &[(8, 1)]), [(0, 960.0), (1, 720.0)]);
        assert_eq!(bytes(CollectiveKind::AllToAll, &[(8, 1)]), [(0, 120.0), (1, 720.0)]);
        assert_eq!(bytes(CollectiveKind::Permute, &[(2, 8)]), [(2, 960.0)]);
        assert_eq!(bytes(gather, &[(1, 1)]), []);
    }

    /// All that a rank sends to gather over any links is the whole less its own part.
    #[test]
    fn links_together_send_what_one_ring_does() {
        for group in [vec![(8, 1)], vec![(16, 1)], vec![(4, 8)], vec![(2, 16), (4, 1)], vec![(32, 2)]] {
            let ranks: u64 = group.iter().map(|step| step.0).product();
            let all: f64 = bytes(CollectiveKind::ReduceScatter, &group).iter().map(|sent| sent.1).sum();
            assert!((all - 960.0 * (ranks - 1) as f64 / ranks as f64).abs() < 1e-9, "{group:?}: {all}");
        }
    }
}
