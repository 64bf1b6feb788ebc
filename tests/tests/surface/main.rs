//! The surface of Halite: the public interface, extension from outside, the repository itself.

mod embedding;
mod extension;
mod front_doors;
mod growth;
mod hlo_hashes;
mod kit;
mod listing;
mod open_state;
mod own_role;
mod own_rule;
mod public_api;
mod repo;
mod same_memory;
mod sources;
mod spans;
mod spelled_model;
