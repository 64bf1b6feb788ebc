//! The environment of a program as text for shells.

use super::jax::CC_FLAGS;
use super::launch::Surroundings;
use crate::Tables;
use crate::shell::Script;

impl Surroundings {
    /// The environment as commands of a POSIX shell, for `eval "$(halite env BUNDLE)"`. They fail, and export nothing, where
    /// a variable is set that must not be.
    pub fn shell(&self) -> String {
        let mut script = Script::default();
        for line in self.said() {
            script.comment(&line);
        }
        script.code("halite_refused=\n");
        let refuse = |message: String| {
            move |script: &mut Script| {
                script.code("printf '%s\\n' ").word(&message).code(" >&2; halite_refused=1;");
            }
        };
        for (name, instead) in &self.forbidden {
            script.where_set(name, refuse(format!("{name} is set, and must not be; it is replaced by {instead}")));
        }
        if let Some(flags) = self.environment.get(CC_FLAGS) {
            let message = format!("{CC_FLAGS} is set to something else, and must be what the bundle says, or not set");
            script.where_other(CC_FLAGS, flags, refuse(message));
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
            let meaning = match Tables::builtin().variable(name) {
                _ if name == CC_FLAGS => "the flags with which Neuron's plugin compiles",
                Some(variable) => variable.meaning.as_str(),
                None => "set by the recipe; nothing is known of it",
            };
            script.code(indent).comment(meaning).code(indent).export(name, value);
        }
    }
}
