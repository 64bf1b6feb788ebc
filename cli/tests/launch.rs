//! `halite env` and the launch script, run by real shells on small programs.

use crate::program::halite;
use halite_neuron::settings::{Profile, Surroundings};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The flags and environment of a preset for trn1.
fn surroundings(preset: &str, settings: &[&str]) -> Surroundings {
    let settings: Vec<String> = settings.iter().chain(&["target=trn1"]).map(|setting| (*setting).to_owned()).collect();
    let source = halite::Session::new().load(preset, &settings).unwrap();
    Surroundings::of(&source.recipe, Profile::Program).unwrap()
}

/// Runs a shell with nothing in its environment but the path and these variables.
fn shell(shell: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    let variables = variables.iter().copied();
    Command::new(shell).args(arguments).env_clear().env("PATH", path).envs(variables).output().unwrap()
}

/// A script for two processes in a folder, and the folder.
fn two_processes() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut surroundings = surroundings("llama-7b", &[]);
    surroundings.world_size = 2;
    let script = folder.path().join("launch.sh");
    std::fs::write(&script, surroundings.script(None)).unwrap();
    (folder, script.to_str().unwrap().to_owned())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn shells_take_the_environment_or_refuse_it() {
    let mut surroundings = surroundings("llama-7b", &[]);
    let odd = "it's $(here)\n`and` \"there\"";
    surroundings.environment.insert("ODD".to_owned(), odd.to_owned());
    let program = r#"eval "$1" && printf '%s|%s' "$NEURON_RT_EXEC_TIMEOUT" "$ODD""#;
    for name in ["sh", "bash"] {
        let arguments = ["-c", program, name, &surroundings.shell()];
        let taken = shell(name, &arguments, &[]);
        assert_eq!(text(&taken.stdout), format!("4000|{odd}"), "{}", text(&taken.stderr));
        let refused = shell(name, &arguments, &[("XLA_USE_BF16", ""), ("NEURON_CC_FLAGS", "-O3")]);
        assert!(!refused.status.success() && refused.stdout.is_empty());
        let said = text(&refused.stderr);
        assert!(said.contains("XLA_USE_BF16 is set") && said.contains("replaced by `neuron.flags`"), "{said}");
    }
}

