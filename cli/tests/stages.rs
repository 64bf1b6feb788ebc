//! The stages of a pipeline, as people see them: the schedule as JSON, and its plot.

use crate::program::written;

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

/// The plot of the guide is the one that its command makes; `HALITE_BLESS=1` writes it anew.
#[test]
fn the_plot_of_the_guide_is_current() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [&["inspect", "tiny", "--schedule-plot", "stages.svg"], &INTERLEAVED[..]].concat();
    let text = written(folder.path(), &arguments);
    assert!(text.ends_with("wrote stages.svg\n"), "{text}");
    let plot = std::fs::read_to_string(folder.path().join("stages.svg")).unwrap();
    assert!(["forward", "backward", "sent", "interleaved: 4 stages"].iter().all(|word| plot.contains(word)));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/stages.svg");
    if std::env::var_os("HALITE_BLESS").is_some() {
        std::fs::write(path, &plot).unwrap();
    }
    assert!(plot == std::fs::read_to_string(path).unwrap_or_default(), "HALITE_BLESS=1 writes {path} anew");
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
