//! The training step of the tiny Llama under `mixed`: what is narrow and what is not, in the IR and in the HLO.

use halite::Session;
use halite::compile::{CompileOptions, CompiledModule};
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_hlo::Type;
use halite_hlo::proto::{HloInstructionProto, HloModuleProto};
use halite_ir::attr::{AttrSlot, AttrVisitor, ResultSlot};
use halite_ir::{Attr, Function, InferCx, Inst, Module, Op, OpClass, ResultRole, Value};
use halite_passes::{Runner, RunnerOptions};
use halite_recipe::PrecisionOverride;
use halite_tensor::DType;
use std::collections::BTreeMap;

/// The tiny Llama with these settings, all of it in the entry.
fn load(settings: &[&str]) -> (Session, Source) {
    let mut session = Session::new();
    let settings = settings.iter().chain(&["emit.calls=inline"]);
    let settings: Vec<String> = settings.map(|setting| (*setting).to_owned()).collect();
    let source = session.load("tiny", &settings).unwrap_or_else(|errors| panic!("{errors:?}"));
    (session, source)
}

/// The step in its last form.
fn step(session: &Session, source: &Source) -> CompiledModule {
    let built = session.elaborate(source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    let role = &ModuleRole::TRAIN_STEP;
    let pipeline = session.pipeline(role).expect("the passes exist");
    let compiled = session.compile_role(&built, &source.recipe, role, &pipeline, &CompileOptions::default());
    compiled.unwrap_or_else(|error| panic!("{error}"))
}

/// Forward and backward after `auto-cast`, calls written in place.
fn cast(session: &Session, source: &Source) -> Module {
    let mut module = session.elaborate(source).unwrap_or_else(|errors| panic!("{errors:?}")).module;
    let pipeline =
        session.passes.parse("bind-recipe, cse, dce, auto-diff, auto-cast, inline, cse").expect("the passes exist");
    let cx = session.pass_cx(Some(&source.recipe), None).expect("the target is known");
    let ran = Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx);
    ran.unwrap_or_else(|error| panic!("{error}"));
    module
}

fn entry(module: &Module) -> &Function {
    module.entry().expect("a model has an entry")
}

/// Element types of the floats among some values.
fn floats(function: &Function, values: &[Value]) -> Vec<DType> {
    values.iter().map(|&value| function.ty(value).dtype()).filter(|dtype| dtype.is_float()).collect()
}

fn class(session: &Session, module: &Module, inst: &Inst) -> OpClass {
    let cx = InferCx { functions: &module.functions, registry: &session.registry };
    inst.op.def().policy(&cx).class
}

/// An instruction with its place in the model, for messages.
fn told(module: &Module, inst: &Inst) -> String {
    let function = entry(module);
    let (args, results) = (floats(function, &inst.args), floats(function, &inst.results));
    format!("`{}` of {args:?} to {results:?} in `{}`", inst.op.name(), module.locs.path(inst.loc))
}