#[test]
fn each_process_has_its_rank_and_its_core() {
    let (folder, script) = two_processes();
    let checked = shell("bash", &["-n", &script], &[]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    let stub = r#"set -u
        printf '%s %s %s %s %s %s %s %s %s\n' "$RANK" "$LOCAL_RANK" "$WORLD_SIZE" "$NEURON_RT_VISIBLE_CORES" \
            "$NEURON_RT_ROOT_COMM_ID" "$NEURON_PJRT_PROCESS_INDEX" "$NEURON_PJRT_PROCESSES_NUM_DEVICES" \
            "$NEURON_RT_EXEC_TIMEOUT" "$2" >"$1/$RANK""#;
    let place = folder.path().to_str().unwrap();
    let run = |options: &[&str]| {
        let rest = ["--", "bash", "-c", stub, "stub", place, "a b"];
        shell("bash", &[&[script.as_str()], options, &rest].concat(), &[("NEURON_RT_NUM_CORES", "9")])
    };
    let read = |rank: &str| std::fs::read_to_string(folder.path().join(rank)).unwrap();
    let one_node = run(&[]);
    assert!(one_node.status.success(), "{}", text(&one_node.stderr));
    assert_eq!(read("0"), "0 0 2 0 127.0.0.1:48620 0 1,1 4000 a b\n");
    assert_eq!(read("1"), "1 1 2 1 127.0.0.1:48620 1 1,1 4000 a b\n");
    let second_of_two = run(&["--nodes", "2", "--node-rank", "1", "--root", "10.0.0.1:46820"]);
    assert!(second_of_two.status.success(), "{}", text(&second_of_two.stderr));
    assert_eq!(read("1"), "1 0 2 0 10.0.0.1:46820 1 1,1 4000 a b\n");
}

/// Stages have addresses of their own, and all processes know that of the first.
#[test]
fn each_stage_has_its_root() {
    let folder = tempfile::tempdir().unwrap();
    let mut surroundings = surroundings("llama-7b", &[]);
    (surroundings.world_size, surroundings.stages) = (6, 3);
    let script = folder.path().join("launch.sh");
    std::fs::write(&script, surroundings.script(None)).unwrap();
    let stub = r#"printf '%s %s\n' "$NEURON_RT_ROOT_COMM_ID" "$HALITE_ROOT" >"$1/$RANK""#;
    let (place, script) = (folder.path().to_str().unwrap(), script.to_str().unwrap());
    let run = |options: &[&str]| {
        let rest = ["--", "bash", "-c", stub, "stub", place];
        shell("bash", &[&[script], options, &rest].concat(), &[])
    };
    let ranks = |ranks: &[u32]| -> Vec<String> {
        ranks.iter().map(|rank| std::fs::read_to_string(folder.path().join(rank.to_string())).unwrap()).collect()
    };
    let one_node = run(&[]);
    assert!(one_node.status.success(), "{}", text(&one_node.stderr));
    let root = |port: u32| format!("127.0.0.1:{port} 127.0.0.1:48620\n");
    assert_eq!(ranks(&[0, 1, 2, 3, 4, 5]), [48620, 48620, 48622, 48622, 48624, 48624].map(root));
    let roots = ["--nodes", "2", "--node-rank", "1", "--root", "a:7,a:9,b:7"];
    let second_of_two = run(&roots);
    assert!(second_of_two.status.success(), "{}", text(&second_of_two.stderr));
    assert_eq!(ranks(&[3, 4, 5]), ["a:9 a:7\n", "b:7 a:7\n", "b:7 a:7\n"]);
    for (options, told) in [
        (
            &["--nodes", "2", "--root", "a:7"][..],
            "stages begin on several nodes: --root needs an address for each of 3",
        ),
        (&["--root", "a:7,a:9"], "--root has 2 addresses of 3 stages"),
        (&["--root", "a:7,a:9,b"], "--root is not HOST:PORT with a port from 1 to 65534: 'b'"),
        (&["--root", "a:65533"], "--root is not HOST:PORT with a port from 1 to 65530: 'a:65533'"),
    ] {
        let refused = run(options);
        assert_eq!(refused.status.code(), Some(2), "{options:?}");
        assert!(text(&refused.stderr).contains(told), "{options:?}: {}", text(&refused.stderr));
    }
}

/// The other process, and what it started, are gone when the script ends.
#[test]
fn one_that_fails_ends_the_others_and_gives_its_exit_code() {
    let (folder, script) = two_processes();
    let place = folder.path().to_str().unwrap();
    let stub = r#"
        if [ "$RANK" = 1 ]; then
            while [ ! -s "$1/child" ]; do sleep 0.05; done
            exit 7
        fi
        sleep 300 & echo $! >"$1/child"
        wait"#;
    let start = Instant::now();
    let failed = shell("bash", &[&script, "bash", "-c", stub, "stub", place], &[]);
    assert_eq!(failed.status.code(), Some(7), "{}", text(&failed.stderr));
    assert_eq!(text(&failed.stderr), "launch: rank 1 ended with exit code 7; the others are ended\n");
    assert!(start.elapsed() < Duration::from_secs(300), "the others were waited for");
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
    assert!(!shell("bash", &["-c", &format!("kill -0 {}", child.trim())], &[]).status.success());
}

#[test]
fn one_that_does_not_end_is_killed() {
    let (folder, script) = two_processes();
    let place = folder.path().to_str().unwrap();
    let stub = r#"
        if [ "$RANK" = 0 ]; then
            while [ ! -e "$1/ready" ]; do sleep 0.05; done
            kill -KILL $$
        fi
        trap '' TERM; : >"$1/ready"
        while :; do sleep 1; done"#;
    let failed = shell("bash", &[&script, "--grace", "1", "bash", "-c", stub, "stub", place], &[]);
    assert_eq!(failed.status.code(), Some(128 + 9));
    assert!(text(&failed.stderr).ends_with("rank 0 ended with exit code 137; the others are ended\n"));
}

#[test]
fn an_interrupted_script_leaves_nothing() {
    let (folder, script) = two_processes();
    let place = folder.path().to_str().unwrap();
    let stub = r#"echo $$ >"$1/$RANK"; sleep 300"#;
    let mut command = Command::new("bash");
    command.args([&script, "bash", "-c", stub, "stub", place]).env_remove("XLA_FLAGS");
    let mut running = command.spawn().unwrap();
    let rank = |rank: &str| std::fs::read_to_string(folder.path().join(rank)).unwrap_or_default().trim().to_owned();
    let start = Instant::now();
    while rank("0").is_empty() || rank("1").is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "the processes start");
        std::thread::sleep(Duration::from_millis(20));
    }
    shell("bash", &["-c", &format!("kill -TERM {}", running.id())], &[]);
    assert_eq!(running.wait().unwrap().code(), Some(143));
    for rank in [rank("0"), rank("1")] {
        assert!(!shell("bash", &["-c", &format!("kill -0 {rank}")], &[]).status.success());
    }
}

