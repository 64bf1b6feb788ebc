//! The binary from outside: exit codes, where text goes, nothing half-written.

use crate::program::halite;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a command that must fail, leave the folder as it is and say nothing on standard output; returns what it said.
fn fails(arguments: &[&str], code: i32) -> String {
    let folder = tempfile::tempdir().unwrap();
    fails_in(folder.path(), arguments, code)
}

fn fails_in(folder: &Path, arguments: &[&str], code: i32) -> String {
    let files = || {
        let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files();
    let output = halite(folder, arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert_eq!(files(), before, "{arguments:?} leaves nothing behind");
    assert!(output.stdout.is_empty());
    assert!(!text.contains('\u{1b}'), "no colors outside a terminal");
    text
}

#[test]
fn help_and_version_are_no_errors() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [["--help"], ["--version"]] {
        let output = halite(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(!output.stdout.is_empty());
    }
    assert!(String::from_utf8(halite(folder.path(), &["train", "--help"]).stdout).unwrap().contains("Examples:"));
}

#[test]
fn wrong_command_lines_exit_with_2() {
    assert!(fails(&["compil"], 2).contains("compile"));
    assert!(fails(&["compile", "tiny", "--emit", "mlir"], 2).contains("hlo-text, stablehlo, ir"));
    assert!(fails(&["train", "tiny", "--text", "x", "--program-format", "stablehlo"], 2).contains("hlo, mlir"));
    assert!(fails(&["train", "tiny"], 2).contains("--text"));
    let json = fails(&["--json", "compil"], 2);
    assert!(json.starts_with("{\"code\":\"E0407\""), "{json}");
}

#[test]
fn unknown_inputs_exit_with_2() {
    assert!(fails(&["compile", "tini"], 2).contains("did you mean `tiny`?"));
    assert!(fails(&["compile", "none.toml"], 2).contains("cannot read `none.toml`"));
    assert!(fails(&["compile", "none.hal"], 2).contains("cannot read `none.hal`"));
    assert!(fails(&["init", "nowhere"], 2).contains("is not a bundle"));
    assert!(fails(&["run", "nowhere", "--inputs", "x", "--outputs", "y"], 2).contains("is not a bundle"));
    assert!(fails(&["inspect", "."], 2).contains("holds neither a bundle nor a run"));
    assert!(fails(&["train", "tiny", "--text", "none.txt"], 2).contains("no file matches `none.txt`"));
}

#[test]
fn wrong_recipes_show_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = "halite = 1\nbatch = 0\nseq = 8\nmodel.name = 'llama'\n[optimizer.adamw]\nlr = -1\nbeta = 0.5\n";
    std::fs::write(folder.path().join("r.toml"), recipe).unwrap();
    let text = fails_in(folder.path(), &["compile", "r.toml"], 2);
    for part in ["r.toml:2:9", "batch = 0", "r.toml:6:6", "E0405", "r.toml:7:1", "did you mean `betas`?"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let json = fails_in(folder.path(), &["compile", "r.toml", "--json"], 2);
    let lines: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["code"], &lines[0]["line"]), (&"E0405".into(), &2.into()));
    assert!(fails(&["compile", "tiny", "--set", "batch=none"], 2).contains("--set batch=none"));
}

#[test]
fn broken_files_exit_with_2() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("manifest.json"), "{\"version\": 7}").unwrap();
    std::fs::write(folder.path().join("x.pb"), [0xff; 9]).unwrap();
    std::fs::write(folder.path().join("r.toml"), [0xff; 9]).unwrap();
    assert!(fails_in(folder.path(), &["init", "."], 2).contains("has version 7"));
    assert!(fails_in(folder.path(), &["inspect", "x.pb"], 2).contains("error[E"));
    assert!(fails_in(folder.path(), &["compile", "r.toml"], 2).contains("not UTF-8"));
    assert!(fails_in(folder.path(), &["inspect", ".", "--set", "batch=1"], 2).contains("already compiled"));
}

#[test]
fn a_missing_plugin_exits_with_3() {
    let text = fails(&["plugin", "path", "--plugin", "/none/plugin.so"], 3);
    assert!(text.contains("E0701") && text.contains("halite plugin install"), "{text}");
}

