//! Floating-point operations that a backward recomputes under each policy, compared with formulas.
//!
//! Formulas leave out tables of positions, which are computed again once for all sequences of a batch: these are many here, and
//! nothing is executed.

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::ModuleRole;
use halite_ir::{InferCx, Registry, function_flops};
use halite_support::units::short;
use halite_tests::compiled;

const LAYERS: u64 = 2;
const BATCH: u64 = 16;
const SEQ: u64 = 512;
const HIDDEN: u64 = 1024;
const HEADS: u64 = 8;
/// Keys, and values too, where a quarter of the heads has its own.
const KEYS: u64 = HIDDEN / 4;
const FFN: u64 = 4 * HIDDEN;

/// The operations of a block for each token: `2 m n` for a product with an `m` by `n` matrix, and one for each element of what any
/// other operation computes or sums up.
struct Block {
    model: &'static str,
    settings: &'static [&'static str],
    /// Of a norm whose input is kept with the statistic.
    affine: u64,
    /// Of a norm whose input is kept, without the mean if it takes that off.
    norm: u64,
    /// The mean, and taking it off.
    centring: u64,
    /// Queries, keys and values, with biases and positions.
    projections: u64,
    /// Of the input of the last projection, without the activation.
    inner: u64,
    activation: u64,
}

const LLAMA: Block = Block {
    model: "llama",
    settings: &["kv_heads=2", "ffn=4096"],
    affine: 2 * HIDDEN,
    norm: 4 * HIDDEN,
    centring: 0,
    // A rotation takes two products, a sum, and a sign for every other element.
    projections: 2 * HIDDEN * (HIDDEN + 2 * KEYS) + (HIDDEN + KEYS) * 7 / 2,
    inner: 2 * HIDDEN * 2 * FFN,
    activation: 3 * FFN,
};

const BLOCKS: [Block; 3] = [
    LLAMA,
    Block { model: "qwen2", projections: LLAMA.projections + HIDDEN + 2 * KEYS, ..LLAMA },
    Block {
        model: "gpt2",
        settings: &["positions=512"],
        affine: 2 * HIDDEN,
        norm: 5 * HIDDEN,
        centring: 2 * HIDDEN,
        projections: 2 * HIDDEN * 3 * HIDDEN + 3 * HIDDEN,
        // With the biases before and after attention.
        inner: 2 * HIDDEN * FFN + FFN + HIDDEN,
        // `x / 2 (1 + tanh(x (a + b x x)))`.
        activation: 8 * FFN,
    },
];

impl Block {
    /// Operations of one layer that are repeated.
    ///
    /// The core of attention multiplies queries with keys and probabilities with values; each score is scaled, compared with the
    /// largest, taken that from, exponentiated, summed up and divided by the sum. A block is all but its last projection and the sum
    /// with what that gives, which no gradient reads.
    fn again(&self, recompute: &str) -> u64 {
        let core = 2 * 2 * SEQ * HIDDEN + 6 * SEQ * HEADS;
        let each = match recompute {
            "[]" => 2 * self.affine + self.activation,
            "[\"attention\", \"activation\"]" => 2 * self.affine + self.activation + core,
            "[\"dots\"]" => 2 * self.norm + self.activation,
            "[\"block\"]" => {
                let output = 2 * HIDDEN * HIDDEN + HIDDEN;
                let norms = 2 * (self.norm + self.centring);
                norms + self.projections + core + output + self.inner + self.activation
            }
            _ => unreachable!("there is no formula for it"),
        };
        BATCH * SEQ * each
    }

    /// The operations of a step, and what is said of those that its blocks repeat.
    fn step(&self, recompute: &str) -> (u64, String) {
        let sizes =
            [("layers", LAYERS), ("batch", BATCH), ("seq", SEQ), ("hidden", HIDDEN), ("heads", HEADS), ("vocab", 96)];
        let sizes = sizes.iter().map(|(name, size)| format!("{name}={size}"));
        let fixed = ["precision=fp32", "emit.calls=keep"].iter().chain(self.settings).map(|set| (*set).to_owned());
        let settings: Vec<String> = sizes.chain(fixed).chain([format!("recompute={recompute}")]).collect();
        let compiled = compiled::module(self.model, &ModuleRole::GRADS, &settings);
        let registry = Registry::builtin();
        let flops = function_flops(&InferCx { functions: &compiled.ir.functions, registry: &registry });
        let said = compiled.remarks.iter().find(|remark| remark.message.contains("computed again"));
        (flops.last().copied().unwrap_or(0), said.map(|remark| remark.message.clone()).unwrap_or_default())
    }
}

/// Layers repeat the same in the stages of a pipeline as in one program, whatever its schedule.
#[test]
fn stages_repeat_what_one_program_does() {
    let sizes = [
        "layers=4",
        "batch=1",
        "seq=256",
        "hidden=256",
        "heads=4",
        "kv_heads=4",
        "ffn=512",
        "vocab=96",
        "accumulate=4",
    ];
    let flops = |recompute: &str, layout: &[&str]| {
        let recompute = format!("recompute={recompute}");
        let set: Vec<String> =
            sizes.iter().chain(layout).chain([&recompute.as_str()]).map(|&set| set.to_owned()).collect();
        let mut session = Session::new();
        let source = session.load("llama", &set).unwrap_or_else(|errors| panic!("{set:?}: {errors:?}"));
        let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
        let compiled = session.compile(&source, &options).unwrap_or_else(|errors| panic!("{set:?}: {errors:?}"));
        let modules = &compiled.bundle.manifest.modules;
        let work = modules.iter().filter_map(|module| Some(module.estimate.as_ref()?.work.product_flops()));
        work.sum::<u64>()
    };
    let one = ["target=trn1", "precision=mixed"];
    let attention = "[\"attention\"]";
    for recompute in [attention, "[\"block\"]", "[{ scope = \"*mlp*\" }]", "[\"attention\", { scope = \"*mlp*\" }]"] {
        let whole = flops(recompute, &one);
        assert!(whole > flops("[\"dots\"]", &one), "{recompute} repeats no product");
        for schedule in ["1f1b", "interleaved", "zero-bubble"] {
            let schedule = format!("parallel.schedule={schedule}");
            let chunks = if schedule.ends_with("interleaved") { "parallel.chunks=2" } else { "parallel.chunks=1" };
            let staged =
                flops(recompute, &["target=trn1", "precision=mixed", "parallel.pipeline=2", &schedule, chunks]);
            assert_eq!(staged, whole, "{recompute} {schedule}");
        }
    }
}

#[test]
fn backwards_repeat_what_formulas_say() {
    for block in &BLOCKS {
        let (without, _) = block.step("[\"none\"]");
        for recompute in ["[]", "[\"attention\", \"activation\"]", "[\"dots\"]", "[\"block\"]"] {
            let (with, said) = block.step(recompute);
            let (found, expected) = ((with - without) / LAYERS, block.again(recompute));
            let case = format!("{} {recompute}: {found} operations, {expected} by formula; {said}", block.model);
            println!("{case}");
            assert!(found.abs_diff(expected) * 100 <= expected, "{case}");
            assert!(said.ends_with(&format!(", {} FLOPs", short(found))), "{case}");
        }
    }
}
