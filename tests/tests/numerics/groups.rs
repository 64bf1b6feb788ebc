//! Groups of parameters, frozen weights and averages in whole training steps.

use halite::compile::CompileOptions;
use halite::{Bundle, Session};
use halite_bundle::{ModuleRole, init};
use halite_ir::{Module, ParamRole, ResultRole};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_train::TrainStep;

/// The legal IR of a training step, and its bundle.
fn compiled(settings: &[&str]) -> (Module, Bundle) {
    let mut session = Session::new();
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let source = expect(session.load("tiny", &settings));
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    let built = expect(session.elaborate(&source)).module;
    let pipeline = session.pipeline(&ModuleRole::TRAIN_STEP).expect("it has its passes");
    let step = session.compile_role(&built, &source.recipe, &ModuleRole::TRAIN_STEP, &pipeline, &options);
    (step.expect("it compiles").ir, expect(session.compile(&source, &options)).bundle)
}

/// All but the last block, the last norm and the head.
const ALL_BUT_THE_LAST: &str = "optimizer.group = [{ name = \"body\", frozen = true, \
     params = [\"*embed*\", \"model.layers.0.*\", \"model.layers.1.*\", \"model.layers.2.*\"] }]";

/// The names in the model of the weights that a parameter of a step stores.
fn in_model(bundle: &Bundle, param: &str) -> Vec<String> {
    bundle.buffer(param).expect("a parameter has a buffer").tensor_names()
}

/// The layers that instructions of the backward are of.
fn differentiated(module: &Module) -> Vec<usize> {
    let entry = module.entry().expect("a step has an entry");
    let derived = |layer: &usize| {
        let path = |loc| module.locs.path(loc);
        entry.insts.iter().map(|inst| path(inst.loc)).any(|path| path.contains(&format!("vjp(model.layers.{layer}")))
    };
    (0..4).filter(derived).collect()
}

#[test]
fn nothing_below_the_last_trained_weight_is_differentiated() {
    let (all, _) = compiled(&["layers=4"]);
    assert_eq!(differentiated(&all), [0, 1, 2, 3]);
    let (last, _) = compiled(&["layers=4", ALL_BUT_THE_LAST]);
    assert_eq!(differentiated(&last), [3]);
    let entry = last.entry().expect("a step has an entry");
    for param in &entry.params {
        let replacement = entry.results.iter().find(|result| result.role == ResultRole::State(param.name.clone()));
        let stays = replacement.is_some_and(|result| result.value == param.value);
        assert_eq!(stays, param.weight().is_some_and(|info| info.frozen), "{}", param.name);
    }
}

#[test]
fn frozen_weights_stay_and_have_no_state() {
    let (module, bundle) = compiled(&["layers=4", ALL_BUT_THE_LAST, "precision=mixed"]);
    let params = module.entry().expect("a step has an entry").params.iter();
    let frozen = params.filter(|param| param.weight().is_some_and(|info| info.frozen));
    let frozen: Vec<String> = frozen.flat_map(|param| in_model(&bundle, &param.name)).collect();
    assert!(!frozen.is_empty());
    let started = expect(init::initial_state(&bundle, 7));
    let mut step = expect(TrainStep::load(xla::executor(), &bundle));
    expect(step.init_state(7));
    let tokens = HostTensor::from_ints(DType::S32, [8, 65], (0..8 * 65).map(|at| at * 37 % 251));
    for _ in 0..3 {
        expect(step.step(&tokens));
    }
    let ended = expect(step.state());
    for (name, tensor) in &started {
        let is_frozen = frozen.contains(name);
        let stays = ended[name] == *tensor;
        assert!(!is_frozen || stays, "`{name}` is frozen");
        assert!(is_frozen || !stays || name == "step", "`{name}` is trained");
        assert!(
            frozen.iter().all(|frozen| is_frozen || !name.ends_with(frozen.as_str())),
            "`{name}` is of a frozen weight"
        );
    }
}

#[test]
fn averages_start_as_the_weights_and_follow_them() {
    let settings = ["layers=1", "optimizer.ema=0.75", "precision=bf16-sr"];
    let (module, bundle) = compiled(&settings);
    let trained = module.entry().expect("a step has an entry").params.iter();
    let trained = trained.filter(|param| matches!(param.role, ParamRole::Weight(_)));
    let trained: Vec<String> = trained.flat_map(|param| in_model(&bundle, &param.name)).collect();
    let ema = |name: &str| format!("ema.{name}");
    let started = expect(init::initial_state(&bundle, 7));
    assert!(started.contains_key("ema.model.layers.0.self_attn.q_proj.weight"));
    let mut step = expect(TrainStep::load(xla::executor(), &bundle));
    expect(step.init_state(7));
    expect(step.step(&HostTensor::zeros(DType::S32, [8, 65])));
    let ended = expect(step.state());
    for name in trained {
        assert_eq!(started[&ema(&name)].dtype(), DType::F32);
        let (was, is) = (started[&ema(&name)].f64s(), ended[&ema(&name)].f64s());
        let new = ended[&name].f64s();
        for ((was, is), new) in was.iter().zip(is).zip(new) {
            // The weight was rounded to `bf16` after it was averaged.
            let (expected, rounding) = (0.75 * was + 0.25 * new, 0.25 * new.abs() / 64.0);
            assert!((is - expected).abs() <= rounding + 1e-6, "{name}: {was} became {is} by {new}");
        }
    }
}

/// A run of one step with these settings: the state of before and after.
fn change(settings: &[&str], name: &str) -> f64 {
    let (_, bundle) = compiled(&[&["layers=1", "schedule.warmup=0"], settings].concat());
    let mut step = expect(TrainStep::load(xla::executor(), &bundle));
    expect(step.init_state(7));
    let before = expect(step.state());
    expect(step.step(&HostTensor::zeros(DType::S32, [8, 65])));
    let (before, after) = (before[name].f64s(), expect(step.state())[name].f64s());
    before.iter().zip(after).map(|(before, after)| (after - before).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn a_group_has_a_rate_and_a_bound_of_its_own() {
    let base = ["optimizer.adamw.weight_decay=0", "optimizer.adamw.clip_norm=1e9"];
    let halved = "optimizer.group=[{ name = \"head\", params = [\"lm_head.weight\"], lr_scale = 0.5 }]";
    let (whole, half) = (change(&base, "lm_head.weight"), change(&[base[0], base[1], halved], "lm_head.weight"));
    assert!((half / whole - 0.5).abs() < 1e-3, "{half} of {whole}");
    let same = (change(&base, "model.norm.weight"), change(&[base[0], base[1], halved], "model.norm.weight"));
    assert_eq!(same.0, same.1);
}
