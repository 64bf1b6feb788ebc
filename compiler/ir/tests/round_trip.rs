//! Printing and parsing are inverse to each other.

use halite_ir::text::{PrintOptions, parse, print, print_with};
use halite_ir::{
    Attr, Builder, Composite, DimName, Module, Op, ParamRole, Phase, Registry, ResultRole, Sample, SizeFactor,
    TensorType, WeightInfo, fingerprint, sample_module, verify,
};
use halite_support::{FileId, Span};
use halite_tensor::{DType, HostTensor, Init, Packing, Part, StateSpec};
use std::sync::Arc;

fn read(text: &str) -> Module {
    parse(text, FileId::of("test.ir", text), &Registry::builtin()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// Prints, reads and prints again.
fn assert_round_trip(module: &Module) -> String {
    let text = print_with(module, PrintOptions { locations: false });
    let again = read(&text);
    assert_eq!(print_with(&again, PrintOptions { locations: false }), text);
    assert_eq!(fingerprint(&again), fingerprint(module), "{text}");
    text
}

/// The samples of every primitive and composite.
fn samples(float: DType) -> Vec<Sample> {
    let registry = Registry::builtin();
    let primitives = Op::primitives().into_iter().flat_map(|op| op.def().samples(float));
    let composites = registry.composites().flat_map(|def| def.samples(float));
    primitives.chain(composites).collect()
}

#[test]
fn every_sample_round_trips() {
    let registry = Registry::builtin();
    for float in [DType::F32, DType::F64, DType::Bf16, DType::F16] {
        for sample in samples(float) {
            let module = sample_module(&sample, &registry);
            let module = module.unwrap_or_else(|error| panic!("{} {}: {error}", sample.op.name(), sample.label));
            assert_round_trip(&module);
            verify(&module, &registry).unwrap();
        }
    }
}

const MLP: &str = r#"halite.ir 1
module @mlp {phase = built}

func @double(%x: f32[4]) -> (f32[4]) {
  %0 = add %x, %x : f32[4]
  return %0
}

func @main(
  %tokens: s32[4,65] {batch},
  %model.w: f32[4,8] {weight, init = normal(0.021), decay = 0.1},
  %"m of w": f32[4,8] {state = m, of = "model.w"},
  %t: s32[] {state = step},
  %zeta: f32[] {state = zeta, of = "model.w", init = constant(3.0), transient},
  %ema: f32[4,8] {state = ema, of = "model.w", init = weight},
  %sum: f32[4,8] {state = s, of = "model.w", sum},
  %proj: f32[24,6] {weight, init = zeros, dims = [3 * heads(2) * head_dim(4), "a b"(6)]},
  %pad: f32[2,4,3] {weight, init = zeros, packs = ["w"[3,7] + 1 transposed]},
  %"q|k": f32[2,3,8] {weight, init = zeros, group = "the \"rest\"", frozen, packs = ["q"[4,8], "a \"k\""[8,1] x 2 transposed]},
) -> (loss: f32[4,4] {loss}, f32[4], "a b": f32[4] {gradient = "model.w"}, t: s32[] {state = "t"}, f32[]) {
  %0 = dot_general %model.w, %"m of w" {batch = [] x [], contract = [1] x [1], accumulate = f32} : f32[4,4]
  %c = constant [1.0, -0.0, inf, nan(0x7fc00001)] : f32[4]
  %c.1 = constant 1e-5 : f32[4]
  %1 = add %c, %c.1 : f32[4]
  %"2" = constant nan : f32[]
  return %0, %c, %1, %t, %"2"
}
"#;

#[test]
fn text_reads_back_to_itself() {
    let module = read(MLP);
    assert_eq!(print_with(&module, PrintOptions { locations: false }), MLP);
    let main = module.entry().unwrap();
    let weight = WeightInfo { decay: Some(0.1), ..WeightInfo::new(Init::Normal { std: 0.021 }) };
    assert_eq!(main.params[1].role, ParamRole::Weight(weight));
    assert_eq!(main.params[2].role, ParamRole::State(StateSpec::new("m").of("model.w")));
    let zeta = StateSpec::new("zeta").of("model.w").init(Init::Constant(3.0)).transient();
    assert_eq!(main.params[4].role, ParamRole::State(zeta));
    assert_eq!(main.params[6].role, ParamRole::State(StateSpec::new("s").of("model.w").sum()));
    let part = |name: &str, shape: [usize; 2], transposed, copies| {
        let (name, shape) = (name.to_owned(), shape.to_vec());
        Part { name, shape, transposed, copies, padding: 0 }
    };
    let parts = vec![part("q", [4, 8], false, 1), part("a \"k\"", [8, 1], true, 2)];
    let packing = Some(Arc::new(Packing { ranks: 2, parts }));
    let group = Some("the \"rest\"".into());
    let frozen = WeightInfo { group, frozen: true, packing, ..WeightInfo::new(Init::Zeros) };
    assert_eq!(main.params[9].role, ParamRole::Weight(frozen));
    let merged = [SizeFactor::unnamed(3), SizeFactor::named("heads", 2), SizeFactor::named("head_dim", 4)];
    let dims: [DimName; 2] = [merged.into(), [SizeFactor::named("a b", 6)].into()];
    let named = WeightInfo { dims: Some(dims.into()), ..WeightInfo::new(Init::Zeros) };
    assert_eq!(main.params[7].role, ParamRole::Weight(named));
    assert_eq!(main.results[2].role, ResultRole::Gradient("model.w".into()));
    let add = main.insts.iter().find(|inst| inst.op.name() == "add").unwrap();
    let start = MLP.find("%1 = add").unwrap();
    assert_eq!(
        module.locs.span(add.loc),
        Some(Span::new(FileId::of("test.ir", MLP), start, start + "%1 = add %c, %c.1 : f32[4]".len()))
    );
}

#[test]
fn a_snippet_needs_no_header() {
    let module = read("func @f(%x: f32[2]) -> (f32[2]) { // comment\n\n  // another\n  return %x // \"\n}");
    assert_eq!((module.phase, &*module.name), (Phase::Built, ""));
    assert_eq!(print(&module).lines().nth(1), Some("module @\"\" {phase = built}"));
    assert_round_trip(&module);
}

#[test]
fn equal_hints_get_suffixes() {
    let registry = Registry::builtin();
    let mut module = Module::new("hints");
    let mut b = Builder::new(&mut module, &registry, "f");
    let x = b.param("x", TensorType::new(DType::F32, [2]), ParamRole::Argument);
    let scope = b.enter_scope("layer");
    let y = b.add(x, x).unwrap();
    b.set_loc(scope);
    let z = b.add(y, x).unwrap();
    let u = b.add(z, x).unwrap();
    for value in [y, z] {
        b.name_value(value, "x");
    }
    b.result(u);
    b.finish();
    let text = assert_round_trip(&module);
    assert!(text.contains("%x.2 = add %x.1, %x"), "{text}");
    assert!(text.contains("%0 = add %x.2, %x"), "{text}");
    assert!(print(&module).contains("%x.1 = add %x, %x : f32[2]     // layer\n"));
}

#[test]
fn large_constants_are_resources() {
    let registry = Registry::builtin();
    let mut module = Module::new("m");
    let mut b = Builder::new(&mut module, &registry, "f");
    let large = HostTensor::from_f64s(DType::F32, [3, 6], (0..18).map(f64::from));
    let first = b.constant(large.clone()).unwrap();
    let again = b.constant(large).unwrap();
    let splat = b.splat(DType::Bf16, [100], 0.1).unwrap();
    let none = b.constant(HostTensor::zeros(DType::S8, [0])).unwrap();
    for value in [first, again, splat, none] {
        b.result(value);
    }
    b.finish();
    let text = assert_round_trip(&module);
    assert!(text.contains("%1 = constant @r0 : f32[3,6]"), "{text}");
    assert!(text.contains("%2 = constant 0.1 : bf16[100]"), "{text}");
    assert!(text.contains("%3 = constant [] : s8[0]"), "{text}");
    assert!(text.contains("\nresource @r0 = \"000000000000803f"), "{text}");
}

#[test]
fn every_element_type_keeps_its_bits() {
    let registry = Registry::builtin();
    for dtype in DType::ALL {
        let mut module = Module::new("m");
        let mut b = Builder::new(&mut module, &registry, "f");
        let size = dtype.size();
        let pattern = |at: usize| if dtype == DType::Pred { (at % 2) as u8 } else { (at * 37 % 251) as u8 };
        let edge = |byte: u8| if dtype == DType::Pred { 1 } else { byte };
        let bytes: Vec<u8> = (0..8 * size).map(pattern).chain(std::iter::repeat_n(edge(0xff), size)).collect();
        let tensor = HostTensor::from_bytes(dtype, [9].into(), bytes).unwrap();
        let value = b.constant(tensor).unwrap();
        b.result(value);
        b.finish();
        assert_round_trip(&module);
    }
}

#[test]
fn composites_follow_their_schema() {
    let module = read("func @f(%x: f32[2,3]) -> (f32[2,3]) {\n %0 = softmax %x : f32[2,3]\n return %0\n}");
    let Op::Composite(Composite { attrs, .. }) = &module.functions[0].insts[0].op else { panic!("a composite") };
    assert_eq!(attrs.iter().next().unwrap().1, &Attr::Int(-1));
    assert!(assert_round_trip(&module).contains("softmax %x {dim = -1} : f32[2,3]"));
}

#[test]
fn op_names_are_words() {
    for op in Op::primitives() {
        assert!(op.def().name().bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'));
    }
}

#[test]
fn long_texts_are_read_quickly() {
    let lines: String = (0..20_000).map(|i| format!("  %a{} = add %a{i}, %a{i} : f32[4]\n", i + 1)).collect();
    let text = format!("func @f(%a0: f32[4]) -> (f32[4]) {{\n{lines}  return %a20000\n}}\n");
    assert_eq!(read(&text).num_insts(), 20_000);
}

#[test]
fn calls_name_their_function() {
    let text = "func @\"a b\"(%x: f32[2]) -> (f32[2]) {\n  return %x\n}\nfunc @f(%x: f32[2]) -> (f32[2]) {\n  %y = call %x {callee = @\"a b\"} : f32[2]\n  return %y\n}\n";
    assert!(assert_round_trip(&read(text)).contains("%y = call %x {callee = @\"a b\"} : f32[2]\n"));
}
