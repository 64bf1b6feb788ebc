//! The programs of stages are verified as a bundle runs them: right ones pass, wrong ones do not, and what is not done is refused.

#![allow(clippy::unwrap_used, reason = "this is test code")]

use halite::Session;
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_ir::{Module, Rewriter};
use halite_passes::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tests::quick;
use halite_verify::{Study, VerifyOptions, VerifyReport, VerifyRow};
use std::sync::Arc;

const SMALL: [&str; 8] =
    ["hidden=8", "heads=2", "vocab=32", "seq=6", "batch=2", "accumulate=2", "optimizer.adamw.lr=0.01", "layers=2"];
const TINY: [&str; 2] = ["kv_heads=1", "ffn=12"];
const DROPOUT: [&str; 4] = ["positions=6", "attn_dropout=0.2", "embd_dropout=0.1", "resid_dropout=0.1"];

fn load(session: &mut Session, model: &str, settings: &[&str]) -> Source {
    let input = match model.strip_suffix(".hal") {
        Some(_) => format!("{}/../models/{model}", env!("CARGO_MANIFEST_DIR")),
        None => model.to_owned(),
    };
    let settings: Vec<String> = SMALL.iter().chain(settings).map(|set| (*set).to_owned()).collect();
    session.load(&input, &settings).unwrap_or_else(|errors| panic!("{model} {settings:?}: {errors:?}"))
}

/// The results of a role, and for a role without an update whether it is causal.
fn verify(session: &Session, source: &Source, role: ModuleRole) -> std::result::Result<VerifyReport, Diagnostics> {
    let options = VerifyOptions { role, full: true, ..VerifyOptions::default() };
    let study = Study::new(session, source, &options, quick::executor())?;
    let mut report = study.verify(study.pipeline())?;
    if options.role != ModuleRole::TRAIN_STEP {
        report.causality = study.causality()?;
    }
    Ok(report)
}

fn passes(model: &str, settings: &[&[&str]], role: ModuleRole) -> VerifyReport {
    let (mut session, settings) = (Session::new(), settings.concat());
    let source = load(&mut session, model, &settings);
    let report = verify(&session, &source, role).unwrap_or_else(|errors| panic!("{model} {settings:?}: {errors:?}"));
    let wrong: Vec<&VerifyRow> = report.rows.iter().filter(|row| !row.passed()).collect();
    assert!(report.passed(), "{model} {settings:?}: {wrong:#?} {:?}", report.causality);
    report
}

#[test]
fn an_update_of_stages_is_verified() {
    let report = passes("tiny", &[&TINY, &["parallel.pipeline=2"]], ModuleRole::TRAIN_STEP);
    assert_eq!(report.stages.map(|stages| stages.to_string()).as_deref(), Some("2 stages, 1f1b, 2 micro-batches"));
    let rows: Vec<&str> = report.rows.iter().map(|row| row.name.as_str()).collect();
    for name in ["loss", "grad_norm", "lm_head.weight", "m.model.layers.1.mlp.up_proj.weight"] {
        assert!(rows.contains(&name), "{name} is not among {rows:?}");
    }
}

/// Ranks and random bits: each rank and each micro-batch draws those of its rows, and rounds by the name of the weight.
#[test]
fn dropout_and_stochastic_rounding_on_stages_of_several_ranks_are_verified() {
    let settings = ["precision=bf16-sr", "layers=1", "parallel.pipeline=2", "parallel.data=2", "batch=1"];
    passes("gpt2.hal", &[&DROPOUT, &settings], ModuleRole::TRAIN_STEP);
}

#[test]
fn several_parts_of_a_tied_model_on_each_stage_are_verified() {
    let parts = ["parallel.pipeline=2", "parallel.chunks=2", "parallel.schedule=interleaved", "parallel.tensor=2"];
    let report = passes("qwen2.hal", &[&TINY, &["tied=true"], &parts], ModuleRole::TRAIN_STEP);
    let told = "2 stages of 2 parts, interleaved, 2 micro-batches";
    assert_eq!(report.stages.map(|stages| stages.to_string()).as_deref(), Some(told));
}

