//! Hints for unknown options and commands: the words of other trainers, and of other commands.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use halite::Session;

/// Options by other words: the commands that are meant, all of them where none is named; the words; what there is instead.
const OPTIONS: &[(&[&str], &[&str], &str)] = &[
    (
        &["train"],
        &["data", "dataset", "train-data", "train-file", "train-files", "corpus", "file", "files"],
        "`--text FILE` trains on the bytes of text files; other data stand in the recipe, in `[data]`",
    ),
    (
        &["train"],
        &["max-steps", "num-steps", "iters", "max-iters", "train-iters", "updates", "iterations"],
        "`--steps COUNT` says how many updates to make",
    ),
    (
        &["train"],
        &["epochs", "num-epochs", "max-epochs", "num-train-epochs"],
        "training is counted in updates: `--steps COUNT`; `halite data show` says how many sequences there are",
    ),
    (
        &["train"],
        &["load", "checkpoint", "ckpt", "from-checkpoint", "resume-from-checkpoint", "continue"],
        "`--resume PATH` goes on from a state, `--weights PATH` starts from weights; a run goes on by itself in its folder",
    ),
    (
        &["train"],
        &["save-every", "save-steps", "save-interval", "checkpoint-interval", "checkpoint-steps"],
        "`--checkpoint-every STEPS` says how often to save",
    ),
    (
        &["train"],
        &["eval-steps", "eval-interval", "eval-iters", "val-every", "val-check-interval"],
        "`--eval-every STEPS` says how often to evaluate, `--eval-batches COUNT` on how much",
    ),
    (
        &["eval"],
        &["text", "texts", "dataset", "file", "files", "held-out", "eval-data"],
        "`--data FILE` measures on files of text or JSON lines",
    ),
    (
        &["eval"],
        &["eval-batches", "limit", "max-batches", "num-batches"],
        "`--batches COUNT` limits how much is measured",
    ),
    (
        &["generate"],
        &["max-new-tokens", "max-tokens", "max-length", "length", "num-tokens", "steps"],
        "`--tokens COUNT` is the most new tokens",
    ),
    (&["generate"], &["text", "input", "start"], "`--prompt TEXT` is what to go on from"),
    (&["generate"], &["num-samples", "num-return-sequences", "n"], "`--samples COUNT` is how many texts to generate"),
    (
        &["generate"],
        &["top-k", "num-beams", "beams", "repetition-penalty"],
        "tokens are drawn by `--temperature` and `--top-p`, or taken by `--greedy`",
    ),
    (
        &["train", "compile", "init", "convert", "run", "numerics", "compare"],
        &["out", "out-dir", "output-dir", "save-dir", "save", "dir", "default-root-dir"],
        "`-o PATH` says where to write",
    ),
    (
        &[],
        &["model", "recipe", "config", "config-file", "preset", "input", "bundle", "run", "model-name-or-path"],
        "name it without an option: INPUT is a preset, a recipe, a model file, a bundle or a run, as the command takes it",
    ),
    (
        &[],
        &["device", "gpu", "gpus", "num-gpus", "cuda", "accelerator", "cpu"],
        "`--set target=..` says what is compiled for (`halite list targets`), `--set parallel.tensor=..` for how many devices",
    ),
    (&[], &["verbose", "debug", "log-level"], "`--json` writes all that is known, `--quiet` less"),
    (
        &[],
        &["override", "define", "opt", "option", "param"],
        "`--set KEY=VALUE` overrides a key of the recipe or of the model",
    ),
];

/// Commands by other words.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["explain", "man", "doc", "docs"], "help"),
    (&["evaluate", "measure", "perplexity", "ppl"], "eval"),
    (&["sample", "infer", "inference", "complete", "chat", "predict"], "generate"),
    (&["build", "lower"], "compile"),
    (&["fit", "pretrain", "finetune", "fine-tune", "sft", "resume"], "train"),
    (&["export", "import"], "convert"),
    (&["models", "presets", "ls", "targets"], "list"),
    (&["cat", "print"], "show"),
    (&["lint", "validate", "dry-run"], "check"),
    (&["create", "template", "scaffold"], "new"),
    (&["plot", "diff"], "compare"),
    (&["info", "summary", "describe"], "inspect"),
    (&["tokenize", "dataset", "preprocess"], "data"),
    (&["install"], "plugin"),
];

