//! Words that other trainers have for what a recipe says otherwise, and for what Halite does not do.

use super::join;
use crate::Extension;
use crate::schema::{Key, Kind, names, needed_choices};
use halite_support::nearest::{list, nearest};
use halite_support::{Code, codes};

/// What a word of other trainers is here.
enum Meant {
    /// Another key.
    Key(&'static str),
    /// Nothing: what Halite does instead, and the nearest thing that there is.
    Nothing { instead: &'static str, nearest: &'static str },
}

use Meant::{Key as Other, Nothing};

/// The words, in the spellings of the common trainers.
static WORDS: &[(&[&str], Meant)] = &[
    (
        &["batch_size", "per_device_train_batch_size", "micro_batch", "micro_batch_size", "train_batch_size"],
        Other("batch"),
    ),
    (
        &["seq_len", "seq_length", "sequence_length", "max_seq_len", "max_seq_length", "block_size", "context_length"],
        Other("seq"),
    ),
    (&["learning_rate", "max_lr", "peak_lr"], Other("optimizer.adamw.lr")),
    (&["beta1", "beta2", "beta_1", "beta_2", "adam_beta1", "adam_beta2"], Other("optimizer.adamw.betas")),
    (&["epsilon", "adam_epsilon"], Other("optimizer.adamw.eps")),
    (&["decay", "wd"], Other("optimizer.adamw.weight_decay")),
    (
        &[
            "clip",
            "clip_grad",
            "grad_clip",
            "gradient_clip",
            "gradient_clipping",
            "gradient_clip_val",
            "max_grad_norm",
            "max_norm",
        ],
        Other("optimizer.adamw.clip_norm"),
    ),
    (&["warmup_steps", "num_warmup_steps", "lr_warmup_iters"], Other("schedule.warmup")),
    (&["lr_decay_iters", "lr_decay_steps"], Other("schedule.steps")),
    (&["min_lr", "lr_floor"], Other("schedule.floor")),
    (&["max_steps", "num_steps", "train_iters", "max_iters"], Other("train.steps")),
    (&["dtype", "torch_dtype", "amp", "mixed_precision"], Other("precision")),
    (&["tensor_parallel", "tensor_parallel_size", "tensor_model_parallel_size", "tp"], Other("parallel.tensor")),
    (
        &["pipeline_parallel", "pipeline_parallel_size", "pipeline_model_parallel_size", "pp"],
        Other("parallel.pipeline"),
    ),
    (&["sequence_parallel", "sequence_parallel_enabled"], Other("parallel.sequence")),
    (&["global_batch_size"], Other("parallel.global_batch")),
    (&["zero1", "zero_stage", "zero_optimization", "use_distributed_optimizer"], Other("parallel.zero")),
    (&["axis_rules", "logical_axis_rules", "partition_rules", "tp_plan"], Other("parallel.shard")),
    (&["param_specs", "partition_spec", "partition_specs"], Other("parallel.place")),
    (&["data_parallel", "data_parallel_size", "dp", "ddp"], Other("parallel.data")),
    (
        &[
            "accumulate_grad_batches",
            "accumulation",
            "accumulation_steps",
            "grad_accum",
            "gradient_accumulation",
            "gradient_accumulation_steps",
            "num_microbatches",
            "microbatches",
        ],
        Other("accumulate"),
    ),
    (&["lr_scheduler"], Other("schedule")),
    (&["lr_scheduler_type", "cosine", "linear", "wsd"], Other("schedule.shape")),
    (&["groups", "param_groups", "parameter_groups", "freeze", "lr_mult", "layer_decay"], Other("optimizer.group")),
    (&["no_weight_decay"], Other("optimizer.adamw.no_decay")),
    (&["ema_decay"], Other("optimizer.ema")),
    (
        &[
            "dropout",
            "attention_dropout",
            "hidden_dropout",
            "embd_pdrop",
            "attn_pdrop",
            "resid_pdrop",
            "drop_path",
            "dropout_rate",
        ],
        Nothing {
            instead: "dropout is a matter of the model",
            nearest: "built-in models have rates in `model.config`, a model text calls `dropout(x, rate)`",
        },
    ),
    (
        &["lora", "lora_r", "lora_rank", "lora_alpha", "qlora", "peft", "adapter"],
        Nothing {
            instead: "no factors are added to the weights of a model",
            nearest: "a model text can declare factors of low rank as its parameters, and `optimizer.group` freeze the rest",
        },
    ),
    (
        &["z_loss", "zloss", "z_loss_weight", "label_smoothing", "aux_loss", "loss_fn", "loss"],
        Nothing { instead: "the loss is that of the model text", nearest: "add the term to what `main` returns" },
    ),
    (&["loss_scaling", "grad_scaler", "dynamic_loss_scale"], Other("loss_scale")),
    (&["initial_loss_scale", "initial_scale_power", "init_scale"], Other("loss_scale.initial")),
    (&["loss_scale_window", "growth_interval"], Other("loss_scale.interval")),
    (&["min_loss_scale", "minimum_loss_scale"], Other("loss_scale.min")),
    (
        &["gradient_checkpointing", "activation_checkpointing", "remat", "checkpointing", "recompute_granularity"],
        Other("recompute"),
    ),
    (
        &["epochs", "num_epochs", "num_train_epochs"],
        Nothing { instead: "training is counted in updates", nearest: "`train.steps` sets how many" },
    ),
    (
        &["amsgrad", "dampening", "swa", "lookahead"],
        Nothing {
            instead: "the update rules have no such variant",
            nearest: "`[optimizer.adamw]` and `[optimizer.sgd]` have what there is",
        },
    ),
    (
        &["fsdp", "zero2", "zero3", "expert_parallel", "context_parallel"],
        Nothing { instead: "the step of one device is compiled", nearest: "`[parallel]` records a layout for later" },
    ),
    (&["eval_every", "eval_steps", "eval_interval"], Other("train.eval_every")),
    (&["eval_iters", "eval_batches"], Other("train.eval_batches")),
    (&["dataset", "data_path", "train_data", "data_dir"], Other("data.sources")),
    (&["valid_data", "eval_data", "validation"], Other("data.held_out")),
    (&["tokenizer", "tokenizer_name", "tokenizer_path"], Other("data.tokenizer")),
    (&["packing", "pack_sequences"], Other("data.pack")),
    (
        &["save_every", "save_steps", "checkpoint_every", "log_every", "logging_steps"],
        Nothing {
            instead: "a recipe says what a step computes",
            nearest: "`halite train --help` has what a run does beside",
        },
    ),
];

/// What to say of an unknown key in a table of these keys, of a recipe of those: a code, and what was probably meant or what there is.
pub(super) fn explain(name: &str, keys: &[Key], recipe: &[Key]) -> (Code, String) {
    let names = names(keys);
    let near = nearest(name, names.iter().copied()).map(did_you_mean);
    match (outside(name, recipe), near) {
        (Some((codes::NOT_SUPPORTED, _)), Some(near)) => (codes::RECIPE_KEY, near),
        (Some(outside), _) => outside,
        (None, Some(near)) => (codes::RECIPE_KEY, near),
        (None, None) => {
            let needed = needed_choices(keys);
            let choices = if needed.is_empty() { names } else { needed };
            let one_of = if choices.len() == 1 { "" } else { "one of " };
            (codes::RECIPE_KEY, format!("choose {one_of}{}", list(&choices)))
        }
    }
}

/// The same for a key that the table of a model's configuration was given, and that may be one of the recipe.
pub fn hint(name: &str, extension: &dyn Extension) -> Option<String> {
    let keys = crate::extension::keys(extension, None);
    let near = || nearest(name, names(&keys)).map(did_you_mean);
    outside(name, &keys).map(|(_, help)| help).or_else(near)
}

/// What a key is outside the table that it stands in.
fn outside(name: &str, recipe: &[Key]) -> Option<(Code, String)> {
    if let Some((_, meant)) = WORDS.iter().find(|(names, _)| names.contains(&name)) {
        return Some(match meant {
            Other(key) => (codes::RECIPE_KEY, did_you_mean(key)),
            Nothing { instead, nearest } => (codes::NOT_SUPPORTED, format!("remove it: {instead}; {nearest}")),
        });
    }
    let paths = paths(name, recipe);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    match paths[..] {
        [] => None,
        [path] => Some((codes::RECIPE_KEY, did_you_mean(path))),
        ref paths => Some((codes::RECIPE_KEY, format!("did you mean one of {}?", list(paths)))),
    }
}

/// What a key is called elsewhere, given its path.
pub fn other_names(path: &str) -> impl Iterator<Item = &'static str> {
    let of_key = WORDS.iter().filter(move |(_, meant)| matches!(meant, Other(key) if *key == path));
    of_key.flat_map(|(names, _)| names.iter().copied())
}

