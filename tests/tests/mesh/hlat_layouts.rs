//! The layouts in which HLAT's models ran: legal on the hardware, with the memory that follows from who holds what.

#![allow(clippy::print_stdout, reason = "what was measured is part of the output of a test")]

use halite::Session;
use halite::compile::{CompileOptions, Compiled};
use halite_bundle::{Buffer, Manifest, ModuleRole};
use halite_tests::parallel::for_each;
use std::collections::HashSet;

/// A model in a layout: its sizes, what it needs and what is stated of it.
struct Case {
    preset: &'static str,
    hidden: u64,
    ffn: u64,
    layers: u64,
    /// Rows of the projections to keys and to values, each.
    kv: u64,
    tensor: u64,
    /// Ranks that share a row of these.
    copies: u64,
    zero: bool,
    settings: &'static [&'static str],
}

const VOCAB: u64 = 32000;

/// The 7B of the paper: `data` is 4 on one instance, 256 on 64 of them.
const SMALL: Case = Case {
    preset: "hlat-7b",
    hidden: 4096,
    ffn: 11008,
    layers: 32,
    kv: 4096,
    tensor: 8,
    copies: 1,
    zero: false,
    settings: &["recompute=[\"attention\", \"activation\"]"],
};

/// The 70B, in eight stages of 32 ranks.
const LARGE: Case = Case {
    preset: "hlat-70b",
    hidden: 8192,
    ffn: 28672,
    layers: 80,
    kv: 1024,
    tensor: 32,
    copies: 4,
    zero: true,
    settings: &[],
};

fn compile(case: &Case, target: &str, data: u64, more: &[&str]) -> Compiled {
    let mut session = Session::new();
    let settings = [format!("target={target}"), format!("parallel.data={data}")];
    let stated = case.settings.iter().chain(more).map(|&setting| setting.to_owned());
    let settings: Vec<String> = settings.into_iter().chain(stated).collect();
    let source = session.load(case.preset, &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    session.compile(&source, &CompileOptions::default()).unwrap_or_else(|errors| panic!("{settings:?}: {errors:?}"))
}

/// The layers of a stage, whether it has the embedding, and whether it has the head with the last norm.
type Held = (u64, bool, bool);

/// Elements that a rank of a stage holds: of matrices its share, of key and value projections that of as many ranks as do not have copies, all
/// of the norms.
fn elements(case: &Case, data: u64, (layers, first, last): Held) -> [u64; 2] {
    let &Case { hidden, ffn, kv, tensor, copies, .. } = case;
    let ends = u64::from(first) + u64::from(last);
    let shared = layers * (2 * hidden * hidden + 3 * hidden * ffn) + ends * VOCAB * hidden;
    let [matrices, keys, norms] =
        [shared / tensor, layers * 2 * kv * hidden * copies / tensor, (2 * layers + u64::from(last)) * hidden];
    let weights = matrices + keys + norms;
    [weights, if case.zero { weights / data } else { weights }]
}

fn check(case: &Case, target: &str, data: u64, precision: &str) {
    let compiled = compile(case, target, data, &[&format!("precision={precision}")]);
    let manifest = &compiled.bundle.manifest;
    let stages = manifest.num_stages();
    let ranks = case.tensor * data * stages as u64;
    assert_eq!(manifest.launch.as_ref().map(|launch| u64::from(launch.world_size)), Some(ranks));
    let mut layers = 0;
    for stage in 0..stages {
        let buffers = buffers(manifest, stage);
        let held = |is_weight: bool| -> u64 {
            let own = buffers.iter().filter(|buffer| buffer.is_weight() == is_weight);
            own.map(|buffer| buffer.local_shape().num_elements() as u64).sum()
        };
        let norms = buffers.iter().filter(|buffer| buffer.is_weight()).flat_map(|buffer| buffer.tensor_names());
        let own = norms.filter(|name| name.ends_with("input_layernorm.weight")).count() as u64;
        let [weights, state] = elements(case, data, (own, stage == 0, stage == stages - 1));
        assert_eq!((held(true), held(false)), (weights, 2 * state), "{} {target} {data} {stage}", case.preset);
        layers += own;
    }
    assert_eq!(layers, case.layers);
    for module in manifest.modules.iter().filter(|module| module.role != ModuleRole::FORWARD) {
        let estimate = module.estimate.as_ref().expect("Neuron has estimates");
        let fit = estimate.fit.expect("there is a limit");
        println!(
            "{} {target} tensor {} data {data} {precision} {}: {:.1} of {:.1} GiB, {}",
            case.preset,
            case.tensor,
            module.name,
            estimate.memory.total() as f64 / f64::from(1 << 30),
            fit.memory_limit as f64 / f64::from(1 << 30),
            fit.verdict().name()
        );
    }
}

#[test]
fn the_7b_of_hlat_is_legal_from_one_instance_to_64() {
    let cases = [("trn1", 4, "mixed"), ("trn1", 256, "mixed"), ("trn2", 4, "mixed"), ("trn1", 4, "bf16-sr")];
    for_each(&cases, |(target, data, precision)| check(&SMALL, target, *data, precision));
}

/// The tensors that a stage reads and that a checkpoint has.
fn buffers(manifest: &Manifest, stage: usize) -> Vec<&Buffer> {
    let own = manifest.modules.iter().filter(|module| module.stage == stage && module.role != ModuleRole::FORWARD);
    let read: HashSet<&str> = own.flat_map(|module| &module.inputs).map(|port| port.name.as_str()).collect();
    let is_held =
        |buffer: &&Buffer| buffer.is_saved() && !buffer.shape.is_empty() && read.contains(buffer.name.as_str());
    manifest.buffers.iter().filter(is_held).collect()
}

#[test]
fn the_70b_of_hlat_is_legal() {
    for_each(&[("trn1", 1), ("trn2", 8)], |(target, data)| check(&LARGE, target, *data, "mixed"));
}
