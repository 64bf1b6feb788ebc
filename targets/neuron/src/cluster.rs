//! Files with which a scheduler of a cluster trains a bundle: each has the launch script start the ranks of a node.

mod yaml;

use crate::memory::logical_core;
use crate::settings::Surroundings;
use crate::shell::Script;
use crate::tables::Hardware;
use crate::{Generation, Tables};
use halite_support::{Diagnostic, Result, codes};
use yaml::{label, scalar};

/// The launch script, beside which all other files lie.
const LAUNCH: &str = "launch.sh";

/// The folder below the files where the self-test of all ranks keeps what it compiled.
const BURN_IN: &str = "burn-in";

/// Checks of the self-test that one node makes by itself: those at which a bad core, bad memory or a bad link shows.
const LOCAL_CHECKS: [&str; 3] = ["products", "updates", "collectives"];

/// How long processes may take to save their state once they are told to end, in seconds.
const GRACE: &str = "600";

/// The port of the first stage's root on EKS. Each stage takes two.
const EKS_PORT: u32 = 46_820;

/// The most stages for which there are ports.
const MOST_STAGES: u32 = 4000;

/// Bytes of a GiB.
const GIB: u64 = 1 << 30;

/// The system that starts the processes on a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheduler {
    /// Slurm, wherever it runs.
    Slurm,
    /// A cluster of AWS ParallelCluster, on which Slurm runs.
    ParallelCluster,
    /// Kubernetes on AWS.
    Eks,
    /// A container, started by hand.
    Container,
}

/// A bundle that is to be trained on a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The environment, flags and launch of its processes.
    pub surroundings: &'a Surroundings,
    /// The folder of the bundle, as nodes find it.
    pub bundle: &'a str,
    /// The folder of the files, as nodes find it.
    pub folder: &'a str,
    /// Options of `halite train`.
    pub options: &'a [String],
    /// The number of nodes; left out, as few as have the cores.
    pub nodes: Option<u32>,
}

/// A file of a cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// Its name in the folder.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// The placement of ranks on nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct Nodes {
    /// The hardware of each node.
    pub hardware: &'static Hardware,
    /// The number of nodes.
    pub count: u32,
    /// Ranks on each.
    pub ranks: u32,
}

