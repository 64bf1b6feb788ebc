//! Reference entries of the language's builtins, each beside its line in the table, and of functions in libraries, each above its
//! `fn`.

pub use crate::ops::BuiltinDoc;
use crate::parse::{FunctionText, functions};

/// The reference entries of the builtins, in order.
pub fn builtins() -> impl Iterator<Item = BuiltinDoc> {
    crate::ops::builtin_docs()
}

/// The reference entry of a function of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionDoc<'t> {
    /// Its name.
    pub name: &'t str,
    /// The comment above it, in one paragraph; empty where there is none.
    pub about: String,
    /// `name(arguments)` in one line.
    pub signature: String,
    /// Its lines, as far to the left as they can be.
    pub text: String,
}

/// The reference entries of the functions of a model or library, in order; none where the text is not correct.
pub fn function_docs(text: &str) -> Vec<FunctionDoc<'_>> {
    functions(text).into_iter().map(|function| doc(text, function)).collect()
}

fn doc<'t>(text: &'t str, function: FunctionText<'t>) -> FunctionDoc<'t> {
    let FunctionText { name, start, body, end } = function;
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let above = text[..start].lines().rev().skip(1).map_while(|line| line.trim().strip_prefix("//"));
    let mut about: Vec<&str> = above.collect();
    about.reverse();
    let signature = words(&text[start + "fn".len()..body]).replace("( ", "(").replace(" )", ")");
    let indent = text[..start].chars().rev().take_while(|&character| character == ' ').count();
    let own = text[start..end].replace(&format!("\n{}", " ".repeat(indent)), "\n");
    FunctionDoc { name, about: words(&about.join(" ")), signature, text: own }
}

/// The model in which statements of an example stand: `x` and `y` are `f32[2, 3]`, `ids` is `s32[2]`. It outputs the values whose type
/// the statements state.
pub fn example_model(example: &str) -> String {
    let lines: String = example.lines().map(|line| format!("    {line}\n")).collect();
    let outputs: String = typed(example).map(|(name, _)| format!("    output {name}\n")).collect();
    format!(
        "model example {{\n  config {{ batch = 2 }}\n  fn main(x: f32[batch, 3], y: f32[batch, 3], ids: s32[batch]) {{\n{lines}{outputs}    \
         return sum(x) + sum(y) + sum(convert(ids, f32)), full([], 1)\n  }}\n}}\n"
    )
}

/// The names whose type statements state, each with the type.
pub fn typed(example: &str) -> impl Iterator<Item = (&str, &str)> {
    example.lines().filter_map(|line| {
        let (statement, ty) = line.split_once("//")?;
        Some((statement.split_once(" = ")?.0.trim(), ty.trim()))
    })
}
