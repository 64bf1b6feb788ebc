//! Comments: they name the thing.

use crate::repo::{files_below, root};

/// A reader looks for the thing itself: "The sharding of each operand", and not "What each operand is sharded by".
#[test]
fn documentation_comments_name_the_thing() {
    let files = files_below("", "rs");
    assert!(files.len() > 1000, "{}", files.len());
    let begins = |line: &str| ["/// What ", "//! What "].iter().any(|start| line.trim_start().starts_with(start));
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let goes_on = at > 0 && lines[at - 1].trim_start().starts_with("//");
            if begins(line) && !goes_on {
                found.push(format!("{}:{}: {}", file.strip_prefix(root()).unwrap().display(), at + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "name the thing instead:\n{}", found.join("\n"));
}