impl Job<'_> {
    /// The files for a scheduler, the launch script first.
    ///
    /// # Errors
    /// When the ranks do not fit on so many nodes, there are more stages than ports, or the name of the target's instance type is not known.
    pub fn files(&self, scheduler: Scheduler) -> Result<Vec<File>> {
        self.check_stages()?;
        let nodes = self.nodes()?;
        let launch = File { name: LAUNCH, text: self.surroundings.script(Some(self.bundle)) };
        let more = match scheduler {
            Scheduler::Slurm => vec![self.slurm(&nodes)],
            Scheduler::ParallelCluster => vec![self.slurm(&nodes), self.parallel_cluster(&nodes)?],
            Scheduler::Eks => vec![self.eks(&nodes)?, container()],
            Scheduler::Container => vec![container()],
        };
        Ok([launch].into_iter().chain(more).collect())
    }

    /// Checks that there are ports for all stages.
    fn check_stages(&self) -> Result<()> {
        let stages = self.surroundings.stages;
        if stages <= MOST_STAGES {
            return Ok(());
        }
        let message = format!("{stages} stages have no ports of their own: there are those of {MOST_STAGES}");
        Err(Diagnostic::error(codes::NOT_SUPPORTED, message).help("compile with a smaller `parallel.pipeline`"))
    }

    /// The placement of the ranks on nodes.
    ///
    /// # Errors
    /// When they do not fit on so many.
    pub fn nodes(&self) -> Result<Nodes> {
        let Surroundings { target, world_size: world, .. } = self.surroundings;
        let generation = Generation::named(target).ok_or_else(|| Diagnostic::bug("an environment of no generation"))?;
        let hardware = Tables::builtin().hardware(generation);
        let hardware = hardware.ok_or_else(|| Diagnostic::bug("a generation without hardware"))?;
        let refuse = |message: String, help: &str| Err(Diagnostic::error(codes::USAGE, message).help(help));
        let cores = hardware.cores / logical_core(generation, &self.surroundings.flags);
        let is_instance = hardware.instance_type().is_some();
        let count = match self.nodes {
            None if !is_instance => {
                let message = format!("no document says how many cores an instance of `{target}` has");
                return refuse(message, "say with `--nodes` among how many the ranks are divided");
            }
            None => world.div_ceil(cores),
            Some(count) => count,
        };
        if count == 0 || world % count != 0 {
            let message = format!("{world} ranks cannot be divided among {count} nodes");
            return refuse(message, "choose with `--nodes` a number that divides them, or another layout");
        }
        let ranks = world / count;
        if is_instance && ranks > cores {
            let message = format!(
                "{world} ranks on {count} nodes are {ranks} on each, and `{}` has {cores} cores",
                hardware.instance
            );
            return refuse(message, "choose more `--nodes`");
        }
        Ok(Nodes { hardware, count, ranks })
    }

    /// The node on which the first rank of a stage is.
    fn first_node(&self, nodes: &Nodes, stage: u32) -> u32 {
        let Surroundings { world_size, stages, .. } = self.surroundings;
        stage * (world_size / stages) / nodes.ranks
    }

    /// A path in the folder of the files.
    fn within(&self, name: &str) -> String {
        format!("{}/{name}", self.folder.trim_end_matches('/'))
    }

    /// The name of the job.
    fn name(&self) -> String {
        label(self.bundle.trim_end_matches('/').rsplit('/').next().unwrap_or_default())
    }

    fn slurm(&self, nodes: &Nodes) -> File {
        let name = "slurm.sh";
        let mut script = Script::default();
        script.code("#!/usr/bin/env bash\n");
        script.comment(&format!(
            "Trains {} under Slurm. Submit it from the folder from which its paths go, with options of",
            self.bundle
        ));
        script.code("# `halite train` if need be:\n#\n");
        script.comment(&format!("  sbatch {} --steps 1000", self.within(name)));
        script.code("#\n#SBATCH --job-name=").word(&self.name());
        script.code("\n#SBATCH --nodes=").word(&nodes.count.to_string()).code("\n");
        script.code(include_str!("cluster/files/slurm_options.sh"));
        let number = |number: u32| number.to_string();
        script.code("readonly nodes=").word(&number(nodes.count));
        script.code("\nreadonly local_size=").word(&number(nodes.ranks));
        script.code("\n# Stages of a pipeline, each with as many of the ranks, one after another.\nreadonly stages=");
        script.word(&number(self.surroundings.stages));
        script.code("\nreadonly target=").word(self.surroundings.target.as_str());
        script.code("\nreadonly launch=").word(&self.within(LAUNCH));
        script.code("\n\n# Options of `halite train` for every run.\nreadonly options=(").words(self.options);
        script.code(")\n\n# How long processes may take to save their state, in seconds: as `--signal` says above.\nreadonly grace=").word(GRACE);
        script.code("\n\n# Starts after failures, in all.\nreadonly most_restarts=100\n");
        script.code("\n# The self-test before training: `yes` or `no`; what one node checks by itself; and a folder for what all\n");
        script.code("# ranks compile, which all nodes see.\nreadonly burn_in=yes\nreadonly local_checks=(");
        script.words(LOCAL_CHECKS.iter().flat_map(|check| ["--only", *check]));
        script
            .code(")\nreadonly work=")
            .word(&self.within(BURN_IN))
            .code("\n\n")
            .code(include_str!("cluster/files/slurm.sh"));
        File { name, text: script.into_text() }
    }

    fn parallel_cluster(&self, nodes: &Nodes) -> Result<File> {
        let instance = nodes.instance()?;
        let text = format!(
            include_str!("cluster/files/parallelcluster.yaml"),
            instance = instance,
            count = nodes.count,
            efa = if nodes.hardware.efa > 0 { "true" } else { "false" },
            submit = self.within("slurm.sh"),
            file = self.within("parallelcluster.yaml"),
        );
        Ok(File { name: "parallelcluster.yaml", text })
    }

    fn eks(&self, nodes: &Nodes) -> Result<File> {
        let Hardware { chips, efa, host_memory, .. } = nodes.hardware;
        let name = self.name();
        let options = match self.options {
            [] => " []".to_owned(),
            options => options.iter().map(|option| format!("\n        - {}", scalar(option))).collect(),
        };
        let limit = |name: &str, value: String| format!("\n            {name}: {value}");
        let mut limits = limit("aws.amazon.com/neuron", chips.to_string());
        if *efa > 0 {
            limits += &limit("vpc.amazonaws.com/efa", efa.to_string());
        }
        if let Some(bytes) = host_memory {
            limits += &limit("memory", format!("{}Gi", bytes / GIB / 8 * 7));
        }
        let roots: Vec<String> = (0..self.surroundings.stages)
            .map(|stage| format!("{name}-{}.{name}:{}", self.first_node(nodes, stage), EKS_PORT + 2 * stage))
            .collect();
        let text = format!(
            include_str!("cluster/files/eks.yaml"),
            name = name,
            roots = roots.join(","),
            count = nodes.count,
            instance = nodes.instance()?,
            limits = limits,
            target = self.surroundings.target,
            launch = scalar(&self.within(LAUNCH)),
            work = scalar(&self.within(BURN_IN)),
            options = options,
            grace = GRACE,
            file = self.within("eks.yaml"),
        );
        Ok(File { name: "eks.yaml", text })
    }
}

impl Nodes {
    /// The name of the instance type.
    fn instance(&self) -> Result<&'static str> {
        self.hardware.instance_type().ok_or_else(|| {
            let message = format!("no document says what an instance of `{}` is called", self.hardware.target);
            Diagnostic::error(codes::USAGE, message)
                .help("write the files of `trn2`, and put in the instance and its devices")
        })
    }
}

fn container() -> File {
    File { name: "Dockerfile", text: include_str!("cluster/files/Dockerfile").to_owned() }
}
