//! Recomputation by scope, and within a budget.

use halite::Session;
use halite::compile::{CompileOptions, Compiled};
use halite_bundle::ModuleRole;
use halite_bundle::estimate::FitVerdict;
use halite_ir::{InferCx, Module, Op, ResultRole, function_flops};
use halite_support::codes;
use halite_support::units::bytes;

const LAYERS: u64 = 6;

/// Calls of forwards each keep so many bytes, and the step takes so many floating-point operations.
struct Step {
    kept: Vec<u64>,
    flops: u64,
}

impl Step {
    fn of(recompute: &str) -> Self {
        Self::on("cpu", recompute)
    }

    fn on(target: &str, recompute: &str) -> Self {
        let mut session = Session::new();
        let settings = ["hidden=48", "heads=4", "kv_heads=2", "ffn=80", "vocab=96", "seq=32", "batch=2"];
        let more = [format!("layers={LAYERS}"), format!("target={target}"), format!("recompute={recompute}")];
        let fixed = ["precision=fp32", "emit.calls=keep"].map(str::to_owned);
        let settings: Vec<String> = settings.map(str::to_owned).into_iter().chain(fixed).chain(more).collect();
        let source = session
            .load(concat!(env!("CARGO_MANIFEST_DIR"), "/../models/llama.hal"), &settings)
            .unwrap_or_else(|errors| panic!("{errors:?}"));
        let built = session.elaborate(&source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
        let role = ModuleRole::GRADS;
        let pipeline = session.pipeline(&role).unwrap_or_else(|error| panic!("{error}"));
        let compiled = session.compile_role(&built, &source.recipe, &role, &pipeline, &CompileOptions::default());
        let module = compiled.unwrap_or_else(|error| panic!("{recompute}: {error}")).ir;
        let cx = InferCx { functions: &module.functions, registry: &session.registry };
        Self { kept: kept(&module), flops: function_flops(&cx).last().copied().unwrap_or(0) }
    }

    fn total(&self) -> u64 {
        self.kept.iter().sum()
    }
}

/// For each layer what its forward keeps: its residuals, and what it takes and the backward takes too, weights aside.
fn kept(module: &Module) -> Vec<u64> {
    let entry = module.entry().expect("a step has an entry");
    let calls = |part| {
        let called = entry.insts.iter().filter_map(move |inst| match &inst.op {
            Op::Call(call) if module.function(call.callee).name.contains(part) => {
                Some((module.function(call.callee), inst))
            }
            _ => None,
        });
        called.collect::<Vec<_>>()
    };
    let (forwards, backwards) = (calls("_forward"), calls("_backward"));
    assert_eq!((forwards.len() as u64, backwards.len() as u64), (LAYERS, LAYERS));
    let each = forwards.iter().zip(backwards.iter().rev()).map(|((callee, forward), (_, backward))| {
        let residuals = callee.results.iter().filter(|result| matches!(result.role, ResultRole::Residual));
        let residuals: u64 = residuals.map(|result| callee.ty(result.value).bytes()).sum();
        let taken = forward.args.iter().filter(|arg| entry.def(**arg).is_some() && backward.args.contains(arg));
        residuals + taken.map(|arg| entry.ty(*arg).bytes()).sum::<u64>()
    });
    each.collect()
}

/// A layer whose scope is named keeps what all do where all is computed again, the others what they keep otherwise.
#[test]
fn a_scope_has_a_policy_of_its_own() {
    let (plain, block) = (Step::of("[]"), Step::of("[\"block\"]"));
    let chosen = Step::of("[{ scope = \"model.layers.2.*\" }, { scope = \"model.layers.2\" }]");
    for layer in 0..LAYERS as usize {
        let like = if layer == 2 { &block } else { &plain };
        assert_eq!(chosen.kept[layer], like.kept[layer], "layer {layer}");
    }
    assert!(block.kept[2] < plain.kept[2]);
}

/// Kernels of a target are recomputed as their decompositions are. The kernel of a norm has no statistic, from which its result would
/// follow: there the result is kept too.
#[test]
fn kernels_are_computed_again() {
    let policy = "[\"attention\", \"activation\"]";
    let (plain, kernels, kept) = (Step::of(policy), Step::on("trn1", policy), Step::on("trn1", "[\"none\"]"));
    let normed = 2 * 2 * 32 * 48 * 4;
    assert_eq!(kernels.total(), plain.total() + LAYERS * normed);
    assert!(kernels.total() * 2 < kept.total(), "{} of {}", kernels.total(), kept.total());
}

/// Where intermediate values do not fit, the advice names a policy under which they do, and what that needs.
#[test]
fn what_does_not_fit_is_told_the_policy_under_which_it_would() {
    let compile = |more: &[&str]| {
        let mut session = Session::new();
        let settings = ["target=trn1", "layers=4"].iter().chain(more).map(|set| (*set).to_owned());
        let source =
            session.load("llama-7b", &settings.collect::<Vec<_>>()).unwrap_or_else(|errors| panic!("{errors:?}"));
        let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
        session.compile(&source, &options).unwrap_or_else(|errors| panic!("{errors:?}"))
    };
    let plain = compile(&[]);
    let warning = plain.warnings.iter().find(|warning| warning.code() == codes::DOES_NOT_FIT).expect("it does not fit");
    let help = warning.help_text().expect("advice");
    let policy = "recompute = [\"attention\", \"activation\"]";
    assert!(help.starts_with(&format!("`{policy}` fits in memory: about ")), "{help}");
    let advised = compile(&[policy]);
    let estimate = advised.bundle.manifest.modules[0].estimate.clone().expect("an estimate");
    assert_eq!(estimate.fit.map(|fit| fit.memory), Some(FitVerdict::Fits));
    let flops = |compiled: &Compiled| compiled.bundle.manifest.statistics.matmul_flops_per_token as f64;
    let more = 100.0 * (flops(&advised) / flops(&plain) - 1.0);
    let figures = format!("about {}, for {more:.1}% more FLOPs of matmuls", bytes(estimate.memory.total()));
    assert!(help.contains(&figures), "{help}: {figures}");
}

/// A budget of what a policy keeps is kept to, and asks for no more operations than that policy, up to a hundredth: layers are of two
/// kinds at most. One that is larger than what is read asks for none, and one between has some of the layers compute again what
/// others keep.
#[test]
fn no_more_is_computed_again_than_a_budget_asks_for() {
    let none = Step::of("[\"none\"]");
    for policy in ["[]", "[\"attention\", \"activation\"]", "[\"dots\"]", "[\"block\"]"] {
        let policy = Step::of(policy);
        let within = Step::of(&format!("[{{ budget = \"{} B\" }}]", policy.total()));
        assert!(within.total() <= policy.total());
        let most = policy.flops + policy.flops / 100;
        assert!(within.flops <= most, "{} operations, {} by policy", within.flops, policy.flops);
        assert!(
            within.total() == policy.total() || within.flops > none.flops,
            "nothing is computed again without need"
        );
    }
    assert_eq!(Step::of("[{ budget = \"1 GiB\" }]").flops, none.flops);
    let block = Step::of("[\"block\"]");
    let between = Step::of(&format!("[{{ budget = \"{} B\" }}]", (none.total() + block.total()) / 2));
    assert!(block.flops > between.flops && between.flops > none.flops);
    assert!(between.total() > (none.total() + block.total()) * 2 / 5, "a budget is made use of: {}", between.total());
}