/// A mistake of the command line with what was probably meant, where its word is one that other programs have.
pub(super) fn explained(mut error: Error, command: &Command, session: &Session) -> Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let told = match error.kind() {
        ErrorKind::UnknownArgument => text(ContextKind::InvalidArg).and_then(|option| {
            let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
            option_instead(&option, used(command, &usage), session)
        }),
        ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand).and_then(|word| command_instead(&word)),
        _ => None,
    };
    if let Some(told) = told {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![told.into()]));
    }
    error
}

/// The command of a usage: `Usage: halite train [OPTIONS] <INPUT>`.
fn used<'c>(root: &'c Command, usage: &str) -> &'c Command {
    let mut command = root;
    // `Usage:` and the name that the program was started by stand before.
    for word in usage.split_whitespace().skip(2) {
        match command.find_subcommand(word) {
            Some(inner) => command = inner,
            None => break,
        }
    }
    command
}

fn option_instead(option: &str, command: &Command, session: &Session) -> Option<String> {
    let word = option.trim_start_matches('-').split('=').next().unwrap_or_default().replace('_', "-");
    let is_of = |commands: &[&str]| commands.is_empty() || commands.contains(&command.get_name());
    let known = OPTIONS.iter().find(|(commands, words, _)| is_of(commands) && words.contains(&&*word));
    if let Some((.., instead)) = known {
        return Some((*instead).to_owned());
    }
    let hint = halite_recipe::hint(&word, &session.vocabulary, None)?;
    let takes_keys = command.get_arguments().any(|argument| argument.get_id() == "set");
    Some(match hint.key {
        Some(key) if takes_keys => {
            let key = key.strip_prefix("model.config.").unwrap_or(&key);
            format!("did you mean `--set {key}=..`? `halite help {key}` describes it")
        }
        _ => hint.help,
    })
}

fn command_instead(word: &str) -> Option<String> {
    let (_, instead) = COMMANDS.iter().find(|(words, _)| words.contains(&word))?;
    Some(format!("here that is `halite {instead}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tip(line: &str) -> String {
        let session = Session::new();
        let command = crate::command(&session);
        let error = command.clone().try_get_matches_from(line.split(' ')).unwrap_err();
        explained(error, &command, &session).to_string()
    }

    #[test]
    fn words_of_other_programs_are_options_and_keys_here() {
        for (line, instead) in [
            ("halite train tiny --lr 1e-3", "did you mean `--set optimizer.adamw.lr=..`?"),
            ("halite train tiny --learning-rate=1e-3", "did you mean `--set optimizer.adamw.lr=..`?"),
            ("halite train tiny --batch_size 8", "did you mean `--set batch=..`?"),
            ("halite train tiny --hidden-size 8", "did you mean `--set hidden=..`?"),
            ("halite train tiny --epochs 3", "training is counted in updates"),
            ("halite eval tiny --text It", "`--data FILE` measures"),
            ("halite generate tiny --max-new-tokens 8", "`--tokens COUNT`"),
            ("halite neuron compile build/tiny --lr 1", "did you mean `optimizer.adamw.lr`?"),
            ("halite explain E0507", "here that is `halite help`"),
            ("halite compile --model tiny", "name it without an option"),
        ] {
            assert!(tip(line).contains(instead), "{line}: {}", tip(line));
        }
        assert!(!tip("halite train tiny --wobble").contains("did you mean"));
    }

    #[test]
    fn what_is_named_is_there_and_what_it_is_named_for_is_not() {
        let command = crate::command(&Session::new());
        for (words, instead) in COMMANDS {
            assert!(command.find_subcommand(instead).is_some(), "{instead}");
            assert!(words.iter().all(|word| command.find_subcommand(word).is_none()), "{words:?}");
        }
        let has = |command: &Command, word: &str| command.get_arguments().any(|own| own.get_long() == Some(word));
        for (commands, words, _) in OPTIONS {
            for name in *commands {
                let own = command.find_subcommand(name).unwrap_or_else(|| panic!("no command `{name}`"));
                assert!(words.iter().all(|word| !has(own, word)), "{name} {words:?}");
            }
        }
    }
}
