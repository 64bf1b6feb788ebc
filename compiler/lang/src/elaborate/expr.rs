//! Expressions.

use super::value::Value;
use super::{Elaborator, Eval, Locals, Reported, arithmetic, elements, type_word};
use crate::ast::{BinaryOp, Call, Expr, ExprKind, ScopePart, Subscript};
use halite_support::{Diagnostic, Name, codes};
use halite_tensor::{DType, Shape};

impl Elaborator<'_, '_> {
    /// An expression with one value.
    pub(super) fn expr(&mut self, expr: &Expr, locals: &Locals) -> Eval<Value> {
        if let ExprKind::Call(call) = &expr.kind {
            let values = self.call(call, expr, locals)?;
            return self.single(values, expr);
        }
        self.nested(expr.span, |cx| match &expr.kind {
            ExprKind::Int(value) => Ok(Value::Int(*value)),
            ExprKind::Real(value) => {
                arithmetic::finite(*value).map_err(|error| cx.report(error.at(expr.span, "this number")))
            }
            ExprKind::Bool(value) => Ok(Value::Bool(*value)),
            ExprKind::Text(text) => Ok(Value::Text(text.clone())),
            ExprKind::Name(name) => cx.name(name, locals),
            ExprKind::List(items) => cx.exprs(items, locals).map(Value::List),
            ExprKind::Negate(part) => cx.negate(part, expr, locals),
            ExprKind::Not(part) => cx.not(part, expr, locals),
            ExprKind::Binary(op, left, right) => cx.binary(*op, [left, right], expr, locals),
            ExprKind::Index(base, subscripts) => cx.index(base, subscripts, expr, locals),
            ExprKind::Call(_) => unreachable!("handled above"),
        })
    }

    /// All values of an expression: only a call can have more or fewer than one.
    pub(super) fn expr_all(&mut self, expr: &Expr, locals: &Locals) -> Eval<Vec<Value>> {
        match &expr.kind {
            ExprKind::Call(call) => self.call(call, expr, locals),
            _ => self.expr(expr, locals).map(|value| vec![value]),
        }
    }

    /// Several expressions; all are evaluated even when one fails.
    pub(super) fn exprs(&mut self, exprs: &[Expr], locals: &Locals) -> Eval<Vec<Value>> {
        let values: Vec<_> = exprs.iter().map(|expr| self.expr(expr, locals)).collect();
        values.into_iter().collect()
    }

    fn single(&mut self, mut values: Vec<Value>, expr: &Expr) -> Eval<Value> {
        match (values.pop(), values.len()) {
            (Some(value), 0) => Ok(value),
            (last, rest) => {
                let count = rest + usize::from(last.is_some());
                let message = format!("this call has {count} results where one is needed");
                Err(self.error(codes::KIND, message, expr.span, format!("{count} results")))
            }
        }
    }

    /// Unknown names are reported by `resolve`.
    fn name(&mut self, name: &Name, locals: &Locals) -> Eval<Value> {
        if let Some(value) = locals.get(name).or_else(|| self.globals.get(name)) {
            return value.clone();
        }
        Ok(Value::Type(self.element_type(name)?))
    }

    /// The element type that a word names in this run; see [`Options::float`](crate::Options::float).
    pub(super) fn element_type(&self, word: &str) -> Eval<DType> {
        let float = self.options.float;
        match type_word(word).ok_or(Reported)? {
            Some(DType::F32) if float == DType::F64 => Ok(float),
            stated => Ok(stated.unwrap_or(float)),
        }
    }

    fn negate(&mut self, part: &Expr, expr: &Expr, locals: &Locals) -> Eval<Value> {
        let value = self.expr(part, locals)?;
        if let Value::Tensor(tensor) = value {
            return self.primitive("negate", &[tensor], expr.span);
        }
        match arithmetic::negate(&value) {
            Some(result) => result.map_err(|error| self.report(error.at(expr.span, "here"))),
            None => Err(self.wrong_kind("a number or a tensor", &value, part)),
        }
    }

    fn not(&mut self, part: &Expr, expr: &Expr, locals: &Locals) -> Eval<Value> {
        match self.expr(part, locals)? {
            Value::Bool(value) => Ok(Value::Bool(!value)),
            Value::Tensor(tensor) => self.primitive("not", &[tensor], expr.span),
            other => Err(self.wrong_kind("`true`, `false` or a tensor", &other, part)),
        }
    }

