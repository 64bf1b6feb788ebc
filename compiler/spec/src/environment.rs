//! Variables and compiler flags that have no place around a program of Halite, because they change element types,
//! rounding or the lowering of ops behind its back, with the key of the recipe that says it instead.
//!
//! Sources: `tensor_util.cpp` of torch-xla (the variables `XLA_*`), the launch scripts of HLAT and of NxD Training (those
//! of training scripts), the documentation of the Neuron runtime and of `neuronx-cc` (the rest).

/// The variable by which the Neuron runtime switches stochastic rounding on for a process; read when a model is loaded.
pub const STOCHASTIC_ROUNDING_EN: &str = "NEURON_RT_STOCHASTIC_ROUNDING_EN";

/// The variable with the seed of that rounding; read when the runtime starts.
pub const STOCHASTIC_ROUNDING_SEED: &str = "NEURON_RT_STOCHASTIC_ROUNDING_SEED";

/// Something that a recipe may not set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replaced {
    /// Its name.
    pub name: &'static str,
    /// What takes its place.
    pub by: &'static str,
    /// What it does.
    pub why: &'static str,
}

const fn replaced(name: &'static str, by: &'static str, why: &'static str) -> Replaced {
    Replaced { name, by, why }
}

/// Variables of the environment.
pub const REPLACED_VARIABLES: &[Replaced] = &[
    replaced(
        "XLA_USE_BF16",
        "`precision = \"bf16\"` or `precision = \"bf16-sr\"`",
        "torch-xla stores `float` and `double` alike as `bf16` under it, so that casts to a wider type do nothing",
    ),
    replaced(
        "XLA_DOWNCAST_BF16",
        "`precision = \"mixed\"`",
        "torch-xla stores `float` as `bf16` and `double` as `f32` under it, so that no type means what it says",
    ),
    replaced(
        "XLA_USE_FP16",
        "`weight`, `operand` and the other keys of `[precision]`",
        "torch-xla stores every float as `f16` under it",
    ),
    replaced(
        "XLA_USE_F16",
        "`weight`, `operand` and the other keys of `[precision]`",
        "it is the documented name of `XLA_USE_FP16`, under which torch-xla stores every float as `f16`",
    ),
    replaced(
        "XLA_DOWNCAST_FP16",
        "`operand` and the other keys of `[precision]`",
        "torch-xla stores `float` as `f16` and `double` as `f32` under it",
    ),
    replaced(
        "XLA_USE_32BIT_LONG",
        "nothing: the programs of Halite have no 64-bit integers",
        "torch-xla stores 64-bit integers in 32 bits under it",
    ),
    replaced(
        "XLA_FLAGS",
        "nothing: Halite sets the options of XLA",
        "among the options of XLA are those that keep more precision than the program states",
    ),
    replaced(
        "NEURON_FUSE_SOFTMAX",
        "the composite `softmax`, whose element type is `precision.sensitive`",
        "torch-neuronx lowers softmax to another kernel under it",
    ),
    replaced(
        "NEURON_CUSTOM_SILU",
        "the composite `silu`, whose element type is `precision.operand`",
        "torch-neuronx lowers silu to another kernel under it",
    ),
    replaced("NEURON_CC_FLAGS", "`neuron.flags`", "flags in it would pass by the checks of this recipe"),
    replaced(
        STOCHASTIC_ROUNDING_EN,
        "`precision.rounding` with `precision.sr.by = \"switch\"`, from which Halite sets it",
        "it changes the rounding of every conversion of the process",
    ),
    replaced(
        STOCHASTIC_ROUNDING_SEED,
        "`precision.sr.seed`, from which Halite sets it",
        "it changes the rounding of every conversion of the process",
    ),
    replaced(
        "USE_MASTER_WEIGHTS_ZERO_1",
        "`precision.master = \"f32\"`",
        "only the launch scripts of HLAT read it, to keep a second copy of the weights",
    ),
    replaced(
        "USE_MIX_PRECISION",
        "`precision = \"mixed\"`",
        "only the launch scripts of HLAT read it, to choose the type of the optimizer",
    ),
    replaced(
        "AMP_ENABLED",
        "`precision = \"mixed\"`",
        "only the launch scripts of HLAT read it, to have casts inserted",
    ),
];

/// The flag that has `neuronx-cc` narrow what the program states wide; pinned to `none`.
pub const AUTO_CAST: &str = "--auto-cast";

/// The flag that names the type that `--auto-cast` narrows to.
pub const AUTO_CAST_TYPE: &str = "--auto-cast-type";

/// The flag that has `neuronx-cc` add up in `f32`, whatever the type of the operands.
pub const WIDE_ACCUMULATION: &str = "--enable-mixed-precision-accumulation";

/// The flag that has it add up in the type of the operands.
pub const NARROW_ACCUMULATION: &str = "--disable-mixed-precision-accumulation";
