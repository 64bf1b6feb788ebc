//! What a reference says of the language's builtins, each beside its line in the table.

pub use crate::ops::BuiltinDoc;

/// What a reference says of each builtin, in order.
pub fn builtins() -> impl Iterator<Item = BuiltinDoc> {
    crate::ops::builtin_docs()
}

/// The model in which statements of an example stand: `x` and `y` are `f32[2, 3]`, `ids` is `s32[2]`. It outputs what the statements
/// state the type of.
pub fn example_model(example: &str) -> String {
    let lines: String = example.lines().map(|line| format!("    {line}\n")).collect();
    let outputs: String = typed(example).map(|(name, _)| format!("    output {name}\n")).collect();
    format!(
        "model example {{\n  config {{ batch = 2 }}\n  fn main(x: f32[batch, 3], y: f32[batch, 3], ids: s32[batch]) {{\n{lines}{outputs}    \
         return sum(x) + sum(y) + sum(convert(ids, f32)), full([], 1)\n  }}\n}}\n"
    )
}

/// What statements state the type of, with the type.
pub fn typed(example: &str) -> impl Iterator<Item = (&str, &str)> {
    example.lines().filter_map(|line| {
        let (statement, ty) = line.split_once("//")?;
        Some((statement.split_once(" = ")?.0.trim(), ty.trim()))
    })
}
