//! `halite plugin`.

use crate::bars;
use crate::context::{Context, Output, Result};
use clap::Subcommand;
use halite_runtime::find_plugin;
use halite_runtime::install::{InstallOptions, Progress, install};
use serde_json::json;
use std::path::PathBuf;

/// Manage the PJRT plugin that runs HLO.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  halite plugin install
  halite plugin path")]
pub(super) enum Plugin {
    /// Download the CPU plugin with pip, check it and put it into the cache folder of the user.
    #[command(after_help = "Examples:\n  halite plugin install\n  halite plugin install --wheel xla_cpu_pjrt.whl")]
    Install {
        /// Use this wheel instead of downloading one.
        #[arg(long, value_name = "FILE")]
        wheel: Option<PathBuf>,
        /// The Python that has pip.
        #[arg(long, value_name = "PROGRAM", default_value = "python3")]
        python: std::ffi::OsString,
    },
    /// Show which plugin is used.
    #[command(after_help = "Examples:\n  halite plugin path")]
    Path,
}

impl Plugin {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        let path = match self {
            Self::Path => find_plugin(context.plugin.as_deref())?,
            Self::Install { wheel, python } => {
                let bar = bars::bar(context, 0, "{spinner:.cyan} {msg} {bar:30.cyan/black.dim} {bytes}/{total_bytes}");
                let mut show = |progress: Progress| match progress {
                    Progress::Download => bar.set_message("downloading"),
                    Progress::Check => bar.set_message("checking"),
                    Progress::Unpack { done, total } => {
                        bar.set_message("unpacking");
                        bar.set_length(total);
                        bar.set_position(done);
                    }
                    _ => {}
                };
                let options = InstallOptions { destination: context.plugin.clone(), wheel, python };
                let path = install(&options, &mut show)?;
                bar.finish_and_clear();
                path
            }
        };
        Ok(Output::verbatim(format!("{}\n", path.display()), json!({"plugin": path})))
    }
}
