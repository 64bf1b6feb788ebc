//! Short texts that stand for much: here a size in bytes is what they stand for.

use super::{args, compiled, ir, model, write_model};
use std::fmt::Write as _;
use std::path::Path;

/// A function that is handed a long list again and again.
pub(super) fn model_list_calls(folder: &Path, bytes: usize) -> Vec<String> {
    let items = "  fn f(l, x) { return x + 1 }\n";
    let text =
        format!("    l = [0]\n    for i in 0..12 {{ l = l + l }}\n    for i in 0..{} {{ x = f(l, x) }}\n", bytes / 32);
    model(folder, items, &text)
}

/// Calls of a function that is handed a list of tensors. A list has at most 4,096 items, so that making it by `l = l + [x]` copies no more.
pub(super) fn model_tensor_list(folder: &Path, bytes: usize) -> Vec<String> {
    let items = "  fn f(l) { return concat(l, 0) }\n";
    let calls = bytes / 1024;
    let text = format!("    l = [x]\n    for i in 0..511 {{ l = l + [x] }}\n    for i in 0..{calls} {{ x = f(l) }}\n");
    model(folder, items, &text)
}

/// Parameters that scopes tell apart.
pub(super) fn model_scopes(folder: &Path, bytes: usize) -> Vec<String> {
    let items = "  fn layer(x) { param w: [width] = ones\n    return x * w }\n";
    let text = format!("    for i in 0..{} {{ x = layer(x) as layers.{{i}} }}\n", bytes / 512);
    write_model(folder, items, &text, "loss, count");
    args(&["compile", "m.hal", "-o", "b", "--role", "train_step", "--set", "precision=fp32"])
}

/// Two calls of a function that calls another many times.
pub(super) fn model_towers(folder: &Path, bytes: usize) -> Vec<String> {
    let items = format!(
        "  fn layer(x) {{ param w: [width, width] = normal(0.02)\n    return x + gelu(linear(x, w)) }}\n  \
         fn tower(x) {{\n    for i in 0..{} {{ x = layer(x) as layers.{{i}} }}\n    return x\n  }}\n",
        bytes / 1024
    );
    write_model(folder, &items, "    x = tower(x) as left\n    x = tower(x) as right\n", "loss, count");
    args(&["compile", "m.hal", "-o", "b", "--role", "train_step", "--set", "precision=fp32"])
}

/// An operation that is made of many instructions.
pub(super) fn model_sorts(folder: &Path, bytes: usize) -> Vec<String> {
    compiled(folder, &format!("    for i in 0..{} {{ x = sort(x) }}\n", bytes / 1024))
}

/// Each function calls the one before twice, and what it keeps for its gradient is twice as much.
pub(super) fn ir_nested_calls(folder: &Path, bytes: usize) -> Vec<String> {
    let mut text = "func @f0(%x: f32[4]) -> (f32[4]) {\n  %y = tanh %x : f32[4]\n  return %y\n}\n".to_owned();
    let levels = (bytes / 32).ilog2();
    for at in 0..levels {
        let call = |of: &str| format!("call {of} {{callee = @f{at}}} : f32[4]");
        write!(
            text,
            "func @f{}(%x: f32[4]) -> (f32[4]) {{\n  %0 = {}\n  %1 = {}\n  return %1\n}}\n",
            at + 1,
            call("%x"),
            call("%0")
        )
        .expect("a string takes any text");
    }
    let end = format!(
        "func @main(%w: f32[4] {{weight, init = zeros}}) -> (loss: f32[] {{loss}}) {{\n  \
         %v = call %w {{callee = @f{levels}}} : f32[4]\n  \
         %l = reduce %v {{kind = sum, dims = [0], accumulate = f32}} : f32[]\n  return %l\n}}\n"
    );
    ir(folder, &(text + &end), "auto-diff")
}
