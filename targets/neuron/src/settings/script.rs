//! The script that starts the processes of one node.

use super::launch::Surroundings;
use crate::shell::{Script, is_name};

/// What is the same in every script.
const BODY: &str = include_str!("launch.sh");

impl Surroundings {
    /// A script for `bash` that starts the processes of one node without any framework: see its `--help`. The same script
    /// serves all nodes. Where no other program is named it trains the bundle in the folder `bundle`, if there is one.
    pub fn script(&self, bundle: Option<&str>) -> String {
        let mut script = Script::default();
        script.code("#!/usr/bin/env bash\n# Starts the processes of one node; `--help` says how.\n");
        for line in self.processes() {
            script.comment(&line);
        }
        script.code("set -euo pipefail\n\nreadonly world_size=").word(&self.world_size.to_string());
        script.code("\n\n# What runs where no program is named.\nreadonly trains=(");
        if let Some(bundle) = bundle {
            script.words(["halite", "train", bundle, "--executor", "nrt"]);
        }
        script.code(")\n\n# Variables that must not be set, each with what replaces it.\nreadonly forbidden=(\n");
        for (name, instead) in self.forbidden.iter().filter(|(name, _)| is_name(name)) {
            script.code("    ").words([name, instead]).code("\n");
        }
        script.code(")\n\n# What all processes see.\nexport_environment() {\n");
        self.exports("    ", &mut script);
        script.code("}\n\n").code(BODY);
        script.into_text()
    }
}
