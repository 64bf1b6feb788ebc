//! The script that starts the processes of one node.

use super::jax::CC_FLAGS;
use super::launch::{Profile, Surroundings};
use crate::shell::{Script, is_name};

/// The part that all scripts share: how options are read, and what is refused.
const COMMON: &str = include_str!("scripts/common.sh");

impl Surroundings {
    /// A script for `bash` that starts the processes of one node without any framework but that of its profile: see its `--help`. The
    /// same script serves all nodes. Where no other program is named, that of [`Profile::Program`] trains the bundle in the folder
    /// `bundle`, if there is one.
    pub fn script(&self, bundle: Option<&str>) -> String {
        let mut script = Script::default();
        script.code("#!/usr/bin/env bash\n# Starts the processes of one node; `--help` says how.\n");
        for line in self.said() {
            script.comment(&line);
        }
        script.code("set -euo pipefail\n\nreadonly world_size=").word(&self.world_size.to_string());
        if self.profile == Profile::Program {
            script
                .code("\n# Stages of a pipeline, each with as many of the ranks, one after another.\nreadonly stages=");
            script.word(&self.stages.to_string());
        }
        let (usage, run) = match self.profile {
            Profile::Program => (include_str!("scripts/program_usage.sh"), include_str!("scripts/program.sh")),
            Profile::Jax => (include_str!("scripts/jax_usage.sh"), include_str!("scripts/jax.sh")),
        };
        if self.profile == Profile::Program {
            script.code("\n\n# What runs where no program is named.\nreadonly trains=(");
            if let Some(bundle) = bundle {
                script.words(["halite", "train", bundle, "--executor", "nrt"]);
            }
            script.code(")");
        }
        script.code("\n\n# Variables that must not be set, each with what replaces it.\nreadonly forbidden=(\n");
        for (name, instead) in self.forbidden.iter().filter(|(name, _)| is_name(name)) {
            script.code("    ").words([name, instead]).code("\n");
        }
        script.code(")\n\n# Variables that must not be set to anything else.\nreadonly only=(");
        if let Some(flags) = self.environment.get(CC_FLAGS) {
            script.words([CC_FLAGS, flags]);
        }
        script.code(")\n\n# What all processes see.\nexport_environment() {\n");
        self.exports("    ", &mut script);
        script.code("}\n\n").code(usage).code(COMMON).code("\n").code(run);
        script.into_text()
    }
}
