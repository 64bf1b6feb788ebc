//! The ops a model can call: builtins from one table, and the composites of the registry.

mod movement;
mod numbers;
mod reductions;

use super::value::Value;
use super::{Elaborator, Eval};
use crate::ast::{Call, Expr};
use crate::resolve::suggest;
use halite_ir::ops::Reduction;
use halite_ir::{Attr, Real};
use halite_support::{Diagnostic, Name, Span, codes};

/// One builtin.
#[derive(Debug)]
pub(crate) struct Builtin {
    name: &'static str,
    /// Names of the arguments; those after the first `required` may be left out.
    arguments: &'static [&'static str],
    required: usize,
    run: Run,
}

/// How a builtin runs.
#[derive(Clone, Copy, Debug)]
enum Run {
    /// Element by element: this primitive on tensors, the function on numbers.
    Unary(&'static str, fn(f64) -> f64),
    /// Element by element on two operands.
    Binary(&'static str, fn(f64, f64) -> f64),
    Reduce(Reduction),
    Other(fn(&mut Elaborator<'_, '_>, &Bound<'_>) -> Eval<Vec<Value>>),
}

/// The arguments of a call in the order of the builtin's own; `None` where left out.
#[derive(Debug)]
struct Bound<'c> {
    values: Vec<Option<(Value, &'c Expr)>>,
    span: Span,
}

impl Bound<'_> {
    /// An argument that must be given.
    fn required(&self, at: usize) -> (&Value, &Expr) {
        self.optional(at).expect("binding checks that required arguments are given")
    }

    fn optional(&self, at: usize) -> Option<(&Value, &Expr)> {
        self.values[at].as_ref().map(|(value, expr)| (value, *expr))
    }
}

const fn builtin(name: &'static str, arguments: &'static [&'static str], required: usize, run: Run) -> Builtin {
    Builtin { name, arguments, required, run }
}

const fn unary(name: &'static str, primitive: &'static str, number: fn(f64) -> f64) -> Builtin {
    builtin(name, &["x"], 1, Run::Unary(primitive, number))
}

const fn binary(name: &'static str, number: fn(f64, f64) -> f64) -> Builtin {
    builtin(name, &["x", "y"], 2, Run::Binary(name, number))
}

const fn reduce(name: &'static str, reduction: Reduction) -> Builtin {
    builtin(name, &["x", "dims", "keep"], 1, Run::Reduce(reduction))
}

static BUILTINS: &[Builtin] = &[
    unary("abs", "abs", f64::abs),
    unary("ceil", "ceil", f64::ceil),
    unary("cos", "cosine", f64::cos),
    unary("exp", "exponential", f64::exp),
    unary("expm1", "exponential_minus_one", f64::exp_m1),
    unary("floor", "floor", f64::floor),
    unary("log", "log", f64::ln),
    unary("log1p", "log_plus_one", f64::ln_1p),
    unary("round", "round_nearest_even", f64::round_ties_even),
    unary("rsqrt", "rsqrt", |x| x.sqrt().recip()),
    unary("sigmoid", "logistic", |x| 1.0 / (1.0 + (-x).exp())),
    unary("sin", "sine", f64::sin),
    unary("sqrt", "sqrt", f64::sqrt),
    unary("tanh", "tanh", f64::tanh),
    binary("maximum", f64::max),
    binary("minimum", f64::min),
    binary("power", f64::powf),
    reduce("max", Reduction::Max),
    reduce("min", Reduction::Min),
    reduce("sum", Reduction::Sum),
    builtin("mean", &["x", "dims", "keep"], 1, Run::Other(reductions::mean)),
    builtin("broadcast", &["x", "shape"], 2, Run::Other(movement::broadcast)),
    builtin("concat", &["parts", "dim"], 1, Run::Other(movement::concat)),
    builtin("convert", &["x", "type"], 2, Run::Other(movement::convert)),
    builtin("dim", &["x", "dim"], 2, Run::Other(movement::dim)),
    builtin("full", &["shape", "value", "type"], 2, Run::Other(movement::full)),
    builtin("iota", &["shape", "dim", "type"], 1, Run::Other(movement::iota)),
    builtin("rank", &["x"], 1, Run::Other(movement::rank)),
    builtin("reshape", &["x", "shape"], 2, Run::Other(movement::reshape)),
    builtin("split", &["x", "parts", "dim"], 2, Run::Other(movement::split)),
    builtin("transpose", &["x", "order"], 1, Run::Other(movement::transpose)),
    builtin("where", &["condition", "x", "y"], 3, Run::Other(movement::select)),
];

/// The builtin of this name.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

/// The names of all builtins.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|builtin| builtin.name)
}

impl Elaborator<'_, '_> {
    /// A call of something that is not a function of the model. Unknown names are reported by `resolve`.
    pub(super) fn call_op(&mut self, call: &Call, values: Vec<Eval<Value>>, span: Span) -> Eval<Vec<Value>> {
        let values = values.into_iter().collect::<Eval<Vec<Value>>>();
        let Some(builtin) = find(&call.function.name) else {
            return self.composite(call, values?, span);
        };
        let bound = self.bind_builtin(builtin, call, values?, span)?;
        match builtin.run {
            Run::Unary(primitive, number) => self.unary(primitive, number, &bound),
            Run::Binary(primitive, number) => self.pairwise(primitive, number, &bound),
            Run::Reduce(reduction) => reductions::reduce(self, reduction, &bound),
            Run::Other(run) => run(self, &bound),
        }
    }

    fn bind_builtin<'c>(
        &mut self,
        builtin: &Builtin,
        call: &'c Call,
        values: Vec<Value>,
        span: Span,
    ) -> Eval<Bound<'c>> {
        let (name, arguments) = (builtin.name, builtin.arguments);
        let mut bound: Vec<Option<(Value, &Expr)>> = vec![None; arguments.len()];
        for (at, (given, value)) in call.given.iter().zip(values).enumerate() {
            let position = match &given.name {
                None => (at < arguments.len()).then_some(at),
                Some(keyword) => arguments.iter().position(|own| keyword.name == *own),
            };
            match (position, &given.name) {
                (Some(position), _) if bound[position].is_none() => bound[position] = Some((value, &given.value)),
                (Some(position), _) => {
                    let message = format!("argument `{}` of `{name}` is given twice", arguments[position]);
                    return Err(self.error(codes::CALL, message, given.value.span, "again here"));
                }
                (None, Some(keyword)) => {
                    let error = Diagnostic::error(codes::CALL, format!("`{name}` has no argument `{}`", keyword.name));
                    let error =
                        suggest(error.at(keyword.span, "unknown argument"), &keyword.name, arguments.iter().copied());
                    return Err(self.report(error.note(signature(builtin))));
                }
                (None, None) => {
                    let message = format!("`{name}` takes {} arguments, found {}", arguments.len(), call.given.len());
                    let error = Diagnostic::error(codes::CALL, message).at(given.value.span, "one too many");
                    return Err(self.report(error.note(signature(builtin))));
                }
            }
        }
        if let Some(missing) = bound.iter().take(builtin.required).position(Option::is_none) {
            let message = format!("argument `{}` of `{name}` is missing", arguments[missing]);
            let error = Diagnostic::error(codes::CALL, message).at(call.function.span, "in this call");
            return Err(self.report(error.note(signature(builtin))));
        }
        Ok(Bound { values: bound, span })
    }

    /// A composite: tensors by position, attributes by name.
    fn composite(&mut self, call: &Call, values: Vec<Value>, span: Span) -> Eval<Vec<Value>> {
        let name = &call.function.name;
        let (mut args, mut attrs): (Vec<_>, Vec<(&str, Attr)>) = (Vec::new(), Vec::new());
        for (given, value) in call.given.iter().zip(values) {
            match (&given.name, value) {
                (None, Value::Tensor(tensor)) => args.push(tensor),
                (None, other) => return Err(self.wrong_kind("a tensor", &other, &given.value)),
                (Some(keyword), value) => match to_attr(&value) {
                    Some(attr) => attrs.push((&keyword.name, attr)),
                    None => return Err(self.wrong_kind("the value of an attribute", &value, &given.value)),
                },
            }
        }
        let results = self.emit(span, |b| b.composite(name, &attrs, &args))?;
        for &result in &results {
            self.check_size(result, span)?;
        }
        Ok(results.into_iter().map(Value::Tensor).collect())
    }
}

/// `reshape(x, shape)`, with `..` for what may be left out, as a note.
fn signature(builtin: &Builtin) -> String {
    let optional =
        |(at, name): (usize, &&str)| if at < builtin.required { (*name).to_owned() } else { format!("{name} = ..") };
    let arguments: Vec<_> = builtin.arguments.iter().enumerate().map(optional).collect();
    format!("it is `{}({})`", builtin.name, arguments.join(", "))
}

fn to_attr(value: &Value) -> Option<Attr> {
    Some(match value {
        Value::Int(value) => Attr::Int(*value),
        Value::Real(value) => Attr::Real(Real(*value)),
        Value::Bool(value) => Attr::Bool(*value),
        Value::Text(text) => Attr::Word(text.clone()),
        Value::Type(dtype) => Attr::Word(Name::from(dtype.name())),
        Value::List(items) => {
            let int = |item: &Value| if let Value::Int(value) = item { Some(*value) } else { None };
            Attr::Ints(items.iter().map(int).collect::<Option<_>>()?)
        }
        Value::Tensor(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_ir::Op;

    #[test]
    fn every_builtin_names_a_primitive() {
        for builtin in BUILTINS {
            if let Run::Unary(primitive, _) | Run::Binary(primitive, _) = builtin.run {
                assert!(Op::primitive(primitive).is_some(), "{primitive}");
            }
            assert!(builtin.required <= builtin.arguments.len());
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = names().collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
