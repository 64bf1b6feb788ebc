//! Names of the dimensions of weights: the configuration keys that sizes are products of.

use crate::common::elaborate_with;
use halite_ir::{DimName, Module, Registry, verify};
use halite_lang::build::{Argument, Init, ModelBuilder, SizeFactor};
use halite_lang::{Options, Override};
use halite_recipe::ConfigValue;
use halite_support::SourceMap;
use halite_tensor::DType;

fn module(text: &str, overrides: &[(&str, i64)]) -> Module {
    let overrides = overrides.iter().map(|(key, value)| Override::new(*key, ConfigValue::Int(*value))).collect();
    let (options, registry) = (Options { overrides, ..Options::default() }, Registry::builtin());
    let built = elaborate_with("m.hal", text, &[], &options, &mut SourceMap::new());
    let module = built.unwrap_or_else(|errors| panic!("{errors:?}")).module;
    verify(&module, &registry).expect("a valid module");
    module
}

/// `weight: 3*heads*head_dim, hidden`, sizes in the place of names that there are not.
fn names(module: &Module) -> Vec<String> {
    let factor = |factor: &SizeFactor| factor.name.as_ref().map_or(factor.size.to_string(), ToString::to_string);
    let dim = |dim: &DimName| dim.iter().map(factor).collect::<Vec<_>>().join("*");
    let weights =
        module.entry().expect("an entry").params.iter().filter_map(|param| Some((&param.name, param.weight()?)));
    let line = |(name, info): (&_, &halite_ir::WeightInfo)| {
        let dims = info.dims.iter().flat_map(|dims| dims.iter());
        format!("{name}: {}", dims.map(dim).collect::<Vec<_>>().join(", "))
    };
    weights.map(line).collect()
}

/// Those of the weights of a model whose `main` sums `y` up.
fn of(functions: &str, body: &str) -> Vec<String> {
    let text = format!(
        "model m {{ config {{ batch = 2; heads = 4; hidden = 12; ffn = 3 * heads }} let head_dim = hidden / heads \
         let qkv = 3 * heads * head_dim let rows = heads require ffn + qkv + rows > 0, \"used\" \
         {functions} fn main(x: float[batch, hidden]) {{ {body} return sum(y), sum(full([1], 1.0)) }} }}"
    );
    names(&module(&text, &[]))
}

const TINY: &[(&str, i64)] =
    &[("vocab", 64), ("hidden", 32), ("layers", 2), ("heads", 4), ("kv_heads", 2), ("ffn", 48), ("seq", 16)];

#[test]
fn the_dimensions_of_llama_are_named_after_its_configuration() {
    for name in ["llama", "llama3", "mistral", "qwen2"] {
        let found = names(&module(halite_models::model(name).unwrap(), TINY));
        for (weight, dims) in [
            ("embed_tokens.weight", "vocab, hidden"),
            ("layers.1.input_layernorm.weight", "hidden"),
            ("layers.1.self_attn.q_proj.weight", "heads*head_dim, hidden"),
            ("layers.1.self_attn.k_proj.weight", "kv_heads*head_dim, hidden"),
            ("layers.1.self_attn.o_proj.weight", "hidden, heads*head_dim"),
            ("layers.1.mlp.gate_proj.weight", "ffn, hidden"),
            ("layers.1.mlp.down_proj.weight", "hidden, ffn"),
        ] {
            let line = format!("model.{weight}: {dims}");
            assert!(found.contains(&line), "{name}: {line}: {found:#?}");
        }
    }
}

