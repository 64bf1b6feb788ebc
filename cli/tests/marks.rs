//! The tokens that mark where documents begin and end, as tokenizers have them.

use crate::program::halite;
use std::path::Path;

const RECIPE: &str = r#"
halite = 1
batch = 2
seq = 4
model = { name = "llama", config = { vocab = 64, hidden = 16, layers = 1, heads = 2, ffn = 32 } }
optimizer.adamw.lr = 1e-3
data.tokenizer = "tokenizer.json"
data.sources = [{ files = ["text.txt"], documents = "line" }]
"#;

/// A tokenizer that knows the words `a` and `b` and these tokens, from id 4 on, each special or not.
pub(crate) fn tokenizer(added: &[(&str, bool)]) -> String {
    let token = |(id, (content, special)): (usize, &(&str, bool))| {
        format!(
            r#"{{"id":{id},"content":"{content}","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":{special}}}"#
        )
    };
    let added: Vec<String> = (4..).zip(added).map(token).collect();
    format!(
        r#"{{"version":"1.0","added_tokens":[{}],"pre_tokenizer":{{"type":"Whitespace"}},
        "model":{{"type":"WordLevel","unk_token":"u","vocab":{{"u":0,"a":1,"b":2,"x":3}}}}}}"#,
        added.join(",")
    )
}

/// Packs a text of two lines: the token ids, `None` where it is refused, and standard error.
fn packed(folder: &Path, recipe: &str) -> (Option<Vec<u16>>, String) {
    std::fs::write(folder.join("r.toml"), recipe).unwrap();
    std::fs::write(folder.join("text.txt"), "a b\nb\n").unwrap();
    let output = halite(folder, &["data", "pack", "r.toml", "-o", "p.bin"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let ids = |bytes: Vec<u8>| bytes.chunks_exact(2).map(|id| u16::from_le_bytes([id[0], id[1]])).collect();
    match output.status.code() {
        Some(0) => (Some(ids(std::fs::read(folder.join("p.bin")).unwrap())), said),
        code => {
            assert_eq!(code, Some(2), "{said}");
            (None, said)
        }
    }
}

/// Tokens and whether they are special, what is stated beside them, and the tokens that documents become.
type Case<'a> = (&'a [(&'a str, bool)], Option<&'a str>, Vec<u16>);

#[test]
fn documents_end_with_the_token_that_the_tokenizer_ends_texts_with() {
    let plain = |token| vec![1, 2, token, 2, token];
    let deepseek = [("<｜begin▁of▁sentence｜>", true), ("<｜end▁of▁sentence｜>", true)];
    let chat = [("<|endoftext|>", true), ("<|im_start|>", true), ("<|im_end|>", true)];
    let cases: [Case; 10] = [
        // In Gemma's vocabulary `</s>` is a tag of HTML, in Phi-3's a relic.
        (&[("<eos>", true), ("</s>", false)], None, plain(4)),
        (&[("</s>", false), ("<|endoftext|>", true), ("<|assistant|>", true)], None, plain(5)),
        (&deepseek, None, plain(5)),
        (&[("[CLS]", true), ("[SEP]", true)], None, plain(5)),
        (&[("[EOS]", true)], None, plain(4)),
        (&[("<|eot_id|>", true)], None, plain(4)),
        (&[("<|eos|>", true)], None, plain(4)),
        // What stands beside the tokenizer says it, of several and of those that nobody knows.
        (&chat, Some(r#"{"eos_token": "<|im_end|>"}"#), plain(6)),
        (&chat, Some(r#"{"eos_token": {"content": "<|endoftext|>", "special": true}}"#), plain(4)),
        (&[("<end>", false)], Some(r#"{"eos_token": "<end>", "bos_token": null}"#), plain(4)),
    ];
    for (added, config, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tokenizer.json"), tokenizer(added)).unwrap();
        if let Some(config) = config {
            std::fs::write(folder.path().join("tokenizer_config.json"), config).unwrap();
        }
        let (found, said) = packed(folder.path(), RECIPE);
        assert_eq!(found, Some(expected), "{added:?} {config:?}: {said}");
        assert!(!said.contains("run into each other"), "{said}");
    }
}

#[test]
fn where_no_one_end_is_known_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let with = |eos: &str| RECIPE.replace("data.sources", &format!("data.eos = \"{eos}\"\ndata.sources"));
    // Several: refused, until one is named.
    file("tokenizer.json", &tokenizer(&[("<|endoftext|>", true), ("<|im_end|>", true)]));
    for config in [None, Some("{}"), Some(r#"{"eos_token": null}"#)] {
        config.into_iter().for_each(|config| file("tokenizer_config.json", config));
        let (found, said) = packed(folder.path(), RECIPE);
        assert!(found.is_none() && said.contains("has `<|endoftext|>` and `<|im_end|>`"), "{said}");
        assert!(said.contains("data.eos"), "{said}");
    }
    assert_eq!(packed(folder.path(), &with("<|im_end|>")).0, Some(vec![1, 2, 5, 2, 5]));
    // None: a warning, until it is said that there is to be none.
    file("tokenizer.json", &tokenizer(&[("</s>", false), ("<pad>", true)]));
    let (found, said) = packed(folder.path(), RECIPE);
    assert_eq!(found, Some(vec![1, 2, 2]));
    assert!(said.contains("documents run into each other") && said.contains("`</s>` is a token of it"), "{said}");
    let (found, said) = packed(folder.path(), &with("none"));
    assert_eq!((found, said.contains("run into each other")), (Some(vec![1, 2, 2]), false));
    assert!(!packed(folder.path(), &with("</s>")).1.contains("run into each other"));
    // What stands beside it is broken, or of another tokenizer.
    for (config, expected) in [
        (r#"{"eos_token": "<eos>"}"#, "says that `<eos>` ends texts, which is no token of it"),
        (r#"{"eos_token": 3}"#, "has an `eos_token` that is no token"),
        ("{", "is not JSON"),
        ("[]", "run into each other"),
    ] {
        file("tokenizer_config.json", config);
        let (found, said) = packed(folder.path(), RECIPE);
        assert_eq!((found.is_some(), said.contains(expected)), (config == "[]", true), "{config}: {said}");
        // It is not asked where the recipe says it.
        assert!(packed(folder.path(), &with("none")).0.is_some());
    }
}

/// Files that say where documents end need no token for it, and bytes have none.
#[test]
fn nothing_is_said_where_no_token_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), tokenizer(&[])).unwrap();
    assert!(packed(folder.path(), RECIPE).1.contains("run into each other"));
    let again = RECIPE.replace("text.txt", "p.bin").replace(", documents = \"line\"", "");
    std::fs::write(folder.path().join("again.toml"), again).unwrap();
    let output = halite(folder.path(), &["data", "show", "again.toml"]);
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
    let bytes = RECIPE.replace("data.tokenizer = \"tokenizer.json\"", "").replace("vocab = 64", "vocab = 256");
    assert!(!packed(folder.path(), &bytes).1.contains("run into each other"));
}