#[test]
fn hlo_of_others_is_held_to_the_rules_of_a_target() {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/jax/fixtures");
    let check = |file: &str, more: &[&str]| {
        let file = fixtures.join(file);
        let arguments = ["hlo", "check", file.to_str().unwrap(), "--target", "trn1"];
        let output = halite(folder.path(), &[&arguments, more].concat());
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = check("llama_step.hlo.pb", &[]);
    assert_eq!(code, Some(1), "{text}");
    for part in ["index-range", "NCC_EVRF056", "models.py:", "source: ", "not legal for trn1: 4 rules broken"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let (code, json) = check("llama_step.hlo.pb", &["--json", "--allow", "wide-integer"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &json["legal"]), (Some(1), &false.into()));
    let allowed = json["broken"].as_array().unwrap().iter().filter(|rule| rule["allowed"] == true);
    assert_eq!(allowed.map(|rule| rule["rule"].as_str().unwrap()).collect::<Vec<_>>(), ["wide-integer"]);
    let (code, text) = check("scan.hlo.pb", &["--compiler", "2.22"]);
    assert_eq!((code, text.lines().last()), (Some(0), Some("legal for trn1")));
    std::fs::write(folder.path().join("text.pb"), "HloModule step").unwrap();
    let text = fails_in(folder.path(), &["hlo", "check", "text.pb", "--target", "trn1"], 2);
    assert!(text.contains("the module has no entry"), "{text}");
    assert!(fails(&["hlo", "check", "none.pb", "--target", "cpu"], 2).contains("no rules for the target `cpu`"));
    assert!(fails(&["hlo", "check", "x.pb", "--target", "trn1", "--allow", "index-range"], 2).contains("cannot be"));
    let rules = halite(folder.path(), &["hlo", "check", "--rules", "--target", "trn2"]);
    assert_eq!(rules.status.code(), Some(0));
    assert!(String::from_utf8(rules.stdout).unwrap().contains("integer-dot"));
}

#[test]
fn hlo_of_one_rank_is_held_to_its_shardings() {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/jax/fixtures");
    let check = |file: &str, more: &[&str]| {
        let file = fixtures.join(file);
        let arguments = ["hlo", "check", file.to_str().unwrap(), "--mesh", "data=2,tensor=4"];
        let output = halite(folder.path(), &[&arguments, more].concat());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, text, _) = check("mesh_step.hlo.pb", &[]);
    assert_eq!((code, text.lines().last()), (Some(0), Some("proven: ranks hold what the shardings say")), "{text}");
    let (code, text, _) = check("mesh_missing.hlo.pb", &[]);
    assert_eq!(code, Some(1), "{text}");
    for part in
        ["the program of one of 8 ranks", "`result 0` is not the same on ranks along `data`", "make_mesh_hlo.py:"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let (code, json, _) = check("mesh_twice.hlo.pb", &["--target", "trn1", "--allow", "group-size", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (code, &json["legal"], &json["replicas"]["findings"][0]["remedy"]),
        (Some(1), &true.into(), &"leave the sum out".into())
    );
    let (code, text, warned) = check("while.hlo.pb", &[]);
    assert!(code == Some(0) && text.contains("not followed: while (1)"), "{text}");
    assert!(warned.contains("does not say how it is sharded"), "{warned}");
    let (code, _, text) = check("mesh_whole.hlo.pb", &[]);
    assert!(code == Some(2) && text.contains("XLA has still to partition the module"), "{text}");
}

#[test]
fn shardings_are_taken_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/jax/fixtures/mesh_step.hlo.pb");
    let arguments =
        ["hlo", "check", file.to_str().unwrap(), "--mesh", "data=2,tensor=4", "--shardings", "shardings.json"];
    let say = |text: &str| std::fs::write(folder.path().join("shardings.json"), text).unwrap();
    say(r#"{"parameters": {"x": ["data", null]}, "results": {"2": []}}"#);
    assert_eq!(halite(folder.path(), &arguments).status.code(), Some(0));
    say(r#"{"parameters": {"x": [null, null]}}"#);
    // The batch that is the same everywhere is summed twice; the loss is a mean, which may take that back.
    let output = halite(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("\nnot followed: nothing that was tried shows a fault"));
    let denied = halite(folder.path(), &[&arguments[..], &["--deny", "unproven"]].concat());
    assert_eq!(denied.status.code(), Some(1));
    say(r#"{"parameters": {"x": "rank"}}"#);
    let output = halite(folder.path(), &arguments);
    assert!(String::from_utf8(output.stdout).unwrap().contains("it is computed from the number of the rank"));
    let refuses = |text: &str, part: &str| {
        say(text);
        let said = fails_in(folder.path(), &arguments, 2);
        assert!(said.contains(part), "{part} in\n{said}");
    };
    refuses(r#"{"parameters": {"xx": ["data", null]}}"#, "did you mean `x`?");
    refuses(r#"{"results": {"7": []}}"#, "its 3 results have the numbers from 0");
    refuses(r#"{"parameters": {"x": ["batch", null]}}"#, "the axes of `--mesh` are data, tensor");
    refuses(r#"{"parameters": {"x": ["data"]}}"#, "is `f32[4,16]` on a rank");
    refuses(r#"{"parameters": {"x": ["data", "data"]}}"#, "is sharded along `data` twice");
    refuses(r#"{"params": {}}"#, "states no shardings");
}

#[test]
fn inspect_refuses_hlo_that_is_not_sound() {
    let folder = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/jax/fixtures/scan.hlo.pb");
    let mut module = halite_hlo::decode(&std::fs::read(file).unwrap()).unwrap();
    let insts = module.computations.iter_mut().flat_map(|computation| &mut computation.instructions);
    for shape in insts.filter_map(|inst| inst.shape.as_mut()).filter(|shape| shape.dimensions.len() == 2) {
        shape.dimensions = vec![1 << 62; 2];
    }
    std::fs::write(folder.path().join("huge.pb"), halite_hlo::encode(&module)).unwrap();
    for more in [[].as_slice(), &["--target", "trn1"], &["--dot"]] {
        let text = fails_in(folder.path(), &[&["inspect", "huge.pb"], more].concat(), 2);
        assert!(text.contains("`huge.pb`") && text.contains("more bytes than fit"), "{text}");
    }
}

#[test]
fn inspect_says_what_a_core_needs() {
    let folder = tempfile::tempdir().unwrap();
    let text = |arguments: &[&str]| {
        let output = halite(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let compiled = text(&["compile", "tiny", "--target", "trn1", "-o", "bundle"]);
    assert!(compiled.contains("legal ") && compiled.contains("fits ") && compiled.contains("yes: about"), "{compiled}");
    let bundle = text(&["inspect", "bundle", "--module", "train_step", "--all", "--memory-plot", "memory.svg"]);
    for part in ["memory of one core", "aliased", "optimizer", "activations", "fits"] {
        assert!(bundle.contains(part), "{part}: {bundle}");
    }
    let svg = std::fs::read_to_string(folder.path().join("memory.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("gradients") && svg.contains("backward"));
    // Without `--all` it is a page.
    let page = text(&["inspect", "bundle"]);
    assert!(page.lines().count() <= 40 && page.contains("others") && page.contains("`--all`"), "{page}");
    let foreign = text(&["inspect", "bundle/forward.hlo.pb", "--target", "trn2", "--all"]);
    assert!(foreign.contains("arguments") && foreign.contains("instructions of a module"), "{foreign}");
    let json: serde_json::Value =
        serde_json::from_str(&text(&["--json", "inspect", "bundle", "--module", "train_step"])).unwrap();
    let estimate = &json["manifest"]["modules"][0]["estimate"];
    assert_eq!((&json["estimates"][0], &json["target"]), (estimate, &serde_json::json!("trn1")));
    assert!(estimate["memory"]["peak"]["optimizer"].as_u64() > estimate["memory"]["peak"]["weights"].as_u64());
}

#[test]
fn inspect_shows_how_groups_are_updated() {
    let groups = "optimizer.group=[{ name = \"head\", params = [\"lm_head*\"], lr_scale = 0.5, clip = false }, \
                  { name = \"body\", params = [\"model.*\"], except = [\"*norm*\"], frozen = true }]";
    let set = ["--set", groups, "--set", "optimizer.adamw.no_decay=[\"model.norm*\"]"];
    let text = |arguments: &[&str]| {
        let output = halite(Path::new("."), &[&["inspect", "tiny"], &set[..], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let page = text(&[]);
    let row = |start: &str| {
        let line = page.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or_else(|| panic!("{page}"));
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("head "), "head adamw x 0.5 0.1 none 1 16,384 lm_head*");
    assert_eq!(row("body "), "body frozen none none none 15 108,544 model.* except *norm*");
    assert_eq!(row("none "), "none adamw x 1 0 (1), 0.1 (4) norm 1 5 320 all others");
    let json: serde_json::Value = serde_json::from_str(&text(&["--json"])).unwrap();
    assert_eq!(json["groups"][1]["elements"], 108_544);
    assert_eq!(json["groups"][2]["weight_decay"], serde_json::json!([[0.0, 1], [0.1, 4]]));
}

/// The sums that Megatron makes: two in a block forward, two backward.
#[test]
fn inspect_shows_where_state_lies_and_what_ranks_send() {
    let set = ["--placement", "--set", "parallel.data=2", "--set", "parallel.tensor=2"];
    let output = halite(Path::new("."), &[&["inspect", "tiny"], &set[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let page = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<String> = page.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    // At 4 bytes: 256 * 64 / 2 elements; 64 * 176 / 2 twice; 64 on each rank.
    for row in [
        "4 ranks: data 2, tensor 2",
        "model.embed_tokens.weight 1 [256 tensor, 64] 32.0 KiB",
        "model.layers.*.mlp.down_proj.weight 2 [64, 176 tensor] 44.0 KiB",
        "model.norm.weight 1 [64] 256 B",
        "train_step block_forward all_reduce tensor 2 256.0 KiB",
        "train_step block_backward all_reduce tensor 2 256.0 KiB",
    ] {
        assert!(rows.iter().any(|found| found == row), "{row}\n{page}");
    }
    let alone = halite(Path::new("."), &["inspect", "tiny", "--placement"]);
    assert!(String::from_utf8_lossy(&alone.stdout).starts_with("One rank, which holds all."), "{alone:?}");
}

/// Runs a command with standard output at a place.
fn halite_to(place: impl Into<std::process::Stdio>, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
    let running = command.args(arguments).stdout(place).stderr(std::process::Stdio::piped()).spawn().unwrap();
    running.wait_with_output().unwrap()
}

#[test]
fn results_that_cannot_be_written_are_reported() {
    for arguments in
        [&["env", "hlat-7b", "--set", "target=trn1", "--script"][..], &["inspect", "tiny", "--json"], &["--help"]]
    {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = halite_to(full, arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("standard output cannot be written: no storage space"), "{said}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = halite_to(writer, arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.is_empty(), "a closed pipe is quiet: {arguments:?}: {said}");
    }
}

#[test]
fn names_that_are_no_text_are_refused_everywhere() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff");
    let place = folder.path().join(odd);
    let run = |more: &[&std::ffi::OsStr], home: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_halite"));
        command.args(["compile", "--set", "layers=1", "--set", "seq=8"]).args(more);
        command.env("HOME", home).current_dir(folder.path()).output().unwrap()
    };
    let tiny = "tiny".as_ref();
    for (more, home) in [(&[tiny, "-o".as_ref(), odd][..], folder.path()), (&[odd], folder.path()), (&[tiny], &place)] {
        let output = run(more, home);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("UTF-8"), "{said}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_pipe_stays_a_pipe() {
    use std::os::unix::fs::FileTypeExt;
    let folder = tempfile::tempdir().unwrap();
    let go = |arguments: &[&str]| {
        let output = halite(folder.path(), arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    go(&["compile", "tiny", "-o", "bundle", "--set", "layers=1", "--set", "seq=8"]);
    go(&["init", "bundle", "-o", "file"]);
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = pipe.clone();
    let reader = std::thread::spawn(move || std::fs::read(reader).unwrap());
    go(&["init", "bundle", "-o", "pipe"]);
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert!(reader.join().unwrap() == std::fs::read(folder.path().join("file")).unwrap());
}
/// A model that overflows in `f32`.
const OVERFLOW: &str = "\
model overflow {
  config {
    vocab = 8
    hidden = 4
    batch = 2
    seq = 4
  }
  fn main(tokens: s32[batch, seq + 1]) {
    param table: [vocab, hidden] = normal(0.02)
    x = embedding(tokens[:, :seq], table) * 1e30
    loss, count = cross_entropy(linear(x * 1e30, table), tokens[:, 1:])
    return loss, count
  }
}
";

/// A result that is not finite without optimizations gives no verdict on them.
#[test]
fn verify_says_when_it_cannot_judge() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("overflow.hal"), OVERFLOW).unwrap();
    let settings = ["verify", "overflow.hal", "--set", "batch=2", "--set", "seq=4", "--set", "precision=fp32"];
    for more in [&[][..], &["--each-pass"], &["--bisect"]] {
        let output = halite(folder.path(), &[&settings[..], more].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("CANNOT BE JUDGED") && text.contains("`table`"), "{text}");
        assert!(!text.contains("WRONG") && !text.contains("first wrong"), "{text}");
    }
}
