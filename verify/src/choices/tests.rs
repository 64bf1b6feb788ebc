//! Programs that choose, on CPU XLA.

use super::*;
use crate::{Study, VerifyOptions, VerifyReport};
use halite::Session;
use halite::source::{ModelInput, Source};
use halite_bundle::ModuleRole;
use halite_passes::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_recipe::{Accumulate, ModelChoice, Optimizer, Parallel, PrecisionName, Recipe};
use halite_runtime::{ClientOptions, Executor, Pjrt, find_plugin};
use halite_support::{SourceMap, codes};
use halite_tensor::DType;
use std::sync::Arc;

/// Routes each token to two of four experts.
const MIXTRAL: &str = include_str!("../../../tests/data/mixtral.hal");

const FORWARD: &str = "bind-recipe, cse, fuse-activation, dce, auto-cast, expand-composites, inline, \
    (cse, simplify, dce)*, legalize";
const TRAIN_STEP: &str = "bind-recipe, cse, fuse-activation, dce, auto-diff, auto-cast, clip, update, cse, dce, \
    expand-composites, inline, (cse, simplify, dce)*, legalize";

/// One layer of it, over so many sequences of 32 tokens.
fn source(session: &mut Session, experts: i64, batch: usize) -> Source {
    let sizes =
        [("vocab", 96), ("hidden", 8), ("layers", 1), ("heads", 2), ("kv_heads", 1), ("ffn", 8), ("experts", experts)];
    let model = sizes.into_iter().fold(ModelChoice::new("mixtral.hal"), |model, (key, size)| model.with(key, size));
    let recipe = Recipe::new(model, batch, 32, Optimizer::new("adamw", 1e-3));
    session.source(recipe, ModelInput::from(MIXTRAL)).unwrap()
}

fn executor() -> Arc<dyn Executor> {
    Arc::new(Pjrt::open(&find_plugin(None).unwrap(), &ClientOptions::default()).unwrap())
}

fn options(role: ModuleRole, seed: u64, pipeline: &str) -> VerifyOptions {
    VerifyOptions { role, seed, full: true, pipeline: Some(pipeline.parse().unwrap()) }
}

fn wrong(report: &VerifyReport) -> Vec<&str> {
    report.rows.iter().filter(|row| !row.passed()).map(|row| row.name.as_str()).collect()
}

/// Chooses by something else than the program does.
#[derive(Debug)]
struct OtherRouter;

impl Pass for OtherRouter {
    fn info(&self) -> PassInfo {
        PassInfo::new("other-router", "choose the experts with the lowest scores", Relation::Ulp(1))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        halite_ir::rewrite_functions(module, cx.registry, |b, source| {
            for inst in &source.insts {
                if inst.op.name() != "top_k" {
                    b.copy(source, inst)?;
                    continue;
                }
                let x = b.value(inst.args[0])?;
                let lowest = b.negate(x)?;
                let results = b.emit_all(inst.op.clone(), &[lowest])?;
                b.replace_all(inst, &results);
            }
            Ok(())
        })?;
        Ok(Changed::Yes)
    }
}

#[test]
fn a_choice_that_rounding_flips_is_no_error() {
    let mut session = Session::new();
    let (source, executor) = (source(&mut session, 4, 16), executor());
    let options = options(ModuleRole::FORWARD, 1, FORWARD);
    let study = Study::new(&session, &source, &options, executor.clone()).unwrap();
    let report = study.verify(study.pipeline()).unwrap();
    let choices = report.choices.expect("some choices lie so close that rounding decides");
    assert!(report.passed(), "{:?} are wrong, {choices:?}", wrong(&report));
    assert!(choices.all == 16 * 32 * 2 && (1..32).contains(&choices.differ) && choices.wrong == 0, "{choices:?}");
}

#[test]
fn another_choice_than_that_of_the_model_is_an_error_and_its_pass_is_named() {
    let mut session = Session::new();
    session.passes.register(Arc::new(OtherRouter)).unwrap();
    let (source, executor) = (source(&mut session, 3, 1), executor());
    let with_bug = |pipeline: &str| pipeline.replace("fuse-activation", "other-router, fuse-activation");
    let train_step = options(ModuleRole::TRAIN_STEP, 0, &with_bug(TRAIN_STEP));
    let study = Study::new(&session, &source, &train_step, executor.clone()).unwrap();
    let report = study.verify(study.pipeline()).unwrap();
    assert_eq!(wrong(&report), ["choice.0 (top_k in layers.0.block_sparse_moe)"]);
    let options = options(ModuleRole::FORWARD, 0, &with_bug(FORWARD));
    let study = Study::new(&session, &source, &options, executor.clone()).unwrap();
    let report = study.verify(study.pipeline()).unwrap();
    assert!(!report.passed() && report.choices.unwrap().wrong > 0, "{:?}", report.choices);
    assert_eq!(wrong(&report), ["choice.0 (top_k in layers.0.block_sparse_moe)"]);
    let culprit = study.bisect(study.pipeline()).unwrap().unwrap();
    assert_eq!((culprit.pass.as_str(), culprit.application), ("other-router", 1));
    let report = study.each_pass(study.pipeline(), &mut |_, _| {}).unwrap();
    assert_eq!(report.culprit.unwrap().pass, "other-router");
}

