//! Precision faults on purpose: in the recipe, by a pass before the first audit, and by a pass between the two. The audit
//! sees every one, and nothing without it. Faults that a recipe cannot even state are errors.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use halite::Session;
use halite::compile::{CompileOptions, CompiledModule};
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_ir::ops::{AllReduce, Reduction};
use halite_ir::{Cast, Function, InferCx, Inst, Module, Op, Rewriter, Value, rewrite_planned, set_accumulate};
use halite_passes::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_recipe::{Master, Precision, PrecisionName, Recipe, RoundingMode, SrSites};
use halite_support::{Code, Diagnostic, Diagnostics, Result, Severity, codes};
use halite_tensor::DType;
use std::collections::VecDeque;
use std::sync::Arc;

/// A small Llama.
const SETTINGS: [&str; 8] =
    ["layers=2", "hidden=16", "heads=2", "kv_heads=1", "ffn=24", "vocab=32", "batch=2", "seq=8"];

/// A fault in a recipe, as settings on top of those of a named one.
struct RecipeFault {
    name: &'static str,
    /// The recipe without the fault.
    base: PrecisionName,
    code: Code,
    settings: &'static [&'static str],
    /// A part of the remedy, and what it tells people to set: each alternative by itself.
    remedy: &'static str,
    alternatives: &'static [&'static [&'static str]],
}

const fn recipe(
    name: &'static str,
    code: Code,
    settings: &'static [&'static str],
    remedy: &'static str,
    alternatives: &'static [&'static [&'static str]],
) -> RecipeFault {
    RecipeFault { name, base: PrecisionName::Mixed, code, settings, remedy, alternatives }
}

const fn recipe_from(base: PrecisionName, fault: RecipeFault) -> RecipeFault {
    RecipeFault { base, ..fault }
}

