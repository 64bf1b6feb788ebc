//! Passes that are wrong on purpose, each in the pipeline of a small step: verification fails on all, bisection names them.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use halite::Session;
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_ir::ops::{Compare, Constant, Direction, DotGeneral, Iota, Reduce, Slice};
use halite_ir::{Function, Module, Op, Rewriter, Value};
use halite_passes::{Changed, Pass, PassCx, PassInfo, Pipeline, PipelineSpec, Relation};
use halite_support::{Diagnostic, Name, Result, Severity};
use halite_tensor::DType;
use halite_test_kit::xla;
use halite_verify::{PassRow, Study, VerifyOptions, VerifyRow};
use std::sync::Arc;

mod subtle;

/// The pipeline of a training step with a place for a bug in each phase. Bugs are in one layer, so that calls are written in
/// place first.
const PIPELINE: &str = "bind-recipe, inline, cse, dce, <built>, auto-diff, <differentiated>, auto-cast, clip, update, <step>, \
    (simplify, fold-constant, cse, dce)*, expand-composites, (simplify, fold-constant, cse, dce)*, <expanded>, legalize";

/// One layer; as many tokens as positions, so that wrong dimensions keep their sizes; clipping and decay at work; in `f32`,
/// so that a lost bit is a fault.
const SETTINGS: [&str; 12] = [
    "precision=fp32",
    "layers=1",
    "hidden=16",
    "heads=2",
    "kv_heads=1",
    "ffn=24",
    "vocab=8",
    "batch=2",
    "seq=8",
    "optimizer.adamw.lr=1e-3",
    "optimizer.adamw.weight_decay=0.5",
    "optimizer.adamw.clip_norm=0.1",
];

/// A wrong pass.
#[derive(Clone, Copy, Debug)]
struct Bug {
    name: &'static str,
    /// Its place in the pipeline.
    place: &'static str,
    change: Change,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    /// Puts something else for the instruction with this op, scope and number among its like.
    Inst(&'static str, &'static str, usize, Replace),
    /// Swaps two results of the entry, by their names.
    Results(&'static str, &'static str),
}

