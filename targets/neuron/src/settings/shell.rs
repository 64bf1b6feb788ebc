//! The environment of a program as text for shells.

use super::launch::Surroundings;
use crate::Tables;
use crate::shell::Script;

impl Surroundings {
    /// The environment as commands of a POSIX shell, for `eval "$(halite env BUNDLE)"`. They fail, and export nothing, where
    /// a variable is set that must not be.
    pub fn shell(&self) -> String {
        let mut script = Script::default();
        for line in self.processes() {
            script.comment(&line);
        }
        script.code("halite_refused=\n");
        for (name, instead) in &self.forbidden {
            let message = format!("{name} is set, and must not be; it is replaced by {instead}");
            script.where_set(name, |script| {
                script.code("printf '%s\\n' ").word(&message).code(" >&2; halite_refused=1;");
            });
        }
        script.code(
            "if [ -n \"$halite_refused\" ]; then\n  unset halite_refused\n  false\nelse\n  unset halite_refused\n",
        );
        self.exports("  ", &mut script);
        script.code("fi\n");
        script.into_text()
    }

    /// A line of `export` for each variable, below what it does.
    pub(super) fn exports(&self, indent: &'static str, script: &mut Script) {
        for (name, value) in &self.environment {
            let known = Tables::builtin().variable(name);
            let meaning =
                known.map_or("set by the recipe; nothing is known of it", |variable| variable.meaning.as_str());
            script.code(indent).comment(meaning).code(indent).export(name, value);
        }
    }
}
