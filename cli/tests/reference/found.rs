//! Words find what they mean.

use super::reference;
use halite_reference::words::{NOTES, WORDS};

/// Words that a newcomer types, and the entry that answers each.
const WORDS_OF_A_NEWCOMER: [(&str, &str); 42] = [
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
    ("cost", "command inspect"),
    ("fit", "command inspect"),
    ("memory", "command inspect"),
    ("throughput", "command train"),
    ("launch", "command env"),
    ("slurm", "command cluster"),
    ("eks", "command cluster"),
    ("container", "command cluster"),
    ("cluster", "command cluster"),
    ("lora", "recipe key optimizer.group.frozen"),
    ("chat", "recipe key data.sources"),
    ("prompt", "command generate"),
    ("prompt masking", "chapter loss weight"),
    ("padding", "chapter packed documents"),
    ("tensorboard", "recipe key metrics.tensorboard"),
    ("MFU", "recipe key metrics"),
    ("checkpoint", "recipe key checkpoint"),
    ("scan", "chapter loops"),
    ("convolution", "chapter operators and shapes"),
    ("export", "command convert"),
    ("jax", "command compile"),
    ("PyTorch", "command convert"),
    ("numpy", "recipe key data.sources.format"),
    ("megatron", "recipe key data.sources.format"),
    ("deepspeed", "recipe key parallel.zero"),
    ("onnx", "command convert"),
    ("post norm", "block norm"),
    ("sandwich-norm", "block norm"),
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
    assert!(NOTES.iter().all(|(noted, _)| WORDS.iter().any(|(word, _)| word == noted)), "what is noted is known");
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
        ("auto diff", "pass auto-diff"),
    ] {
        assert_eq!(first(words).as_deref(), Some(label), "{words}");
    }
}

/// Nothing is shown in the place of what was asked for, and only what is near is proposed.
#[test]
fn what_is_not_there_is_not_replaced() {
    let reference = reference();
    for (words, near, mentioned) in [
        ("transpoze", Some("transpose"), None),
        ("silus", Some("silu"), None),
        ("causal softmax", None, Some("chapter functions")),
        ("cosst", None, None),
        ("dax", None, None),
        ("qqqqzzzz", None, None),
    ] {
        let found = reference.search(words);
        assert!(found.entries.is_empty(), "{words}");
        let mentioned_first = found.mentions.first().map(|entry| entry.label());
        assert_eq!((found.near, mentioned_first.as_deref()), (near, mentioned), "{words}");
    }
}
