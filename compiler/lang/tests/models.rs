//! The built-in models: parameter names, shapes and counts, results, validity.

use crate::common::elaborate_with;
use halite_ir::{Function, Inst, Interpreter, Op, Param, ParamRole, Registry, ResultRole, verify};
use halite_lang::{Elaborated, Options, Override, elaborate};
use halite_recipe::ConfigValue;
use halite_support::SourceMap;
use halite_tensor::{DType, HostTensor, Init};

fn build(name: &str, overrides: &[(&str, i64)], float: DType) -> Elaborated {
    let text = halite_models::model(name).expect("a built-in model");
    let overrides = overrides.iter().map(|(key, value)| Override::new(*key, ConfigValue::Int(*value))).collect();
    let built =
        elaborate_with(name, text, &[], &Options { float, overrides, ..Options::default() }, &mut SourceMap::new());
    let built = built.expect("a correct model");
    assert!(built.warnings.is_empty(), "{:?}", built.warnings);
    built
}

fn weights(function: &Function) -> Vec<(String, String)> {
    let weights = function.params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_)));
    weights.map(|param| (param.name.to_string(), function.ty(param.value).to_string())).collect()
}

fn count(built: &Elaborated) -> usize {
    let function = built.module.entry().expect("an entry");
    let weights = function.params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_)));
    weights.map(|param| function.ty(param.value).shape().num_elements()).sum()
}

const TINY: &[(&str, i64)] = &[
    ("vocab", 64),
    ("hidden", 32),
    ("layers", 2),
    ("heads", 4),
    ("kv_heads", 2),
    ("ffn", 48),
    ("seq", 16),
    ("batch", 2),
];

#[test]
fn llama_has_the_parameters_of_hugging_face() {
    let built = build("llama", TINY, DType::F32);
    let mut expected = vec![("model.embed_tokens.weight".to_owned(), "f32[64,32]".to_owned())];
    for layer in 0..2 {
        for (name, ty) in [
            ("input_layernorm", "f32[32]"),
            ("self_attn.q_proj", "f32[32,32]"),
            ("self_attn.k_proj", "f32[16,32]"),
            ("self_attn.v_proj", "f32[16,32]"),
            ("self_attn.o_proj", "f32[32,32]"),
            ("post_attention_layernorm", "f32[32]"),
            ("mlp.gate_proj", "f32[48,32]"),
            ("mlp.up_proj", "f32[48,32]"),
            ("mlp.down_proj", "f32[32,48]"),
        ] {
            expected.push((format!("model.layers.{layer}.{name}.weight"), ty.to_owned()));
        }
    }
    expected.push(("model.norm.weight".to_owned(), "f32[32]".to_owned()));
    expected.push(("lm_head.weight".to_owned(), "f32[64,32]".to_owned()));
    assert_eq!(weights(built.module.entry().expect("an entry")), expected);
}

#[test]
fn gpt2_has_the_parameters_of_hugging_face() {
    let overrides = [("vocab", 64), ("hidden", 32), ("layers", 2), ("heads", 4), ("positions", 16), ("batch", 2)];
    let built = build("gpt2", &overrides, DType::F64);
    let found = weights(built.module.entry().expect("an entry"));
    let expected = [
        ("transformer.wte.weight", "f64[64,32]"),
        ("transformer.wpe.weight", "f64[16,32]"),
        ("transformer.h.0.ln_1.weight", "f64[32]"),
        ("transformer.h.0.ln_1.bias", "f64[32]"),
        ("transformer.h.0.attn.c_attn.weight", "f64[32,96]"),
        ("transformer.h.0.attn.c_attn.bias", "f64[96]"),
        ("transformer.h.0.attn.c_proj.weight", "f64[32,32]"),
        ("transformer.h.0.attn.c_proj.bias", "f64[32]"),
        ("transformer.h.0.ln_2.weight", "f64[32]"),
        ("transformer.h.0.ln_2.bias", "f64[32]"),
        ("transformer.h.0.mlp.c_fc.weight", "f64[32,128]"),
        ("transformer.h.0.mlp.c_fc.bias", "f64[128]"),
        ("transformer.h.0.mlp.c_proj.weight", "f64[128,32]"),
        ("transformer.h.0.mlp.c_proj.bias", "f64[32]"),
    ];
    for ((name, ty), (expected_name, expected_ty)) in found.iter().zip(expected) {
        assert_eq!((&**name, &**ty), (expected_name, expected_ty));
    }
    assert_eq!(found.len(), 2 + 2 * 12 + 2);
    assert_eq!(built.config["seq"], ConfigValue::Int(16));
    assert_eq!(built.config["ffn"], ConfigValue::Int(128));
}