#[test]
fn equal_sizes_keep_their_own_names() {
    let equal = [("hidden", 32), ("heads", 4), ("ffn", 32), ("vocab", 32), ("layers", 1)];
    let found = names(&module(halite_models::model("llama").unwrap(), &equal));
    let expected = [
        "model.embed_tokens.weight: vocab, hidden",
        "model.layers.0.input_layernorm.weight: hidden",
        "model.layers.0.self_attn.q_proj.weight: heads*head_dim, hidden",
        "model.layers.0.self_attn.k_proj.weight: kv_heads*head_dim, hidden",
        "model.layers.0.self_attn.v_proj.weight: kv_heads*head_dim, hidden",
        "model.layers.0.self_attn.o_proj.weight: hidden, heads*head_dim",
        "model.layers.0.post_attention_layernorm.weight: hidden",
        "model.layers.0.mlp.gate_proj.weight: ffn, hidden",
        "model.layers.0.mlp.up_proj.weight: ffn, hidden",
        "model.layers.0.mlp.down_proj.weight: hidden, ffn",
        "model.norm.weight: hidden",
        "lm_head.weight: vocab, hidden",
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_dimensions_of_bert_are_named_after_its_configuration() {
    let found = names(&module(halite_models::model("bert").unwrap(), &[("layers", 1)]));
    for line in [
        "bert.embeddings.word_embeddings.weight: vocab, hidden",
        "bert.embeddings.token_type_embeddings.weight: types, hidden",
        "bert.encoder.layer.0.attention.self.query.weight: heads*head_dim, hidden",
        "bert.encoder.layer.0.attention.self.query.bias: heads*head_dim",
        "bert.encoder.layer.0.attention.output.dense.weight: hidden, heads*head_dim",
        "bert.encoder.layer.0.intermediate.dense.weight: ffn, hidden",
        "bert.encoder.layer.0.intermediate.dense.bias: ffn",
        "bert.encoder.layer.0.output.dense.weight: hidden, ffn",
        "cls.predictions.transform.dense.weight: hidden, hidden",
        "cls.predictions.bias: vocab",
    ] {
        assert!(found.contains(&line.to_owned()), "{line}: {found:#?}");
    }
}

#[test]
fn merged_projections_of_gpt2_show_their_heads() {
    let found = names(&module(halite_models::model("gpt2").unwrap(), &[("layers", 1)]));
    for line in [
        "transformer.wte.weight: vocab, hidden",
        "transformer.wpe.weight: positions, hidden",
        "transformer.h.0.attn.c_attn.weight: hidden, 3*heads*head_dim",
        "transformer.h.0.attn.c_attn.bias: 3*heads*head_dim",
        "transformer.h.0.attn.c_proj.weight: heads*head_dim, hidden",
        "transformer.h.0.mlp.c_fc.weight: hidden, ffn",
        "transformer.h.0.mlp.c_proj.weight: ffn, hidden",
        "transformer.h.0.mlp.c_proj.bias: hidden",
    ] {
        assert!(found.contains(&line.to_owned()), "{line}: {found:#?}");
    }
}

#[test]
fn names_travel_with_whole_numbers() {
    let weight = |shape: &str| of("", &format!("param w: {shape} = ones y = reshape(w, [-1]) + 0")).remove(0);
    assert_eq!(weight("[heads * head_dim, hidden]"), "w: heads*head_dim, hidden");
    assert_eq!(weight("[2 * heads * 3, 5]"), "w: 2*heads*3, 5");
    assert_eq!(weight("[ffn]"), "w: ffn");
    // A product by any name is that product; what is none has the name of its `let`.
    assert_eq!(weight("[qkv, rows]"), "w: 3*heads*head_dim, heads");
    assert_eq!(weight("[heads + 1, hidden]"), "w: 5, hidden");
    assert_eq!(weight("[12, hidden / heads]"), "w: ");
    assert_eq!(weight("[maximum(heads, 1)]"), "w: ");
    let nine = ["heads"; 9].join(" * ");
    assert_eq!(weight(&format!("[{nine}]")), "w: ");
}

#[test]
fn names_travel_through_calls_and_dimensions() {
    let project =
        "fn project(x, width) { wide = width param weight: [wide, dim(x, -1)] = ones return linear(x, weight) }";
    let through = |value: &str| of(project, &format!("y = project({value}, heads) as p")).remove(0);
    assert_eq!(through("x"), "p.weight: heads, hidden");
    assert_eq!(through("reshape(x, [batch, heads * head_dim])"), "p.weight: heads, heads*head_dim");
    assert_eq!(through("reshape(x, [heads, head_dim * batch])"), "p.weight: heads, head_dim*batch");
    let grid = "reshape(x, [batch, heads, head_dim])";
    assert_eq!(through(&format!("tanh(transpose({grid}, [0, 2, 1]))")), "p.weight: heads, heads");
    assert_eq!(through(&format!("reshape({grid}, [batch, -1])")), "p.weight: heads, heads*head_dim");
    assert_eq!(through(&format!("softmax({grid} * 2.0 + 1.0)")), "p.weight: heads, head_dim");
    assert_eq!(through(&format!("sum({grid}, dims = -1)")), "p.weight: heads, heads");
    assert_eq!(through(&format!("{grid}[:, :, :2]")), "p.weight: heads, 2");
    let chained = of(project, "y = project(project(x, ffn) as a, hidden) as b");
    assert_eq!(chained, ["a.weight: ffn, hidden", "b.weight: hidden, ffn"]);
}

/// Calls whose arguments have the same sizes by other names share a function, and declare their own names.
#[test]
fn names_make_no_other_functions() {
    let chain = "x = tanh(x) ".repeat(16);
    let functions = format!("fn f(x, n) {{ param w: [n, dim(x, -1)] = ones {chain} return linear(x, w) }}");
    let text = format!(
        "model m {{ config {{ a = 6; b = 6 }} {functions} fn main(x: float[2, 6]) {{
            y = f(f(f(x, a) as p, b) as q, 6) as r return sum(y), sum(full([1], 1.0)) }} }}"
    );
    let module = module(&text, &[]);
    assert_eq!(names(&module), ["p.w: a, 6", "q.w: b, a", "r.w: 6, b"]);
    let functions: Vec<_> = module.functions.iter().map(|function| &*function.name).collect();
    assert_eq!(functions, ["f", "main"]);
}

#[test]
fn models_in_rust_name_the_sizes_of_parameters() {
    let registry = Registry::builtin();
    let m = ModelBuilder::new("m", &registry);
    let x = m.batch("x", DType::F32, [2, 24]);
    let merged =
        || Argument::product([SizeFactor::unnamed(3), SizeFactor::named("heads", 2), SizeFactor::named("head_dim", 4)]);
    let [y] = m.scope("h", || {
        m.function("f", [x], |[x]| {
            let w = m.param("w", [24.into(), merged()], Init::Ones);
            let bias = m.param("bias", [merged()], Init::Ones);
            [x.matmul(w) + bias]
        })
    });
    let module = m.finish(y.sum_all(), m.scalar(1.0)).expect("no mistakes").module;
    assert_eq!(names(&module), ["h.w: 24, 3*heads*head_dim", "h.bias: 3*heads*head_dim"]);
    let m = ModelBuilder::new("m", &registry);
    m.param("w", [Argument::product([SizeFactor::named("a", usize::MAX), SizeFactor::named("b", 2)])], Init::Ones);
    m.param("v", [Argument::product([SizeFactor::named("a", 0)])], Init::Ones);
    let mistakes = m.finish(m.scalar(1.0), m.scalar(1.0)).unwrap_err();
    assert!(mistakes[0].message().ends_with("is too large"), "{mistakes:?}");
    assert!(mistakes[1].message().starts_with("the sizes of a tensor are at least 1"), "{mistakes:?}");
}
