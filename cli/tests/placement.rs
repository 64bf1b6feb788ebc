//! The placement of weights on a mesh, as people see it: of a recipe and of a bundle, as rows and as a plot.

use crate::program::{halite, written};
use std::path::Path;

/// Parts of weights that are stored along two axes and computed with along one.
const PARTS: [&str; 8] = [
    "--set",
    "parallel.data=2",
    "--set",
    "parallel.fsdp=4",
    "--set",
    "parallel.tensor=2",
    "--set",
    "parallel.fsdp_min_bytes=2000",
];

fn drawn(folder: &Path, input: &str, settings: &[&str]) -> String {
    let text = written(folder, &[&["inspect", input, "--placement-plot", "plot.svg"], settings].concat());
    assert!(text.ends_with("wrote plot.svg\n"), "{text}");
    std::fs::read_to_string(folder.join("plot.svg")).unwrap()
}

/// A bundle tells where its state lies, but not what is sent: that is known of a recipe.
#[test]
fn a_bundle_lies_as_its_recipe_does() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), &[&["compile", "tiny", "-q", "-o", "build"], &PARTS[..]].concat());
    let of_bundle = halite(folder.path(), &["inspect", "build", "--placement"]);
    let said = String::from_utf8_lossy(&of_bundle.stderr).into_owned();
    assert!(of_bundle.status.success() && said.contains("what ranks send to one another name its recipe"), "{said}");
    let of_bundle = String::from_utf8(of_bundle.stdout).unwrap();
    let of_recipe = written(folder.path(), &[&["inspect", "tiny", "--placement"], &PARTS[..]].concat());
    assert!(of_bundle.contains("[256 tensor, fsdp, 64]") && of_recipe.starts_with(&of_bundle), "{of_bundle}");
    assert!(of_recipe.contains("all_gather") && !of_bundle.contains("all_gather"), "{of_recipe}");
    assert_eq!(drawn(folder.path(), "build", &[]), drawn(folder.path(), "tiny", &PARTS));
    let json = written(folder.path(), &["inspect", "build", "--placement", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["traffic"], &json["axes"][1]), (&serde_json::Value::Null, &serde_json::json!(["fsdp", 4])));
}

#[test]
fn the_plot_tells_which_ranks_hold_what() {
    let folder = tempfile::tempdir().unwrap();
    let svg = drawn(folder.path(), "tiny", &PARTS);
    for text in [
        "llama on 16 ranks: data 2, fsdp 4, tensor 2",
        "Numbers in parts are ranks, from 0 on; rank 15 is at data 1, fsdp 3, tensor 1.",
        "model.layers.*.mlp.down_proj.weight  (2)",
        // 64 x 176 at 4 bytes, of which a rank has an eighth.
        "5.5 KiB of 44.0 KiB each on a rank",
        "f32, 8 parts, each on 2 ranks",
        "gathered along fsdp where read",
        "176 tensor",
        "64 fsdp",
        "stored: weight",
        "computed with",
        "stored: m, v",
        // The ranks of the first part and of the last one, as it is stored; those of the first, as it is computed with.
        "0, 8",
        "7, 15",
        "0, 2, 4, 6, 8, 10, 12, 14",
        "all 16 ranks",
    ] {
        assert!(svg.lines().any(|line| line.trim() == text), "{text}\n{svg}");
    }
    assert!(svg.contains("cut along tensor") && !svg.contains("cut along data"), "nothing is cut along data");
}

/// Where stages hold different layers, ranks are those of a stage.
#[test]
fn the_plot_of_stages_tells_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let set = ["--set", "layers=4", "--set", "parallel.pipeline=2", "--set", "parallel.tensor=2"];
    let svg = drawn(folder.path(), "tiny", &[&set[..], &["--set", "accumulate=2"]].concat());
    for text in ["2 stages, each of 2 ranks: tensor 2", "on stage 0", "on stage 1", "on stages 0 to 1"] {
        assert!(svg.contains(text), "{text}\n{svg}");
    }
}

/// Of many ranks the first parts and the last one are drawn.
#[test]
fn the_plot_of_many_ranks_is_no_larger() {
    let folder = tempfile::tempdir().unwrap();
    let svg = |fsdp: &str| drawn(folder.path(), "llama-7b", &["--set", "layers=1", "--set", fsdp]);
    let (few, many) = (svg("parallel.fsdp=32"), svg("parallel.fsdp=4096"));
    assert!(many.contains("all 4,096 ranks") && many.contains("4095"), "{many}");
    assert!(many.len() < 2 * few.len(), "{} {}", many.len(), few.len());
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), &[&["compile", "tiny", "-q", "-o", "build"], &PARTS[..]].concat());
    let cases: [(&[&str], &str, &str); 5] = [
        (&["tiny"], "there is no placement to draw to plot.svg: one rank holds all", "parallel.data=2"),
        (
            &["tiny", "--set", "parallel.pipeline=2", "--set", "accumulate=2"],
            "each stage has one rank, which holds all of it",
            "parallel.tensor=4",
        ),
        (&["build", "--target", "trn1"], "cannot change a bundle that is already compiled", "give the recipe instead"),
        (&["tiny", "--schedule"], "--placement-plot", "cannot be used with"),
        (&["tiny", "--memory-plot", "memory.svg"], "--placement-plot", "cannot be used with"),
    ];
    for (arguments, message, help) in cases {
        let output = halite(folder.path(), &[&["inspect", "--placement-plot", "plot.svg"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(message) && said.contains(help), "{said}");
        assert!(!folder.path().join("plot.svg").exists());
    }
}

/// The state of one core, where several share it, and its peak where the target does not say whether it fits.
#[test]
fn a_summary_tells_what_one_core_holds() {
    let folder = tempfile::tempdir().unwrap();
    let row = |settings: &[&str], name: &str| {
        let text = written(folder.path(), &[&["compile", "tiny", "-o", "build"], settings].concat());
        let row = text.lines().find(|line| line.trim_start().starts_with(name)).map(str::to_owned);
        row.map(|row| row.split_whitespace().skip(1).collect::<Vec<_>>().join(" "))
    };
    let of = |settings: &[&str]| (row(settings, "state ").unwrap(), row(settings, "peak "));
    assert_eq!(of(&[]), ("1.4 MiB".to_owned(), None));
    // The rows of `--placement` add up to it, but for the counter of updates.
    let parts = ["--set", "parallel.fsdp=4", "--set", "parallel.fsdp_min_bytes=0"];
    let (state, peak) = of(&parts);
    assert_eq!(state, "1.4 MiB, 366.9 KiB on a core");
    let peak = peak.unwrap();
    assert!(peak.starts_with("about ") && peak.ends_with(" on a core (`train_step`)"), "{peak}");
    let stages = ["--set", "layers=4", "--set", "parallel.pipeline=2", "--set", "accumulate=2"];
    let (state, peak) = of(&stages);
    assert!(state.ends_with(" on a core") && peak.is_none(), "{state} {peak:?}");
    let target = ["--set", "parallel.data=2", "--target", "trn1"];
    assert_eq!(row(&target, "peak "), None);
    assert!(row(&target, "fits ").unwrap().contains(" of a core"));
}
