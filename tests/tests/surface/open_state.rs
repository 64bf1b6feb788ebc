//! State of kinds that no crate knows: a pass from outside adds it to the step, and everything that stores, starts, converts or
//! shows state goes by what the pass says of it.

use halite::compile::CompileOptions;
use halite::inspect::precision::summarize_bundle;
use halite::{Bundle, Session};
use halite_bundle::convert::{to_model, to_stored};
use halite_bundle::{ModuleRole, init, tensors};
use halite_ir::{FuncResult, Module, ParamRole, Phase, ResultRole, Rewriter, TensorType, text};
use halite_passes::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_support::{Diagnostic, FileId, Name, Result};
use halite_tensor::{DType, HostTensor, Init, StateSpec};
use halite_test_kit::xla;
use halite_tests::compiled::expect;
use halite_train::TrainStep;
use std::sync::Arc;

/// Keeps beside each weight `zeta`, which doubles in each update, `ema`, a running average of the weight, and `ones`, which
/// passes between the modules of one update.
#[derive(Debug)]
struct Keep;

impl Pass for Keep {
    fn info(&self) -> PassInfo {
        PassInfo::new("keep-zeta", "keep state of unknown kinds", Relation::Defines)
            .required()
            .needs(Phase::Step..=Phase::Step)
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let entry = module.functions.pop().ok_or_else(|| Diagnostic::bug("a module without functions"))?;
        let mut b = Rewriter::new(module, cx.registry, &entry);
        let replaced = |name: &Name| {
            let is_its = |result: &&FuncResult| result.role == ResultRole::State(name.clone());
            entry.results.iter().find(is_its).map(|result| result.value)
        };
        let weights = entry.params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_)));
        let mut kept = Vec::new();
        for weight in weights {
            let ty = TensorType::new(DType::F32, entry.ty(weight.value).shape().clone());
            let mut add = |spec: StateSpec| {
                let (name, spec) = (spec.param_name(), ParamRole::State(spec));
                (name.clone(), b.param(name, ty.clone(), spec))
            };
            let spec = |kind: &str| StateSpec::new(kind).of(weight.name.clone());
            let zeta = add(spec("zeta").init(Init::Constant(3.0)));
            let ema = add(spec("ema").init(Init::Weight));
            let ones = add(spec("ones").init(Init::Ones).transient());
            let new = replaced(&weight.name).ok_or_else(|| Diagnostic::bug("a weight without replacement"))?;
            kept.push((zeta, ema, ones, new));
        }
        for inst in &entry.insts {
            b.copy(&entry, inst)?;
        }
        for result in &entry.results {
            let value = b.value(result.value)?;
            b.named_result(value, result.name.clone(), result.role.clone());
        }
        for (zeta, ema, ones, new) in kept {
            let new = b.value(new)?;
            let doubled = b.add(zeta.1, zeta.1)?;
            let sum = b.add(ema.1, new)?;
            let mean = b.multiply_scalar(sum, 0.5)?;
            let product = b.multiply(ones.1, ones.1)?;
            for (name, value) in [(zeta.0, doubled), (ema.0, mean), (ones.0, product)] {
                b.named_result(value, name.clone(), ResultRole::State(name));
            }
        }
        b.into_builder().finish();
        Ok(Changed::Yes)
    }
}

fn session() -> Session {
    let mut session = Session::new();
    session.passes.register(Arc::new(Keep)).expect("the name is new");
    session.roles.insert_after("update", "keep-zeta").expect("it is there");
    session
}

/// The legal IR of a training step, and its bundle.
fn compiled(session: &mut Session) -> (Module, Bundle) {
    let source = expect(session.load("tiny", &["layers=1".to_owned()]));
    let options = CompileOptions { roles: vec![ModuleRole::TRAIN_STEP], ..CompileOptions::default() };
    let built = expect(session.elaborate(&source)).module;
    let pipeline = session.pipeline(&ModuleRole::TRAIN_STEP).expect("it has its passes");
    let step = session.compile_role(&built, &source.recipe, &ModuleRole::TRAIN_STEP, &pipeline, &options);
    (step.expect("it compiles").ir, expect(session.compile(&source, &options)).bundle)
}

fn are_all(tensor: &HostTensor, value: f64) -> bool {
    tensor.f64s().iter().all(|found| *found == value)
}

#[test]
fn state_of_unknown_kinds_is_compiled_stored_started_trained_and_shown() {
    let mut session = session();
    let (module, made) = compiled(&mut session);
    let print = |module: &Module| text::print_with(module, text::PrintOptions { locations: false });
    let ir = print(&module);
    assert!(ir.contains("{state = zeta, of = \"model.norm.weight\", init = constant(3.0)}"), "{ir}");
    assert!(ir.contains("{state = ones, of = \"model.norm.weight\", init = ones, transient}"), "{ir}");
    let read = text::parse(&ir, FileId::of("step.ir", &ir), &session.registry).expect("it reads back");
    assert_eq!(print(&read), ir);

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bundle");
    made.write(&path).expect("the folder is writable");
    let bundle = session.read_bundle(&path).expect("it reads back");
    assert_eq!(bundle.manifest, made.manifest);

    starts_as_it_says(&bundle);
    survives_saving(&bundle, &folder.path().join("state.safetensors"));
    let summary = summarize_bundle(&bundle.manifest);
    assert_eq!(summary.bytes.keys().collect::<Vec<_>>(), ["weight", "m", "v", "zeta", "ema", "ones"]);
    assert!(summary.bytes.values().all(|bytes| *bytes == summary.bytes["weight"]));
}

fn starts_as_it_says(bundle: &Bundle) {
    let state = expect(init::initial_state(bundle, 7));
    let weights = bundle.manifest.buffers.iter().filter(|buffer| buffer.is_weight());
    for name in weights.flat_map(|buffer| buffer.tensor_names()) {
        let of = |kind: &str| state.get(&format!("{kind}.{name}"));
        assert!(of("zeta").is_some_and(|zeta| are_all(zeta, 3.0)));
        assert_eq!(of("ema"), Some(&state[&name]));
        assert_eq!(of("ones"), None, "a saved state leaves it out");
    }
    assert!(state.contains_key("zeta.model.layers.0.self_attn.q_proj.weight"));
    let stored = expect(to_stored(&bundle.manifest, state.clone()));
    assert!(stored.contains_key("zeta.model.layers.0.self_attn.q_k_v_proj.weight"));
    assert!(expect(to_model(&bundle.manifest, stored)) == state);
}

fn survives_saving(bundle: &Bundle, path: &std::path::Path) {
    let tokens = HostTensor::zeros(DType::S32, [8, 65]);
    let mut first = expect(TrainStep::load(xla::executor(), bundle));
    expect(first.init_state(7));
    expect(first.step(&tokens));
    expect(first.step(&tokens));
    expect(first.save_state(path));
    let saved = tensors::read(path).expect("it was written");
    assert!(saved.keys().all(|name| !name.starts_with("ones.")));
    assert!(are_all(&saved["zeta.model.norm.weight"], 12.0));
    assert!(saved["ema.model.norm.weight"] != saved["model.norm.weight"]);
    let mut second = first.fork();
    expect(second.load_state(path));
    assert_eq!(second.completed(), 2);
    assert_eq!(expect(first.step(&tokens)), expect(second.step(&tokens)));
    assert!(expect(first.state()) == expect(second.state()));
}
