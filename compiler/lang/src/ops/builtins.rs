//! The ops a model can call: builtins from one table, and the composites of the registry.

mod dropout;
mod einsum;
mod lists;
mod movement;
mod numbers;
mod positions;
mod reductions;

use super::{Ops, Part, Place, Spans, Value};
use crate::suggest::suggest;
use halite_ir::ops::Reduction;
use halite_ir::{Attr, Builder, Real, Registry, Value as Tensor};
use halite_support::{Diagnostic, Name, Result, codes};
use numbers::whole_power;

/// One builtin.
#[derive(Debug)]
struct Builtin {
    name: &'static str,
    /// Names of the arguments; those after the first `required` may be left out.
    arguments: &'static [&'static str],
    required: usize,
    run: Run,
}

type Unary = fn(&mut Builder<'_>, Tensor) -> Result<Tensor>;
type Binary = fn(&mut Builder<'_>, Tensor, Tensor) -> Result<Tensor>;

/// How a builtin runs.
#[derive(Clone, Copy, Debug)]
enum Run {
    /// Element by element on tensors, the function on numbers.
    Unary(Unary, fn(f64) -> f64),
    /// The same where numbers become whole ones.
    Rounded(Unary, fn(f64) -> f64),
    /// Element by element on tensors alone.
    Tensor(Unary),
    /// Element by element on two operands; the last function where whole numbers have a whole result.
    Binary(Binary, fn(f64, f64) -> f64, fn(i64, i64) -> Option<i64>),
    Reduce(Reduction),
    Other(fn(&mut Ops<'_>, &Bound<'_>) -> Result<Vec<Value>>),
}

/// An argument of a call: `value` or `name = value`.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) name: Option<Name>,
    pub(crate) value: Value,
}

impl Given {
    pub(crate) fn positional(value: Value) -> Self {
        Self { name: None, value }
    }
}

/// The arguments of a call in the order of the builtin's own; `None` where left out.
#[derive(Debug)]
struct Bound<'s> {
    values: Vec<Option<(Value, Place<'s>)>>,
    whole: Place<'s>,
}

impl<'s> Bound<'s> {
    /// An argument that must be given.
    fn required(&self, at: usize) -> (&Value, Place<'s>) {
        self.optional(at).expect("binding checks that required arguments are given")
    }

    fn optional(&self, at: usize) -> Option<(&Value, Place<'s>)> {
        self.values[at].as_ref().map(|(value, place)| (value, *place))
    }
}

const fn builtin(name: &'static str, arguments: &'static [&'static str], required: usize, run: Run) -> Builtin {
    Builtin { name, arguments, required, run }
}

const fn unary(name: &'static str, emit: Unary, number: fn(f64) -> f64) -> Builtin {
    builtin(name, &["x"], 1, Run::Unary(emit, number))
}

const fn rounded(name: &'static str, emit: Unary, number: fn(f64) -> f64) -> Builtin {
    builtin(name, &["x"], 1, Run::Rounded(emit, number))
}

const fn tensor(name: &'static str, emit: Unary) -> Builtin {
    builtin(name, &["x"], 1, Run::Tensor(emit))
}

const fn binary(
    name: &'static str,
    emit: Binary,
    number: fn(f64, f64) -> f64,
    whole: fn(i64, i64) -> Option<i64>,
) -> Builtin {
    builtin(name, &["x", "y"], 2, Run::Binary(emit, number, whole))
}

const fn reduce(name: &'static str, reduction: Reduction) -> Builtin {
    builtin(name, &["x", "dims", "keep"], 1, Run::Reduce(reduction))
}

static BUILTINS: &[Builtin] = &[
    unary("abs", |b, x| b.abs(x), f64::abs),
    unary("cbrt", |b, x| b.cbrt(x), f64::cbrt),
    rounded("ceil", |b, x| b.ceil(x), f64::ceil),
    unary("cos", |b, x| b.cosine(x), f64::cos),
    unary("exp", |b, x| b.exponential(x), f64::exp),
    unary("expm1", |b, x| b.exponential_minus_one(x), f64::exp_m1),
    tensor("erf", |b, x| b.erf(x)),
    rounded("floor", |b, x| b.floor(x), f64::floor),
    tensor("is_finite", |b, x| b.is_finite(x)),
    unary("log", |b, x| b.log(x), f64::ln),
    unary("log1p", |b, x| b.log_plus_one(x), f64::ln_1p),
    rounded("round", |b, x| b.round_nearest_even(x), f64::round_ties_even),
    unary("rsqrt", |b, x| b.rsqrt(x), |x| x.sqrt().recip()),
    unary("sigmoid", |b, x| b.logistic(x), |x| 1.0 / (1.0 + (-x).exp())),
    tensor("sign", |b, x| b.sign(x)),
    unary("sin", |b, x| b.sine(x), f64::sin),
    unary("sqrt", |b, x| b.sqrt(x), f64::sqrt),
    unary("tan", |b, x| b.tan(x), f64::tan),
    unary("tanh", |b, x| b.tanh(x), f64::tanh),
    binary("atan2", |b, x, y| b.atan2(x, y), f64::atan2, |_, _| None),
    binary("maximum", |b, x, y| b.maximum(x, y), f64::max, |x, y| Some(x.max(y))),
    binary("minimum", |b, x, y| b.minimum(x, y), f64::min, |x, y| Some(x.min(y))),
    binary("power", |b, x, y| b.power(x, y), f64::powf, whole_power),
    reduce("max", Reduction::Max),
    reduce("min", Reduction::Min),
    reduce("sum", Reduction::Sum),
    builtin("mean", &["x", "dims", "keep"], 1, Run::Other(reductions::mean)),
    builtin("argmax", &["x", "dim"], 1, Run::Other(positions::argmax)),
    builtin("argmin", &["x", "dim"], 1, Run::Other(positions::argmin)),
    builtin("argsort", &["x", "dim", "descending"], 1, Run::Other(positions::argsort)),
    builtin("broadcast", &["x", "shape"], 2, Run::Other(movement::broadcast)),
    builtin("clamp", &["x", "low", "high"], 3, Run::Other(movement::clamp)),
    builtin("concat", &["parts", "dim"], 1, Run::Other(movement::concat)),
    builtin("convert", &["x", "type"], 2, Run::Other(movement::convert)),
    builtin("dim", &["x", "dim"], 2, Run::Other(movement::dim)),
    builtin("dropout", &["x", "rate"], 2, Run::Other(dropout::dropout)),
    builtin("einsum", &["equation", "x", "y"], 2, Run::Other(einsum::einsum)),
    builtin("full", &["shape", "value", "type"], 2, Run::Other(movement::full)),
    builtin("gather", &["x", "indices", "dim"], 2, Run::Other(positions::gather)),
    builtin("iota", &["shape", "dim", "type"], 1, Run::Other(movement::iota)),
    builtin("len", &["list"], 1, Run::Other(lists::len)),
    builtin("one_hot", &["indices", "size", "type"], 2, Run::Other(positions::one_hot)),
    builtin("pad", &["x", "widths", "value"], 2, Run::Other(movement::pad)),
    builtin("rank", &["x"], 1, Run::Other(movement::rank)),
    builtin("reshape", &["x", "shape"], 2, Run::Other(movement::reshape)),
    builtin("reverse", &["x", "dims"], 1, Run::Other(movement::reverse)),
    builtin("sort", &["x", "dim", "descending"], 1, Run::Other(positions::sort)),
    builtin("split", &["x", "parts", "dim"], 2, Run::Other(movement::split)),
    builtin("stack", &["parts", "dim"], 1, Run::Other(lists::stack)),
    builtin("take", &["x", "indices", "dim"], 2, Run::Other(positions::take)),
    builtin("transpose", &["x", "order"], 1, Run::Other(movement::transpose)),
    builtin("where", &["condition", "x", "y"], 3, Run::Other(movement::select)),
];

/// What other libraries call a builtin, a composite or an operator.
static ELSEWHERE: &[(&str, &str)] = &[
    ("arange", "iota"),
    ("arg_max", "argmax"),
    ("arg_min", "argmin"),
    ("astype", "convert"),
    ("broadcast_to", "broadcast"),
    ("cast", "convert"),
    ("cat", "concat"),
    ("clip", "clamp"),
    ("concatenate", "concat"),
    ("expand", "broadcast"),
    ("flip", "reverse"),
    ("index_select", "take"),
    ("matmul", "x @ y"),
    ("ones", "full(shape, 1.0)"),
    ("permute", "transpose"),
    ("pow", "x ** y"),
    ("swish", "silu"),
    ("take_along_axis", "gather"),
    ("topk", "top_k"),
    ("view", "reshape"),
    ("zeros", "full(shape, 0.0)"),
];

fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

/// Whether a builtin has this name.
fn is_builtin(name: &str) -> bool {
    find(name).is_some()
}

/// Whether a builtin or a composite has this name.
pub(crate) fn is_op(name: &str, registry: &Registry) -> bool {
    is_builtin(name) || registry.composite(name).is_ok()
}

/// Why a function of a model cannot have this name, where an op has it.
pub(crate) fn name_of_op(name: &str, registry: &Registry) -> Option<Diagnostic> {
    let message = || format!("`{name}` is the name of an op and cannot be defined again");
    is_op(name, registry).then(|| Diagnostic::error(codes::DUPLICATE, message()))
}

/// The names of all that can be called: builtins, then composites.
pub(crate) fn op_names(registry: &Registry) -> impl Iterator<Item = &str> {
    BUILTINS.iter().map(|builtin| builtin.name).chain(registry.composites().map(|composite| composite.name()))
}

/// A call of something that is neither a builtin, a composite, nor one of the functions `own` of the model.
pub(crate) fn unknown_op<'n>(
    name: &'n str,
    own: impl IntoIterator<Item = &'n str>,
    registry: &'n Registry,
    place: Place<'_>,
) -> Diagnostic {
    let error = Diagnostic::error(codes::UNKNOWN_NAME, format!("no function or op is named `{name}`"));
    if let Some((_, own)) = ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == name) {
        return place.mark(error, "unknown function").help(format!("here that is `{own}`"));
    }
    let candidates: Vec<&str> = own.into_iter().chain(op_names(registry)).collect();
    suggest(place.mark(error, "unknown function"), name, candidates)
}

