//! The kinds of input: each makes files of about so many bytes, and names the command that reads them.

mod short;

use halite_hlo::{ArrayType, BinaryOp, ModuleBuilder};
use halite_tensor::DType;
use halite_tests::command_line::halite;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// A kind of input.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The exit code of the command.
    pub(crate) exit: i32,
    /// The largest input of a quick run in bytes; 0 for a kind that only the long run counts.
    pub(crate) quick: usize,
    /// Makes an input of about so many bytes in a folder, and gives the arguments of the command.
    pub(crate) make: fn(&Path, usize) -> Vec<String>,
}

const fn kind(name: &'static str, exit: i32, quick: usize, make: fn(&Path, usize) -> Vec<String>) -> Kind {
    Kind { name, exit, quick, make }
}

pub(crate) const KINDS: &[Kind] = &[
    kind("model-compiled", 0, 0, model_compiled),
    kind("model-residual", 0, 512, model_residual),
    kind("model-chain", 2, 0, model_chain),
    kind("model-weights", 2, 0, model_weights),
    kind("model-nested", 2, 0, model_nested),
    kind("model-functions", 2, 0, model_functions),
    kind("model-arguments", 2, 0, model_arguments),
    kind("model-list", 2, 0, model_list),
    kind("model-list-calls", 2, 16384, short::model_list_calls),
    kind("model-tensor-list", 2, 0, short::model_tensor_list),
    kind("model-scopes", 0, 0, short::model_scopes),
    kind("model-towers", 0, 0, short::model_towers),
    kind("model-sorts", 0, 0, short::model_sorts),
    kind("model-long-names", 2, 0, model_long_names),
    kind("model-mistakes", 2, 0, model_mistakes),
    kind("recipe-list", 2, 0, recipe_list),
    kind("recipe-dimensions", 2, 0, recipe_dimensions),
    kind("recipe-overrides", 2, 0, recipe_overrides),
    kind("config-json", 2, 0, config_json),
    kind("ir-chain", 0, 0, ir_chain),
    kind("ir-doubling", 0, 0, ir_doubling),
    kind("ir-call-chain", 0, 0, ir_call_chain),
    kind("ir-shared-calls", 0, 4096, ir_shared_calls),
    kind("ir-gradient-of-calls", 0, 4096, ir_gradient_of_calls),
    kind("ir-nested-calls", 0, 32768, short::ir_nested_calls),
    kind("ir-donated-calls", 0, 0, ir_donated_calls),
    kind("ir-parameters", 0, 0, ir_parameters),
    kind("ir-equal-names", 0, 0, ir_equal_names),
    kind("ir-attributes", 2, 0, ir_attributes),
    kind("hlo-chain", 0, 4096, hlo_chain),
    kind("hlo-computations", 0, 0, hlo_computations),
    kind("manifest-buffers", 2, 16384, manifest_buffers),
    kind("shard-index", 2, 0, shard_index),
    kind("safetensors-header", 2, 0, safetensors_header),
];

fn args(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|argument| (*argument).to_owned()).collect()
}

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), text).expect("a file can be written");
}

/// Parts until they have so many bytes; how many there are.
fn fill(text: &mut String, bytes: usize, part: impl Fn(usize) -> String) -> usize {
    let end = text.len() + bytes;
    let mut count = 0;
    while text.len() < end {
        text.push_str(&part(count));
        count += 1;
    }
    count
}

/// A model whose `main` has these statements on `x: [batch, seq, 8]`, and these items beside it, with what it returns.
fn write_model(folder: &Path, items: &str, statements: &str, returned: &str) {
    let text = format!(
        "model m {{\n  config {{ vocab = 8; width = 8; seq = 4; batch = 1 }}\n{items}\n  \
         fn main(tokens: s32[batch, seq + 1]) {{\n    param embed: [vocab, width] = normal(0.02)\n    \
         x = embedding(tokens[:, :seq], embed)\n{statements}\n    logits = linear(x, embed)\n    output logits\n    \
         loss, count = cross_entropy(logits, tokens[:, 1:])\n    return {returned}\n  }}\n}}\n"
    );
    write(folder, "m.hal", text);
}

/// A model that is compiled.
fn compiled(folder: &Path, statements: &str) -> Vec<String> {
    write_model(folder, "", statements, "loss, count");
    args(&["compile", "m.hal", "-o", "b", "--role", "train_step", "--set", "precision=fp32"])
}

