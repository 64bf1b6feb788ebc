//! Passes, kernels and composites whose names and rules are only known when the program runs, as a plugin that reads them
//! from a file would have them.

use halite::Session;
use halite::compile::CompileOptions;
use halite_bundle::ModuleRole;
use halite_ir::{
    Args, AttrKey, AttrSpec, Attrs, Builder, CompositeDef, InferCx, Module, Operands, Policy, TensorType, Types, Value,
    Values, Vjp, VjpRule, text,
};
use halite_passes::{
    Changed, DialectEntry, KernelUse, Operand, Pass, PassCx, PassInfo, Relation, Remark, Runner, RunnerOptions,
};
use halite_recipe::{ModelChoice, Optimizer, Recipe};
use halite_support::{FileId, Name, Result, codes};
use halite_tests::compiled::expect;
use std::sync::Arc;

/// Says something and does nothing.
#[derive(Debug)]
struct Speaking {
    name: Name,
    rules: Vec<Name>,
}

impl Pass for Speaking {
    fn info(&self) -> PassInfo {
        PassInfo::new(self.name.clone(), format!("says {} things", self.rules.len()), Relation::Identical)
    }

    fn run(&self, _: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        self.rules.iter().for_each(|rule| cx.explain(|| Remark::taken(self.name.clone(), &**rule, "said")));
        Ok(Changed::No)
    }

    fn rules(&self) -> Vec<Name> {
        self.rules.clone()
    }
}

#[test]
fn passes_are_named_when_the_program_runs() {
    let mut session = Session::new();
    for number in 0..3 {
        let rules = (0..number).map(|rule| format!("rule-{rule}").into()).collect();
        let pass = Speaking { name: format!("own-{number}").into(), rules };
        session.passes.register(Arc::new(pass)).expect("the name is new");
        session.roles.insert_after("auto-cast", &format!("own-{number}")).expect("it is there");
    }
    assert_eq!(session.passes.get("own-2").expect("it is registered").info().summary, "says 2 things");
    let again = Speaking { name: String::from("own-1").into(), rules: Vec::new() };
    assert_eq!(session.passes.register(Arc::new(again)).unwrap_err().code(), codes::DUPLICATE);
    let source = expect(session.load("tiny", &["layers=1".to_owned()]));
    let options = CompileOptions { roles: vec![ModuleRole::EVAL], explain: true, ..CompileOptions::default() };
    let compiled = expect(session.compile(&source, &options));
    let reports = compiled.reports.iter().flat_map(|(_, reports)| reports);
    assert_eq!(reports.filter(|report| report.name.starts_with("own-")).count(), 3);
    let remarks = compiled.remarks.iter().flat_map(|(_, remarks)| remarks);
    let said: Vec<_> = remarks.filter(|remark| remark.pass == "own-2").map(|remark| remark.rule.as_str()).collect();
    assert_eq!(said, ["rule-0", "rule-1"]);
}

/// Names are refused that pipelines, patterns, models or files could not name, or would take for something else.
#[test]
fn names_that_nothing_could_call_are_refused() {
    let mut session = Session::new();
    let foreign = ["", "a, b", "(x)*", "x/../../../y", "1st", "-x", ".x", "_x", "x y", "x\n", "é"];
    for name in foreign {
        let pass = Arc::new(Speaking { name: name.into(), rules: Vec::new() });
        let kernel = DialectEntry::new(name, "softmax", "OwnSoftmax", |_| Err("never".to_owned()));
        let errors = [session.passes.register(pass), session.kernels.register(kernel)];
        assert_eq!(errors.map(|error| error.unwrap_err().code()), [codes::NAME; 2], "{name:?}");
    }
    let grammar = include_str!("../../../compiler/lang/src/grammar.pest");
    let keywords = grammar.split("keyword = _{").nth(1).and_then(|rest| rest.split('}').next()).expect("it is a rule");
    let keywords: Vec<_> = keywords.split('"').skip(1).step_by(2).collect();
    assert!(keywords.contains(&"else"), "{keywords:?}");
    for name in foreign.into_iter().chain(["own-norm", "own.norm"]).chain(keywords) {
        let scaled = Scaled { name: name.to_owned(), by: AttrKey::optional("by", 2.0, "factor"), refusal: None };
        assert_eq!(session.registry.register(Arc::new(scaled)).unwrap_err().code(), codes::NAME, "{name:?}");
    }
    let error = session.passes.register(Arc::new(Speaking { name: "a, b".into(), rules: Vec::new() })).unwrap_err();
    assert_eq!(error.message(), "a pass cannot be named `a, b`");
    assert_eq!(
        error.notes(),
        ["its name is an ASCII letter, followed by any of: ASCII letters, digits, `-`, `_`, `.`"]
    );
    assert_eq!(error.help_text(), Some("name it otherwise, e.g. `own-pass`"));
}

