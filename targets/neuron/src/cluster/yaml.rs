//! Text within YAML.

/// The most characters of a name, to which schedulers add numbers of their own.
const LONGEST: usize = 40;

/// A scalar that reads as this text wherever it stands in YAML: in double quotes, as JSON has them. `$(` would be a variable to
/// Kubernetes, and is doubled.
pub(super) fn scalar(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.replace("$(", "$$(").chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(character))),
            character => quoted.push(character),
        }
    }
    quoted + "\""
}

/// A name that hosts may have, near to a text.
pub(super) fn label(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let label: String = text.chars().map(plain).take(LONGEST).collect();
    match label.trim_matches('-') {
        "" => "halite".to_owned(),
        label if label.starts_with(|c: char| c.is_ascii_digit()) => format!("halite-{label}"),
        label => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_what_they_are() {
        assert_eq!(scalar("a b"), "\"a b\"");
        assert_eq!(scalar("say \"$(x)\" \\\n"), "\"say \\\"$$(x)\\\" \\\\\\u000a\"");
    }

    #[test]
    fn names_are_those_of_hosts() {
        for (text, name) in [("hlat-7b", "hlat-7b"), ("My_Run.2", "my-run-2"), ("--", "halite"), ("7b", "halite-7b")] {
            assert_eq!(label(text), name);
        }
        assert_eq!(label(&"a".repeat(99)).len(), LONGEST);
    }
}