/// A model that is only read and run, for its last line is wrong.
fn model(folder: &Path, items: &str, statements: &str) -> Vec<String> {
    write_model(folder, items, statements, "loss");
    args(&["compile", "m.hal", "-o", "b"])
}

fn model_compiled(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = "    param w: [width, width] = normal(0.02)\n".to_owned();
    fill(&mut text, bytes, |at| {
        if at % 4 == 0 { "    x = linear(x, w)\n".to_owned() } else { "    x = tanh(x)\n".to_owned() }
    });
    compiled(folder, &text)
}

fn model_chain(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = String::new();
    fill(&mut text, bytes, |_| "    x = tanh(x)\n".to_owned());
    model(folder, "", &text)
}

/// Every value is in as many sums as there are ways to it.
fn model_residual(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = "    param w: [width, width] = normal(0.02)\n    x = x + linear(x, w)\n".to_owned();
    fill(&mut text, bytes, |_| "    x = x + x * 0.5\n".to_owned());
    compiled(folder, &text)
}

fn model_weights(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = String::new();
    fill(&mut text, bytes, |at| format!("    param w{at}: [width] = ones\n    x = x * w{at}\n"));
    model(folder, "", &text)
}

fn model_nested(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = String::new();
    let (open, close) = ("tanh(".repeat(28), ")".repeat(28));
    fill(&mut text, bytes, |_| format!("    x = {open}x{close}\n"));
    model(folder, "", &text)
}

fn model_functions(folder: &Path, bytes: usize) -> Vec<String> {
    let (mut items, mut text) = (String::new(), String::new());
    let count = fill(&mut items, bytes, |at| format!("  fn f{at}(x) {{ return tanh(x) }}\n"));
    (0..count).for_each(|at| writeln!(text, "    x = f{at}(x)").expect("a string takes any text"));
    model(folder, &items, &text)
}

/// One call with many named arguments.
fn model_arguments(folder: &Path, bytes: usize) -> Vec<String> {
    let (mut declared, mut given) = (String::new(), String::new());
    let count = fill(&mut declared, bytes, |at| format!(", a{at}"));
    (0..count).rev().for_each(|at| write!(given, ", a{at} = {at}").expect("a string takes any text"));
    let mut sum = String::new();
    (0..count).for_each(|at| writeln!(sum, "    s = s + a{at}").expect("a string takes any text"));
    let items = format!("  fn f(x{declared}) {{\n    s = 0\n{sum}    return x * s\n  }}\n");
    model(folder, &items, &format!("    x = f(x{given})"))
}

/// A list that is looked into as often as it has items.
fn model_list(folder: &Path, bytes: usize) -> Vec<String> {
    let (mut list, mut text) = ("  let l = [0".to_owned(), "    s = 0\n".to_owned());
    let count = fill(&mut list, bytes / 4, |at| format!(", {at}"));
    (0..count).for_each(|at| writeln!(text, "    s = s + l[{at}]").expect("a string takes any text"));
    model(folder, &format!("{list}]\n"), &format!("{text}    x = x * s\n"))
}

/// Two names that nobody can tell apart, and one of them is not there.
fn model_long_names(folder: &Path, bytes: usize) -> Vec<String> {
    let name = "n".repeat(bytes / 2);
    model(folder, &format!("  let {name} = 1\n"), &format!("    x = x * {name}n\n"))
}

/// Every line has a mistake of its own.
fn model_mistakes(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = String::new();
    fill(&mut text, bytes, |at| format!("    x = x * missing{at}\n"));
    model(folder, "", &text)
}

fn recipe(folder: &Path, more: &str) -> Vec<String> {
    let text = format!(
        "halite = 1\nbatch = 1\nseq = 8\n[model]\nname = 'llama'\nconfig = {{ layers = 1, hidden = 8, heads = 2, \
         kv_heads = 2, ffn = 8, vocab = 8 }}\n[optimizer.adamw]\nlr = 1e-3\n{more}"
    );
    write(folder, "r.toml", text);
    args(&["compile", "r.toml", "-o", "b", "--set", "widht=8"])
}

fn recipe_list(folder: &Path, bytes: usize) -> Vec<String> {
    let mut list = "no_decay = ['*'".to_owned();
    fill(&mut list, bytes, |_| ", '*norm*'".to_owned());
    recipe(folder, &format!("{list}]\n"))
}

