//! The targets of fuzzing.

use crate::judge::Verdict;
use crate::mutate::{Seeds, text, wire};
use crate::random::Random;
use crate::targets;
use std::path::Path;

/// Tries an input on a target. It may keep values that several inputs need.
pub(crate) type Try = Box<dyn FnMut(&[u8]) -> Verdict>;

/// A way into Halite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its part of all executions, of a thousand.
    pub(crate) share: u64,
    /// Inputs to start from.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// Makes an input.
    pub(crate) mutate: fn(&Seeds, &mut Random) -> Vec<u8>,
    /// Gets ready in a folder of its own, which is the current one.
    pub(crate) prepare: fn(&Path) -> Try,
    /// The most memory it may take, in MiB of addresses.
    pub(crate) memory: u64,
    /// Whether it needs the plugin of CPU XLA.
    pub(crate) plugin: bool,
}

/// A target whose inputs are texts.
pub(crate) const TEXT: Target = Target {
    name: "",
    share: 0,
    seeds: Vec::new,
    mutate: text::mutate,
    prepare: |_| Box::new(|_| Ok(false)),
    memory: 1024,
    plugin: false,
};

/// A target whose inputs are protobuf messages.
pub(crate) const WIRE: Target = Target { mutate: wire::mutate, ..TEXT };

/// All targets.
pub(crate) const ALL: [Target; 18] = [
    targets::model::TARGET,
    targets::recipe::TARGET,
    targets::config::TARGET,
    targets::ir::TARGET,
    targets::hlo::TARGET,
    targets::hlo_text::TARGET,
    targets::xla::TARGET,
    targets::manifest::TARGET,
    targets::safetensors::TARGET,
    targets::shards::TARGET,
    targets::parquet::TARGET,
    targets::tokenizer::TARGET,
    targets::checkpoint::TARGET,
    targets::stablehlo::TARGET,
    targets::mlir::TARGET,
    targets::arguments::TARGET,
    targets::render::TARGET,
    targets::rendezvous::TARGET,
];

/// The target of this name.
pub(crate) fn named(name: &str) -> Option<Target> {
    ALL.into_iter().find(|target| target.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_make_a_whole() {
        assert_eq!(ALL.iter().map(|target| target.share).sum::<u64>(), 1000);
    }

    /// A fault that every seed has stays in changed inputs, so that a target must take some of its seeds.
    #[test]
    fn every_target_takes_some_of_its_seeds() {
        for target in ALL.into_iter().filter(|target| !target.plugin && target.name != "arguments") {
            let folder = tempfile::tempdir().unwrap();
            let mut attempt = (target.prepare)(folder.path());
            let taken = (target.seeds)().iter().filter(|seed| attempt(seed) == Ok(true)).take(2).count();
            assert!(taken > 1, "{} takes {taken} seeds", target.name);
        }
    }

    #[test]
    fn every_target_has_seeds() {
        for target in ALL {
            let seeds = Seeds::new((target.seeds)());
            assert!(seeds.len() > 3, "{} has {} seeds", target.name, seeds.len());
        }
    }
}
