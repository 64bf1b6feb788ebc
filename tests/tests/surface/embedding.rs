//! The compiler inside another program: models built in Rust, typed recipes, extension from outside, many compiles.

use halite::Session;
use halite::compile::{CompileOptions, Compiled};
use halite::model::{Elaborated, Init};
use halite::source::{self, ModelInput, Source};
use halite_bundle::tensors::Tensors;
use halite_bundle::{BufferRole, ModuleRole};
use halite_ir::LowerOptions;
use halite_passes::{Progress, Stage, Watch};
use halite_recipe::{ConfigValue, ModelChoice, Optimizer, Recipe};
use halite_support::{CancelToken, codes};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::xla;
use halite_tests::compiled::{expect, hlo};
use halite_tests::models::Llama;
use halite_tests::scaled::Scaled;
use halite_train::TrainStep;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

/// The preset `tiny`, and the same with its model built in Rust, in the same session.
fn decompositions(session: &mut Session) -> [Source; 2] {
    let text = expect(session.load("tiny", &[]));
    let built = expect(Llama::TINY.build(&session.model("llama", &text.recipe)));
    let mut recipe = text.recipe.clone();
    recipe.model.config.clear();
    let built = expect(session.source(recipe, built));
    [text, built]
}

fn without_positions() -> CompileOptions {
    let lower = LowerOptions { without_positions: true, ..LowerOptions::default() };
    CompileOptions { lower, ..CompileOptions::default() }
}

#[test]
fn a_model_built_in_rust_gives_the_bytes_of_its_text() {
    let mut session = Session::new();
    let [text, built] = decompositions(&mut session);
    let [text_bundle, built_bundle] =
        [&text, &built].map(|source| expect(session.compile(source, &without_positions())).bundle);
    let (expected, found) = (hlo(&text_bundle), hlo(&built_bundle));
    assert_eq!(expected.len(), 3);
    for ((name, expected), (_, found)) in expected.iter().zip(&found) {
        assert!(expected == found, "{name}: {} and {} bytes", expected.len(), found.len());
    }
    assert_eq!(text_bundle.manifest.buffers, built_bundle.manifest.buffers);
    assert_eq!(text_bundle.manifest.statistics, built_bundle.manifest.statistics);
    // With positions, the two differ in these alone: each names the lines that it was written on.
    let [text, built] =
        [&text, &built].map(|source| expect(session.compile(source, &CompileOptions::default())).bundle);
    assert_ne!(hlo(&text), hlo(&built));
    assert_eq!(text.manifest.statistics, built.manifest.statistics);
    let step = built.module_with_role(&ModuleRole::TRAIN_STEP).expect("a training step");
    let step = String::from_utf8_lossy(built.hlo(step).expect("a file")).into_owned();
    assert!(step.contains("llama.rs") && !step.contains("llama.hal"));
}

#[test]
fn settings_of_a_built_model_agree_with_the_recipe() {
    let mut session = Session::new();
    let [text, built] = decompositions(&mut session);
    let refused = |recipe: Recipe, session: &mut Session| {
        let model = match &built.model {
            source::Model::Built(model) => Elaborated::clone(model),
            _ => unreachable!("it was built"),
        };
        let source = expect(session.source(recipe, model));
        let refused = session.compile(&source, &CompileOptions::default()).map(|compiled| compiled.reports);
        let errors = refused.unwrap_err();
        (errors[0].message().to_owned(), errors[0].primary().is_some())
    };
    let recipe = Recipe { batch: Some(4), ..built.recipe.clone() };
    let message = "the model was built with `batch = 8`, the recipe states 4".to_owned();
    assert_eq!(refused(recipe, &mut session), (message, true));
    let mut recipe = built.recipe.clone();
    recipe.model.config.insert("layers".into(), ConfigValue::Int(3));
    assert_eq!(refused(recipe, &mut session), ("the model `llama` has no config key `layers`".to_owned(), true));
    let recipe = Recipe { precision: halite_recipe::PrecisionName::Fp64.precision(), ..text.recipe.clone() };
    let (message, _) = refused(Recipe { model: built.recipe.model.clone(), ..recipe }, &mut session);
    assert_eq!(message, "the weight `model.embed_tokens.weight` is `f32[256,64]`, models of this recipe are in `f64`");
}