fn recipe_dimensions(folder: &Path, bytes: usize) -> Vec<String> {
    let mut list = "[parallel.shard]\ntensor = ['ffn'".to_owned();
    fill(&mut list, bytes, |at| format!(", 'dimension{at:08}'"));
    recipe(folder, &format!("{list}]\n"))
}

fn recipe_overrides(folder: &Path, bytes: usize) -> Vec<String> {
    let mut arguments = recipe(folder, "");
    for at in 0..bytes / 32 {
        arguments.extend(["--set".to_owned(), format!("optimizer.adamw.lr=1.{at:09}")]);
    }
    arguments
}

fn config_json(folder: &Path, bytes: usize) -> Vec<String> {
    let mut names = String::new();
    fill(&mut names, bytes, |at| format!(", \"n{at}\": {at}"));
    let text = format!(
        "{{\"model_type\": \"llama\", \"vocab_size\": 8, \"hidden_size\": 8, \"intermediate_size\": 8, \
         \"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"rms_norm_eps\": 1e-5, \
         \"max_position_embeddings\": 64, \"label2id\": {{\"x\": 0{names}}}}}"
    );
    write(folder, "config.json", text);
    args(&["compile", "config.json", "-o", "b", "--set", "widht=8"])
}

const CLEAN_UP: &str = "(simplify, fold-constant, cse, dce)*";

fn ir(folder: &Path, text: &str, passes: &str) -> Vec<String> {
    write(folder, "m.ir", text);
    args(&["opt", "m.ir", "--passes", passes])
}

fn ir_chain(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = "func @main(%x: f32[4]) -> (f32[4]) {\n  %v0 = tanh %x : f32[4]\n".to_owned();
    let count = fill(&mut text, bytes, |at| format!("  %v{} = add %v{at}, %x : f32[4]\n", at + 1));
    ir(folder, &format!("{text}  return %v{count}\n}}\n"), CLEAN_UP)
}

/// Constants that double: what is known of one is known by two ways of the one before.
fn ir_doubling(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = "func @main(%x: f32[4,4]) -> (f32[4,4]) {\n  %v0 = iota {dim = 0} : f32[4,4]\n".to_owned();
    let count = fill(&mut text, bytes, |at| format!("  %v{} = add %v{at}, %v{at} : f32[4,4]\n", at + 1));
    let end = format!("  %y = multiply %x, %v{count} : f32[4,4]\n  return %y\n}}\n");
    ir(folder, &format!("{text}{end}"), "simplify, fold-causal-mask, fuse-softmax, fuse-norm, cse, dce")
}

/// Functions that each call the one before so many times. Their names are of equal length, so that twice the bytes are twice
/// the functions.
fn calls(bytes: usize, times: usize) -> String {
    let mut text = "func @f00000(%x: f32[4]) -> (f32[4]) {\n  %y = tanh %x : f32[4]\n  return %y\n}\n".to_owned();
    fill(&mut text, bytes, |at| {
        let call = |time: usize| {
            let (from, to) = if time == 0 { ("x".to_owned(), "0") } else { ((time - 1).to_string(), "1") };
            format!("  %{to} = call %{from} {{callee = @f{at:05}}} : f32[4]\n")
        };
        let calls: String = (0..times).map(call).collect();
        format!("func @f{:05}(%x: f32[4]) -> (f32[4]) {{\n{calls}  return %{}\n}}\n", at + 1, times - 1)
    });
    text
}

fn ir_call_chain(folder: &Path, bytes: usize) -> Vec<String> {
    ir(folder, &calls(bytes, 1), "cse, dce, inline, cse, dce, legalize")
}

/// Each function calls the one before twice: as often as 2 to the number of functions, if anybody followed them all.
fn ir_shared_calls(folder: &Path, bytes: usize) -> Vec<String> {
    ir(folder, &calls(bytes, 2), "cse, dce");
    args(&["inspect", "m.ir"])
}