#[test]
fn roles_without_an_update_are_verified_on_stages() {
    for role in [ModuleRole::FORWARD, ModuleRole::EVAL] {
        let report = passes("tiny", &[&TINY, &["parallel.pipeline=2"]], role);
        let told = "2 stages, one after another";
        assert_eq!(report.stages.map(|stages| stages.to_string()).as_deref(), Some(told));
        assert!(!report.rows.is_empty() && report.causality.is_some_and(|found| found.positions == 6));
    }
}

/// The value that the first of two stages makes for the second.
const RECEIVED: &str = "grad_step.part_0_forward.0";

/// Makes what the second stage receives a little larger. Programs on one stage receive nothing.
#[derive(Debug)]
struct ReceivesMore;

impl Pass for ReceivesMore {
    fn info(&self) -> PassInfo {
        PassInfo::new("receives-more", "make larger what is received", Relation::Ulp(1))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let entry = module.entry().ok_or_else(|| Diagnostic::bug("a module without an entry"))?;
        let received = entry.params.iter().find(|param| *param.name == *RECEIVED);
        let Some(received) = received.map(|param| param.value) else { return Ok(Changed::No) };
        let entry = module.take_entry()?;
        let mut b = Rewriter::new(module, cx.registry, &entry);
        let value = b.value(received)?;
        let more = b.multiply_scalar(value, 1.01)?;
        b.replace(received, more);
        entry.insts.iter().try_for_each(|inst| b.copy(&entry, inst).map(|_| ()))?;
        b.finish(&entry)?;
        Ok(Changed::Yes)
    }
}

fn with_fault() -> Session {
    let mut session = Session::new();
    session.passes.register(Arc::new(ReceivesMore)).unwrap();
    session.roles.insert_after("inline", "receives-more").unwrap();
    session
}

#[test]
fn a_fault_in_what_stages_hand_on_is_wrong() {
    let mut session = with_fault();
    let settings = [&TINY[..], &["parallel.pipeline=2", "precision=fp32"]].concat();
    let source = load(&mut session, "tiny", &settings);
    let report = verify(&session, &source, ModuleRole::TRAIN_STEP).unwrap();
    let wrong: Vec<&str> = report.rows.iter().filter(|row| row.is_wrong()).map(|row| row.name.as_str()).collect();
    assert!(wrong.contains(&"loss"), "{wrong:?}");
    let alone = load(&mut session, "tiny", &TINY);
    assert!(verify(&session, &alone, ModuleRole::TRAIN_STEP).unwrap().passed(), "one stage receives nothing");
}

#[test]
fn what_is_of_one_program_is_refused_on_stages() {
    let mut session = Session::new();
    let source = load(&mut session, "tiny", &[&TINY[..], &["parallel.pipeline=2"]].concat());
    let refused = |found: std::result::Result<(), Diagnostics>, words: &str| {
        let error = found.unwrap_err().remove(0);
        assert_eq!((error.code(), error.recipe_key()), (codes::NOT_SUPPORTED, Some("parallel.pipeline")), "{error}");
        assert!(error.message().contains(words) && error.help_text().unwrap().contains("pipeline = 1"), "{error}");
    };
    let options = VerifyOptions { full: true, ..VerifyOptions::default() };
    let executor = quick::executor;
    let study = Study::new(&session, &source, &options, executor()).unwrap();
    refused(
        study.each_pass(study.pipeline(), &mut |_, _| {}).map(drop),
        "optimizations are not told apart on 2 stages",
    );
    refused(study.bisect(study.pipeline()).map(drop), "optimizations are not told apart on 2 stages");
    let other = study.pipeline().required_only();
    refused(study.verify(&other).map(drop), "another pipeline of passes is not verified");
    let own = VerifyOptions { pipeline: Some("bind-recipe".parse().unwrap()), ..options.clone() };
    refused(Study::new(&session, &source, &own, executor()).map(drop), "another pipeline of passes is not verified");
    let words = [
        (ModuleRole::GRAD_STEP, "`grad_step` is a part of an update"),
        (ModuleRole::GRADS, "`grads` of stages are not compared"),
    ];
    for (role, words) in words {
        let part = VerifyOptions { role, ..options.clone() };
        refused(Study::new(&session, &source, &part, executor()).map(drop), words);
    }
}
