//! Expressions.

use super::spans::Text;
use super::{Elaborator, Eval, Locals, Reported};
use crate::ast::{BinaryOp, Call, Choice, Expr, ExprKind, Match, Range, ScopePart, Subscript};
use crate::ops::{self, MAX_LIST_DEPTH, Ops, Part, Place, Sizes, Value};
use crate::type_word::type_word;
use halite_support::nearest::nearest;
use halite_support::{Diagnostic, Name, Span, codes};
use halite_tensor::{DType, Shape};

impl Elaborator<'_, '_> {
    /// The value of an expression with one value. An argument of `main` that is not there is an error.
    pub(super) fn expr(&mut self, expr: &Expr, locals: &Locals) -> Eval<Value> {
        match self.handed(expr, locals)? {
            Value::Absent(name) => Err(self.absent(&name, expr.span)),
            value => Ok(value),
        }
    }

    /// Something is made of an argument of `main` that is not there.
    pub(super) fn absent(&mut self, name: &Name, span: Span) -> Reported {
        let main = self.model().functions.get("main");
        let argument =
            main.and_then(|main| main.function.arguments.iter().find(|argument| argument.name.name == *name));
        let error = Diagnostic::error(codes::ABSENT, format!("`{name}` is used where it is not there"));
        let error = error.at(span, "used here").help("use it only in the branch of an `if` that its condition chooses");
        let condition = argument.and_then(|argument| argument.presence.as_ref());
        self.report(match condition {
            Some(condition) => error.also(condition.span, "it is there only under this condition"),
            None => error,
        })
    }

    /// The value of an expression with one value, which may be an argument of `main` that is not there: it is handed on.
    pub(super) fn handed(&mut self, expr: &Expr, locals: &Locals) -> Eval<Value> {
        if let ExprKind::Call(call) = &expr.kind {
            let values = self.call(call, expr, locals)?;
            return self.single(values, expr);
        }
        self.nested(expr.span, |cx| match &expr.kind {
            ExprKind::Int(value) => Ok(Value::int(*value)),
            ExprKind::Real(value) => ops::finite(*value).map_err(|error| cx.report(error.at(expr.span, "this number"))),
            ExprKind::Bool(value) => Ok(Value::Bool(*value)),
            ExprKind::Text(text) => Ok(Value::Text(text.clone())),
            ExprKind::Name(name) => cx.name(name, locals),
            ExprKind::List(items) => cx.list(items, expr.span, locals),
            ExprKind::Negate(part) => cx.negate(part, expr, locals),
            ExprKind::Not(part) => cx.not(part, expr, locals),
            ExprKind::Binary(op, left, right) => cx.binary(*op, [left, right], expr, locals),
            ExprKind::Index(base, subscripts) => cx.index(base, subscripts, expr, locals),
            ExprKind::Choice(choice) => {
                let chosen = cx.chosen(choice, locals)?;
                cx.handed(chosen, locals)
            }
            ExprKind::Match(choice) => {
                let chosen = cx.matched(choice, locals)?;
                cx.handed(chosen, locals)
            }
            ExprKind::Call(_) => unreachable!("handled above"),
        })
    }

    /// All values of an expression: only a call, or a choice of calls, can have more or fewer than one.
    pub(super) fn expr_all(&mut self, expr: &Expr, locals: &Locals) -> Eval<Vec<Value>> {
        match &expr.kind {
            ExprKind::Call(call) => self.call(call, expr, locals),
            ExprKind::Choice(choice) => self.nested(expr.span, |cx| {
                let chosen = cx.chosen(choice, locals)?;
                cx.expr_all(chosen, locals)
            }),
            ExprKind::Match(choice) => self.nested(expr.span, |cx| {
                let chosen = cx.matched(choice, locals)?;
                cx.expr_all(chosen, locals)
            }),
            _ => self.handed(expr, locals).map(|value| vec![value]),
        }
    }

