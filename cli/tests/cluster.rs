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
        // All ranks of all stages.
        (&["target=trn1", "parallel.pipeline=4"], None, 4, 32),
        (&["target=trn1", "parallel.data=1", "parallel.pipeline=4"], None, 1, 32),
        (&["target=trn2", "parallel.pipeline=4"], Some(4), 4, 32),
    ] {
        let files = files(Scheduler::Slurm, settings, asked, &[]).unwrap();
        let slurm = &files[1].text;
        let holds = |text: String| assert!(slurm.contains(&text), "{settings:?} {asked:?}: no `{text}` in {slurm}");
        holds(format!("#SBATCH --nodes={nodes}\n"));
        holds(format!("readonly nodes={nodes}\nreadonly local_size={ranks}\n"));
    }
}

/// On EKS each stage has an address on the node of its first rank, with ports of its own.
#[test]
fn stages_have_addresses_on_the_nodes_where_they_begin() {
    for (settings, roots) in [
        (&["target=trn1"][..], "--root hlat-7b-0.hlat-7b:46820 "),
        (
            &["target=trn1", "parallel.pipeline=3"],
            "--root hlat-7b-0.hlat-7b:46820,hlat-7b-1.hlat-7b:46822,hlat-7b-2.hlat-7b:46824 ",
        ),
        (
            &["target=trn1", "parallel.data=2", "parallel.pipeline=3"],
            "--root hlat-7b-0.hlat-7b:46820,hlat-7b-0.hlat-7b:46822,hlat-7b-1.hlat-7b:46824 ",
        ),
    ] {
        let nodes = (settings.len() == 3).then_some(2);
        let files = files(Scheduler::Eks, settings, nodes, &[]).unwrap();
        let eks = files.iter().find(|file| file.name == "eks.yaml").unwrap();
        assert!(eks.text.contains(roots), "{settings:?}: no `{roots}` in {}", eks.text);
    }
}

/// Slurm's programs as the script needs them: two nodes with addresses, and steps that run here.
const STAND_INS: [(&str, &str); 3] = [
    (
        "scontrol",
        r#"if [ "$1" = show ]; then printf 'a\nb\n'; else echo "NodeName=$4 Arch=x NodeAddr=10.0.0.$4 State=IDLE"; fi"#,
    ),
    (
        "srun",
        r#"while [[ $1 == --* ]]; do shift; done
        for node in 0 1; do SLURM_NODEID=$node SLURM_STEP_NUM_NODES=2 SLURMD_NODENAME=n$node "$@"; done"#,
    ),
    ("halite", r#"printf '%s\n' "$*" >>said"#),
];

/// Three stages of two ranks on two nodes, of which the second begins on the first node and ends on the other.
#[test]
fn the_job_starts_each_rank_at_the_address_of_its_stage() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let source = halite::Session::new().load("hlat-7b", &["target=trn1".to_owned()]).unwrap();
    let mut surroundings = Surroundings::of(&source.recipe, Profile::Program).unwrap();
    (surroundings.world_size, surroundings.stages) = (6, 3);
    let job = Job { surroundings: &surroundings, bundle: "b", folder: "cluster", options: &[], nodes: Some(2) };
    for File { name, text } in job.files(Scheduler::Slurm).unwrap() {
        write(&format!("cluster/{name}"), &text.replace("readonly burn_in=yes", "readonly burn_in=no"));
    }
    for (name, text) in STAND_INS {
        write(&format!("bin/{name}"), &format!("#!/usr/bin/env bash\n{text}\n"));
    }
    let stub =
        r#"printf '%s %s %s %s\n' "$NEURON_RT_ROOT_COMM_ID" "$HALITE_ROOT" "$HALITE_STAGES" "$WORLD_SIZE" >"$RANK""#;
    let run = r#"chmod +x bin/*; PATH=$PWD/bin:$PATH exec bash cluster/slurm.sh bash -c "$1""#;
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command.args(["-c", run, "run", stub]).current_dir(folder.path()).env_clear().env("PATH", path);
    let ran = command.env("SLURM_JOB_ID", "7").env("SLURM_JOB_NODELIST", "a,b").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let nodes = ["node 0 is a, ranks 0 to 2 of stages 0 to 1\n", "node 1 is b, ranks 3 to 5 of stages 1 to 2\n"];
    assert!(nodes.iter().all(|node| said.contains(node)), "{said}");
    let roots =
        ["10.0.0.a:12042", "10.0.0.a:12042", "10.0.0.a:12044", "10.0.0.a:12044", "10.0.0.b:12046", "10.0.0.b:12046"];
    for (rank, root) in roots.iter().enumerate() {
        let own = std::fs::read_to_string(folder.path().join(rank.to_string())).unwrap();
        assert_eq!(own, format!("{root} 10.0.0.a:12042 3 6\n"), "rank {rank}");
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
        (
            &["target=trn1", "parallel.pipeline=3"],
            Some(2),
            Scheduler::Eks,
            "96 ranks on 2 nodes are 48 on each, and `trn1.32xlarge` has 32 cores",
        ),
        (
            &["target=trn1", "parallel.pipeline=3"],
            Some(5),
            Scheduler::Slurm,
            "96 ranks cannot be divided among 5 nodes",
        ),
        (
            &["target=trn1", "parallel.pipeline=4001"],
            None,
            Scheduler::Slurm,
            "4001 stages have no ports of their own: there are those of 4000",
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
