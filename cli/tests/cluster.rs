//! `halite cluster`: its files, and what it refuses. That Slurm takes them and trains is `tests/slurm.sh`; that Kubernetes would,
//! `tests/manifests.sh`.

use crate::program::halite;
use halite_neuron::cluster::{File, Job, Scheduler};
use halite_neuron::settings::{Profile, Surroundings};
use halite_support::Diagnostic;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of a preset of 7B for a scheduler.
fn files(
    scheduler: Scheduler,
    settings: &[&str],
    nodes: Option<u32>,
    options: &[&str],
) -> Result<Vec<File>, Diagnostic> {
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let source = halite::Session::new().load("hlat-7b", &settings).unwrap();
    let surroundings = Surroundings::of(&source.recipe, Profile::Program).unwrap();
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    let job = Job { surroundings: &surroundings, bundle: "build/hlat-7b", folder: "cluster", options: &options, nodes };
    job.files(scheduler)
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster")
}

/// The files for 128 ranks of trn1, which are four nodes, as they are kept; `HALITE_BLESS=1` writes them anew.
#[test]
fn the_files_are_those_that_are_kept() {
    let options = ["--text", "it's $(a) book.txt", "--steps", "1000"];
    let mut kept = Vec::new();
    for scheduler in [Scheduler::Slurm, Scheduler::ParallelCluster, Scheduler::Eks, Scheduler::Container] {
        for File { name, text } in files(scheduler, &["target=trn1", "parallel.data=16"], None, &options).unwrap() {
            // The launch script is the one of `halite env`, with tests of its own.
            if name != "launch.sh" && !kept.contains(&(name, text.clone())) {
                kept.push((name, text));
            }
        }
    }
    assert_eq!(
        kept.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["slurm.sh", "parallelcluster.yaml", "eks.yaml", "Dockerfile"]
    );
    for (name, text) in kept {
        let path = golden().join(name);
        if std::env::var_os("HALITE_BLESS").is_some() {
            std::fs::create_dir_all(golden()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(&path).unwrap_or_default(), "HALITE_BLESS=1 writes {name} anew");
    }
    let checked = Command::new("bash").arg("-n").arg(golden().join("slurm.sh")).status().unwrap();
    assert!(checked.success());
}

/// As few as have the cores, which may be joined, or as many as are asked for.
#[test]
fn nodes_follow_from_the_layout_and_the_hardware() {
    for (settings, asked, nodes, ranks) in [
        (&["target=trn1"][..], None, 1, 32),
        (&["target=trn1"], Some(2), 2, 16),
        (&["target=trn1", "parallel.data=16"], None, 4, 32),
        (&["target=trn2", "parallel.data=16"], None, 2, 64),
        (&["target=trn2", "parallel.data=16", "neuron.flags=[\"--logical-nc-config=1\"]"], None, 1, 128),
        (&["target=trn3", "parallel.data=16"], Some(4), 4, 32),
    ] {
        let files = files(Scheduler::Slurm, settings, asked, &[]).unwrap();
        let slurm = &files[1].text;
        let holds = |text: String| assert!(slurm.contains(&text), "{settings:?} {asked:?}: no `{text}` in {slurm}");
        holds(format!("#SBATCH --nodes={nodes}\n"));
        holds(format!("readonly nodes={nodes}\nreadonly local_size={ranks}\n"));
    }
}

#[test]
fn layouts_that_do_not_fit_on_nodes_are_refused() {
    for (settings, asked, scheduler, message) in [
        (&["target=trn1"][..], Some(3), Scheduler::Slurm, "32 ranks cannot be divided among 3 nodes"),
        (&["target=trn1"], Some(0), Scheduler::Slurm, "32 ranks cannot be divided among 0 nodes"),
        (
            &["target=trn1", "parallel.data=16"],
            Some(2),
            Scheduler::Slurm,
            "128 ranks on 2 nodes are 64 on each, and `trn1.32xlarge` has 32 cores",
        ),
        (&["target=trn3"], None, Scheduler::Slurm, "no document says how many cores an instance of `trn3` has"),
        (&["target=trn3"], Some(1), Scheduler::Eks, "no document says what an instance of `trn3` is called"),
        (
            &["target=trn3"],
            Some(1),
            Scheduler::ParallelCluster,
            "no document says what an instance of `trn3` is called",
        ),
    ] {
        assert_eq!(files(scheduler, settings, asked, &[]).unwrap_err().message(), message);
    }
}

#[test]
fn the_command_writes_files_once_and_names_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| halite(folder.path(), arguments);
    let said = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let small = ["compile", "tiny", "--set", "layers=1", "--role", "forward", "-q"];
    assert!(run(&[&small[..], &["-o", "b", "--target", "trn1"]].concat()).status.success());
    assert!(run(&[&small[..], &["-o", "c"]].concat()).status.success());
    let wrote = run(&["cluster", "slurm", "b", "--", "--text", "a b.txt"]);
    let text =
        "wrote cluster/launch.sh\nwrote cluster/slurm.sh\n1 rank on 1 node of trn1.32xlarge; a checkpoint takes ";
    assert!(said(&wrote.stdout).starts_with(text), "{}{}", said(&wrote.stdout), said(&wrote.stderr));
    let script = std::fs::read_to_string(folder.path().join("cluster/slurm.sh")).unwrap();
    assert!(script.contains("readonly options=(--text 'a b.txt')\n") && script.contains("--job-name=b\n"), "{script}");
    let launch = std::fs::read_to_string(folder.path().join("cluster/launch.sh")).unwrap();
    assert_eq!(launch, said(&run(&["env", "b", "--script"]).stdout));
    std::fs::remove_file(folder.path().join("cluster/launch.sh")).unwrap();
    for (arguments, message) in [
        (&["cluster", "slurm", "b"][..], "`cluster/slurm.sh` is there already"),
        (&["cluster", "eks", "tiny"], "`tiny` is not the folder of a bundle"),
        (&["cluster", "eks", "c"], "a program for `cpu` has no environment"),
    ] {
        let refused = run(arguments);
        let said = said(&refused.stderr);
        assert!(refused.status.code() == Some(2) && said.contains(message), "{arguments:?}: {said}");
    }
    assert!(!folder.path().join("cluster/launch.sh").exists(), "nothing is written beside what is there");
}