impl Ops<'_> {
    /// A call of a builtin or a composite.
    pub(crate) fn call(&mut self, name: &str, given: Vec<Given>, spans: &dyn Spans) -> Result<Vec<Value>> {
        let Some(builtin) = find(name) else { return self.composite(name, given, spans) };
        let bound = bind(builtin, given, spans)?;
        match builtin.run {
            Run::Unary(emit, number) => self.unary(emit, number, &bound),
            Run::Rounded(emit, number) => self.rounded(emit, number, &bound),
            Run::Tensor(emit) => {
                let x = self.tensor_of(bound.required(0))?;
                self.emit_tensor(bound.whole, |b| emit(b, x)).map(|value| vec![value])
            }
            Run::Binary(emit, number, whole) => self.pairwise(emit, number, whole, &bound),
            Run::Reduce(reduction) => reductions::reduce(self, reduction, &bound),
            Run::Other(run) => run(self, &bound),
        }
    }

    /// A composite: tensors by position, attributes by name.
    fn composite(&mut self, name: &str, given: Vec<Given>, spans: &dyn Spans) -> Result<Vec<Value>> {
        if self.b.registry().composite(name).is_err() {
            return Err(unknown_op(name, [], self.b.registry(), Place::new(spans, Part::Function)));
        }
        let (mut args, mut attrs): (Vec<_>, Vec<(&str, Attr)>) = (Vec::new(), Vec::new());
        for (at, given) in given.iter().enumerate() {
            let place = Place::new(spans, Part::Given(at));
            match &given.name {
                None => args.push(self.tensor(&given.value, place)?),
                Some(keyword) => match to_attr(&given.value) {
                    Some(attr) => attrs.push((keyword, attr)),
                    None => return Err(self.wrong_kind("the value of an attribute", &given.value, place)),
                },
            }
        }
        let whole = Place::whole(spans);
        let results = self.emit(whole, |b| b.composite(name, &attrs, &args))?;
        results.iter().try_for_each(|&result| self.check_size(result, whole))?;
        Ok(results.into_iter().map(Value::Tensor).collect())
    }
}

