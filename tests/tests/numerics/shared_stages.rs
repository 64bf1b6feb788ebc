//! Equal stages of a pipeline share a program, and each draws the random bits of its own streams.

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::{Bundle, ModuleEntry, ModuleRole};
use halite_support::Name;
use halite_tensor::{Content, DType};
use halite_tests::compiled::expect;
use halite_tests::parallel::for_each;
use halite_tests::pipelines::{Case, MODELS, Ran, start};
use std::collections::{BTreeMap, BTreeSet};

/// A model without dropout, and one with it, whose middle stages are equal where there are four.
const CASES: [(usize, &str); 4] = [(0, "mixed"), (0, "bf16-sr"), (1, "fp64"), (1, "bf16-sr")];

fn of(model: usize, pipeline: usize) -> Case {
    Case { model, accumulate: 4, schedule: 0, pipeline, tensor: 1, data: 1, fsdp: 1, zero: 0 }
}

/// The files of the modules that do the same on different stages: those whose names are one but for the numbers of parts and stages.
fn files(bundle: &Bundle) -> BTreeMap<String, BTreeSet<&str>> {
    let mut files: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for entry in &bundle.manifest.modules {
        let (role, task) = entry.name.split_once('.').expect("a module of a stage names its task");
        let task = task.split_once("_round_").map_or_else(
            || task.trim_end_matches(|c: char| c == '_' || c.is_ascii_digit()).to_owned(),
            |(_, round)| format!("round {round}"),
        );
        files.entry(format!("{role} {task}")).or_default().insert(&entry.file);
    }
    files
}

/// The streams of the keys that a module is given.
fn streams<'b>(bundle: &'b Bundle, entry: &ModuleEntry) -> Vec<&'b Name> {
    let read = |name: &str| entry.inputs.iter().any(|port| port.name == name);
    let declared =
        bundle.manifest.buffers.iter().filter(|buffer| read(&buffer.name)).filter_map(|buffer| buffer.content());
    let keys = declared.filter_map(|content| if let Content::Keys(keys) = content { Some(keys) } else { None });
    keys.flat_map(|keys| keys.streams()).collect()
}

/// The first stage, the last one, and one of those between.
#[test]
fn equal_stages_that_draw_random_bits_share_programs() {
    for_each(&CASES, |&(model, precision)| {
        let bundle = of(model, 4).compile(precision);
        let files = files(&bundle);
        assert!(files.len() >= 6, "{files:?}");
        for (what, files) in &files {
            assert!(files.len() <= 3, "{} in `{precision}`, {what}: {files:?}", MODELS[model].0);
        }
    });
}

/// Weights are rounded by the streams of their names, and layers drop out by those of theirs, whichever stage's program it is.
#[test]
fn each_stage_has_the_keys_of_its_own_streams() {
    let bundle = of(1, 4).compile("bf16-sr");
    let manifest = &bundle.manifest;
    let mut seen = BTreeSet::new();
    for entry in &manifest.modules {
        let streams = streams(&bundle, entry);
        let written = |name: &str| entry.outputs.iter().any(|port| port.name == name);
        let weights = manifest.buffers.iter().filter(|buffer| buffer.is_weight());
        if entry.name.starts_with("update_step.") {
            let written: BTreeSet<String> = weights
                .filter(|buffer| buffer.dtype == DType::Bf16 && written(&buffer.name))
                .flat_map(|buffer| buffer.tensor_names())
                .collect();
            assert_eq!(
                streams.iter().map(|stream| stream.to_string()).collect::<BTreeSet<_>>(),
                written,
                "{}",
                entry.name
            );
        } else if entry.name.starts_with("grad_step.forward_") {
            // The streams of layers begin with the path of the layer, and so do the weights that the stage reads.
            let path =
                |name: &str| name.split('.').skip_while(|part| *part != "h").take(2).collect::<Vec<_>>().join(".");
            let read = |name: &str| entry.inputs.iter().any(|port| port.name == name);
            let layers =
                |names: BTreeSet<String>| names.into_iter().filter(|path| !path.is_empty()).collect::<BTreeSet<_>>();
            let read = layers(weights.filter(|buffer| read(&buffer.name)).map(|buffer| path(&buffer.name)).collect());
            let drawn = layers(streams.iter().map(|stream| path(&stream.replace(':', "."))).collect());
            assert_eq!(drawn, read, "{}", entry.name);
            assert_eq!(drawn.len(), 1, "{}", entry.name);
        }
        seen.extend(streams);
    }
    assert!(
        seen.iter().any(|stream| stream.contains("dropout")) && seen.iter().any(|stream| stream.ends_with(".weight"))
    );
}

/// Two stages share nothing, four share the middle: each tensor has the same bits after each update.
#[test]
fn stages_that_share_programs_write_the_bits_of_stages_that_do_not() {
    for_each(&CASES[1..], |&(model, precision)| {
        let [apart, shared] = [2, 4].map(|pipeline| of(model, pipeline).compile(precision));
        let shares =
            |bundle: &Bundle| files(bundle).values().map(BTreeSet::len).sum::<usize>() < bundle.manifest.modules.len();
        assert!(!shares(&apart) && shares(&shared), "{model} in `{precision}`");
        let ran = |bundle: &Bundle| expect(Ran::of(bundle, start(bundle, 3), 3));
        let (far, what) = ran(&shared).apart(&ran(&apart));
        assert!(far == 0.0, "{} in `{precision}`: {what} is {far:e} off", MODELS[model].0);
    });
}
/// Where every narrowing rounds, streams are named after places in the model, and a stage has a program with its own.
#[test]
fn stages_that_round_everywhere_share_nothing() {
    let mut session = Session::new();
    let settings = ["layers=8", "batch=2", "seq=6", "accumulate=4", "parallel.pipeline=4", "precision=bf16-sr"];
    let compile = |session: &mut Session, sites: &str| {
        let settings: Vec<String> = settings.iter().copied().chain([sites]).map(str::to_owned).collect();
        let source = expect(session.load("tiny", &settings));
        let options = CompileOptions { roles: vec![ModuleRole::FORWARD], ..CompileOptions::default() };
        let bundle = expect(session.compile(&source, &options)).bundle;
        files(&bundle)["forward forward"].len()
    };
    let counts = ["weight_write", "all"].map(|sites| compile(&mut session, &format!("precision.sr.sites={sites}")));
    assert_eq!(counts, [3, 4]);
}