#[test]
fn a_recipe_in_rust_is_that_of_a_file() {
    let mut session = Session::new();
    let file = expect(session.load("tiny", &[]));
    let model = ModelChoice::new("llama").with("vocab", 256).with("hidden", 64).with("layers", 2).with("heads", 4);
    let rule = Optimizer::new("adamw", 5e-3).weight_decay(0.1).clip_norm(1.0);
    let mut recipe = Recipe::new(model.with("kv_heads", 2).with("ffn", 176), 8, 64, rule);
    recipe.schedule = halite_recipe::Schedule { warmup: 20, steps: 300, floor: 0.1, ..Default::default() };
    let typed = expect(session.source(recipe.clone(), ModelInput::Named));
    assert_eq!(typed.recipe, file.recipe);
    let [file, typed] = [file, typed].map(|source| expect(session.compile(&source, &CompileOptions::default())).bundle);
    assert_eq!(file.files, typed.files);
    recipe.batch = Some(0);
    recipe.train.seed = u64::MAX;
    let errors = session.source(recipe.clone(), ModelInput::Named).unwrap_err();
    assert_eq!(errors[0].code(), codes::RECIPE_RANGE, "{errors:?}");
    recipe.train.seed = 0;
    recipe.schedule.floor = f64::NAN;
    let errors = session.source(recipe, ModelInput::Named).unwrap_err();
    let texts: Vec<_> = errors.iter().map(|error| error.message()).collect();
    assert!(texts[0].starts_with("`batch` is 0, expected"), "{texts:?}");
    assert!(texts[1].starts_with("`schedule.floor` is NaN, expected"), "{texts:?}");
}

#[test]
fn composites_from_outside_are_called_from_texts_and_from_rust() {
    let mut session = Session::new();
    session.registry.register(Arc::new(Scaled)).expect("the name is new");
    let text = "model m { config { batch = 2; seq = 3 }
        fn main(tokens: s32[batch, seq + 1]) {
            param weight: [seq + 1] = ones
            loss = sum(scaled(weight * convert(tokens, float), by = 0.5)) return loss, sum(full([1], 1.0)) } }";
    let recipe = Recipe::new(ModelChoice::new("m"), 2, 3, Optimizer::new("adamw", 1e-3));
    let of_text = expect(session.source(recipe.clone(), text));
    let m = session.model("m", &recipe);
    let tokens = m.batch("tokens", DType::S32, [2, 4]);
    let weight = m.param("weight", [4], Init::Ones);
    let scaled = m.call("scaled", [weight * tokens.convert(m.float())]).named("by", 0.5).one();
    let built = expect(m.finish(scaled.sum_all(), m.full([1], 1.0).sum_all()));
    let built = expect(session.source(recipe, built));
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP, ModuleRole::EVAL], ..without_positions() };
    let [a, b] = [of_text, built].map(|source| expect(session.compile(&source, &options)).bundle);
    assert_eq!(hlo(&a), hlo(&b));
}