/// Puts arguments in the order of the builtin's own.
fn bind<'s>(builtin: &Builtin, given: Vec<Given>, spans: &'s dyn Spans) -> Result<Bound<'s>> {
    let (name, arguments, count) = (builtin.name, builtin.arguments, given.len());
    let place = |part| Place::new(spans, part);
    let error = |message: String| Diagnostic::error(codes::CALL, message);
    let mut values: Vec<Option<(Value, Place<'s>)>> = vec![None; arguments.len()];
    for (at, given) in given.into_iter().enumerate() {
        let position = match &given.name {
            None => (at < arguments.len()).then_some(at),
            Some(keyword) => arguments.iter().position(|own| *keyword == **own),
        };
        let here = place(Part::Given(at));
        match (position, &given.name) {
            (Some(position), _) if values[position].is_none() => values[position] = Some((given.value, here)),
            (Some(position), _) => {
                let error = error(format!("argument `{}` of `{name}` is given twice", arguments[position]));
                return Err(here.mark(error, "again here"));
            }
            (None, Some(keyword)) => {
                let error = error(format!("`{name}` has no argument `{keyword}`"));
                let error = place(Part::Keyword(at)).mark(error, "unknown argument");
                return Err(suggest(error, keyword, arguments.iter().copied()).note(signature(builtin)));
            }
            (None, None) => {
                let error = error(format!("`{name}` takes {} arguments, found {count}", arguments.len()));
                return Err(here.mark(error, "one too many").note(signature(builtin)));
            }
        }
    }
    if let Some(missing) = values.iter().take(builtin.required).position(Option::is_none) {
        let error = error(format!("argument `{}` of `{name}` is missing", arguments[missing]));
        return Err(place(Part::Function).mark(error, "in this call").note(signature(builtin)));
    }
    Ok(Bound { values, whole: Place::whole(spans) })
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
        Value::Int(value, _) => Attr::Int(*value),
        Value::Real(value) => Attr::Real(Real(*value)),
        Value::Bool(value) => Attr::Bool(*value),
        Value::Text(text) => Attr::Word(text.clone()),
        Value::Type(dtype) => Attr::Word(Name::from(dtype.name())),
        Value::List(list) => {
            let int = |item: &Value| if let Value::Int(value, _) = item { Some(*value) } else { None };
            Attr::Ints(list.items.iter().map(int).collect::<Option<_>>()?)
        }
        Value::Tensor(_) | Value::Function(_) | Value::Absent(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_are_unique_and_need_no_more_than_they_take() {
        let mut names: Vec<_> = BUILTINS.iter().map(|builtin| builtin.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(BUILTINS.iter().all(|builtin| builtin.required <= builtin.arguments.len()));
    }
}