/// Makes a value that replaces the result of an instruction, from its op and arguments.
type Replace = fn(&mut Rewriter<'_>, &Op, &[Value]) -> Result<Value>;

const ATTENTION: &str = "model.layers.0.self_attn";
const NORM: &str = "model.layers.0.input_layernorm";
const MLP: &str = "model.layers.0.mlp";
const UPDATE: &str = "optimizer.lm_head.weight";

const fn expanded(name: &'static str, op: &'static str, scope: &'static str, nth: usize, replace: Replace) -> Bug {
    Bug { name, place: "<expanded>", change: Change::Inst(op, scope, nth, replace) }
}

const BUGS: &[Bug] = &[
    Bug {
        name: "keys-for-values",
        place: "<built>",
        change: Change::Inst("causal_attention", ATTENTION, 0, |b, op, args| {
            b.emit(op.clone(), &[args[0], args[1], args[1]])
        }),
    },
    Bug {
        name: "residual-lost",
        place: "<built>",
        change: Change::Inst("add", "model.layers.0", 0, |_, _, args| Ok(args[1])),
    },
    Bug {
        name: "gradients-of-equal-type-swapped",
        place: "<differentiated>",
        change: Change::Results("model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.up_proj.weight"),
    },
    Bug {
        name: "moment-infinite",
        place: "<step>",
        change: Change::Inst("add", UPDATE, 0, |b, op, args| {
            let moment = b.emit(op.clone(), args)?;
            b.multiply_scalar(moment, f64::INFINITY)
        }),
    },
    Bug {
        name: "moment-not-a-number",
        place: "<step>",
        change: Change::Inst("add", UPDATE, 0, |b, op, args| {
            let moment = b.emit(op.clone(), args)?;
            b.add_scalar(moment, f64::NAN)
        }),
    },
    Bug { name: "metrics-swapped", place: "<step>", change: Change::Results("loss", "grad_norm") },
    Bug {
        name: "decay-lost",
        place: "<step>",
        change: Change::Inst("subtract", UPDATE, 0, |b, op, args| {
            let step = operand(b, args[1], 0);
            b.emit(op.clone(), &[args[0], step])
        }),
    },
    Bug {
        name: "momentum-forgotten",
        place: "<step>",
        change: Change::Inst("divide", UPDATE, 0, |b, op, args| {
            let (new, rate) = (operand(b, args[0], 0), operand(b, args[0], 1));
            let added = operand(b, new, 1);
            let numerator = b.multiply(added, rate)?;
            b.emit(op.clone(), &[numerator, args[1]])
        }),
    },
    Bug {
        name: "schedule-one-update-behind",
        place: "<step>",
        change: Change::Inst("convert", "optimizer", 0, |b, op, args| {
            let time = b.emit(op.clone(), args)?;
            b.add_scalar(time, -1.0)
        }),
    },
    Bug {
        name: "warm-up-and-decay-swapped",
        place: "<step>",
        change: Change::Inst("select", "optimizer", 0, |b, op, args| b.emit(op.clone(), &[args[0], args[2], args[1]])),
    },
    Bug {
        name: "gradient-doubled",
        place: "<step>",
        change: Change::Inst("multiply", UPDATE, 0, |b, op, args| {
            let scaled = b.emit(op.clone(), args)?;
            b.add(scaled, scaled)
        }),
    },
    Bug {
        name: "gradient-zeroed",
        place: "<step>",
        change: Change::Inst("multiply", UPDATE, 0, |b, _, args| b.splat_like(args[0], 0.0)),
    },
    Bug {
        name: "beta-of-the-other-moment",
        place: "<step>",
        change: Change::Inst("constant", UPDATE, 0, |b, op, _| scaled(b, op, 0.95 / 0.9)),
    },
    expanded("clip-turned-around", "minimum", "optimizer", 0, |b, _, args| b.maximum(args[0], args[1])),
    expanded("sign-lost", "negate", "optimizer", 0, |_, _, args| Ok(args[0])),
    expanded("subtract-swapped", "subtract", ATTENTION, 0, |b, _, args| b.subtract(args[1], args[0])),
    expanded("divide-swapped", "divide", ATTENTION, 0, |b, _, args| b.divide(args[1], args[0])),
    expanded("mask-flipped", "compare", ATTENTION, 0, |b, _, args| b.emit(Compare { direction: Direction::Ge }, args)),
    expanded("iotas-of-different-dims-merged", "iota", ATTENTION, 4, |b, op, _| match op {
        Op::Iota(iota) => b.emit(Iota { dim: 0, ..iota.clone() }, &[]),
        _ => b.emit(op.clone(), &[]),
    }),
    expanded("halves-of-rope-not-swapped", "reverse", ATTENTION, 0, |_, _, args| Ok(args[0])),
    expanded("scale-off-by-a-thousandth", "constant", ATTENTION, 3, |b, op, _| scaled(b, op, 1.001)),
    expanded("reshape-for-transpose", "transpose", ATTENTION, 0, |b, op, args| {
        let transposed = b.emit(op.clone(), args)?;
        let shape = b.shape(transposed).clone();
        b.reshape(args[0], shape)
    }),
    expanded("square-weight-transposed", "dot_general", "model.layers.0.self_attn.q_proj", 0, |b, op, args| match op {
        Op::DotGeneral(dot) => {
            let contract = (dot.contract.0.clone(), [0].as_slice().into());
            b.emit(DotGeneral { contract, ..dot.clone() }, args)
        }
        _ => b.emit(op.clone(), args),
    }),
    expanded("epsilon-of-another-model", "constant", NORM, 1, |b, op, _| scaled(b, op, 0.1)),
    expanded("root-without-reciprocal", "rsqrt", NORM, 0, |b, _, args| b.sqrt(args[0])),
    expanded("sum-for-product", "multiply", MLP, 1, |b, _, args| b.add(args[0], args[1])),
    expanded("rounded-to-bf16", "multiply", MLP, 1, |b, op, args| {
        let exact = b.emit(op.clone(), args)?;
        let rounded = b.convert(exact, DType::Bf16)?;
        b.convert(rounded, DType::F32)
    }),
    expanded("cotangent-lost", "add", "vjp(model.layers.0.input_layernorm)", 0, |_, _, args| Ok(args[0])),
    expanded("sum-over-the-wrong-dim", "reduce", "", 1, |b, op, args| match op {
        Op::Reduce(reduce) => b.emit(Reduce { dims: [1].as_slice().into(), ..reduce.clone() }, args),
        _ => b.emit(op.clone(), args),
    }),
    expanded("slice-one-further", "slice", "", 0, |b, op, args| match op {
        Op::Slice(slice) => {
            let (mut start, mut limit) = (slice.start.clone(), slice.limit.clone());
            (start[1], limit[1]) = (start[1] + 1, limit[1] + 1);
            b.emit(Slice { start, limit, ..slice.clone() }, args)
        }
        _ => b.emit(op.clone(), args),
    }),
    expanded("mean-not-taken", "divide", "optimizer", 2, |_, _, args| Ok(args[0])),
];

/// A bug in a module whose projections are coalesced: keys are rows 16 to 24 of 32.
const PACKED: Bug = Bug {
    name: "gradient-doubled-for-keys",
    place: "<step>",
    change: Change::Inst("multiply", "optimizer.model.layers.0.self_attn.q_k_v_proj.weight", 0, |b, op, args| {
        let scaled = b.emit(op.clone(), args)?;
        let (before, keys, after) =
            (b.slice_dim(scaled, 1, 0, 16)?, b.slice_dim(scaled, 1, 16, 24)?, b.slice_dim(scaled, 1, 24, 32)?);
        let doubled = b.add(keys, keys)?;
        b.concatenate(&[before, doubled, after], 1)
    }),
};

/// A pass of rules of which the third is wrong.
#[derive(Clone, Copy, Debug)]
struct SeveralRules {
    count: usize,
}

impl SeveralRules {
    const RULES: [Bug; 4] = [
        expanded("product-negated-twice", "multiply", MLP, 1, negated_twice),
        expanded("quotient-negated-twice", "divide", ATTENTION, 0, negated_twice),
        expanded("subtract-swapped", "subtract", ATTENTION, 0, |b, _, args| b.subtract(args[1], args[0])),
        expanded("root-negated-twice", "rsqrt", NORM, 0, negated_twice),
    ];
}

fn negated_twice(b: &mut Rewriter<'_>, op: &Op, args: &[Value]) -> Result<Value> {
    let value = b.emit(op.clone(), args)?;
    let negated = b.negate(value)?;
    b.negate(negated)
}

impl Pass for SeveralRules {
    fn info(&self) -> PassInfo {
        PassInfo::new("several-rules", "does several things wrong", Relation::Identical)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        for rule in &Self::RULES[..self.count] {
            rule.run(module, cx)?;
        }
        Ok(Changed::when(self.count > 0))
    }

    fn rules(&self) -> Vec<Name> {
        Self::RULES.iter().map(|rule| rule.name.into()).collect()
    }

    fn with_rules(&self, count: usize) -> Option<Arc<dyn Pass>> {
        Some(Arc::new(Self { count }))
    }
}

/// Bugs that write state before it is read for the last time: the IR verifier finds them, nothing runs.
const HAZARDS: &[Bug] = &[
    Bug {
        name: "momenta-of-equal-type-swapped",
        place: "<step>",
        change: Change::Results("m.model.layers.0.self_attn.q_proj.weight", "m.model.layers.0.self_attn.o_proj.weight"),
    },
    Bug {
        name: "old-momentum",
        place: "<step>",
        change: Change::Inst("divide", UPDATE, 0, |b, op, args| {
            let (new, rate) = (operand(b, args[0], 0), operand(b, args[0], 1));
            let kept = operand(b, new, 0);
            let old = operand(b, kept, 0);
            let numerator = b.multiply(old, rate)?;
            b.emit(op.clone(), &[numerator, args[1]])
        }),
    },
];

/// An operand of the instruction that defines a value.
fn operand(b: &Rewriter<'_>, value: Value, position: usize) -> Value {
    b.function().def(value).unwrap().args[position]
}

/// A constant with all elements multiplied.
fn scaled(b: &mut Rewriter<'_>, op: &Op, factor: f64) -> Result<Value> {
    let Op::Constant(constant) = op else { return b.emit(op.clone(), &[]) };
    let value = constant.splat_value().unwrap();
    b.emit(Constant::splat(constant.value.dtype(), constant.shape.clone(), value * factor), &[])
}

impl Pass for Bug {
    fn info(&self) -> PassInfo {
        PassInfo::new(self.name, "does something wrong", Relation::Identical)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        match self.change {
            Change::Inst(op, scope, nth, replace) => {
                let entry = module.functions.pop().unwrap();
                let at = find(module, &entry, op, scope, nth)?;
                let mut b = Rewriter::new(module, cx.registry, &entry);
                for (position, inst) in entry.insts.iter().enumerate() {
                    if position == at {
                        let args = b.values(&inst.args)?;
                        let value = replace(&mut b, &inst.op, &args)?;
                        b.replace(inst.results[0], value);
                    } else {
                        b.copy(&entry, inst)?;
                    }
                }
                b.finish(&entry)?;
            }
            Change::Results(first, second) => {
                let results = &mut module.functions.last_mut().unwrap().results;
                let at = |name: &str| results.iter().position(|result| &*result.name == name).unwrap();
                let (first, second) = (at(first), at(second));
                let value = results[first].value;
                results[first].value = std::mem::replace(&mut results[second].value, value);
            }
        }
        Ok(Changed::Yes)
    }
}

fn find(module: &Module, entry: &Function, op: &str, scope: &str, nth: usize) -> Result<usize> {
    let alike = entry.insts.iter().enumerate().filter(|(_, inst)| inst.op.name() == op);
    let mut alike = alike.filter(|(_, inst)| module.locs.path(inst.loc) == scope).map(|(position, _)| position);
    let paths = || entry.insts.iter().filter(|inst| inst.op.name() == op).map(|inst| module.locs.path(inst.loc));
    alike.nth(nth).ok_or_else(|| {
        let paths: Vec<_> = paths().map(|path| format!("`{path}`")).collect();
        Diagnostic::bug(format!("there is no `{op}` number {nth} in `{scope}`, but in {}", paths.join(", ")))
    })
}

/// A session that knows all bugs, with a small recipe.
fn session() -> (Session, Source) {
    session_with("tiny", &SETTINGS)
}

/// The same with the model of the subtle bugs.
fn subtle_session() -> (Session, Source) {
    session_with(concat!(env!("CARGO_MANIFEST_DIR"), "/../models/gpt2.hal"), &subtle::SETTINGS)
}

fn session_with(input: &str, settings: &[&str]) -> (Session, Source) {
    let mut session = Session::new();
    for bug in BUGS.iter().chain(HAZARDS).chain(subtle::BUGS).chain([&PACKED]) {
        session.passes.register(Arc::new(*bug)).unwrap();
    }
    session.passes.register(Arc::new(SeveralRules { count: SeveralRules::RULES.len() })).unwrap();
    let settings: Vec<String> = settings.iter().chain(&["emit.calls=inline"]).map(|set| (*set).to_owned()).collect();
    let source = session.load(input, &settings).unwrap();
    (session, source)
}

/// With how many seeds each bug must be found: one, or as many as `HALITE_BUG_SEEDS` says.
fn seeds() -> std::ops::Range<u64> {
    let variable = std::env::var("HALITE_BUG_SEEDS").ok();
    0..variable.map_or(1, |text| text.parse().expect("`HALITE_BUG_SEEDS` is a whole number"))
}

/// The pipeline with one bug or none.
fn options(bug: Option<&Bug>) -> VerifyOptions {
    let pipeline = bug.map_or(PIPELINE.to_owned(), |bug| PIPELINE.replace(bug.place, bug.name));
    VerifyOptions { full: true, pipeline: Some(without_places(&pipeline)), ..VerifyOptions::default() }
}

fn without_places(pipeline: &str) -> PipelineSpec {
    let places = ["<built>, ", "<differentiated>, ", "<step>, ", "<expanded>, "];
    places.iter().fold(pipeline.to_owned(), |pipeline, place| pipeline.replace(place, "")).parse().unwrap()
}

fn pipeline(session: &Session, bug: &Bug) -> Pipeline {
    session.passes.pipeline(&options(Some(bug)).pipeline.unwrap()).unwrap()
}

/// The bugs of which verification says nothing, each with the seed, where the pipeline without bugs passes.
///
/// The runner checks that a pass that reports a change made one.
fn unseen((session, source): &(Session, Source), bugs: &[Bug]) -> Vec<String> {
    let options = options(None);
    let study = Study::new(session, source, &options, xla::executor()).unwrap();
    for rows in study.verify_seeds(study.pipeline(), seeds()).unwrap() {
        assert!(rows.iter().all(VerifyRow::passed), "{rows:#?}");
    }
    let unseen = bugs.iter().flat_map(|bug| match study.verify_seeds(&pipeline(session, bug), seeds()) {
        Ok(reports) => {
            let passed = reports.iter().zip(seeds()).filter(|(rows, _)| !rows.iter().any(VerifyRow::is_wrong));
            passed.map(|(_, seed)| format!("{}, seed {seed}", bug.name)).collect()
        }
        Err(errors) => vec![format!("{}: {}", bug.name, errors[0])],
    });
    unseen.collect()
}

#[test]
fn verification_fails_on_every_bug_and_passes_without() {
    assert!(BUGS.len() + HAZARDS.len() >= 33);
    let unseen = unseen(&session(), BUGS);
    assert!(unseen.is_empty(), "verification does not see {unseen:#?}");
}

#[test]
fn verification_fails_on_every_subtle_bug_and_passes_without() {
    assert!(subtle::BUGS.len() >= 20);
    let unseen = unseen(&subtle_session(), subtle::BUGS);
    assert!(unseen.is_empty(), "verification does not see {unseen:#?}");
}

/// The verifier of the IR sees these, so that nothing runs.
#[test]
fn hazards_are_seen_before_anything_runs() {
    let (session, source) = session();
    let options = options(None);
    let study = Study::new(&session, &source, &options, xla::executor()).unwrap();
    for hazard in HAZARDS {
        let error = study.verify(&pipeline(&session, hazard)).unwrap_err().remove(0);
        assert_eq!(error.severity(), Severity::Bug);
        assert!(error.message().contains("after its replacement is computed"), "{error}");
    }
}

/// Every prefix of the pipeline is right as far as the bug, and the one that ends with it is not.
#[test]
fn each_pass_names_the_bug() {
    let (session, source) = session();
    let options = options(None);
    let study = Study::new(&session, &source, &options, xla::executor()).unwrap();
    let right = study.each_pass(study.pipeline(), &mut |_, _| {}).unwrap();
    assert!(right.passed() && right.rows.len() > 3, "{right:#?}");
    let names = ["keys-for-values", "cotangent-lost", "decay-lost", "mask-flipped", "gradients-of-equal-type-swapped"];
    for name in names.into_iter().take(if seeds().end == 1 { 2 } else { 5 }) {
        let bug = BUGS.iter().find(|bug| bug.name == name).unwrap();
        let mut heard = 0;
        let report = study.each_pass(&pipeline(&session, bug), &mut |done, all| heard = all.max(done)).unwrap();
        let culprit = report.culprit.as_ref().unwrap_or_else(|| panic!("{name}: {report:#?}"));
        assert_eq!((culprit.pass.as_str(), culprit.application), (name, 1), "{report:#?}");
        let (last, before) = report.rows.split_last().unwrap();
        assert!(last.number == culprit.number && before.iter().all(PassRow::passed));
        assert_eq!(heard, report.optimizations);
    }
}

/// A pass that is wrong in what it does to tensors that are stored as one shows in these.
#[test]
fn each_pass_looks_into_packed_weights() {
    let (session, source) = session();
    let pipeline = PIPELINE.replace("<built>", "coalesce-layers").replace("<step>", "gradient-doubled-for-keys");
    let options = VerifyOptions { full: true, pipeline: Some(without_places(&pipeline)), ..VerifyOptions::default() };
    let study = Study::new(&session, &source, &options, xla::executor()).unwrap();
    let report = study.each_pass(study.pipeline(), &mut |_, _| {}).unwrap();
    let culprit = report.culprit.as_ref().unwrap_or_else(|| panic!("{report:#?}"));
    assert_eq!(culprit.pass, "gradient-doubled-for-keys");
    let worst = &report.rows.last().unwrap().worst.as_ref().unwrap().name;
    assert!(worst.ends_with("model.layers.0.self_attn.k_proj.weight"), "{worst}");
    assert!(report.rows.iter().any(|row| row.pass == "coalesce-layers" && row.passed()));
}

/// Later tokens are changed in the program that runs, whatever the passes proved of the model.
#[test]
fn a_mask_that_is_turned_around_is_seen_by_changing_tokens() {
    let (session, source) = session();
    let pipeline = "bind-recipe, cse, dce, auto-cast, expand-composites, inline, cse, dce, <expanded>, legalize";
    let confirm = |place: &str| {
        let pipeline = without_places(&pipeline.replace("<expanded>", place));
        let options = VerifyOptions {
            role: ModuleRole::FORWARD,
            full: true,
            pipeline: Some(pipeline),
            ..VerifyOptions::default()
        };
        let study = Study::new(&session, &source, &options, xla::executor()).unwrap();
        study.causality().unwrap().unwrap()
    };
    let right = confirm("dce");
    assert!(right.holds() && right.positions == 8 && right.results == ["logits"], "{right:?}");
    let leak = confirm("mask-flipped").leak.unwrap();
    assert_eq!((leak.result.as_str(), leak.sequence, leak.position, leak.changed_from), ("logits", 0, 0, 1));
}

#[test]
fn bisection_names_the_bug() {
    let (session, source) = session();
    let options = options(None);
    let study = Study::new(&session, &source, &options, xla::executor()).unwrap();
    let names = ["mask-flipped", "keys-for-values", "decay-lost"];
    for name in names.into_iter().take(if seeds().end == 1 { 1 } else { 3 }) {
        let bug = BUGS.iter().find(|bug| bug.name == name).unwrap();
        let culprit = study.bisect(&pipeline(&session, bug)).unwrap().unwrap();
        assert_eq!((culprit.pass.as_str(), culprit.rule), (bug.name, None));
    }
}

/// Bisection goes on inside a pass that is made of rules.
#[test]
fn bisection_names_the_rule() {
    let (session, source) = session();
    let pipeline = without_places(&PIPELINE.replace("<expanded>", "several-rules, dce"));
    let options = VerifyOptions { full: true, pipeline: Some(pipeline), ..VerifyOptions::default() };
    let study = Study::new(&session, &source, &options, xla::executor()).unwrap();
    let culprit = study.bisect(study.pipeline()).unwrap().unwrap();
    assert_eq!((culprit.pass.as_str(), culprit.rule.as_deref()), ("several-rules", Some("subtract-swapped")));
}