    fn binary(&mut self, op: BinaryOp, [left, right]: [&Expr; 2], expr: &Expr, locals: &Locals) -> Eval<Value> {
        let (x, y) = (self.expr(left, locals), self.expr(right, locals));
        let (x, y) = (x?, y?);
        if matches!(x, Value::Tensor(_)) || matches!(y, Value::Tensor(_)) {
            return self.tensor_binary(op, (&x, left), (&y, right), expr.span);
        }
        match arithmetic::binary(op, &x, &y) {
            Some(result) => result.map_err(|error| self.report(error.at(expr.span, "here"))),
            None => {
                let (x, y) = (self.describe(&x), self.describe(&y));
                let message = format!("this operator does not take {x} and {y}");
                Err(self.error(codes::KIND, message, expr.span, "here"))
            }
        }
    }

    fn index(&mut self, base: &Expr, subscripts: &[Subscript], expr: &Expr, locals: &Locals) -> Eval<Value> {
        match self.expr(base, locals)? {
            Value::Tensor(tensor) => self.slice(tensor, subscripts, expr.span, locals),
            Value::List(items) => {
                let [Subscript::At(at)] = subscripts else {
                    return Err(self.error(codes::KIND, "a list takes one index", expr.span, "here"));
                };
                let position = self.position(at, items.len(), locals)?;
                Ok(items[position].clone())
            }
            other => Err(self.wrong_kind("a tensor or a list", &other, base)),
        }
    }

    /// A position among `size`, counted from the end when negative.
    pub(super) fn position(&mut self, at: &Expr, size: usize, locals: &Locals) -> Eval<usize> {
        let position = self.int(at, locals)?;
        from_end(position, size).filter(|&position| position < size).ok_or_else(|| {
            self.error(codes::SHAPE, format!("position {position} is out of range for size {size}"), at.span, "here")
        })
    }

    /// A whole number.
    pub(super) fn int(&mut self, expr: &Expr, locals: &Locals) -> Eval<i64> {
        match self.expr(expr, locals)? {
            Value::Int(value) => Ok(value),
            other => Err(self.wrong_kind("a whole number", &other, expr)),
        }
    }

    /// A shape: sizes of at least 1 whose product is bounded.
    pub(super) fn shape(&mut self, expr: &Expr, locals: &Locals) -> Eval<Shape> {
        let value = self.expr(expr, locals)?;
        self.shape_of(&value, expr)
    }

    pub(super) fn shape_of(&mut self, value: &Value, at: &Expr) -> Eval<Shape> {
        let sizes: Vec<i64> = self.ints_of(value, at)?;
        let dims: Option<Vec<usize>> =
            sizes.iter().map(|&size| usize::try_from(size).ok().filter(|&s| s > 0)).collect();
        let Some(dims) = dims else {
            let message = format!("the sizes of a tensor are at least 1, found {sizes:?}");
            let error = Diagnostic::error(codes::SHAPE, message).at(at.span, "this shape");
            let error = self.blame(error, at).help("choose sizes of at least 1");
            return Err(self.report(error));
        };
        if elements(&dims).is_none() {
            let message = format!("a tensor of shape {sizes:?} is too large");
            let error = Diagnostic::error(codes::LIMIT, message).at(at.span, "this shape");
            let error = self.blame(error, at).help("choose smaller sizes");
            return Err(self.report(error));
        }
        Ok(Shape::from(dims.as_slice()))
    }

    /// A list of whole numbers; one number stands for a list of one.
    pub(super) fn ints_of(&mut self, value: &Value, at: &Expr) -> Eval<Vec<i64>> {
        let items = match value {
            Value::List(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let parts: &[Expr] = if let ExprKind::List(parts) = &at.kind { parts } else { &[] };
        let mut ints = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match item {
                Value::Int(value) => ints.push(*value),
                other => return Err(self.wrong_kind("a whole number", other, parts.get(index).unwrap_or(at))),
            }
        }
        Ok(ints)
    }

    /// The text of `layers.{i}`; `None` when the call has no scope.
    pub(super) fn scope(&mut self, call: &Call, locals: &Locals) -> Eval<Option<Name>> {
        let mut text = String::new();
        for part in &call.scope {
            match part {
                ScopePart::Text(part) => text.push_str(part),
                ScopePart::Hole(hole) => text.push_str(&self.int(hole, locals)?.to_string()),
            }
        }
        Ok((!text.is_empty()).then(|| text.into()))
    }
}

/// A position counted from the end when negative; `None` when that is before the beginning.
pub(super) fn from_end(position: i64, size: usize) -> Option<usize> {
    let size = i64::try_from(size).ok()?;
    usize::try_from(if position < 0 { position.checked_add(size)? } else { position }).ok()
}
