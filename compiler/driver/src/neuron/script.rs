//! The script that starts the processes of one node.

use super::launch::Surroundings;
use super::shell::quoted;

/// What is the same in every script.
const BODY: &str = include_str!("launch.sh");

impl Surroundings {
    /// A script for `bash` that starts the processes of one node without any framework: see its `--help`. The same script
    /// serves all nodes.
    pub fn script(&self) -> String {
        let mut text = "#!/usr/bin/env bash\n# Starts the processes of one node; `--help` says how.\n".to_owned();
        for line in self.processes() {
            text.push_str(&format!("# {line}\n"));
        }
        text.push_str("set -euo pipefail\n\n");
        text.push_str(&format!("readonly world_size={}\n\n", self.world_size));
        text.push_str("# Variables that must not be set, each with what replaces it.\nreadonly forbidden=(\n");
        for (name, instead) in &self.forbidden {
            text.push_str(&format!("    {name} {}\n", quoted(instead)));
        }
        text.push_str(")\n\n# What all processes see.\nexport_environment() {\n");
        text.push_str(&self.exports("    "));
        text.push_str("}\n\n");
        text.push_str(BODY);
        text
    }
}
