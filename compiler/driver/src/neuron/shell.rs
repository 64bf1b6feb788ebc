//! The environment of a program as text for shells.

use super::launch::Surroundings;
use halite_target::Tables;

/// A word that any POSIX shell reads as this text, whatever it holds.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:,+=-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

impl Surroundings {
    /// The environment as commands of a POSIX shell, for `eval "$(halite env BUNDLE)"`. They fail, and export nothing, where
    /// a variable is set that must not be.
    pub fn shell(&self) -> String {
        let mut text = String::new();
        for line in self.processes() {
            text.push_str(&format!("# {line}\n"));
        }
        text.push_str("halite_refused=\n");
        for (name, instead) in &self.forbidden {
            let message = quoted(&format!("{name} is set, and must not be; it is replaced by {instead}"));
            text.push_str(&format!("[ -z \"${{{name}+set}}\" ] || {{ echo {message} >&2; halite_refused=1; }}\n"));
        }
        text.push_str(
            "if [ -n \"$halite_refused\" ]; then\n  unset halite_refused\n  false\nelse\n  unset halite_refused\n",
        );
        text.push_str(&self.exports("  "));
        text.push_str("fi\n");
        text
    }

    /// A line of `export` for each variable, below what it does.
    pub(super) fn exports(&self, indent: &str) -> String {
        let export = |(name, value): (&String, &String)| {
            let known = Tables::builtin().variable(name);
            let meaning = known.map_or("set by the recipe", |variable| variable.meaning.as_str());
            format!("{indent}# {meaning}\n{indent}export {name}={}\n", quoted(value))
        };
        self.environment.iter().map(export).collect()
    }
}