/// The script of a bundle trains it, with the options that follow.
#[test]
fn without_a_program_the_bundle_is_trained() {
    let folder = tempfile::tempdir().unwrap();
    let (script, program) = (folder.path().join("launch.sh"), folder.path().join("halite"));
    std::fs::write(&script, surroundings("llama-7b", &[]).script(Some("build/the bundle"))).unwrap();
    // By another process: what this one has open for writing its children hold too until they run, and such a file cannot be run.
    let write = "printf %s \"$2\" > \"$1\" && chmod +x \"$1\"";
    let prints = "#!/bin/sh\nprintf '%s|' \"$@\"\n";
    shell("sh", &["-c", write, "sh", program.to_str().unwrap(), prints], &[]);
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap_or_default());
    let script = script.to_str().unwrap();
    let run = |arguments: &[&str]| {
        let output = shell("bash", &[&[script], arguments].concat(), &[("PATH", &path)]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(run(&[]), "train|build/the bundle|--executor|nrt|");
    let options = run(&["--nodes", "1", "--node-rank", "0", "--root", "127.0.0.1:46820", "--", "--text", "a b"]);
    assert_eq!(options, "train|build/the bundle|--executor|nrt|--text|a b|");
    assert_eq!(run(&["--", "halite", "check"]), "check|");
    assert!(run(&["--help"]).contains("stands in its place, it is: halite train build/the bundle --executor nrt"));
}

#[test]
fn the_script_refuses_what_it_cannot_start() {
    let (_folder, script) = two_processes();
    for (arguments, variables, part) in [
        (&[][..], &[][..], "no program to run"),
        (&["--nodes", "3", "true"], &[], "2 ranks cannot be divided among 3 nodes"),
        (&["--nodes", "2", "true"], &[], "several nodes need --root"),
        (&["--nodes", "2", "--node-rank", "2", "true"], &[], "of 2 nodes from 0"),
        (&["--nodes", "08", "true"], &[], "not a whole number"),
        (&["--nodes"], &[], "has no value"),
        (&["--root", "here", "true"], &[], "not HOST:PORT"),
        (&["--root", "here:65535", "true"], &[], "with a port from 1 to 65534"),
        (&["--", "--steps", "1"], &[], "the script is not of a bundle"),
        (&["--rank", "1", "true"], &[], "no option --rank"),
        (&["true"], &[("XLA_DOWNCAST_BF16", "0")], "XLA_DOWNCAST_BF16 is set"),
    ] {
        let output = shell("bash", &[&[script.as_str()], arguments].concat(), variables);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(part), "{arguments:?}: {said}");
    }
    let missing = shell("bash", &[&script, "/nowhere/program"], &[]);
    assert_eq!(missing.status.code(), Some(127), "{}", text(&missing.stderr));
    assert!(text(&shell("bash", &[&script, "--help"], &[]).stdout).contains("usage: bash launch.sh"));
}

