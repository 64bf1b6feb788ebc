//! `halite cluster`.

use crate::context::{Context, Output, Result};
use crate::table::{bytes, counted};
use clap::{Args, ValueEnum};
use halite::Bundle;
use halite_bundle::{Buffer, Manifest};
use halite_neuron::cluster::{Job, Scheduler};
use halite_neuron::settings::{Profile, Surroundings};
use halite_support::{Diagnostic, codes};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Write the files with which a cluster trains a bundle: for Slurm, EKS, AWS ParallelCluster, or a container.
///
/// The launch script of `halite env BUNDLE --script`, and what starts it on each node: how many nodes, ranks and devices there are follows
/// from the bundle. All files have comments on what to change. Before training they run the self-test, on each node and between all
/// ranks; a run that a device, a node or the end of its time ended goes on from its newest checkpoint. Files that are there are left as
/// they are.
///
/// Paths stay as they are given: start the files from the folder from which they go.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite cluster slurm build/hlat-7b
  sbatch cluster/slurm.sh --text book.txt
  halite cluster eks build/hlat-7b -o eks -- --text book.txt --steps 1000
  halite cluster parallelcluster build/hlat-7b --nodes 2")]
pub(super) struct Cluster {
    /// Launcher of the processes.
    #[arg(value_enum, value_name = "KIND")]
    kind: Kind,
    /// The folder of the bundle.
    bundle: String,
    /// Number of nodes [default: as few as have the cores].
    #[arg(long, value_name = "COUNT")]
    nodes: Option<u32>,
    /// The folder for the files.
    #[arg(short, long, value_name = "DIR", default_value = "cluster")]
    output: String,
    /// Options of `halite train` for every run.
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// A launcher of processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Kind {
    /// Slurm: `slurm.sh`, which `sbatch` takes.
    Slurm,
    /// AWS ParallelCluster: the same, and the configuration of the cluster.
    #[value(name = "parallelcluster")]
    ParallelCluster,
    /// Kubernetes on AWS: `eks.yaml`, and the `Dockerfile` of its image.
    Eks,
    /// A container: the `Dockerfile`.
    Container,
}

impl Kind {
    fn scheduler(self) -> Scheduler {
        match self {
            Self::Slurm => Scheduler::Slurm,
            Self::ParallelCluster => Scheduler::ParallelCluster,
            Self::Eks => Scheduler::Eks,
            Self::Container => Scheduler::Container,
        }
    }
}

impl Cluster {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        if !Bundle::is_at(Path::new(&self.bundle)) {
            let message = format!("`{}` is not the folder of a bundle, which a cluster trains", self.bundle);
            let help = "compile first: `halite compile RECIPE --target trn1 -o DIR`, then `halite neuron compile DIR`";
            return Err(Diagnostic::error(codes::INPUT, message).help(help).into());
        }
        let manifest = context.bundle(&self.bundle, &[])?.1.manifest;
        let surroundings = Surroundings::of(&manifest.recipe, Profile::Program)?;
        let job = Job {
            surroundings: &surroundings,
            bundle: &self.bundle,
            folder: &self.output,
            options: &self.options,
            nodes: self.nodes,
        };
        let (nodes, files) = (job.nodes()?, job.files(self.kind.scheduler())?);
        let at = |name: &str| PathBuf::from(&self.output).join(name);
        if let Some(there) = files.iter().map(|file| at(file.name)).find(|path| path.exists()) {
            let error = Diagnostic::error(codes::FILE, format!("`{}` is there already", there.display()));
            return Err(error.help("choose another folder with `--output`, or remove the file").into());
        }
        let mut text = String::new();
        for file in &files {
            halite_disk::write(&at(file.name), file.text.as_bytes())?;
            text.push_str(&format!("wrote {}\n", at(file.name).display()));
        }
        let (ranks, checkpoint) = (counted(surroundings.world_size as usize, "rank"), checkpoint_bytes(&manifest));
        let (count, instance) = (counted(nodes.count as usize, "node"), &nodes.hardware.instance);
        text.push_str(&format!("{ranks} on {count} of {instance}; a checkpoint takes {}\n", bytes(checkpoint)));
        let wrote: Vec<String> = files.iter().map(|file| at(file.name).display().to_string()).collect();
        let json = json!({
            "wrote": wrote,
            "nodes": nodes.count,
            "ranks_per_node": nodes.ranks,
            "checkpoint_bytes": checkpoint,
        });
        Ok(Output::new(text, json))
    }
}

/// The bytes of the tensors that a checkpoint holds.
fn checkpoint_bytes(manifest: &Manifest) -> u64 {
    let size =
        |buffer: &Buffer| buffer.shape.iter().map(|size| *size as u64).product::<u64>() * buffer.dtype.size() as u64;
    manifest.buffers.iter().filter(|buffer| buffer.is_saved()).map(size).sum()
}
