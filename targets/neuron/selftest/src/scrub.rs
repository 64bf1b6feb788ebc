//! Removes from texts of compilers and libraries the names of machines, users and files.

/// The placeholder for removed words.
const GONE: &str = "...";

/// The text without paths, and without the names of this host and its user.
pub(crate) fn scrub(text: &str) -> String {
    let names = names();
    let is_end = |c: char| c.is_whitespace() || "`'\"()[]{}<>,;=".contains(c);
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(is_end) {
        let body = word.trim_end_matches(is_end);
        let tail = &word[body.len()..];
        let is_path = (body.starts_with('/') || body.starts_with('~')) && body.len() > 1 || body.contains("/home/");
        let is_named = names.iter().any(|name| body.contains(name.as_str()));
        out.push_str(if is_path || is_named { GONE } else { body });
        out.push_str(tail);
    }
    out
}

/// The names of the host and of the user, as far as the system tells them; short ones would take out ordinary words.
fn names() -> Vec<String> {
    let of_user = ["USER", "LOGNAME", "HOSTNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    of_user.chain([host]).filter(|name| name.len() > 3 && name != "root" && name != "localhost").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_are_taken_out_and_words_stay() {
        let host = names().pop().unwrap_or_else(|| "none".to_owned());
        let text = format!("cannot read `/home/me/x.pb` on {host}: a/b is 1/2, see ~/y and \"/opt/z\"");
        let clean = scrub(&text);
        assert!(!clean.contains("/home") && !clean.contains("/opt") && !clean.contains("~/"), "{clean}");
        assert!(clean.starts_with("cannot read `...` on "), "{clean}");
        assert!(clean.contains("a/b is 1/2, see ... and \"...\""), "{clean}");
    }
}