#[test]
fn the_command_prints_it_in_three_forms() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = ["env", "llama-7b", "--set", "target=trn1"];
    let run = |more: &[&str]| {
        let output = halite(folder.path(), &[&recipe, more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let ours = surroundings("llama-7b", &[]);
    assert_eq!(run(&[]), ours.shell());
    assert_eq!(run(&["--script"]), ours.script(None));
    let json: serde_json::Value = serde_json::from_str(&run(&["--json"])).unwrap();
    assert_eq!(json["world_size"], 1);
    let laid_out = halite(folder.path(), &["env", "hlat-7b", "--set", "target=trn1", "--json"]);
    let laid_out: serde_json::Value = serde_json::from_slice(&laid_out.stdout).unwrap();
    assert_eq!(laid_out["world_size"], 32);
    assert_eq!(json["environment"]["NEURON_RT_EXEC_TIMEOUT"], "4000");
    assert!(json["forbidden"]["XLA_USE_BF16"].as_str().unwrap().contains("precision"));
}

#[test]
fn a_bundle_says_the_same_as_its_recipe() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| halite(folder.path(), arguments);
    let small = ["--set", "layers=1", "--role", "forward"];
    assert!(run(&[&["compile", "tiny", "-o", "b", "--target", "trn1"][..], &small].concat()).status.success());
    assert_eq!(text(&run(&["env", "b"]).stdout), surroundings("tiny", &[]).shell());
    assert!(run(&[&["compile", "tiny", "-o", "c"][..], &small].concat()).status.success());
    let refused = run(&["env", "c"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("a program for `cpu` has no environment"), "{}", text(&refused.stderr));
}

/// One launch is told from another on one node, and by the user on several.
#[test]
fn processes_of_a_launch_have_a_word_of_their_own() {
    let (folder, script) = two_processes();
    let place = folder.path().to_str().unwrap();
    let stub = r#"printf '%s' "${HALITE_LAUNCH-none}" > "$1/$RANK""#;
    let run = |options: &[&str], variables: &[(&str, &str)]| {
        let output =
            shell("bash", &[&[&*script], options, &["--", "bash", "-c", stub, "stub", place]].concat(), variables);
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&std::fs::read(folder.path().join("0")).unwrap()), text(&output.stderr))
    };
    let (first, _) = run(&[], &[]);
    assert_eq!(std::fs::read_to_string(folder.path().join("1")).unwrap(), first, "both ranks have it");
    let (second, said) = run(&[], &[]);
    assert!(first != second && first != "none" && said.is_empty(), "{first} {second} {said}");
    assert_eq!(run(&[], &[("HALITE_LAUNCH", "mine")]).0, "mine");
    let nodes = ["--nodes", "2", "--root", "a:500"];
    let (none, said) = run(&nodes, &[]);
    assert!(none == "none" && said.starts_with("launch: HALITE_LAUNCH is not set"), "{none} {said}");
    assert_eq!(run(&nodes, &[("SLURM_JOB_ID", "7")]), ("none".to_owned(), String::new()));
}