#[test]
fn compiling_is_watched_and_can_be_stopped() {
    #[derive(Default)]
    struct Heard {
        passes: Mutex<Vec<(String, String)>>,
        stop_at: Option<(&'static str, CancelToken)>,
    }
    impl Progress for Heard {
        fn started(&self, module: &str, pass: &str) {
            self.passes.lock().expect("no panic").push((module.to_owned(), pass.to_owned()));
            if let Some((at, token)) = &self.stop_at
                && *at == pass
            {
                token.cancel();
            }
        }
    }
    let mut session = Session::new();
    let source = expect(session.load("tiny", &[]));
    let compile = |heard: &Arc<Heard>, cancel: &CancelToken| {
        let mut options = CompileOptions::default();
        options.runner.watch = Watch { cancel: cancel.clone(), progress: Some(heard.clone()) };
        session.compile(&source, &options)
    };
    let heard = Arc::new(Heard::default());
    let Compiled { reports, .. } = expect(compile(&heard, &CancelToken::default()));
    let heard = heard.passes.lock().expect("no panic").clone();
    assert_eq!(heard[0], ("llama".to_owned(), "bind-recipe".to_owned()));
    let of_step: Vec<_> = heard.iter().filter(|(module, _)| module == "llama_train_step").collect();
    let shared = heard.iter().filter(|(module, _)| module == "llama").count();
    assert_eq!(of_step.len() + shared, reports[0].1.len());
    let token = CancelToken::default();
    let stopping = Arc::new(Heard { stop_at: Some(("auto-diff", token.clone())), ..Heard::default() });
    let errors = compile(&stopping, &token).map(|compiled| compiled.reports).unwrap_err();
    assert_eq!((errors.len(), errors[0].code()), (1, codes::CANCELLED));
    assert!(!stopping.passes.lock().expect("no panic").iter().any(|(_, pass)| pass == "update"));
}

#[test]
fn pipelines_of_roles_begin_alike() {
    let mut session = Session::new();
    session.roles.insert_before("key-dropout", "cse").expect("it is there");
    let source = expect(session.load("tiny", &[]));
    let refused = session.compile(&source, &CompileOptions::default()).map(|compiled| compiled.reports);
    assert_eq!(refused.unwrap_err()[0].code(), codes::PIPELINE);
    // The other pipeline leaves the model with `auto-cast`.
    session.roles.insert_before("auto-cast", "cse").expect("it is there");
    assert!(session.compile(&source, &CompileOptions::default()).is_ok());
}

/// With one round for each group, which is too few to see that nothing changes any more. The model has nothing to clean up.
#[test]
fn a_group_that_reaches_its_bound_is_warned_of() {
    let mut session = Session::new();
    for role in &ModuleRole::DEFAULT {
        let mut pipeline = session.roles.get(role).expect("it is there").pipeline.clone();
        for stage in &mut pipeline.stages {
            if let Stage::Fixpoint(group) = stage {
                group.rounds = NonZeroU32::MIN;
            }
        }
        session.roles.set_pipeline(role, pipeline).expect("it is there");
    }
    let source = expect(session.load("tiny", &[]));
    let compiled = expect(session.compile(&source, &CompileOptions::default()));
    let unsettled: Vec<_> = compiled.warnings.iter().filter(|warning| warning.code() == codes::UNSETTLED).collect();
    let of = |module: &str| {
        let group = "`clean-up(cse, simplify, fold-constant, dce)*1` ran once and still changed";
        format!("{group} `@{module}`")
    };
    let expected = ["llama_train_step", "llama_forward", "llama_eval"].map(of);
    assert_eq!(unsettled.iter().map(|warning| warning.message()).collect::<Vec<_>>(), expected);
}

/// The model takes two batches, one of them a mask that it declares.
#[test]
fn a_step_takes_several_inputs() {
    let mut session = Session::new();
    let recipe = Recipe::new(ModelChoice::new("two"), 2, 4, Optimizer::new("adamw", 1e-2));
    let built = {
        let m = session.model("two", &recipe);
        let (x, y) = (m.batch("x", DType::F32, [2, 4]), m.batch("y", DType::F32, [2, 4]));
        let mask = m.causal_mask("mask", [4, 4]);
        let weight = m.param("weight", [4, 4], Init::Normal { std: 0.1 });
        let error = x.matmul(m.select(mask, weight, 0)) - y;
        expect(m.finish((error * error).sum_all(), m.scalar(8.0)))
    };
    let source = expect(session.source(recipe, built));
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP, ModuleRole::EVAL], ..CompileOptions::default() };
    let bundle = expect(session.compile(&source, &options)).bundle;
    let mut step = expect(TrainStep::load(xla::executor(), &bundle));
    expect(step.init_state(1));
    let x = HostTensor::from_f64s(DType::F32, [2, 4], (0..8).map(f64::from));
    let batch = Tensors::from_iter([("y".to_owned(), x.clone()), ("x".to_owned(), x)]);
    let batch = expect(step.upload(&batch));
    let losses: Vec<f64> = (0..50).map(|_| expect(step.step(&batch)).loss()).collect();
    assert!(losses[49] < 0.5 * losses[0], "{losses:?}");
    assert_eq!(expect(step.eval(&batch)).get("count"), Some(8.0));
    assert_eq!(step.completed(), 50);
}

/// Two layers are one function; the weights of each start as it says, and are stored as one only where they start alike in both.
#[test]
fn layers_that_share_a_function_start_each_as_it_says() {
    let mut session = Session::new();
    let recipe = Recipe::new(ModelChoice::new("deep"), 2, 4, Optimizer::new("adamw", 1e-2));
    let compiled = |stds: [[f64; 2]; 2], session: &mut Session| -> Vec<(String, BufferRole)> {
        let built = {
            let m = session.model("deep", &recipe);
            let mut x = m.batch("x", DType::F32, [2, 4]);
            for (layer, [a, b]) in stds.into_iter().enumerate() {
                let project = |name, x, std| m.call("linear", [x, m.param(name, [4, 4], Init::Normal { std })]).one();
                [x] = m.scope(format_args!("layers.{layer}"), || {
                    m.function("layer", [x], |[x]| {
                        [(0..16).fold(project("a", x, a) * project("b", x, b), |x, _| x.tanh())]
                    })
                });
            }
            expect(m.finish(x.sum_all(), m.scalar(8.0)))
        };
        assert_eq!(built.module.functions.len(), 2);
        let source = expect(session.source(recipe.clone(), built));
        let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
        let bundle = expect(session.compile(&source, &options)).bundle;
        let buffers = bundle.manifest.buffers.iter().filter(|buffer| matches!(buffer.role, BufferRole::Weight(_)));
        buffers.map(|buffer| (buffer.name.clone(), buffer.role.clone())).collect()
    };
    let weight = |name: &str, std| (name.to_owned(), BufferRole::Weight(Init::Normal { std }));
    let apart =
        [weight("layers.0.a", 0.1), weight("layers.0.b", 0.1), weight("layers.1.a", 0.2), weight("layers.1.b", 0.3)];
    assert_eq!(compiled([[0.1, 0.1], [0.2, 0.3]], &mut session), apart);
    let stds = compiled([[0.1, 0.1], [0.2, 0.2]], &mut session).into_iter().map(|(_, role)| role).collect::<Vec<_>>();
    assert_eq!(stds, [0.1, 0.2].map(|std| BufferRole::Weight(Init::Normal { std })));
}
