//! Words find what they mean.

use super::reference;
use halite_reference::words::WORDS;

/// What a newcomer types, and the entry that answers.
const WORDS_OF_A_NEWCOMER: [(&str, &str); 14] = [
    ("mask", "chapter masks"),
    ("freeze", "recipe key optimizer.group.frozen"),
    ("warm-up", "recipe key schedule.warmup"),
    ("gather", "builtin gather"),
    ("cast", "builtin convert"),
    ("rope", "composite rope"),
    ("loss weight", "chapter loss weight"),
    ("seq", "recipe key seq"),
    ("devices", "recipe key parallel"),
    ("resume", "command train"),
    ("use", "chapter libraries"),
    ("blocks", "chapter blocks"),
    ("norm", "block norm"),
    ("gated_mlp", "block gated_mlp"),
];

#[test]
fn words_of_a_newcomer_find_their_page() {
    let reference = reference();
    for (word, label) in WORDS_OF_A_NEWCOMER {
        let found = reference.search(word);
        assert_eq!(found.entries.first().map(|entry| entry.label()).as_deref(), Some(label), "{word}");
    }
}

#[test]
fn every_word_means_something_that_is_there() {
    let reference = reference();
    for (word, labels) in WORDS {
        assert!(!labels.is_empty(), "{word}");
        let gone: Vec<_> = labels.iter().filter(|label| reference.labelled(label).is_none()).collect();
        assert!(gone.is_empty(), "{word} means {gone:?}");
    }
    assert!(WORDS.windows(2).all(|pair| pair[0].0 < pair[1].0), "words are sorted, each once");
}

#[test]
fn names_are_found_however_they_are_written() {
    let reference = reference();
    let first = |words: &str| reference.search(words).entries.first().map(|entry| entry.label());
    for (words, label) in [
        ("GELU", "composite gelu"),
        ("rms-norm", "composite rms_norm"),
        ("e0301", "diagnostic E0301"),
        ("optimizer.adamw.lr", "recipe key optimizer.<rule>.lr"),
        ("warmup", "recipe key schedule.warmup"),
        ("hlo check", "command hlo check"),
        ("transpoze", "builtin transpose"),
        ("auto diff", "pass auto-diff"),
    ] {
        assert_eq!(first(words).as_deref(), Some(label), "{words}");
    }
    let nothing = reference.search("qqqqzzzz");
    assert!(nothing.entries.is_empty() && !nothing.near.is_empty());
}