#[test]
fn main_takes_the_batch_and_returns_loss_count_and_outputs() {
    let built = build("llama", TINY, DType::F32);
    let main = built.module.entry().expect("an entry");
    assert_eq!(main.name, "main");
    assert_eq!((&*main.params[0].name, &main.params[0].role), ("tokens", &ParamRole::Batch));
    assert_eq!(main.ty(main.params[0].value).to_string(), "s32[2,17]");
    let results: Vec<_> = main.results.iter().map(|result| (&*result.name, result.role.clone())).collect();
    let expected = [("loss", ResultRole::Loss), ("count", ResultRole::Count), ("logits", ResultRole::Probe)];
    assert_eq!(results, expected);
    assert_eq!(main.result_types()[2].to_string(), "f32[2,16,64]");
}

#[test]
fn f32_means_f64_where_the_float_is() {
    let text = "model m { config { n = 4 }
        fn f(x: f32[n]) { return sum(convert(x, f32) * iota([n], type = f32)) }
        fn main(t: s32[n]) {
            param w: [n] = ones
            narrow = convert(w, bf16)
            output narrow
            return f(w * convert(iota([n]), f32)), sum(convert(t, f32))
        } }";
    let dtypes = |float: DType| {
        let file = SourceMap::new().add("m", text);
        let options = Options { float, ..Options::default() };
        let built = elaborate(file, text, &options, &Registry::builtin()).unwrap_or_else(|errors| panic!("{errors:?}"));
        let types = built.module.entry().expect("an entry").result_types();
        types.iter().map(|ty| ty.dtype()).collect::<Vec<_>>()
    };
    assert_eq!(dtypes(DType::F64), [DType::F64, DType::F64, DType::Bf16]);
    assert_eq!(dtypes(DType::F32), [DType::F32, DType::F32, DType::Bf16]);
}

#[test]
fn functions_for_other_kinds_have_other_names() {
    let chain = "x = tanh(x) ".repeat(16);
    let text = format!(
        "model m {{ fn f(x) {{ {chain} return x }} fn main(x: float[4], y: float[6]) {{
            return sum(f(f(x))) + sum(f(f(y))), sum(full([1], 1.0)) }} }}"
    );
    let registry = Registry::builtin();
    let built = elaborate(SourceMap::new().add("m", &*text), &text, &Options::default(), &registry).expect("a model");
    verify(&built.module, &registry).unwrap();
    let names: Vec<_> = built.module.functions.iter().map(|function| &*function.name).collect();
    assert_eq!(names, ["f", "f.1", "main"]);
}

#[test]
fn instructions_know_their_scope_and_source() {
    let built = build("llama", TINY, DType::F32);
    let (main, locs) = (built.module.entry().expect("an entry"), &built.module.locs);
    let mut insts = built.module.functions.iter().flat_map(|function| &function.insts);
    assert!(insts.all(|inst| locs.span(inst.loc).is_some()));
    let calls: Vec<&Inst> = main.insts.iter().filter(|inst| locs.path(inst.loc) == "model.layers.1").collect();
    let [Inst { op: Op::Call(call), .. }] = calls[..] else { panic!("{calls:?}") };
    let block = &built.module.functions[call.callee.index()];
    assert!(block.insts.iter().any(|inst| locs.path(inst.loc) == "self_attn.q_proj"));
}

#[test]
fn the_modules_are_valid_and_mean_a_language_model() {
    let gpt2 = [("vocab", 64), ("hidden", 32), ("layers", 2), ("heads", 4), ("positions", 16), ("batch", 2)];
    let registry = Registry::builtin();
    for (name, overrides) in [("llama", TINY), ("gpt2", &gpt2)] {
        let built = build(name, overrides, DType::F64);
        verify(&built.module, &registry).unwrap();
        let main = built.module.entry().expect("an entry");
        let inputs = main.params.iter().map(|param| initial(main, param)).collect();
        let results = Interpreter::new(&built.module.functions, &registry).run(main, inputs).unwrap();
        let (loss, count) = (results[0].f64s()[0], results[1].f64s()[0]);
        assert_eq!(count, 32.0);
        assert!((loss - 32.0 * 64f64.ln()).abs() < 1e-9, "{name}: {loss}");
    }
}

/// Tokens 0, and weights as they would start with standard deviation 0: every token is equally likely.
fn initial(main: &Function, param: &Param) -> HostTensor {
    let ty = main.ty(param.value);
    let value = match &param.role {
        ParamRole::Weight(info) if info.init == Init::Ones => 1.0,
        _ => 0.0,
    };
    HostTensor::from_f64s(ty.dtype(), ty.shape().clone(), vec![value; ty.shape().num_elements()])
}

#[test]
fn published_sizes_have_the_published_parameter_counts() {
    assert_eq!(count(&build("llama", &[], DType::F32)), 6_738_415_616);
    let large = [("hidden", 8192), ("ffn", 28672), ("layers", 80), ("heads", 64), ("kv_heads", 8)];
    assert_eq!(count(&build("llama", &large, DType::F32)), 68_976_648_192);
    assert_eq!(count(&build("gpt2", &[], DType::F32)), 124_439_808);
}
