//! Composites with optional operands, of which any may be left out.

use halite_ir::text::{parse, print};
use halite_ir::{
    Args, Attr, AttrKey, AttrSpec, Attrs, Builder, Composite, CompositeDef, InferCx, Interpreter, Module, Op, Operands,
    ParamRole, Policy, Registry, TensorType, Types, Value, Values, Vjp, VjpCx, VjpRule, fingerprint, op, present,
};
use halite_support::{FileId, Result, codes};
use halite_tensor::{DType, HostTensor};
use std::sync::Arc;

static NEGATED: AttrKey<bool> = AttrKey::refinement("negated", false, "negate the result");

halite_ir::described! {
    /// `x * scale + shift`, of both what is given.
    #[derive(Debug)]
    struct Affine;
}

impl CompositeDef for Affine {
    fn name(&self) -> &str {
        "affine"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["x"]).optional(&["scale", "shift"])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![NEGATED.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        for (_, ty) in args.optional() {
            op::require_same("affine", args[0], ty)?;
        }
        Ok(std::iter::once(args[0].clone()).collect())
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [mut y] = args.required()?;
        if let Some(scale) = args.get("scale") {
            y = b.multiply(y, scale)?;
        }
        if let Some(shift) = args.get("shift") {
            y = b.add(y, shift)?;
        }
        Ok(std::iter::once(if attrs.get(&NEGATED)? { b.negate(y)? } else { y }).collect())
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, _, cx| {
            let ct = present(cx.ct())?;
            let mut optional = Vec::new();
            let mut x_ct = ct;
            if let Some(scale) = cx.args.get("scale") {
                optional.push(("scale", b.multiply(ct, cx.args[0])?));
                x_ct = b.multiply(ct, scale)?;
            }
            // Without effect where it is not given.
            optional.push(("shift", ct));
            Ok(cx.cotangents([Some(x_ct)], &optional))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }
}

fn registry() -> Registry {
    let mut registry = Registry::builtin();
    registry.register(Arc::new(Affine)).unwrap();
    registry
}

/// The module of a function of `%x`, `%scale` and `%shift`, `f32[2]`, that returns `%y`, which the line defines.
fn read(registry: &Registry, line: &str) -> Module {
    let params = "%x: f32[2], %scale: f32[2], %shift: f32[2]";
    let text = format!("func @main({params}) -> (f32[2]) {{\n  {line}\n  return %y\n}}\n");
    parse(&text, FileId::of("main.ir", &text), registry).unwrap()
}

/// Prints the instruction of a module.
fn instruction(module: &Module) -> String {
    let text = print(module);
    let line = text.lines().find(|line| line.contains("affine")).unwrap();
    line.split("     //").next().unwrap().trim().to_owned()
}

fn run(registry: &Registry, module: &Module) -> Vec<f64> {
    let inputs = [[2.0, 3.0], [10.0, 20.0], [0.5, 0.25]].map(|own| HostTensor::from_f64s(DType::F32, [2], own));
    let function = module.entry().unwrap();
    Interpreter::of(module, registry).run(function, inputs.to_vec()).unwrap()[0].f64s()
}

#[test]
fn each_optional_operand_may_be_left_out() {
    let registry = registry();
    for (given, expected) in [
        ("", [2.0, 3.0]),
        (", scale = %scale", [20.0, 60.0]),
        (", shift = %shift", [2.5, 3.25]),
        (", scale = %scale, shift = %shift", [20.5, 60.25]),
    ] {
        let line = format!("%y = affine %x{given} : f32[2]");
        let module = read(&registry, &line);
        assert_eq!(instruction(&module), line);
        assert_eq!(run(&registry, &module), expected, "{line}");
    }
    let module = read(&registry, "%y = affine %x, shift = %shift, scale = %scale {negated = true} : f32[2]");
    let expected = "%y = affine %x, scale = %scale, shift = %shift {negated = true} : f32[2]";
    assert_eq!(instruction(&module), expected, "names stand in the order of the definition");
}

#[test]
fn what_is_given_tells_instructions_apart() {
    let registry = registry();
    let module = |name: &str| read(&registry, &format!("%y = affine %x, {name} = %scale : f32[2]"));
    let (scaled, shifted) = (module("scale"), module("shift"));
    let op = |module: &Module| module.functions[0].insts[0].op.clone();
    assert_ne!(op(&scaled), op(&shifted));
    assert_ne!(fingerprint(&scaled), fingerprint(&shifted));
    assert_eq!((run(&registry, &scaled), run(&registry, &shifted)), (vec![20.0, 60.0], vec![12.0, 23.0]));
    let (Op::Composite(scaled), args) = (op(&scaled), [1, 2]) else { panic!("it is a composite") };
    assert_eq!((scaled.optional("scale", &args), scaled.optional("shift", &args)), (Some(2), None));
}

#[test]
fn a_rule_answers_by_name() {
    let registry = registry();
    let answers = |names: &[&str]| {
        let mut module = Module::new("m");
        let mut b = Builder::new(&mut module, &registry, "main");
        let mut param = |name: &str| b.param(name, TensorType::new(DType::F32, [2]), ParamRole::Argument);
        let (x, ct) = (param("x"), param("ct"));
        let named: Vec<_> = names.iter().map(|&name| (name, param(name))).collect();
        let results = b.composite_with("affine", &[], &[x], &named).unwrap();
        let inst = b.function().insts[0].clone();
        let wanted = vec![true; inst.args.len()];
        let cx = VjpCx { args: &inst.args, results: &results, cts: &[Some(ct)], wanted: &wanted };
        let Vjp::Cotangents(cts) = inst.op.def().vjp(&mut b, &cx).unwrap() else { panic!("it has a gradient") };
        cts.into_iter().map(|found| found == Some(ct)).collect::<Vec<_>>()
    };
    assert_eq!(answers(&["shift"]), [true, true]);
    assert_eq!(answers(&["scale"]), [false, false]);
    assert_eq!(answers(&["shift", "scale"]), [false, false, true]);
}

#[test]
fn builders_take_operands_by_position_and_by_name() {
    let registry = registry();
    let mut module = Module::new("m");
    let mut b = Builder::new(&mut module, &registry, "main");
    let x = b.param("x", TensorType::new(DType::F32, [2]), ParamRole::Argument);
    let mut given = |args: usize, named: &[&str]| {
        let named: Vec<_> = named.iter().map(|&name| (name, x)).collect();
        let results = b.composite_with("affine", &[], &vec![x; args], &named);
        results
            .map(|_| b.function().insts.last().unwrap().op.clone())
            .map_err(|error| (error.code(), error.message().to_owned()))
    };
    assert_eq!(given(2, &[]), given(1, &["scale"]));
    assert_eq!(given(3, &[]), given(0, &["shift", "x", "scale"]));
    let takes = |found: &str| (codes::ARITY, format!("`affine` takes `x` and perhaps `scale`, `shift`; found {found}"));
    assert_eq!(given(0, &[]), Err(takes("0 operands")));
    assert_eq!(given(0, &["shift"]), Err(takes("1 operand")));
    assert_eq!(given(4, &[]), Err(takes("4 operands")));
    assert_eq!(given(1, &["sale"]), Err((codes::ARITY, "`affine` has no operand `sale`".to_owned())));
    let twice = |name: &str| (codes::DUPLICATE, format!("operand `{name}` of `affine` is given twice"));
    assert_eq!(given(2, &["scale"]), Err(twice("scale")));
    assert_eq!(given(1, &["x"]), Err(twice("x")));
    let shifted = Composite::new(&registry, "affine", &[]).unwrap().with_operand("shift").unwrap();
    let error = b.emit(shifted.clone(), &[x]).unwrap_err();
    assert_eq!((error.code(), error.message()), (takes("1 operand").0, &*takes("1 operand").1));
    assert_eq!(shifted.with_operand("sale").unwrap_err().code(), codes::ARITY);
}

#[test]
fn a_rest_stands_by_position() {
    let registry = Registry::builtin();
    let mut module = Module::new("m");
    let mut b = Builder::new(&mut module, &registry, "main");
    let mut words = |shape: &[usize]| b.param("words", TensorType::new(DType::U32, shape), ParamRole::Argument);
    let args = [words(&[]), words(&[3]), words(&[4])];
    let bits = b.composite("random_bits", &[], &args).unwrap()[0];
    assert_eq!(b.shape(bits)[..], [3, 4]);
    let error = b.composite("random_bits", &[], &[]).unwrap_err();
    assert_eq!(error.message(), "`random_bits` takes `word` and any number of `along` by position; found 0 operands");
}

halite_ir::described! {
    /// `affine` with other operands.
    #[derive(Debug)]
    struct Named {
        operands: Operands,
    }
}

impl CompositeDef for Named {
    fn name(&self) -> &str {
        "named"
    }

