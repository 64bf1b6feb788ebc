//! The stages of a pipeline, as people see them: the schedule as JSON, plots of documents, and commands that run them.

use crate::program::{halite, written};

const INTERLEAVED: [&str; 10] = [
    "--set",
    "layers=8",
    "--set",
    "parallel.pipeline=4",
    "--set",
    "parallel.chunks=2",
    "--set",
    "parallel.schedule=interleaved",
    "--set",
    "accumulate=8",
];

/// The plots of the documents are those that their commands make; `HALITE_BLESS=1` writes them anew.
#[test]
fn the_plots_of_documents_are_current() {
    let staged = [&["tiny", "--schedule-plot"], &INTERLEAVED[..]].concat();
    let parts = ["llama-7b", "--placement-plot", "--set", "parallel.fsdp=8", "--set", "parallel.tensor=4"];
    let all: [(&[&str], &str, &[&str]); 3] = [
        (&staged, "stages.svg", &["forward", "backward", "sent", "interleaved: 4 stages"]),
        (&["hlat-70b", "--schedule-plot"], "hlat-70b.svg", &["1f1b: 8 stages, 32 micro-batches"]),
        (&parts, "placement.svg", &["llama on 32 ranks: fsdp 8, tensor 4"]),
    ];
    for (arguments, file, words) in all {
        let folder = tempfile::tempdir().unwrap();
        let (input, settings) = arguments.split_at(2);
        let arguments = [&["inspect"], input, &[file], settings].concat();
        let text = written(folder.path(), &arguments);
        assert!(text.ends_with(&format!("wrote {file}\n")), "{text}");
        let plot = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(words.iter().all(|word| plot.contains(word)), "{file}");
        let path = format!("{}/../docs/guide/{file}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("HALITE_BLESS").is_some() {
            std::fs::write(&path, &plot).unwrap();
        }
        assert!(plot == std::fs::read_to_string(&path).unwrap_or_default(), "HALITE_BLESS=1 writes {path} anew");
    }
}

#[test]
fn a_schedule_is_there_for_programs() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [&["inspect", "tiny", "--schedule", "--json"], &INTERLEAVED[..]].concat();
    let text = written(folder.path(), &arguments);
    let value: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let schedule = value.get("result").unwrap_or(&value);
    assert_eq!(schedule["schedule"], "interleaved");
    assert_eq!(schedule["pipeline"], serde_json::json!({"stages": 4, "chunks": 2, "micro_batches": 8}));
    assert_eq!(schedule["time"], 57);
    let parts = schedule["parts"].as_array().unwrap();
    let layers: Vec<usize> = parts.iter().map(|part| part["layers"].as_array().unwrap().len()).collect();
    assert_eq!(layers, [1; 8]);
    assert!(parts[7]["flops"].as_u64() > parts[0]["flops"].as_u64(), "the head is in the last part");
    assert_eq!((&parts[0]["sends"], &parts[7]["sends"]), (&serde_json::json!(131_072), &serde_json::json!(0)));
    let first = &schedule["stages"][0];
    assert_eq!((&first["in_flight"], &first["waits"]), (&serde_json::json!(11), &serde_json::json!(9)));
    assert_eq!(first["actions"][1], "send 0F0");
}

/// A small model on two stages.
const STAGED: [&str; 13] = [
    "tiny",
    "--set",
    "layers=2",
    "--set",
    "hidden=16",
    "--set",
    "seq=16",
    "--set",
    "batch=2",
    "--set",
    "accumulate=4",
    "--set",
    "parallel.pipeline=2",
];

#[test]
fn verify_says_which_stages_ran_and_refuses_to_tell_their_optimizations_apart() {
    let folder = tempfile::tempdir().unwrap();
    let text = written(folder.path(), &[&["verify"], &STAGED[..]].concat());
    assert!(text.contains("accumulate 4 → 2\n"), "{text}");
    assert!(text.contains("2 stages, 1f1b, 2 micro-batches, compared with one stage"), "{text}");
    assert!(text.contains("bit-equal at 16 positions") && text.ends_with("results agree\n"), "{text}");
    let refused = halite(folder.path(), &[&["verify", "--each-pass"], &STAGED[..]].concat());
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("E0413") && error.contains("parallel.pipeline = 1"), "{error}");
}

/// From a run on stages, and from its state on one.
#[test]
fn stages_generate_and_evaluate_what_one_does() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text.txt"), "0123456789".repeat(200)).unwrap();
    let more = ["--text", "text.txt", "--held-out", "0", "--steps", "20", "-o", "run", "--quiet"];
    written(folder.path(), &[&["train"], &STAGED[..], &["--set", "optimizer.adamw.lr=0.01"], &more].concat());
    let on_one: Vec<&str> = STAGED
        .iter()
        .map(|word| word.strip_prefix("parallel.pipeline=2").map_or(*word, |_| "parallel.pipeline=1"))
        .collect();
    let state = ["--state", "run/state.safetensors"];
    let wish = ["--prompt", "3", "--tokens", "20", "--greedy"];
    let generated = written(folder.path(), &[&["generate", "run"], &wish[..]].concat());
    assert_eq!(generated, written(folder.path(), &[&["generate"], &on_one[..], &state, &wish].concat()));
    assert_eq!(generated.len(), "3\n".len() + 20, "{generated}");
    let measured = |words: &[&str]| {
        let json =
            written(folder.path(), &[&["eval"], words, &["--data", "text.txt", "--batches", "2", "--json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        json["data"][0]["loss"].as_f64().unwrap()
    };
    let (stages, one) = (measured(&["run"]), measured(&[&on_one[..], &state].concat()));
    assert!((stages - one).abs() < 1e-5 * one, "{stages} {one}");
}