/// Many functions that each call one twice.
fn ir_gradient_of_calls(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = "func @f(%x: f32[4]) -> (f32[4]) {\n  %y = tanh %x : f32[4]\n  return %y\n}\n".to_owned();
    let function = |at| {
        format!(
            "func @g{at}(%x: f32[4]) -> (f32[4]) {{\n  %0 = call %x {{callee = @f}} : f32[4]\n  \
             %1 = call %0 {{callee = @f}} : f32[4]\n  return %1\n}}\n"
        )
    };
    let count = fill(&mut text, bytes, function);
    text.push_str(
        "func @main(%w: f32[4] {weight, init = zeros}) -> (loss: f32[] {loss}) {\n  %v0 = tanh %w : f32[4]\n",
    );
    for at in 0..count {
        writeln!(text, "  %v{} = call %v{at} {{callee = @g{at}}} : f32[4]", at + 1).expect("a string takes any text");
    }
    let end =
        format!("  %l = reduce %v{count} {{kind = sum, dims = [0], accumulate = f32}} : f32[]\n  return %l\n}}\n");
    ir(folder, &(text + &end), "auto-diff")
}

fn ir_donated_calls(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = calls(bytes, 1);
    let last = text.matches("func").count() - 1;
    write!(
        text,
        "func @main(%w: f32[4] {{weight, init = zeros}}) -> (w: f32[4] {{state = \"w\"}}) {{\n  \
         %0 = call %w {{callee = @f{last:05}}} : f32[4]\n  return %0\n}}\n"
    )
    .expect("a string takes any text");
    ir(folder, &text, "legalize")
}

/// Many weights, each with its replacement, handed through a call.
fn ir_parameters(folder: &Path, bytes: usize) -> Vec<String> {
    let (mut params, mut results, mut insts, mut values, mut types) = Default::default();
    let mut inner = String::new();
    let count = fill(&mut params, bytes / 6, |at| format!("%w{at}: f32[4] {{weight, init = zeros}}, "));
    let append = |text: &mut String, part: String| text.push_str(&part);
    for at in 0..count {
        let comma = if at + 1 == count { "" } else { ", " };
        append(&mut results, format!("w{at}: f32[4] {{state = \"w{at}\"}}{comma}"));
        append(&mut insts, format!("  %r{at} = negate %w{at} : f32[4]\n"));
        append(&mut values, format!("%r{at}{comma}"));
        append(&mut types, format!("f32[4]{comma}"));
        append(&mut inner, format!("%w{at}: f32[4]{comma}"));
    }
    let (params, given): (String, String) = (params, values.replace("%r", "%w"));
    let text = format!(
        "func @update({inner}) -> ({types}) {{\n{insts}  return {values}\n}}\n\
         func @main({}) -> ({results}) {{\n  {values} = call {given} {{callee = @update}} : {types}\n  return {values}\n}}\n",
        params.trim_end_matches(", ")
    );
    ir(folder, &text, "cse, dce, legalize")
}

/// Many calls of one function, whose values have names.
fn ir_equal_names(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = "func @f(%x: f32[4]) -> (f32[4]) {\n  %hidden = tanh %x : f32[4]\n  return %hidden\n}\n\
                    func @main(%x: f32[4]) -> (f32[4]) {\n  %v0 = tanh %x : f32[4]\n"
        .to_owned();
    let count = fill(&mut text, bytes, |at| format!("  %v{} = call %v{at} {{callee = @f}} : f32[4]\n", at + 1));
    ir(folder, &format!("{text}  return %v{count}\n}}\n"), "inline")
}

fn ir_attributes(folder: &Path, bytes: usize) -> Vec<String> {
    let mut attributes = String::new();
    fill(&mut attributes, bytes, |at| format!(", a{at} = 1"));
    let inst = format!("  %y = tanh %x {{a = 1{attributes}}} : f32[4]\n");
    ir(folder, &format!("func @main(%x: f32[4]) -> (f32[4]) {{\n{inst}  return %y\n}}\n"), "cse")
}

fn hlo(folder: &Path, module: ModuleBuilder) -> Vec<String> {
    let module = module.finish().expect("a sound module");
    write(folder, "m.hlo.pb", halite_hlo::encode(&module));
    args(&["inspect", "m.hlo.pb", "--target", "trn1"])
}

/// About the bytes of an instruction.
const INSTRUCTION: usize = 80;

fn vector() -> ArrayType {
    ArrayType::new(DType::F32, [4])
}

fn hlo_chain(folder: &Path, bytes: usize) -> Vec<String> {
    let mut module = ModuleBuilder::new("m");
    let mut main = module.computation("main");
    let x = main.parameter("x", vector()).expect("a parameter");
    let mut last = x;
    for _ in 0..bytes / INSTRUCTION {
        last = main.binary(BinaryOp::Add, last, x).expect("a sum");
    }
    let root = main.root_tuple(&[last]).expect("a tuple");
    main.finish(root).expect("a computation");
    hlo(folder, module)
}