    fn operands(&self) -> Operands {
        self.operands
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![NEGATED.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, _: &Attrs, _: Args<'_, &TensorType>) -> Result<Types> {
        Ok(Types::new())
    }

    fn expand(&self, _: &mut Builder<'_>, _: &Attrs, _: Args<'_, Value>) -> Result<Values> {
        Ok(Values::new())
    }

    fn policy(&self) -> Policy {
        Policy::ELEMENTWISE
    }
}

#[test]
fn operands_have_names_that_models_can_give() {
    let register = |operands| Registry::builtin().register(Arc::new(Named { operands })).map_err(|error| error.code());
    assert_eq!(register(Operands::of(&["x", "y"]).optional(&["z"]).rest("others")), Ok(()));
    assert_eq!(register(Operands::of(&[])), Ok(()));
    for name in ["in", "", "a b", "a-b", "1st"] {
        let names: &'static [&'static str] = vec![name].leak();
        assert_eq!(register(Operands::of(names)), Err(codes::NAME), "{name:?}");
        assert_eq!(register(Operands::of(&["x"]).optional(names)), Err(codes::NAME), "{name:?}");
    }
    assert_eq!(register(Operands::of(&["x", "x"])), Err(codes::DUPLICATE));
    assert_eq!(register(Operands::of(&["x"]).optional(&["x"])), Err(codes::DUPLICATE));
    assert_eq!(register(Operands::of(&["x"]).rest("x")), Err(codes::DUPLICATE));
    assert_eq!(register(Operands::of(&["negated"])), Err(codes::DUPLICATE), "an attribute is named so");
    let many: Vec<&'static str> = (0..33).map(|at| &*format!("x{at}").leak()).collect();
    assert_eq!(register(Operands::of(&[]).optional(many.leak())), Err(codes::ARITY));
    let mut own = Registry::default();
    Registry::builtin().composites().for_each(|def| own.register(def.clone()).unwrap());
}

#[test]
fn a_definition_that_reads_other_operands_than_it_states_is_a_bug() {
    let registry = registry();
    let types = [TensorType::new(DType::F32, [2]), TensorType::new(DType::F32, [2])];
    let args: Vec<&TensorType> = types.iter().collect();
    let affine = Composite::new(&registry, "affine", &[("negated", Attr::Bool(true))]).unwrap();
    let affine = affine.with_operand("shift").unwrap();
    let args = affine.args(&registry, &args).unwrap();
    assert!(args.required::<1>().is_ok() && args.required::<2>().is_err());
    assert_eq!((args.position("scale"), args.position("shift")), (None, Some(1)));
    assert_eq!((args.rest().len(), args.values().len()), (0, 2));
}
