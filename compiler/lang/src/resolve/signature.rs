//! The form of calls of a function of a text, as a note.

use crate::ast::{Argument, BinaryOp, Expr, ExprKind, Function};

/// `attend(q, k, v, packed = false)`: arguments with the types and defaults that the text states.
pub(crate) fn form(function: &Function) -> String {
    let arguments: Vec<String> = function.arguments.iter().map(argument).collect();
    format!("it is `{}({})`", function.name.name, arguments.join(", "))
}

fn argument(argument: &Argument) -> String {
    let mut text = argument.name.name.to_string();
    if let Some(ty) = &argument.ty {
        text.push_str(&format!(": {}{}", ty.dtype.name, shown(&ty.shape)));
    }
    if let Some(default) = &argument.default {
        text.push_str(&format!(" = {}", shown(default)));
    }
    text
}

/// A short expression as a text has it, `..` for a longer one.
fn shown(expr: &Expr) -> String {
    let of = |op: &str, left: &Expr, right: &Expr| format!("{} {op} {}", shown(left), shown(right));
    let is_plain = |expr: &Expr| matches!(expr.kind, ExprKind::Int(_) | ExprKind::Name(_));
    match &expr.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Real(value) => format!("{value:?}"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Text(text) => format!("\"{text}\""),
        ExprKind::Name(name) => name.to_string(),
        ExprKind::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
        ExprKind::Negate(inner) => format!("-{}", shown(inner)),
        ExprKind::Binary(op, left, right) if is_plain(left) && is_plain(right) => match op {
            BinaryOp::Add => of("+", left, right),
            BinaryOp::Subtract => of("-", left, right),
            BinaryOp::Multiply => of("*", left, right),
            BinaryOp::Divide => of("/", left, right),
            _ => "..".to_owned(),
        },
        _ => "..".to_owned(),
    }
}