    /// The values of several expressions, as [`handed`](Self::handed) gives them; all are evaluated even when one fails.
    pub(super) fn handed_all(&mut self, exprs: &[Expr], locals: &Locals) -> Eval<Vec<Value>> {
        let values: Vec<_> = exprs.iter().map(|expr| self.handed(expr, locals)).collect();
        values.into_iter().collect()
    }

    fn list(&mut self, items: &[Expr], span: Span, locals: &Locals) -> Eval<Value> {
        let values: Vec<_> = items.iter().map(|item| self.expr(item, locals)).collect();
        let values = values.into_iter().collect::<Eval<_>>()?;
        let deep = || Diagnostic::error(codes::LIMIT, format!("lists nest more than {MAX_LIST_DEPTH} deep"));
        let list = Value::list(values).ok_or_else(|| deep().at(span, "this list").help("keep the items in one list"));
        self.check(list)
    }

    /// The side of a choice that its conditions pick.
    fn chosen<'e>(&mut self, choice: &'e Choice, locals: &Locals) -> Eval<&'e Expr> {
        for (condition, value) in &choice.arms {
            if self.condition(condition, locals)? {
                return Ok(value);
            }
        }
        Ok(&choice.no)
    }

    pub(super) fn condition(&mut self, condition: &Expr, locals: &Locals) -> Eval<bool> {
        match self.expr(condition, locals)? {
            Value::Bool(holds) => Ok(holds),
            other => Err(self.wrong_kind("`true` or `false`", &other, condition)),
        }
    }

    /// The value of the arm that has what the subject is.
    fn matched<'e>(&mut self, choice: &'e Match, locals: &Locals) -> Eval<&'e Expr> {
        let subject = self.expr(&choice.subject, locals)?;
        if matches!(subject, Value::Tensor(_) | Value::List(_) | Value::Function(..)) {
            return Err(self.wrong_kind("a word, a number or `true` or `false`", &subject, &choice.subject));
        }
        for arm in &choice.arms {
            for pattern in &arm.patterns {
                let expected = self.expr(pattern, locals)?;
                match ops::equal(&subject, &expected) {
                    Some(true) => return Ok(&arm.value),
                    Some(false) => {}
                    None => {
                        let kind = self.describe(&subject);
                        return Err(self.wrong_kind(&format!("what can be {kind}"), &expected, pattern));
                    }
                }
            }
        }
        choice.otherwise.as_ref().ok_or_else(|| self.unmatched(choice, &subject))
    }

    /// No arm takes what the subject is.
    fn unmatched(&mut self, choice: &Match, subject: &Value) -> Reported {
        let message = format!("no arm of this `match` takes {}", self.describe(subject));
        let error = Diagnostic::error(codes::CONFIG_VALUE, message);
        let error = self.blamed(error, &choice.subject, ["by this `match`", "this"]);
        let patterns = || choice.arms.iter().flat_map(|arm| &arm.patterns);
        let words: Vec<&str> = patterns().filter_map(Expr::word).collect();
        let nearest = subject.word().and_then(|word| nearest(word, words.iter().copied()));
        let error = match nearest {
            Some(nearest) => error.help(format!("did you mean \"{nearest}\"?")),
            None if words.is_empty() => error.help("add an arm for it, or `else => ..`"),
            None => error.help(format!(
                "choose one of {}",
                words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
            )),
        };
        self.report(error)
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
        if let Some(value) = locals.get(name).cloned().or_else(|| self.global(name)) {
            return value;
        }
        if let Some(callable) = self.program().functions.get(&**name) {
            return Ok(Value::Function(name.clone(), callable.home));
        }
        if ops::is_op(name, self.ops.b.registry()) {
            return Ok(Value::Function(name.clone(), 0));
        }
        Ok(Value::Type(self.element_type(name)?))
    }

    /// The element type that a word names in this run; see [`Options::float`](crate::Options::float).
    pub(super) fn element_type(&self, word: &str) -> Eval<DType> {
        let dtype = type_word(word).ok_or(Reported)?;
        Ok(dtype.map_or(self.ops.float, |dtype| ops::stated(self.ops.float, dtype)))
    }

    fn negate(&mut self, part: &Expr, expr: &Expr, locals: &Locals) -> Eval<Value> {
        let value = self.expr(part, locals)?;
        self.operate(expr.span, None, vec![part], |ops, spans| ops.negate(&value, spans))
    }

    fn not(&mut self, part: &Expr, expr: &Expr, locals: &Locals) -> Eval<Value> {
        let value = self.expr(part, locals)?;
        self.operate(expr.span, None, vec![part], |ops, spans| ops.not(&value, spans))
    }

    fn binary(&mut self, op: BinaryOp, [left, right]: [&Expr; 2], expr: &Expr, locals: &Locals) -> Eval<Value> {
        let (x, y) = (self.expr(left, locals), self.expr(right, locals));
        let (x, y) = (x?, y?);
        self.operate(expr.span, None, vec![left, right], |ops, spans| ops.binary(op, &x, &y, spans))
    }

    fn index(&mut self, base: &Expr, subscripts: &[Subscript], expr: &Expr, locals: &Locals) -> Eval<Value> {
        match self.expr(base, locals)? {
            Value::Tensor(tensor) => {
                let found = self.subscripts(subscripts, locals)?;
                let parts = subscripts.iter().map(|subscript| match subscript {
                    Subscript::At(at) => at,
                    Subscript::Range(_) => expr,
                });
                let parts = parts.collect();
                self.operate(expr.span, None, parts, |ops, spans| ops.slice(tensor, &found, spans))
            }
            Value::List(list) => {
                let [subscript] = subscripts else {
                    return Err(self.error(codes::KIND, "a list takes one index", expr.span, "here"));
                };
                match self.subscript(subscript, locals)? {
                    ops::Indexed::By(found) => self
                        .operate(expr.span, None, vec![expr], |ops, spans| ops.item(&list, found, Place::whole(spans))),
                    ops::Indexed::Tensor(_) => {
                        Err(self.error(codes::KIND, "a list takes a whole number, found a tensor", expr.span, "here"))
                    }
                }
            }
            other => Err(self.wrong_kind("a tensor or a list", &other, base)),
        }
    }

    fn subscripts(&mut self, subscripts: &[Subscript], locals: &Locals) -> Eval<Vec<ops::Indexed>> {
        subscripts.iter().map(|subscript| self.subscript(subscript, locals)).collect()
    }

    fn subscript(&mut self, subscript: &Subscript, locals: &Locals) -> Eval<ops::Indexed> {
        Ok(ops::Indexed::By(match subscript {
            Subscript::At(at) => match self.expr(at, locals)? {
                Value::Int(at, _) => ops::Subscript::At(at),
                Value::Tensor(indices) => return Ok(ops::Indexed::Tensor(indices)),
                other => return Err(self.wrong_kind("a whole number or a tensor of them", &other, at)),
            },
            Subscript::Range(range) => {
                let Range { from, to, step } = &**range;
                let mut bound = |bound: &Option<Expr>| bound.as_ref().map(|bound| self.int(bound, locals)).transpose();
                let (from, to, step) = (bound(from), bound(to), bound(step));
                match step? {
                    None => ops::Subscript::Range(from?, to?),
                    Some(step) => ops::Subscript::Stepped(from?, to?, step),
                }
            }
        }))
    }

    /// A whole number.
    pub(super) fn int(&mut self, expr: &Expr, locals: &Locals) -> Eval<i64> {
        match self.expr(expr, locals)? {
            Value::Int(value, _) => Ok(value),
            other => Err(self.wrong_kind("a whole number", &other, expr)),
        }
    }

    /// A shape, sizes of at least 1 whose product is bounded, with what these are products of.
    pub(super) fn shape(&mut self, expr: &Expr, locals: &Locals) -> Eval<(Shape, Sizes)> {
        let value = self.expr(expr, locals)?;
        let shape = |ops: &mut Ops<'_>, spans: &Text<'_>| ops.shape_of(&value, Place::new(spans, Part::Given(0)));
        let shape = self.operate(expr.span, None, vec![expr], shape)?;
        Ok((shape, value.sizes()))
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