/// Of each kind one that chooses, and what looks like it and does not.
const KINDS: &str = "\
//@ phase: built
func @main(%x: f32[2,3,2] {batch}, %ids: s32[2] {batch}) -> (pred[2,3,2], s32[2,2], f32[2,3,1]) {
  %zero = constant 0.0 : f32[]
  %zeros = broadcast_in_dim %zero {dims=[]} : f32[2,3,2]
  %row = iota {dim=1} : f32[2,3,2]
  %fixed = compare %row, %zeros {direction=GT} : pred[2,3,2]
  %whole = compare %ids, %ids {direction=EQ} : pred[2]
  %nan = compare %x, %x {direction=NE} : pred[2,3,2]
  %above = compare %x, %zeros {direction=GT} : pred[2,3,2]
  %both = and %above, %fixed : pred[2,3,2]
  %best = arg_max %x {dim=1} : s32[2,2]
  %top, %at = top_k %x {k=1} : f32[2,3,1], s32[2,3,1]
  return %both, %best, %top
}
";

#[test]
fn choices_are_found_and_given() {
    let session = Session::new();
    let mut sources = SourceMap::new();
    let file = sources.add("kinds.ir", KINDS);
    let module = halite_ir::text::parse(KINDS, file, &session.registry).unwrap();
    let choices = Choices::of(&module);
    let titles: Vec<_> = choices.list.iter().map(|choice| choice.title.as_str()).collect();
    assert_eq!(titles, ["choice.0 (compare)", "choice.1 (arg_max)", "choice.2 (top_k)"]);
    for (form, params, results) in [(Form::AsWritten, 2, 3), (Form::Showing, 2, 10), (Form::Given, 5, 6)] {
        let module = with_choices(&module, &session.registry, form).unwrap();
        halite_ir::verify(&module, &session.registry).map_err(|errors| errors.into_diagnostics()).unwrap();
        let entry = module.entry().unwrap();
        assert_eq!((entry.params.len(), entry.results.len()), (params, results), "{form:?}");
    }
}

#[test]
fn how_far_off_a_choice_lies_is_what_it_would_take_to_make_it() {
    let distances = |kind, operands: &[(&[usize], Vec<f64>)], shape: &[usize], [right, own]: [Vec<i128>; 2]| {
        let choice = Choice {
            name: "c".into(),
            title: String::new(),
            inst: 0,
            result: 0,
            operands: operands.iter().enumerate().map(|(at, _)| Value::new(at)).collect(),
            kind,
        };
        let output = |(at, (shape, values)): (usize, &(&[usize], Vec<f64>))| {
            let written = HostTensor::from_f64s(DType::F64, *shape, values.iter().copied());
            (choice.operand(at), Output { change: written.clone(), written, copy_of: None })
        };
        let truth: Outputs = operands.iter().enumerate().map(output).collect();
        let [right, own] = [right, own].map(|choice| HostTensor::from_ints(DType::S32, shape, choice));
        choice.distances(&truth, &right, &own).unwrap()
    };
    let counting = || (0..12).map(f64::from).collect::<Vec<_>>();
    let order = [(&[2][..], vec![1.0, f64::INFINITY]), (&[2][..], vec![1.5, f64::INFINITY])];
    assert_eq!(distances(Kind::Order, &order, &[2], [vec![0, 1], vec![1, 0]]), [0.5, 0.0]);
    let first = [(&[2, 3, 2][..], counting())];
    assert_eq!(distances(Kind::First { dim: 1 }, &first, &[2, 2], [vec![2, 2, 0, 2], vec![2, 1, 2, 2]]), [2.0, 4.0]);
    let several = [(&[4, 3][..], counting())];
    let [right, own] = [vec![2, 1, 2, 1, 2, 1, 2, 1], vec![2, 1, 1, 2, 2, 0, 2, 9]];
    let found = distances(Kind::Several, &several, &[4, 2], [right, own]);
    assert_eq!(found[..3], [1.0, 1.0, 1.0]);
    assert!(found[3].is_nan(), "there is no such element");
}

/// Stages choose for themselves; where they choose otherwise, they are not judged.
#[test]
fn stages_that_choose_the_same_are_verified_and_others_are_refused() {
    let mut session = Session::new();
    let mut source = source(&mut session, 3, 1);
    source.recipe.precision = PrecisionName::Fp32.precision();
    source.recipe.parallel = Some(Parallel { pipeline: 2, ..Parallel::default() });
    source.recipe.accumulate = Some(Accumulate { steps: 2, form: None });
    let options = VerifyOptions { role: ModuleRole::FORWARD, full: true, ..VerifyOptions::default() };
    let verified = |session: &Session| crate::verify(session, &source, &options, executor());
    let report = verified(&session).unwrap();
    assert!(report.passed() && report.stages.is_some() && report.choices.is_none(), "{:?}", wrong(&report));
    session.passes.register(Arc::new(OtherRouter)).unwrap();
    session.roles.insert_after("fuse-activation", "other-router").unwrap();
    let error = verified(&session).unwrap_err().remove(0);
    assert_eq!((error.code(), error.recipe_key()), (codes::NOT_SUPPORTED, Some("parallel.pipeline")), "{error}");
    assert!(error.message().starts_with("choices that differ are not compared on 2 stages"), "{error}");
}
