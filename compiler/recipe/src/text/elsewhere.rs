//! Words of other trainers: for keys that a recipe calls otherwise, and for what Halite does not do.

/// The meaning of a word of other trainers in a recipe.
pub(super) enum Meant {
    /// Another key.
    Key(&'static str),
    /// Another key whose values mean something else, which the remark explains.
    As(&'static str, &'static str),
    /// A size of the model, as built-in models call it.
    Size(&'static str),
    /// No key: what Halite does instead, and the nearest thing that there is.
    Nothing { instead: &'static str, nearest: &'static str },
}

use Meant::{As, Key as Other, Nothing, Size};

/// The words, in the spellings of the common trainers.
pub(super) static WORDS: &[(&[&str], Meant)] = &[
    (
        &[
            "batch_size",
            "per_device_train_batch_size",
            "micro_batch",
            "micro_batch_size",
            "train_micro_batch_size_per_gpu",
            "train_micro_batch_size_per_device",
        ],
        Other("batch"),
    ),
    (
        &[
            "seq_len",
            "seq_length",
            "encoder_seq_length",
            "sequence_length",
            "max_seq_len",
            "max_seq_length",
            "max_position_embeddings",
            "block_size",
            "context_length",
            "context",
            "ctx",
            "sequence",
        ],
        Other("seq"),
    ),
    (&["learning_rate", "max_lr", "peak_lr", "warmup_max_lr"], Other("optimizer.adamw.lr")),
    (
        &["steps"],
        As("train.steps", "which is how many updates to make; `schedule.steps` is when the rate reaches its floor"),
    ),
    (&["beta1", "beta2", "beta_1", "beta_2", "adam_beta1", "adam_beta2"], Other("optimizer.adamw.betas")),
    (&["fp16", "bf16"], As("precision", "where `mixed` computes in bf16 beside weights in f32, and `fp16` in f16")),
    (&["epsilon", "adam_epsilon", "adam_eps"], Other("optimizer.adamw.eps")),
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
    (
        &["warmup_steps", "num_warmup_steps", "warmup_num_steps", "warmup_iters", "lr_warmup_iters"],
        Other("schedule.warmup"),
    ),
    (
        &["warmup_ratio", "warmup_fraction", "lr_warmup_fraction"],
        As("schedule.warmup", "which counts updates, where yours is a share of them"),
    ),
    (&["lr_decay_iters", "lr_decay_steps", "total_num_steps"], Other("schedule.steps")),
    (&["lr_floor"], Other("schedule.floor")),
    (&["min_lr", "warmup_min_lr", "cos_min_ratio"], As("schedule.floor", "which is a share of the peak")),
    (
        &["train_samples", "lr_warmup_samples", "lr_decay_samples"],
        Nothing {
            instead: "what is long is counted in updates",
            nearest: "divide by `parallel.global_batch` for `train.steps`, `schedule.warmup` and `schedule.steps`",
        },
    ),
    (
        &["max_steps", "num_steps", "total_steps", "num_updates", "updates", "num_iters", "train_iters", "max_iters"],
        Other("train.steps"),
    ),
    (
        &[
            "dtype",
            "torch_dtype",
            "params_dtype",
            "autocast_dtype",
            "amp",
            "amp_level",
            "megatron_amp_O2",
            "mixed_precision",
        ],
        Other("precision"),
    ),
    (
        &[
            "tensor_parallel",
            "tensor_parallel_size",
            "tensor_model_parallel_size",
            "model_parallel_size",
            "tp",
            "tp_size",
        ],
        Other("parallel.tensor"),
    ),
    (
        &["pipeline_parallel", "pipeline_parallel_size", "pipeline_model_parallel_size", "pp", "pp_size"],
        Other("parallel.pipeline"),
    ),
    (
        &[
            "virtual_pipeline_model_parallel_size",
            "num_virtual_stages_per_pipeline_rank",
            "num_layers_per_virtual_pipeline_stage",
            "pipeline_parallel_layers_per_stage",
        ],
        As(
            "parallel.chunks",
            "which counts the parts of the model on each stage, for `parallel.schedule = \"interleaved\"`",
        ),
    ),
    (&["pipeline_parallel_schedule", "pp_schedule"], Other("parallel.schedule")),
    (
        &["pipeline_parallel_split_points", "split_points", "pipeline_cuts", "pipeline_model_parallel_layout"],
        As("parallel.stages", "which lists the layers that parts begin with, or how many each has"),
    ),
    (&["sequence_parallel", "sequence_parallel_enabled"], Other("parallel.sequence")),
    (
        &["global_batch_size", "train_batch_size"],
        As(
            "parallel.global_batch",
            "which counts the sequences of all ranks and micro-batches, as `batch` does those of one",
        ),
    ),
    (
        &[
            "zero1",
            "zero2",
            "zero3",
            "use_zero_1",
            "zero_stage",
            "zero_optimization",
            "use_distributed_optimizer",
            "shard_optim_states",
        ],
        Other("parallel.zero"),
    ),
    (&["fsdp", "dp_shard", "data_parallel_shard_degree"], Other("parallel.fsdp")),
    (
        &["stage3_param_persistence_threshold", "fsdp_min_num_params"],
        As("parallel.fsdp_min_bytes", "which counts bytes of a weight, not its elements"),
    ),
    (&["forward_prefetch", "backward_prefetch", "prefetch"], As("parallel.fsdp_prefetch", "which counts layers")),
    (
        &["limit_all_gathers", "stage3_max_live_parameters"],
        As("parallel.fsdp_bytes", "which counts bytes on a rank, not elements"),
    ),
    (&["axis_rules", "logical_axis_rules", "partition_rules", "tp_plan"], Other("parallel.shard")),
    (&["param_specs", "partition_spec", "partition_specs"], Other("parallel.place")),
    (&["data_parallel", "data_parallel_size", "dp", "dp_size", "ddp", "dp_replicate"], Other("parallel.data")),
    (
        &["devices", "num_nodes", "nodes", "nproc_per_node", "world_size", "num_gpus"],
        As("parallel.data", "which together with `parallel.tensor` makes as many ranks as there are devices"),
    ),
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
            "gas",
        ],
        Other("accumulate"),
    ),
    (&["lr_scheduler", "scheduler", "lr_scheduler_kwargs", "sched", "lr_schedule"], Other("schedule")),
    (&["lr_scheduler_type", "lr_decay_style", "cosine", "linear", "wsd"], Other("schedule.shape")),
    (&["optim"], Other("optimizer")),
    (&["training", "trainer", "training_args", "train_config"], Other("train")),
    (&["strategy", "parallelism", "mesh", "distributed"], Other("parallel")),
    (&["logging", "logger", "loggers"], Other("metrics")),
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
    (&["initial_loss_scale", "init_scale"], Other("loss_scale.initial")),
    (&["initial_scale_power"], As("loss_scale.initial", "the scale itself: 65536 for a power of 16")),
    (
        &["hysteresis", "loss_scale_hysteresis", "consecutive_hysteresis"],
        Nothing {
            instead: "the scale is halved at each overflow",
            nearest: "`loss_scale.interval` says when it is doubled",
        },
    ),
    (&["loss_scale_window", "growth_interval"], Other("loss_scale.interval")),
    (&["min_loss_scale", "minimum_loss_scale"], Other("loss_scale.min")),
    (
        &[
            "gradient_checkpointing",
            "activation_checkpointing",
            "activations_checkpoint_granularity",
            "activations_checkpoint_method",
            "activations_checkpoint_num_layers",
            "activations_checkpoint_recompute",
            "remat",
            "checkpointing",
            "recompute_activations",
            "recompute_granularity",
            "recompute_method",
            "recompute_num_layers",
        ],
        Other("recompute"),
    ),
    (
        &["epochs", "max_epochs", "num_epochs", "num_train_epochs"],
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
        &["expert_parallel", "expert_model_parallel_size", "context_parallel", "context_parallel_size", "cp"],
        Nothing {
            instead: "there is no such axis",
            nearest: "`parallel.tensor` shards weights and heads, `parallel.sequence` the activations between blocks",
        },
    ),
    (
        &[
            "offload_optimizer",
            "offload_param",
            "cpu_offload",
            "overlap_comm",
            "overlap_grad_reduce",
            "overlap_param_gather",
            "contiguous_gradients",
            "reduce_bucket_size",
            "stage3_prefetch_bucket_size",
            "allgather_bucket_size",
            "reduce_scatter",
            "allgather_partitions",
            "round_robin_gradients",
            "partition_activations",
        ],
        Nothing {
            instead: "the compiler decides when and in how large pieces ranks exchange; nothing lies on the host",
            nearest: "`parallel.zero` and `recompute` save memory",
        },
    ),
    (&["num_layers", "num_hidden_layers", "n_layer", "n_layers"], Size("layers")),
    (&["hidden_size", "n_embd", "d_model", "dim", "model_dim"], Size("hidden")),
    (&["ffn_hidden_size", "intermediate_size", "n_inner", "ffn_dim", "d_ff"], Size("ffn")),
    (&["num_attention_heads", "n_head", "n_heads", "num_heads"], Size("heads")),
    (&["num_query_groups", "num_key_value_heads", "n_kv_heads", "num_kv_heads"], Size("kv_heads")),
    (&["vocab_size", "padded_vocab_size", "n_vocab"], Size("vocab")),
    (
        &["norm_epsilon", "layernorm_epsilon", "layer_norm_epsilon", "layer_norm_eps", "rms_norm_eps", "norm_eps"],
        Size("eps"),
    ),
    (&["init_method_std", "initializer_range", "init_range"], Size("init_std")),
    (&["rotary_base", "rope_base"], Size("rope_theta")),
    (
        &["make_vocab_size_divisible_by"],
        Nothing {
            instead: "a vocabulary is padded where the ranks of `tensor` do not divide it",
            nearest: "state `vocab` in `model.config`, as the tokenizer has it",
        },
    ),
    (&["eval_every", "eval_steps", "eval_interval", "val_check_interval"], Other("train.eval_every")),
    (&["eval_iters", "eval_batches", "limit_val_batches"], Other("train.eval_batches")),
    (&["dataset", "data_path", "data_prefix", "train_data", "train_data_path", "data_dir"], Other("data.sources")),
    (&["valid_data", "valid_data_path", "eval_data", "validation"], Other("data.held_out")),
    (&["split", "splits_string"], As("data.held_out", "a source with a `part` such as \"0.95..1\"")),
    (&["tokenizer", "tokenizer_name", "tokenizer_model", "tokenizer_path", "tokenizer_type"], Other("data.tokenizer")),
    (&["packing", "pack_sequences"], Other("data.pack")),
    (
        &[
            "save",
            "load",
            "save_every",
            "save_interval",
            "save_steps",
            "save_top_k",
            "checkpoint_every",
            "every_n_train_steps",
            "exp_manager",
            "log_every",
            "log_every_n_steps",
            "log_interval",
            "logging_steps",
            "resume_if_exists",
            "steps_per_print",
            "wall_clock_breakdown",
        ],
        Nothing {
            instead: "a recipe says what a step computes",
            nearest: "`halite train --help` has what a run does beside",
        },
    ),
];

/// The names of a key in other trainers, given its path.
pub fn other_names(path: &str) -> impl Iterator<Item = &'static str> {
    let of_key = WORDS.iter().filter(move |(_, meant)| matches!(meant, Other(key) | As(key, _) if *key == path));
    of_key.flat_map(|(names, _)| names.iter().copied())
}