const RECIPES: &[RecipeFault] = &[
    recipe(
        "sensitive ops in bf16",
        codes::SENSITIVE_NARROW,
        &[r#"precision.sensitive="bf16""#],
        r#"set `precision.sensitive = "f32"`"#,
        &[&[r#"precision.sensitive="f32""#]],
    ),
    recipe(
        "softmax in bf16",
        codes::SENSITIVE_NARROW,
        &[r#"precision.override=[{op="causal_attention*", sensitive="bf16"}]"#],
        r#"set `sensitive = "f32"` in `precision.override` 1, or remove it"#,
        &[&[r#"precision.override=[{op="causal_attention*", sensitive="f32"}]"#], &["precision.override=[]"]],
    ),
    recipe(
        "the norm of one layer in bf16",
        codes::SENSITIVE_NARROW,
        &[r#"precision.override=[{scope="model.layers.1.input_layernorm", sensitive="bf16"}]"#],
        r#"set `sensitive = "f32"` in `precision.override` 1, or remove it"#,
        &[
            &[r#"precision.override=[{scope="model.layers.1.input_layernorm", sensitive="f32"}]"#],
            &["precision.override=[]"],
        ],
    ),
    recipe(
        "loss in bf16",
        codes::LOSS_NARROW,
        &[r#"precision.sensitive="bf16""#],
        r#"set `precision.sensitive = "f32"`"#,
        &[&[r#"precision.sensitive="f32""#]],
    ),
    recipe(
        "loss in bf16 by an exception",
        codes::LOSS_NARROW,
        &[r#"precision.override=[{op="cross_entropy*", sensitive="bf16"}]"#],
        r#"set `sensitive = "f32"` in `precision.override` 1, or remove it"#,
        &[&[r#"precision.override=[{op="cross_entropy*", sensitive="f32"}]"#], &["precision.override=[]"]],
    ),
    recipe(
        "gradients in bf16",
        codes::GRADIENT_NARROW,
        &[r#"precision.gradient="bf16""#],
        r#"set `precision.gradient = "f32"`"#,
        &[&[r#"precision.gradient="f32""#]],
    ),
    recipe(
        "updates in bf16",
        codes::UPDATE_NARROW,
        &[r#"precision.update="bf16""#],
        r#"set `precision.update = "f32"`"#,
        &[&[r#"precision.update="f32""#]],
    ),
    recipe(
        "bf16 moments at beta2 = 0.999",
        codes::MOMENT_NARROW,
        &[r#"precision.moments="bf16""#, "optimizer.adamw.betas=[0.9, 0.999]"],
        r#"set `precision.moments = "f32"`, or choose a smaller beta2"#,
        &[&[r#"precision.moments="f32""#], &["optimizer.adamw.betas=[0.9, 0.95]"]],
    ),
    recipe_from(
        PrecisionName::Bf16Sr,
        recipe(
            "bf16 moments at beta1 = 0.995, stochastic",
            codes::MOMENT_NARROW,
            &["optimizer.adamw.betas=[0.995, 0.95]"],
            r#"set `precision.moments = "f32"`, or choose a smaller beta1"#,
            &[&[r#"precision.moments="f32""#], &["optimizer.adamw.betas=[0.9, 0.95]"]],
        ),
    ),
    recipe_from(
        PrecisionName::Bf16Sr,
        recipe(
            "bf16 weights to nearest",
            codes::WEIGHT_NARROW,
            &[r#"precision.rounding="rne""#],
            r#"set `precision.master = "f32"`, or round stochastically with `precision.rounding = "sr"`"#,
            &[&[r#"precision.master="f32""#], &[r#"precision.rounding="sr""#]],
        ),
    ),
    recipe(
        "one bf16 weight to nearest",
        codes::WEIGHT_NARROW,
        &[r#"precision.override=[{parameter="lm_head.*", weight="bf16"}]"#],
        r#"set `weight = "f32"` in `precision.override` 1, or `master = "f32"` in it, or round"#,
        &[
            &[r#"precision.override=[{parameter="lm_head.*", weight="f32"}]"#],
            &[r#"precision.override=[{parameter="lm_head.*", weight="bf16", master="f32"}]"#],
            &[r#"precision.rounding="sr""#],
        ],
    ),
    recipe(
        "bf16 weights to nearest but one",
        codes::WEIGHT_NARROW,
        &[r#"precision.weight="bf16""#, r#"precision.override=[{parameter="lm_head.*", weight="f32"}]"#],
        r#"set `precision.master = "f32"` and `master = "none"` in `precision.override` 1, or round"#,
        &[&[
            r#"precision.master="f32""#,
            r#"precision.override=[{parameter="lm_head.*", weight="f32", master="none"}]"#,
        ]],
    ),
    recipe(
        "one weight without a wider copy",
        codes::WEIGHT_NARROW,
        &[
            r#"precision.weight="bf16""#,
            r#"precision.master="f32""#,
            r#"precision.override=[{parameter="lm_head.*", master="none"}]"#,
        ],
        r#"set `master = "f32"` in `precision.override` 1, or round"#,
        &[&[r#"precision.override=[{parameter="lm_head.*", master="f32"}]"#], &[r#"precision.rounding="sr""#]],
    ),
];

/// A pass that narrows what one instruction does.
#[derive(Clone, Copy, Debug)]
struct PassFault {
    name: &'static str,
    code: Code,
    op: &'static str,
    scope: &'static str,
    change: Narrow,
}

#[derive(Clone, Copy, Debug)]
enum Narrow {
    /// Operands and sums; results are widened again.
    Op,
    /// One result, which is widened again.
    Result(usize),
    /// The result goes through a sum over ranks.
    Reduce,
}

const fn pass(name: &'static str, code: Code, op: &'static str, scope: &'static str, change: Narrow) -> PassFault {
    PassFault { name, code, op, scope, change }
}

const NORM: &str = "model.layers.0.input_layernorm";
const GATE_UP: &str = "model.layers.1.mlp.gate_proj";

/// Between mixed precision and the first audit: findings.
const EARLY: &[PassFault] = &[
    pass("dot-accumulates", codes::ACCUMULATE_NARROW, "dot_general", GATE_UP, Narrow::Op),
    pass("dot-of-gradient-accumulates", codes::ACCUMULATE_NARROW, "dot_general", "vjp(lm_head)", Narrow::Op),
    pass("loss-narrow", codes::LOSS_NARROW, "cross_entropy", "", Narrow::Result(0)),
    pass("count-narrow", codes::LOSS_NARROW, "cross_entropy", "", Narrow::Result(1)),
    pass("loss-computed-narrow", codes::SENSITIVE_NARROW, "cross_entropy", "", Narrow::Op),
    pass("norm-gradient-narrow", codes::SENSITIVE_NARROW, "rms_norm_grad", "vjp(model.norm)", Narrow::Op),
    pass(
        "gradients-summed-narrow",
        codes::GRADIENT_NARROW,
        "add_any",
        "vjp(model.layers.0.input_layernorm)",
        Narrow::Op,
    ),
    pass("embedding-gradient-narrow", codes::GRADIENT_NARROW, "take_grad", "vjp(model.embed_tokens)", Narrow::Op),
    pass("gradient-reduced-narrow", codes::GRADIENT_NARROW, "take_grad", "vjp(model.embed_tokens)", Narrow::Reduce),
];

/// After composites are expanded: bugs of a pass.
const LATE: &[PassFault] = &[
    pass("rsqrt-narrow", codes::SENSITIVE_NARROW, "rsqrt", NORM, Narrow::Op),
    pass("exponential-narrow", codes::SENSITIVE_NARROW, "exponential", "model.layers.1.self_attn", Narrow::Op),
    pass("exponential-of-loss-narrow", codes::SENSITIVE_NARROW, "exponential", "", Narrow::Op),
    pass("log-narrow", codes::SENSITIVE_NARROW, "log", "", Narrow::Op),
    pass("sum-narrow", codes::ACCUMULATE_NARROW, "reduce", NORM, Narrow::Op),
    pass("late-dot-accumulates", codes::ACCUMULATE_NARROW, "dot_general", GATE_UP, Narrow::Op),
    pass("square-root-of-moment-narrow", codes::UPDATE_NARROW, "sqrt", "optimizer.lm_head.weight", Narrow::Op),
    pass("new-weight-narrow", codes::UPDATE_NARROW, "subtract", "optimizer.lm_head.weight", Narrow::Op),
];

impl Pass for PassFault {
    fn info(&self) -> PassInfo {
        PassInfo::new(self.name, "narrows something", Relation::WithinRecipe)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let locs = module.locs.clone();
        let fits =
            |inst: &Inst| inst.op.name() == self.op && [self.scope, &self.in_layer()].contains(&&*locs.path(inst.loc));
        let mut places =
            module.functions.iter().map(|function| function.insts.iter().position(fits)).collect::<VecDeque<_>>();
        let plan = |_: InferCx<'_>, _: &Function| places.pop_front().flatten();
        let found = rewrite_planned(module, cx.registry, plan, |b, source, at| {
            for (position, inst) in source.insts.iter().enumerate() {
                if position == at {
                    let outer = b.set_loc(inst.loc);
                    let results = self.change.apply(b, source, inst)?;
                    b.set_loc(outer);
                    b.replace_all(inst, &results);
                } else {
                    b.copy(source, inst)?;
                }
            }
            Ok(())
        })?;
        let missing = || Diagnostic::bug(format!("there is no `{}` in `{}`", self.op, self.scope));
        if found { Ok(Changed::Yes) } else { Err(missing()) }
    }
}

impl PassFault {
    /// The scope inside the function of a layer.
    fn in_layer(&self) -> String {
        ["model.layers.0.", "model.layers.1."]
            .iter()
            .fold(self.scope.to_owned(), |scope, layer| scope.replace(layer, ""))
    }
}

impl Narrow {
    fn apply(self, b: &mut Rewriter<'_>, entry: &Function, inst: &Inst) -> Result<Vec<Value>> {
        let args = b.values(&inst.args)?;
        let (op, args) = match self {
            Narrow::Op => {
                let mut op = inst.op.clone();
                set_accumulate(&mut op, DType::Bf16);
                if let Op::Composite(composite) = &mut op {
                    let results = inst.results.iter().map(|_| DType::Bf16).collect();
                    composite.attrs = composite.attrs.clone().with_cast(Cast { compute: DType::Bf16, results });
                }
                let narrow =
                    |arg: &Value| if b.dtype(*arg).is_float() { b.convert(*arg, DType::Bf16) } else { Ok(*arg) };
                (op, args.iter().map(narrow).collect::<Result<_>>()?)
            }
            Narrow::Result(_) | Narrow::Reduce => (inst.op.clone(), args),
        };
        let mut results = b.emit_all(op, &args)?.to_vec();
        match self {
            Narrow::Result(index) => results[index] = b.convert(results[index], DType::Bf16)?,
            Narrow::Reduce => {
                let narrow = b.convert(results[0], DType::Bf16)?;
                results[0] = b.emit(AllReduce { kind: Reduction::Sum, groups: vec![vec![0]].into() }, &[narrow])?;
            }
            Narrow::Op => {}
        }
        for (result, old) in results.iter_mut().zip(&inst.results) {
            let dtype = entry.ty(*old).dtype();
            if b.dtype(*result) != dtype {
                *result = b.convert(*result, dtype)?;
            }
        }
        Ok(results)
    }
}

fn session() -> (Session, Source) {
    let mut session = Session::new();
    for fault in EARLY.iter().chain(LATE) {
        session.passes.register(Arc::new(*fault)).unwrap();
    }
    let settings: Vec<String> = SETTINGS.iter().map(|setting| (*setting).to_owned()).collect();
    let source = session.load("tiny", &settings).unwrap();
    (session, source)
}

/// The training step of a recipe with one more pass.
fn compile(session: &Session, source: &Source, recipe: &Recipe, before: &str, extra: &str) -> Result<CompiledModule> {
    let pipeline = halite::pipelines::train_step().to_string();
    assert!(pipeline.contains(before));
    let pipeline = session.passes.parse(&pipeline.replacen(before, &format!("{extra}{before}"), 1)).unwrap();
    let module = session.elaborate(source).unwrap().module;
    session.compile_role(&module, recipe, &ModuleRole::TRAIN_STEP, &pipeline, &CompileOptions::default())
}

fn findings(session: &Session, source: &Source, recipe: &Recipe) -> Diagnostics {
    compile(session, source, recipe, "legalize", "").unwrap().audit.diagnostics()
}

/// Loads a recipe, which checks it, and audits it.
fn audited(session: &mut Session, base: PrecisionName, settings: &[&str]) -> Diagnostics {
    let base = format!("precision.recipe=\"{}\"", base.name());
    let settings = SETTINGS.iter().copied().chain([base.as_str()]).chain(settings.iter().copied());
    let settings: Vec<String> = settings.map(str::to_owned).collect();
    let source = session.load("tiny", &settings);
    let source = source.unwrap_or_else(|mistakes| panic!("{settings:?}: {mistakes:#?}"));
    findings(session, &source, &source.recipe)
}

#[test]
fn the_audit_sees_faults_of_recipes_and_its_remedies_mend_them() {
    let mut session = Session::new();
    for fault in RECIPES {
        assert_eq!(audited(&mut session, fault.base, &[]), [], "{}", fault.name);
        let found = audited(&mut session, fault.base, fault.settings);
        let met = found.iter().find(|finding| finding.code() == fault.code);
        let met = met.unwrap_or_else(|| panic!("{}: {found:#?}", fault.name));
        assert_eq!(met.severity(), Severity::Warning);
        assert!(met.remedy().contains(fault.remedy), "{}: {}", fault.name, met.remedy());
        for alternative in fault.alternatives {
            let mended = audited(&mut session, fault.base, &[fault.settings, alternative].concat());
            assert_eq!(mended, [], "{}: {alternative:?}", fault.name);
        }
    }
}

/// Two types on one line are two findings, and so are two entries of the recipe that narrow it.
#[test]
fn each_finding_has_its_type_and_its_remedy() {
    let exceptions = r#"precision.override=[
        {scope="model.layers.0.input_layernorm", sensitive="bf16"},
        {scope="model.layers.1.input_layernorm", sensitive="bf16"},
        {scope="model.norm", sensitive="f16"}]"#;
    let found = audited(&mut Session::new(), PrecisionName::Mixed, &[&exceptions.replace('\n', " ")]);
    let shown = |finding: &Diagnostic| (finding.message().to_owned(), finding.remedy().to_owned());
    let expected = [("bf16", 1), ("bf16", 2), ("f16", 3)].map(|(dtype, number)| {
        let remedy = format!("set `sensitive = \"f32\"` in `precision.override` {number}, or remove it");
        (format!("`rms_norm`, `rms_norm_grad` compute in `{dtype}` instead of `f32`"), remedy)
    });
    assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), expected);
}

#[test]
fn the_audit_sees_faults_of_passes() {
    let (session, source) = session();
    // In the function of all layers, and in one layer.
    for calls in ["", "inline, "] {
        for fault in EARLY {
            let extra = format!("{calls}{}, ", fault.name);
            let compiled = compile(&session, &source, &source.recipe, "clip", &extra);
            let found = compiled.unwrap_or_else(|error| panic!("{}: {error}", fault.name)).audit.diagnostics();
            let own = found.iter().find(|finding| finding.code() == fault.code);
            let own = own.unwrap_or_else(|| panic!("{}: {found:#?}", fault.name));
            if calls.is_empty() && fault.scope.contains("layers") {
                let layers = own.notes().iter().any(|note| note.contains("`model.layers.*."));
                assert!(layers, "{}: {own:#?}", fault.name);
            }
            let line = found.iter().all(|finding| finding.primary().is_some() && finding.remedy().contains("already"));
            assert!(line, "{}: {found:#?}", fault.name);
        }
    }
}

#[test]
fn what_is_narrowed_between_the_audits_is_a_bug() {
    let (session, source) = session();
    for fault in LATE {
        let extra = format!("{}, ", fault.name);
        let error = compile(&session, &source, &source.recipe, "annotate-rounding", &extra).err();
        let error = error.unwrap_or_else(|| panic!("{} is not seen", fault.name));
        assert_eq!(error.severity(), Severity::Bug, "{}: {error}", fault.name);
        assert!(error.message().contains("check-precision"), "{}: {error}", fault.name);
        assert!(error.message().contains("in `bf16` instead of `f32`"), "{}: {error}", fault.name);
    }
}

/// The loss computes an exponential and a logarithm on one line of the model.
#[test]
fn a_finding_hides_no_other_op_of_its_line() {
    let (session, source) = session();
    let module = session.elaborate(&source).unwrap().module;
    let compile = |after: &str| {
        let pipeline = halite::pipelines::train_step().to_string().replacen("check-precision, ", "", 1);
        let extra = format!("exponential-of-loss-narrow, check-precision, {after}annotate-rounding");
        let pipeline = session.passes.parse(&pipeline.replacen("annotate-rounding", &extra, 1)).unwrap();
        let options = CompileOptions::default();
        let compiled = session.compile_role(&module, &source.recipe, &ModuleRole::TRAIN_STEP, &pipeline, &options);
        compiled.map(|compiled| compiled.audit.diagnostics())
    };
    let found = compile("").unwrap();
    assert!(found.len() == 1 && found[0].message().starts_with("`exponential` computes"), "{found:#?}");
    let error = compile("log-narrow, ").unwrap_err();
    assert!(error.severity() == Severity::Bug && error.message().contains("`log`"), "{error}");
}

/// Without the pass that rounds stochastically, weights are rounded to nearest whatever the recipe says.
#[test]
fn stochastic_rounding_that_is_promised_and_not_done_is_a_bug() {
    let (session, source) = session();
    let mut recipe = source.recipe.clone();
    recipe.precision = PrecisionName::Bf16Sr.precision();
    let pipeline = halite::pipelines::train_step().to_string().replace("annotate-rounding, ", "");
    let pipeline = session.passes.parse(&pipeline).unwrap();
    let module = session.elaborate(&source).unwrap().module;
    let options = CompileOptions::default();
    let error = session.compile_role(&module, &recipe, &ModuleRole::TRAIN_STEP, &pipeline, &options).unwrap_err();
    assert!(error.severity() == Severity::Bug && error.message().contains("rounded to nearest"), "{error}");
}

/// A recipe cannot ask for a rewrite of element types after the compiler, by the environment or by flags.
#[test]
fn recipes_cannot_hand_precision_over() {
    let load = |setting: &str| Session::new().load("tiny", &[setting.to_owned()]);
    assert!(load("neuron.environment.NEURON_RT_EXEC_TIMEOUT=\"3000\"").is_ok());
    for setting in [
        "neuron.environment.XLA_USE_BF16=\"1\"",
        "neuron.environment.XLA_DOWNCAST_BF16=\"1\"",
        "neuron.environment.NEURON_FUSE_SOFTMAX=\"1\"",
        "neuron.flags=[\"--auto-cast=all\"]",
        "neuron.flags=[\"--auto-cast\", \"matmult\"]",
    ] {
        let mistakes = load(setting).unwrap_err();
        assert_eq!(mistakes[0].code(), codes::ENVIRONMENT, "{setting}");
    }
}

/// The published models compute what matters in `f32`; the published run did not. Its findings in full are a golden of
/// `halite check`.
#[test]
fn presets_have_no_findings_but_the_published_run() {
    let mut session = Session::new();
    let mut codes_of = |preset: &str| {
        let source = session.load(preset, &[]).unwrap();
        let compiled = session.compile(&source, &CompileOptions::default()).unwrap();
        assert!(compiled.audit.checked.sensitive > 0 && compiled.audit.checked.sums > 0);
        compiled.warnings.iter().map(|finding| finding.code().id).collect::<Vec<_>>()
    };
    for preset in ["tiny", "llama-7b", "hlat-7b", "hlat-70b"] {
        assert_eq!(codes_of(preset), [""; 0], "{preset}");
    }
    assert_eq!(codes_of("hlat-7b-paper"), ["E0801", "E0801", "E0801", "E0803", "E0803", "E0803", "E0806", "E0807"]);
}

/// Whatever a recipe narrows, the audit before composites are expanded sees all that the one at the end sees.
#[test]
fn no_recipe_makes_the_last_audit_find_more() {
    let narrow: [fn(&mut Precision); 9] = [
        |precision| precision.weight = DType::Bf16,
        |precision| precision.master = Master::F32,
        |precision| precision.moments = DType::Bf16,
        |precision| precision.operand = DType::F32,
        |precision| precision.accumulate = DType::Bf16,
        |precision| precision.sensitive = DType::Bf16,
        |precision| precision.gradient = DType::Bf16,
        |precision| precision.update = DType::Bf16,
        |precision| (precision.rounding, precision.sr.sites) = (RoundingMode::Sr, SrSites::All),
    ];
    let mut session = Session::new();
    let gpt2 = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/gpt2.hal");
    let small = |settings: &[&str]| settings.iter().map(|setting| (*setting).to_owned()).collect::<Vec<_>>();
    let llama = session.load("tiny", &small(&SETTINGS)).unwrap();
    let gpt2_settings = ["layers=1", "hidden=16", "heads=2", "vocab=32", "batch=2", "seq=8"];
    let gpt2 = session.load(gpt2, &small(&gpt2_settings)).unwrap();
    for source in [llama, gpt2] {
        for (first, second) in
            (0..narrow.len()).flat_map(|first| (first..narrow.len()).map(move |second| (first, second)))
        {
            let mut recipe = source.recipe.clone();
            narrow[first](&mut recipe.precision);
            narrow[second](&mut recipe.precision);
            let compiled = compile(&session, &source, &recipe, "legalize", "");
            assert!(compiled.is_ok(), "{first}, {second}: {:?}", compiled.err());
        }
    }
}