/// A script for JAX of four ranks, of which each node's process has its share as devices.
#[test]
fn a_process_of_jax_has_all_ranks_of_its_node() {
    let folder = tempfile::tempdir().unwrap();
    let source = halite::Session::new().load("llama-7b", &["target=trn1".to_owned()]).unwrap();
    let mut ours = Surroundings::of(&source.recipe, Profile::Jax).unwrap();
    ours.world_size = 4;
    let flags = ours.environment["NEURON_CC_FLAGS"].clone();
    let script = folder.path().join("launch.sh");
    std::fs::write(&script, ours.script(Some("build/llama-7b"))).unwrap();
    let script = script.to_str().unwrap();
    let show = r#"printf '%s\n' "$NEURON_RT_VISIBLE_CORES" "$NEURON_RT_ROOT_COMM_ID" "$NEURON_PJRT_PROCESS_INDEX" \
        "$NEURON_PJRT_PROCESSES_NUM_DEVICES" "${JAX_COORDINATOR_ADDRESS-none}" "${NEURON_RT_NUM_CORES-none}" "$NEURON_CC_FLAGS" "$1"; exit 7"#;
    let run = |options: &[&str], variables: &[(&str, &str)]| {
        let program = ["sh", "-c", show, "sh", "an argument"];
        let output = shell("bash", &[&[script], options, &program].concat(), variables);
        assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
        text(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let inherited =
        [("NEURON_RT_NUM_CORES", "9"), ("JAX_COORDINATOR_ADDRESS", "b:1"), ("NEURON_CC_FLAGS", flags.as_str())];
    let alone = ["0-3", "127.0.0.1:48620", "0", "4", "none", "none", &flags, "an argument"];
    assert_eq!(run(&[], &inherited), alone);
    let second = run(&["--nodes", "2", "--node-rank", "1", "--root", "a:500", "--"], &[]);
    assert_eq!(second, ["0-1", "a:500", "1", "2,2", "a:502", "none", &flags, "an argument"]);
    assert_eq!(run(&["--nodes", "4", "--root", "a:500"], &[])[..4], ["0", "a:500", "0", "1,1,1,1"]);
    for (arguments, variables, part) in [
        (&[][..], &[][..], "no program to run"),
        (&["--grace", "3", "true"], &[], "no option --grace"),
        (&["--nodes", "3", "true"], &[], "4 ranks cannot be divided among 3 nodes"),
        (&["--root", "here:65534", "true"], &[], "with a port from 1 to 65533"),
        (&["true"], &[("NEURON_CC_FLAGS", "-O1")], "NEURON_CC_FLAGS is set to something else"),
        (&["true"], &[("NEURON_CC_FLAGS", "")], "NEURON_CC_FLAGS is set to something else"),
        (&["true"], &[("XLA_FLAGS", "")], "XLA_FLAGS is set"),
    ] {
        let output = shell("bash", &[&[script], arguments].concat(), variables);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(part), "{arguments:?}: {said}");
    }
    assert!(text(&shell("bash", &[script, "--help"], &[]).stdout).contains("jax.distributed.initialize("));
}

#[test]
fn shells_take_the_flags_for_jax_or_refuse_others() {
    let folder = tempfile::tempdir().unwrap();
    let printed = halite(folder.path(), &["env", "llama-7b", "--set", "target=trn1", "--profile", "jax"]);
    let source = halite::Session::new().load("llama-7b", &["target=trn1".to_owned()]).unwrap();
    let ours = Surroundings::of(&source.recipe, Profile::Jax).unwrap();
    assert_eq!(text(&printed.stdout), ours.shell());
    let scripted = ["env", "llama-7b", "--set", "target=trn1", "--profile", "jax", "--script"];
    assert_eq!(text(&halite(folder.path(), &scripted).stdout), ours.script(None));
    for name in ["sh", "bash"] {
        let program = r#"eval "$1" && eval "$1" && printf '%s' "$NEURON_CC_FLAGS""#;
        let arguments = ["-c", program, name, &ours.shell()];
        let taken = shell(name, &arguments, &[]);
        assert_eq!(text(&taken.stdout), ours.environment["NEURON_CC_FLAGS"], "{}", text(&taken.stderr));
        let refused = shell(name, &arguments, &[("NEURON_CC_FLAGS", "-O3")]);
        assert!(!refused.status.success() && refused.stdout.is_empty());
        assert!(text(&refused.stderr).contains("NEURON_CC_FLAGS is set to something else"));
    }
}
