//! `halite help`.

use std::process::{Command, Output};

fn halite(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_halite")).args(arguments).output().unwrap()
}

fn said(arguments: &[&str]) -> String {
    let output = halite(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_word_shows_its_entry_and_names_others() {
    let text = said(&["help", "warm-up"]);
    assert!(text.starts_with("schedule.warmup, a recipe key\n"), "{text}");
    for part in
        ["Updates until the peak", "- takes a whole number", "    warmup = 0", "See also\n  recipe key schedule: "]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains("```"), "{text}");
}

#[test]
fn programs_get_the_same() {
    let json: serde_json::Value = serde_json::from_str(&said(&["help", "rope", "--json"])).unwrap();
    assert_eq!((&json["kind"], &json["name"]), (&"composite".into(), &"rope".into()));
    assert!(json["body"].as_str().unwrap().contains("theta") && !json["others"].as_array().unwrap().is_empty());
}

#[test]
fn commands_have_the_help_that_they_have_elsewhere() {
    assert_eq!(said(&["help", "compile"]), said(&["compile", "--help"]));
    assert_eq!(said(&["help", "hlo", "check"]), said(&["hlo", "check", "--help"]));
    assert_eq!(said(&["help"]), said(&["--help"]));
    assert!(said(&["help"]).contains("halite help rope"));
}

#[test]
fn where_nothing_is_found_names_are_suggested() {
    for (word, help) in [("qqqqzzzz", "`halite help` lists the commands"), ("silus", "did you mean `silu`?")] {
        let output = halite(&["help", word]);
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(&format!("the reference has nothing on `{word}`")) && text.contains(help), "{text}");
    }
}
