//! The stages of a pipeline, as people see them: the schedule as JSON, and its plot.

use crate::program::written;

const INTERLEAVED: [&str; 8] = [
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
    let all: [(&str, &[&str], &str, &[&str]); 2] = [
        ("tiny", &INTERLEAVED, "stages.svg", &["forward", "backward", "sent", "interleaved: 4 stages"]),
        ("hlat-70b", &[], "hlat-70b.svg", &["1f1b: 8 stages, 32 micro-batches"]),
    ];
    for (model, settings, file, words) in all {
        let folder = tempfile::tempdir().unwrap();
        let arguments = [&["inspect", model, "--schedule-plot", file], settings].concat();
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
    let first = &schedule["stages"][0];
    assert_eq!((&first["in_flight"], &first["waits"]), (&serde_json::json!(11), &serde_json::json!(9)));
    assert_eq!(first["actions"][1], "send 0F0");
}