/// Many computations that call one.
fn hlo_computations(folder: &Path, bytes: usize) -> Vec<String> {
    let mut module = ModuleBuilder::new("m");
    let mut shared = None;
    let mut callees = Vec::new();
    for at in 0..bytes / (5 * INSTRUCTION) {
        let mut computation = module.computation(format!("f{at}"));
        let x = computation.parameter("x", vector()).expect("a parameter");
        let y = match shared {
            Some(shared) => computation.call(shared, &[x]).expect("a call"),
            None => x,
        };
        let root = computation.binary(BinaryOp::Add, x, y).expect("a sum");
        callees.push(computation.finish(root).expect("a computation"));
        shared = callees.first().copied();
    }
    let mut main = module.computation("main");
    let mut last = main.parameter("x", vector()).expect("a parameter");
    for callee in callees {
        last = main.call(callee, &[last]).expect("a call");
    }
    let root = main.root_tuple(&[last]).expect("a tuple");
    main.finish(root).expect("a computation");
    hlo(folder, module)
}

/// The folder of a small bundle.
fn bundle(folder: &Path) {
    static BUNDLE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = BUNDLE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut command = Command::new(halite());
        let sizes = ["layers=1", "hidden=8", "heads=2", "kv_heads=2", "ffn=8"].iter().flat_map(|size| ["--set", size]);
        command.args(["compile", "tiny", "-o", "b", "--role", "forward"]).args(sizes).current_dir(folder.path());
        let output = command.output().expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        folder
    });
    let (from, to) = (made.path().join("b"), folder.join("b"));
    std::fs::create_dir(&to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).expect("the bundle is there") {
        let entry = entry.expect("an entry of the bundle");
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("a file can be copied");
    }
}

/// Weights with masters, and then tensors that are none of the bundle's.
fn manifest_buffers(folder: &Path, bytes: usize) -> Vec<String> {
    bundle(folder);
    let path = folder.join("b/manifest.json");
    let text = std::fs::read_to_string(&path).expect("the manifest is there");
    let mut manifest: Value = serde_json::from_str(&text).expect("the manifest is JSON");
    let buffers = manifest["buffers"].as_array_mut().expect("a list of buffers");
    let weight =
        |at: usize| json!({"name": format!("w{at}"), "dtype": "bf16", "shape": [1], "slot": "weight", "init": "zeros"});
    let master = |at: usize| json!({"name": format!("master.w{at}"), "dtype": "f32", "shape": [1], "slot": "master", "of": format!("w{at}"), "init": "zeros"});
    let count = bytes / 160;
    buffers.extend((0..count).map(weight));
    buffers.extend((0..count).map(master));
    std::fs::write(path, manifest.to_string()).expect("a file can be written");
    write(folder, "x.safetensors", tensors(0, 1024));
    args(&["convert", "b", "x.safetensors", "-o", "y.safetensors"])
}

/// A file of so many tensors without elements, about 60 bytes each.
fn tensors(from: usize, bytes: usize) -> Vec<u8> {
    let entry = |at: usize| (format!("t{at}"), json!({"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}));
    let header: serde_json::Map<String, Value> = (from..from + bytes / 60).map(entry).collect();
    let header = Value::from(header).to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
}

fn safetensors_header(folder: &Path, bytes: usize) -> Vec<String> {
    bundle(folder);
    write(folder, "x.safetensors", tensors(0, bytes));
    args(&["convert", "b", "x.safetensors", "-o", "y.safetensors"])
}

/// An index of which no file holds what it says.
fn shard_index(folder: &Path, bytes: usize) -> Vec<String> {
    bundle(folder);
    let (first, second) = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors");
    write(folder, first, tensors(0, bytes / 2));
    write(folder, second, tensors(0, 60));
    let place = |at: usize| (format!("t{at}"), Value::from(second));
    let map: serde_json::Map<String, Value> = (0..bytes / 2 / 45).map(place).collect();
    write(folder, "model.safetensors.index.json", json!({"weight_map": map}).to_string());
    args(&["convert", "b", "model.safetensors.index.json", "-o", "y.safetensors"])
}