/// The type in which an op sums.
fn accumulate(op: &Op) -> Option<DType> {
    struct Accumulate(Option<DType>);
    impl AttrVisitor for Accumulate {
        fn attr(&mut self, name: &str, slot: &mut dyn AttrSlot) {
            if let ("accumulate", Attr::Word(word)) = (name, slot.get()) {
                self.0 = DType::parse(&word);
            }
        }

        fn result(&mut self, _: usize, _: ResultSlot<'_>) {}
    }
    let mut found = Accumulate(None);
    op.clone().def_mut().attrs(&mut found);
    found.0
}

#[test]
fn products_are_narrow_and_sums_wide() {
    let (session, source) = load(&[]);
    let module = step(&session, &source).ir;
    let function = entry(&module);
    let dots: Vec<_> = function.insts.iter().filter(|inst| matches!(inst.op, Op::DotGeneral(_))).collect();
    assert!(dots.len() > 30, "the step has {} products", dots.len());
    for dot in dots {
        assert_eq!(floats(function, &dot.args), [DType::Bf16; 2], "{}", told(&module, dot));
        assert_eq!(accumulate(&dot.op), Some(DType::F32), "{}", told(&module, dot));
    }
}

#[test]
fn sensitive_ops_and_sums_are_wide() {
    let (session, source) = load(&[]);
    let module = step(&session, &source).ir;
    let function = entry(&module);
    let mut seen = BTreeMap::<&str, usize>::new();
    for inst in &function.insts {
        let is_max = matches!(&inst.op, Op::Reduce(_));
        if !is_max && !matches!(class(&session, &module, inst), OpClass::Sensitive | OpClass::Accumulate) {
            continue;
        }
        *seen.entry(inst.op.name()).or_default() += 1;
        let all = [floats(function, &inst.args), floats(function, &inst.results)].concat();
        assert!(all.iter().all(|&dtype| dtype == DType::F32), "{}", told(&module, inst));
        assert!(accumulate(&inst.op).is_none_or(|dtype| dtype == DType::F32), "{}", told(&module, inst));
    }
    for op in ["exponential", "log", "rsqrt", "reduce", "take_grad", "cosine", "sine"] {
        assert!(seen.contains_key(op), "the step has no `{op}`: {seen:?}");
    }
}

/// An exception by scope holds for the forward and the backward part of that scope, and nowhere else.
#[test]
fn a_scope_may_be_exempt() {
    let (session, mut source) = load(&[]);
    let scope = Some("model.layers.0.mlp*".to_owned());
    source.recipe.precision.overrides =
        vec![PrecisionOverride { scope, operand: Some(DType::F32), ..PrecisionOverride::default() }];
    let module = cast(&session, &source);
    let function = entry(&module);
    let mut exempt = 0;
    for inst in function.insts.iter().filter(|inst| matches!(inst.op, Op::DotGeneral(_))) {
        let inside = module.locs.scope(inst.loc).starts_with("model.layers.0.mlp");
        exempt += usize::from(inside);
        let expected = if inside { DType::F32 } else { DType::Bf16 };
        assert_eq!(floats(function, &inst.args), [expected; 2], "{}", told(&module, inst));
    }
    assert_eq!(exempt, 9, "three products, each with two gradients");
}

/// Everything the optimizer does is wide: the norm, clipping, the moments and the update.
#[test]
fn gradients_and_the_optimizer_are_wide() {
    let (session, source) = load(&[]);
    let module = step(&session, &source).ir;
    let function = entry(&module);
    let optimizer = |inst: &&Inst| module.locs.path(inst.loc).starts_with("optimizer");
    let insts: Vec<_> = function.insts.iter().filter(optimizer).collect();
    assert!(insts.len() > 100, "the optimizer has {} instructions", insts.len());
    for inst in insts {
        let all = [floats(function, &inst.args), floats(function, &inst.results)].concat();
        assert!(all.iter().all(|&dtype| dtype == DType::F32), "{}", told(&module, inst));
    }
    let module = cast(&session, &source);
    let function = entry(&module);
    let sums: Vec<_> = function.insts.iter().filter(|inst| inst.op.name() == "add_any").collect();
    assert!(sums.len() >= 10, "gradients meet {} times", sums.len());
    for inst in sums {
        let all = [floats(function, &inst.args), floats(function, &inst.results)].concat();
        assert!(all.iter().all(|&dtype| dtype == DType::F32), "{}", told(&module, inst));
    }
    for result in &function.results {
        let wide = matches!(result.role, ResultRole::Gradient(_) | ResultRole::Loss);
        assert!(!wide || function.ty(result.value).dtype() == DType::F32, "`{}`", result.name);
    }
}

/// The instructions of a module by id, with their element types.
fn instructions(hlo: &HloModuleProto) -> BTreeMap<i64, &HloInstructionProto> {
    let all = hlo.computations.iter().flat_map(|computation| &computation.instructions);
    all.map(|inst| (inst.id, inst)).collect()
}

fn element_type(inst: &HloInstructionProto) -> Option<DType> {
    let shape = Type::from_proto(inst.shape.as_ref()?).ok()?;
    shape.array().ok().map(|array| array.dtype)
}

#[test]
fn the_hlo_says_the_same() {
    let (session, source) = load(&[]);
    let hlo = step(&session, &source).hlo;
    let by_id = instructions(&hlo);
    let operands = |inst: &HloInstructionProto| -> Vec<DType> {
        let types = inst.operand_ids.iter().filter_map(|id| element_type(by_id[id]));
        types.filter(|dtype| dtype.is_float()).collect()
    };
    let mut counts = BTreeMap::<&str, usize>::new();
    for inst in by_id.values() {
        *counts.entry(&inst.opcode).or_default() += 1;
        match &*inst.opcode {
            "dot" => {
                assert_eq!(operands(inst), [DType::Bf16; 2], "{}", inst.name);
                assert_eq!(element_type(inst), Some(DType::F32), "{}", inst.name);
            }
            "exponential" | "log" | "rsqrt" | "sqrt" | "power" | "cosine" | "sine" | "reduce" | "scatter" => {
                assert!(operands(inst).iter().all(|&dtype| dtype == DType::F32), "{}: {:?}", inst.name, operands(inst));
                assert_eq!(element_type(inst), Some(DType::F32), "{}", inst.name);
            }
            _ => {}
        }
    }
    for opcode in ["dot", "exponential", "log", "rsqrt", "reduce", "convert"] {
        assert!(counts.get(opcode).is_some_and(|&count| count > 0), "no `{opcode}`: {counts:?}");
    }
}

/// Converts in the scope of a layer, by what they are for: `op, from, to`.
fn converts(module: &Module, layer: usize) -> Vec<String> {
    let function = entry(module);
    let scope = format!("model.layers.{layer}.");
    let inside =
        |inst: &&Inst| matches!(inst.op, Op::Convert(_)) && (module.locs.scope(inst.loc) + ".").starts_with(&scope);
    let told = |inst: &Inst| {
        let ty = |value: Value| function.ty(value).to_string();
        format!("{} to {} in {}", ty(inst.args[0]), ty(inst.results[0]), module.locs.path(inst.loc))
    };
    let mut all: Vec<_> = function.insts.iter().filter(inside).map(told).collect();
    all.sort();
    all
}

/// Every convert of a block is there for a reason; a new one must have one too.
///
/// After `auto-cast` these are the seven weights, five of the seven products of the forward part (queries and keys are
/// rotated as they were made), and of the backward part the two sums of gradients and the two products that narrow readers
/// take: 16, and one for the embedding, which arrives wide, in the first block. In the end weights that are stored as one
/// are rounded at once, and the others are inside of composites: the operands and results of norms, rotations, activations
/// and attention, which compute wide.
#[test]
fn a_block_has_few_converts() {
    let (session, source) = load(&[]);
    let (early, late) = (cast(&session, &source), step(&session, &source).ir);
    for (module, expected) in [(&early, [17, 16]), (&late, [32, 32])] {
        for (layer, expected) in expected.into_iter().enumerate() {
            let found = converts(module, layer);
            assert_eq!(found.len(), expected, "layer {layer}: {found:#?}");
        }
    }
}
