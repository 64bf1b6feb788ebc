//! Steps on meshes: what ranks compute together is what one device computes, and what they send for it.

mod buckets;
mod bundles;
mod check_replicas;
mod hlat_layouts;
mod layouts;
mod lifted_replicas;
mod mesh_rounding;
mod node_counts;
mod order;
mod padded_vocabulary;
mod partition;
mod replica_witness;
mod replicas;
mod right_programs;
mod seeded_replicas;
mod state_layouts;
mod wire_bytes;