/// There is no operand to take the element type of the scalar from.
#[test]
fn a_kernel_without_operands_takes_a_scalar() {
    let mut session = Session::new();
    let entry = DialectEntry::new("own.iota", "iota", "OwnIota", |_| Ok(KernelUse::new("", [Operand::Scalar(1.0)])));
    session.kernels.register(entry).expect("the name is new");
    let ir = "func @main() -> (s32[4]) {\n  %x = iota {dim = 0} : s32[4]\n  return %x\n}\n";
    let mut module = text::parse(ir, FileId::of("main.ir", ir), &session.registry).expect("it is sound");
    let pipeline = session.passes.parse("dispatch-dialect").expect("the pass exists");
    let cx = session.pass_cx(None, None).expect("there is no target to know");
    Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx).expect("it calls the kernel");
    let printed = text::print(&module);
    assert!(printed.contains("constant 1.0 : f32[]") && printed.contains("target = OwnIota"), "{printed}");
}

/// Kernels of a table that is read when the program runs; how they are called depends on it.
#[test]
fn kernels_are_described_when_the_program_runs() {
    let mut session = Session::new();
    let table = [("own.softmax".to_owned(), String::from("AwsNeuronSoftmax"), 3)];
    for (name, kernel, least_rank) in table {
        let entry = DialectEntry::new(name, "softmax", kernel, move |site| {
            let rank = site.args.first().ok_or("it has no operand")?.rank();
            if rank < least_rank {
                return Err(format!("it has rank {rank}, the kernel takes {least_rank} and more"));
            }
            Ok(KernelUse::new((rank - 1).to_string(), [Operand::Arg(0)]))
        });
        session.kernels.register(entry.priority(20).targets(["trn1"])).expect("the name is new");
    }
    let settings = ["layers=1", "target=trn1"].map(str::to_owned);
    let source = expect(session.load("tiny", &settings));
    let options = CompileOptions { roles: vec![ModuleRole::FORWARD], ..CompileOptions::default() };
    let bundle = expect(session.compile(&source, &options)).bundle;
    let decompositions = &bundle.manifest.modules[0].decompositions;
    assert!(
        decompositions.iter().any(|decomposition| decomposition.name.starts_with("own.softmax")),
        "{decompositions:?}"
    );
}

halite_ir::described! {
    /// `x * factor`, which refuses to be differentiated where it is told so.
    #[derive(Debug)]
    struct Scaled {
        name: String,
        by: AttrKey<f64>,
        refusal: Option<String>,
    }
}

impl CompositeDef for Scaled {
    fn name(&self) -> &str {
        &self.name
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![self.by.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        Ok(std::iter::once(args[0].clone()).collect())
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let factor = b.splat_like(args[0], attrs.get(&self.by)?)?;
        Ok(std::iter::once(b.multiply(args[0], factor)?).collect())
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        let refusal = self.refusal.as_ref()?;
        Some(Box::new(|_, _, _| Ok(Vjp::none(refusal.clone()))))
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }
}

#[test]
fn composites_are_described_when_the_program_runs() {
    let compile = |refusal: Option<&str>| {
        let mut session = Session::new();
        let by = AttrKey::optional("", 2.0, "factor").named(format!("by_{}", 1));
        let refusal = refusal.map(str::to_owned);
        let scaled = Scaled { name: format!("scaled_{}", 1), by, refusal };
        session.registry.register(Arc::new(scaled)).expect("the name is new");
        let text = "model m { config { batch = 2; seq = 3 }
            fn main(tokens: s32[batch, seq + 1]) {
                param weight: [seq + 1] = ones
                loss = sum(scaled_1(weight * convert(tokens, float), by_1 = 0.5)) return loss, sum(full([1], 1.0)) } }";
        let recipe = Recipe::new(ModelChoice::new("m"), 2, 3, Optimizer::new("adamw", 1e-3));
        let source = expect(session.source(recipe, text));
        session.compile(&source, &CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() })
    };
    expect(compile(None));
    let errors = compile(Some("the table of today says so")).map(|compiled| compiled.reports).unwrap_err();
    let message = "the objective depends on a weight through `scaled_1`: the table of today says so";
    assert_eq!(errors[0].message(), message);
}
