//! Bundles on the stand-in for libnrt: the library, and the step that compiles for it.

use halite_bundle::{Bundle, ModuleEntry, NEFFS, NeffRecord, Port, sha256};
use halite_hlo::graph::Graph;
use halite_hlo::proto::{AliasEntryProto, HloModuleProto};
use halite_hlo::{INPUT_NAMES, OUTPUT_NAMES};
use halite_runtime::{Signature, TensorSpec};
use halite_standin_nrt::{Named, StandInNeff};
use std::path::{Path, PathBuf};

/// The compiler that the records of its NEFFs name.
const COMPILER: &str = "the stand-in of Halite's tests";

/// The stand-in, which Cargo puts beside the tests as a library that they need.
///
/// # Panics
/// When it is not there.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a process knows its program");
    let name = format!("{}halite_standin_nrt{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = test.parent().expect("a program is in a folder").join(name);
    assert!(path.is_file(), "Cargo makes {}", path.display());
    path
}

/// Writes a NEFF for the stand-in and its record for each module of a bundle, below the folder of the bundle.
///
/// # Panics
/// When a module has no HLO that runs, or a file cannot be written.
pub fn compile(bundle: &Bundle, folder: &Path) {
    for entry in &bundle.manifest.modules {
        put(bundle, entry, folder, &neff(bundle, entry));
    }
}

/// Writes one NEFF and its record.
///
/// # Panics
/// When a file cannot be written.
pub fn put(bundle: &Bundle, entry: &ModuleEntry, folder: &Path, neff: &StandInNeff) {
    put_bytes(bundle, entry, folder, &neff.to_bytes());
}

/// Writes a file in the place of a NEFF, and the record that vouches for it.
///
/// # Panics
/// When a file cannot be written.
pub fn put_bytes(bundle: &Bundle, entry: &ModuleEntry, folder: &Path, bytes: &[u8]) {
    let folder = folder.join(NEFFS);
    let record = NeffRecord::new(&bundle.manifest, entry, COMPILER, &sha256(bytes));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    std::fs::write(folder.join(format!("{}.json", entry.name)), record.to_json()).expect("the record can be written");
    std::fs::write(folder.join(format!("{}.neff", entry.name)), bytes).expect("the NEFF can be written");
}

/// The stand-in's program for a module: its HLO with the decompositions of its kernels, since it has no kernels.
///
/// # Panics
/// When the module has no HLO that runs.
pub fn neff(bundle: &Bundle, entry: &ModuleEntry) -> StandInNeff {
    let hlo = bundle.runnable_hlo(entry).expect("decompositions stand in for kernels").into_owned();
    let (inputs, outputs) = names(&hlo);
    let named = |names: Vec<String>, ports: &[Port]| {
        assert_eq!(names.len(), ports.len(), "the HLO of `{}` names its tensors", entry.name);
        let bytes = |port: &Port| port.local_shape().num_bytes(port.dtype).expect("a tensor has a size");
        let one = |(name, port): (String, &Port)| Named { name, bytes: bytes(port), alias: port.alias };
        names.into_iter().zip(ports).map(one).collect()
    };
    StandInNeff {
        target: bundle.manifest.recipe.target.to_string(),
        cores: 1,
        ranks: u32::try_from(bundle.manifest.mesh.num_ranks()).expect("ranks are few"),
        inputs: named(inputs, &entry.inputs),
        outputs: named(outputs, &entry.outputs),
        hlo,
    }
}

/// The stand-in's program for HLO alone, as a compiler gets it: sizes and aliases are those that it states, and the number of ranks is
/// that of its collectives.
///
/// # Errors
/// When it is no HLO with names for its tensors.
pub fn of_hlo(hlo: &[u8], target: &str) -> Result<StandInNeff, String> {
    let module = halite_hlo::decode(hlo).map_err(|error| error.to_string())?;
    let signature = Signature::of_hlo(hlo).map_err(|error| error.to_string())?;
    let (inputs, outputs) = names(hlo);
    if (inputs.len(), outputs.len()) != (signature.inputs.len(), signature.outputs.len()) {
        return Err("the HLO does not name its tensors".to_owned());
    }
    let alias = |output: usize| {
        let entries = module.input_output_alias.iter().flat_map(|aliases| &aliases.entries);
        let of = |entry: &&AliasEntryProto| entry.output_shape_index.first().map_or(0, |&at| at) == output as i64;
        entries.into_iter().find(of).and_then(|entry| usize::try_from(entry.parameter_number).ok())
    };
    let named = |names: Vec<String>, specs: &[TensorSpec], alias: &dyn Fn(usize) -> Option<usize>| {
        let one =
            |(at, (name, spec)): (usize, (String, &TensorSpec))| Named { name, bytes: spec.size(), alias: alias(at) };
        names.into_iter().zip(specs).enumerate().map(one).collect()
    };
    Ok(StandInNeff {
        target: target.to_owned(),
        cores: 1,
        ranks: ranks(&module),
        inputs: named(inputs, &signature.inputs, &|_| None),
        outputs: named(outputs, &signature.outputs, &alias),
        hlo: hlo.to_vec(),
    })
}

/// One more than the largest rank that a collective names.
fn ranks(module: &HloModuleProto) -> u32 {
    let instructions = module.computations.iter().flat_map(|computation| &computation.instructions);
    let named = instructions.flat_map(|inst| {
        let groups = inst.replica_groups.iter().flat_map(|group| group.replica_ids.iter().copied());
        groups.chain(inst.source_target_pairs.iter().flat_map(|pair| [pair.source, pair.target]))
    });
    u32::try_from(named.max().unwrap_or(0) + 1).unwrap_or(1)
}

/// The names that HLO gives the tensors of its entry.
fn names(hlo: &[u8]) -> (Vec<String>, Vec<String>) {
    let graph = Graph::new(halite_hlo::decode(hlo).expect("HLO of a bundle decodes"));
    let entry = graph.entry().expect("HLO has an entry");
    let attribute = |at: usize, key: &str| graph.inst(at).frontend_attributes.as_deref()?.map.get(key).cloned();
    let mut inputs: Vec<_> =
        entry.range().filter_map(|at| Some((graph.inst(at).parameter_number, attribute(at, INPUT_NAMES)?))).collect();
    inputs.sort();
    let outputs = entry.root.and_then(|root| attribute(root, OUTPUT_NAMES)).unwrap_or_default();
    let outputs = outputs.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    (inputs.into_iter().map(|(_, name)| name).collect(), outputs)
}
