//! Tables of what is known of the targets. The facts are data files in `data/`, each row with its source, the month in which it
//! was read there and what that is worth; this crate parses them once.
//!
//! - `hardware.toml`: instances, cores, memory, rates, sizes of groups
//! - `elements.toml`: element types
//! - `limits.toml`: limits of one module
//! - `costs.toml`: what work costs in instructions
//! - `rules.toml`: what HLO may not hold
//! - `opcodes.toml`: opcodes that are known to be taken
//! - `kernels.toml`: kernels that HLO calls by name
//! - `compiler.toml`: versions, flags and error codes of `neuronx-cc`
//! - `environment.toml`: variables of the environment
//! - `reserved.toml`: variables that only whoever runs a program sets
//! - `forms.toml`: how what can be written in several ways is written

mod tables;

pub use tables::Tables;