fn did_you_mean(key: &str) -> String {
    format!("did you mean `{key}`? `halite help {key}` describes it")
}

/// The paths of all keys of this name that a recipe can state, those in lists aside.
fn paths(name: &str, recipe: &[Key]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), recipe)];
    while let Some((path, keys)) = open.pop() {
        for key in keys {
            let path = join(&path, key.name);
            match &key.kind {
                Kind::Table(keys) | Kind::WordOrTable(_, keys) | Kind::WholeOrTable(_, _, keys) => {
                    open.push((path.clone(), &**keys));
                }
                _ => {}
            }
            if key.name == name {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_keys_are_keys_of_recipes_and_words_stand_once() {
        let mut seen = Vec::new();
        for (words, meant) in WORDS {
            if let Other(path) = meant {
                let name = path.rsplit('.').next().unwrap_or(path);
                assert!(
                    paths(name, &crate::extension::keys(&crate::testing::Known, None)).contains(&(*path).to_owned()),
                    "{path}"
                );
            }
            for word in *words {
                assert!(!seen.contains(word), "{word}");
                assert!(
                    names(&crate::extension::keys(&crate::testing::Known, None)).iter().all(|key| key != word),
                    "{word} is a key"
                );
                seen.push(word);
            }
        }
    }

    #[test]
    fn words_of_other_trainers_are_explained() {
        let help = |name: &str| hint(name, &crate::testing::Known).unwrap_or_default();
        assert_eq!(help("batch_size"), "did you mean `batch`? `halite help batch` describes it");
        assert_eq!(help("seed"), "did you mean one of `precision.sr.seed` and `train.seed`?");
        assert_eq!(help("lr"), "did you mean one of `optimizer.adamw.lr` and `optimizer.sgd.lr`?");
        assert_eq!(help("precison"), "did you mean `precision`? `halite help precision` describes it");
        assert!(
            help("dropout").contains("model.config") && help("gradient_accumulation_steps").contains("`accumulate`")
        );
        assert_eq!(hint("wobble", &crate::testing::Known), None);
    }
}
