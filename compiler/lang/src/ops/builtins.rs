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
use halite_support::nearest::nearest;
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
    about: About,
}

/// What a reference says of a builtin.
#[derive(Clone, Copy, Debug)]
struct About {
    /// What it means, a sentence or two.
    text: &'static str,
    /// Statements of a function with the tensors of [`example_model`](crate::reference::example_model); `// f32[2]` after one is what it
    /// makes.
    example: &'static str,
    /// What others call it.
    aliases: &'static [&'static str],
}

/// A builtin, for a reference.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BuiltinDoc {
    /// Its name in models.
    pub name: &'static str,
    /// How it is called: `sum(x, dims = .., keep = ..)`, with `..` for what may be left out.
    pub signature: String,
    /// What it means, a sentence or two.
    pub about: &'static str,
    /// Statements of a function with the tensors of [`example_model`](crate::reference::example_model); `// f32[2]` after one is the type of what it makes.
    pub example: &'static str,
    /// What others call it.
    pub aliases: &'static [&'static str],
}

/// A builtin before a reference can say anything of it.
struct Unexplained {
    name: &'static str,
    arguments: &'static [&'static str],
    required: usize,
    run: Run,
}

impl Unexplained {
    const fn is(self, text: &'static str, example: &'static str, aliases: &'static [&'static str]) -> Builtin {
        let Self { name, arguments, required, run } = self;
        Builtin { name, arguments, required, run, about: About { text, example, aliases } }
    }
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

const fn builtin(name: &'static str, arguments: &'static [&'static str], required: usize, run: Run) -> Unexplained {
    Unexplained { name, arguments, required, run }
}

const fn unary(name: &'static str, emit: Unary, number: fn(f64) -> f64) -> Unexplained {
    builtin(name, &["x"], 1, Run::Unary(emit, number))
}

const fn rounded(name: &'static str, emit: Unary, number: fn(f64) -> f64) -> Unexplained {
    builtin(name, &["x"], 1, Run::Rounded(emit, number))
}

const fn tensor(name: &'static str, emit: Unary) -> Unexplained {
    builtin(name, &["x"], 1, Run::Tensor(emit))
}

const fn binary(
    name: &'static str,
    emit: Binary,
    number: fn(f64, f64) -> f64,
    whole: fn(i64, i64) -> Option<i64>,
) -> Unexplained {
    builtin(name, &["x", "y"], 2, Run::Binary(emit, number, whole))
}

const fn reduce(name: &'static str, reduction: Reduction) -> Unexplained {
    builtin(name, &["x", "dims", "keep"], 1, Run::Reduce(reduction))
}

static BUILTINS: &[Builtin] = &[
    unary("abs", |b, x| b.abs(x), f64::abs).is(
        "The absolute value of each element, or of a number.",
        "a = abs(x)  // f32[2, 3]",
        &[],
    ),
    unary("cbrt", |b, x| b.cbrt(x), f64::cbrt).is(
        "The cube root of each element, or of a number.",
        "a = cbrt(x)  // f32[2, 3]",
        &["cube root"],
    ),
    rounded("ceil", |b, x| b.ceil(x), f64::ceil).is(
        "The smallest whole number that is not below each element, or a number, which becomes a whole number.",
        "a = ceil(x)  // f32[2, 3]",
        &["round up"],
    ),
    unary("cos", |b, x| b.cosine(x), f64::cos).is(
        "The cosine of each element, or of a number, in radians.",
        "a = cos(x)  // f32[2, 3]",
        &["cosine"],
    ),
    unary("exp", |b, x| b.exponential(x), f64::exp).is(
        "`e` to the power of each element, or of a number.",
        "a = exp(x)  // f32[2, 3]",
        &["exponential"],
    ),
    unary("expm1", |b, x| b.exponential_minus_one(x), f64::exp_m1).is(
        "`exp(x) - 1` of each element, or of a number, accurate near zero.",
        "a = expm1(x)  // f32[2, 3]",
        &[],
    ),
    tensor("erf", |b, x| b.erf(x)).is(
        "The Gauss error function of each element.",
        "a = erf(x)  // f32[2, 3]",
        &["error function"],
    ),
    rounded("floor", |b, x| b.floor(x), f64::floor).is(
        "The largest whole number that is not above each element, or a number, which becomes a whole number: `floor(0.25 * 8)` is a size.",
        "a = floor(x)  // f32[2, 3]\nb = full([floor(2.9)], 0)  // f32[2]",
        &["round down"],
    ),
    tensor("is_finite", |b, x| b.is_finite(x)).is(
        "Whether each element is a number, neither infinite nor NaN.",
        "a = is_finite(x)  // pred[2, 3]",
        &["isfinite", "isnan", "nan"],
    ),
    unary("log", |b, x| b.log(x), f64::ln).is(
        "The natural logarithm of each element, or of a number.",
        "a = log(x)  // f32[2, 3]",
        &["ln", "logarithm"],
    ),
    unary("log1p", |b, x| b.log_plus_one(x), f64::ln_1p).is(
        "`log(1 + x)` of each element, or of a number, accurate near zero.",
        "a = log1p(x)  // f32[2, 3]",
        &[],
    ),
    rounded("round", |b, x| b.round_nearest_even(x), f64::round_ties_even).is(
        "The nearest whole number of each element, or of a number, which becomes a whole number; of two equally near ones the even one.",
        "a = round(x)  // f32[2, 3]",
        &[],
    ),
    unary("rsqrt", |b, x| b.rsqrt(x), |x| x.sqrt().recip()).is(
        "One divided by the square root of each element, or of a number.",
        "a = rsqrt(x * x + 1e-6)  // f32[2, 3]",
        &["inverse square root"],
    ),
    unary("sigmoid", |b, x| b.logistic(x), |x| 1.0 / (1.0 + (-x).exp())).is(
        "`1 / (1 + exp(-x))` of each element, or of a number.",
        "a = sigmoid(x)  // f32[2, 3]",
        &["logistic"],
    ),
    tensor("sign", |b, x| b.sign(x)).is(
        "-1, 0 or 1, as each element is below, at or above zero.",
        "a = sign(x)  // f32[2, 3]",
        &[],
    ),
    unary("sin", |b, x| b.sine(x), f64::sin).is(
        "The sine of each element, or of a number, in radians.",
        "a = sin(x)  // f32[2, 3]",
        &["sine"],
    ),
    unary("sqrt", |b, x| b.sqrt(x), f64::sqrt).is(
        "The square root of each element, or of a number.",
        "a = sqrt(abs(x))  // f32[2, 3]",
        &["square root"],
    ),
    unary("tan", |b, x| b.tan(x), f64::tan).is(
        "The tangent of each element, or of a number, in radians.",
        "a = tan(x)  // f32[2, 3]",
        &["tangent"],
    ),
    unary("tanh", |b, x| b.tanh(x), f64::tanh).is(
        "The hyperbolic tangent of each element, or of a number.",
        "a = tanh(x)  // f32[2, 3]",
        &[],
    ),
    binary("atan2", |b, x, y| b.atan2(x, y), f64::atan2, |_, _| None).is(
        "The angle of the point with the coordinates `y` and `x`, the first operand being `y`.",
        "a = atan2(y, x)  // f32[2, 3]",
        &["arctan2", "angle"],
    ),
    binary("maximum", |b, x, y| b.maximum(x, y), f64::max, |x, y| Some(x.max(y))).is(
        "The larger of two elements, or of two numbers. One of the operands may be a number; tensors are repeated to one shape.",
        "a = maximum(x, 0)  // f32[2, 3]\nb = maximum(x, y)  // f32[2, 3]",
        &["larger"],
    ),
    binary("minimum", |b, x, y| b.minimum(x, y), f64::min, |x, y| Some(x.min(y))).is(
        "The smaller of two elements, or of two numbers. One of the operands may be a number; tensors are repeated to one shape.",
        "a = minimum(x, y)  // f32[2, 3]",
        &["smaller"],
    ),
    binary("power", |b, x, y| b.power(x, y), f64::powf, whole_power).is(
        "The first operand to the power of the second, element by element or of numbers.",
        "a = power(x, 3)  // f32[2, 3]",
        &["exponent", "pow"],
    ),
    reduce("max", Reduction::Max).is(
        "The largest element along dimensions: all of them unless `dims` names some; `keep = true` leaves them there with size 1.",
        "a = max(x, dims = [1])  // f32[2]\nb = max(x, dims = [-1], keep = true)  // f32[2, 1]",
        &[],
    ),
    reduce("min", Reduction::Min).is(
        "The smallest element along dimensions: all of them unless `dims` names some; `keep = true` leaves them there with size 1.",
        "a = min(x)  // f32[]",
        &[],
    ),
    reduce("sum", Reduction::Sum).is(
        "The sum of elements along dimensions: all of them unless `dims` names some; `keep = true` leaves them there with size 1.",
        "a = sum(x, dims = [0])  // f32[3]\nb = sum(x)  // f32[]",
        &["reduce", "add up"],
    ),
    builtin("mean", &["x", "dims", "keep"], 1, Run::Other(reductions::mean)).is(
        "The mean of elements along dimensions: all of them unless `dims` names some; `keep = true` leaves them there with size 1.",
        "a = mean(x, dims = [-1], keep = true)  // f32[2, 1]",
        &["average"],
    ),
    builtin("argmax", &["x", "dim"], 1, Run::Other(positions::argmax)).is(
        "The position of the largest element along a dimension, the last one unless `dim` names another, as `s32`; of equal ones the first.",
        "a = argmax(x)  // s32[2]\nb = argmax(x, dim = 0)  // s32[3]",
        &["arg_max", "accuracy"],
    ),
    builtin("argmin", &["x", "dim"], 1, Run::Other(positions::argmin)).is(
        "The position of the smallest element along a dimension, the last one unless `dim` names another, as `s32`; of equal ones the first.",
        "a = argmin(x)  // s32[2]",
        &["arg_min"],
    ),
    builtin("argsort", &["x", "dim", "descending"], 1, Run::Other(positions::argsort)).is(
        "The positions of the elements along a dimension in increasing order, as `s32`; equal ones keep their order, NaN comes last.",
        "a = argsort(x)  // s32[2, 3]\nb = argsort(x, dim = 0, descending = true)  // s32[2, 3]",
        &[],
    ),
    builtin("broadcast", &["x", "shape"], 2, Run::Other(movement::broadcast)).is(
        "A tensor repeated to a shape. Dimensions are aligned at the last one; sizes of 1 are repeated too.",
        "a = broadcast(x, [4, 2, 3])  // f32[4, 2, 3]",
        &["expand", "repeat", "tile"],
    ),
    builtin("clamp", &["x", "low", "high"], 3, Run::Other(movement::clamp)).is(
        "Each element, or `low` where it is below that, or `high` where it is above; both are numbers or scalars.",
        "a = clamp(x, -1, 1)  // f32[2, 3]",
        &["clip"],
    ),
    builtin("concat", &["parts", "dim"], 1, Run::Other(movement::concat)).is(
        "Tensors one after another along a dimension, the last one unless `dim` names another.",
        "a = concat([x, y])  // f32[2, 6]\nb = concat([x, y], dim = 0)  // f32[4, 3]",
        &["concatenate", "cat", "join"],
    ),
    builtin("convert", &["x", "type"], 2, Run::Other(movement::convert)).is(
        "The same numbers in another element type.",
        "a = convert(ids, f32)  // f32[2]",
        &["cast", "astype", "dtype", "to"],
    ),
    builtin("dim", &["x", "dim"], 2, Run::Other(movement::dim)).is(
        "The size of a dimension, as a whole number; the model is elaborated with it.",
        "a = full([dim(x, 0), dim(x, -1)], 0)  // f32[2, 3]",
        &["size", "shape", "len"],
    ),
    builtin("dropout", &["x", "rate"], 2, Run::Other(dropout::dropout)).is(
        "`x` with elements dropped at random while training: an element is zero with probability `rate`, and divided by `1 - rate` otherwise. A rate of 0 adds nothing.",
        "a = dropout(x, 0.1)  // f32[2, 3]",
        &["regularization"],
    ),
    builtin("einsum", &["equation", "x", "y"], 2, Run::Other(einsum::einsum)).is(
        "The product of one or two tensors by the letters of their dimensions: equal letters are multiplied with each other, and those that the result lacks are summed over.",
        "a = einsum(\"ij,kj->ik\", x, y)  // f32[2, 2]\nb = einsum(\"ij->j\", x)  // f32[3]",
        &["contraction", "tensordot", "bmm"],
    ),
    builtin("full", &["shape", "value", "type"], 2, Run::Other(movement::full)).is(
        "A tensor of this shape that holds one number everywhere; of the element type of the model unless `type` names another.",
        "a = full([2, 3], 0.5)  // f32[2, 3]\nb = full([4], 1, type = s32)  // s32[4]",
        &["zeros", "ones", "fill", "constant"],
    ),
    builtin("gather", &["x", "indices", "dim"], 2, Run::Other(positions::gather)).is(
        "One element for each of `indices`, at the same place but for one dimension, the last one unless `dim` names another, as `take_along_axis` of NumPy and `gather` of PyTorch. Positions out of range are clamped.",
        "a = gather(x, argsort(x))  // f32[2, 3]",
        &["take_along_axis"],
    ),
    builtin("iota", &["shape", "dim", "type"], 1, Run::Other(movement::iota)).is(
        "The numbers 0, 1, 2, .. along a dimension, the last one unless `dim` names another; `s32` unless `type` names another.",
        "a = iota([3])  // s32[3]\nb = iota([2, 3], dim = 0, type = f32)  // f32[2, 3]",
        &["arange", "range", "positions"],
    ),
    builtin("len", &["list"], 1, Run::Other(lists::len)).is(
        "How many items a list has, as a whole number.",
        "a = full([len([4, 5])], 0)  // f32[2]",
        &["length"],
    ),
    builtin("one_hot", &["indices", "size", "type"], 2, Run::Other(positions::one_hot)).is(
        "A further dimension of `size` elements, last, that is 1 where it has the index and 0 elsewhere; of the element type of the model unless `type` names another.",
        "a = one_hot(ids, 5)  // f32[2, 5]",
        &["onehot"],
    ),
    builtin("pad", &["x", "widths", "value"], 2, Run::Other(movement::pad)).is(
        "Elements before and after those of each dimension, by a pair of numbers for each; they are 0 unless `value` says otherwise.",
        "a = pad(x, [[0, 0], [1, 2]])  // f32[2, 6]",
        &["padding"],
    ),
    builtin("rank", &["x"], 1, Run::Other(movement::rank)).is(
        "The number of dimensions, as a whole number.",
        "a = full([rank(x)], 0)  // f32[2]",
        &["ndim"],
    ),
    builtin("reshape", &["x", "shape"], 2, Run::Other(movement::reshape)).is(
        "The same elements in row-major order under another shape; one size may be -1, which is what the others leave.",
        "a = reshape(x, [3, 2])  // f32[3, 2]\nb = reshape(x, [-1])  // f32[6]",
        &["view", "flatten"],
    ),
    builtin("reverse", &["x", "dims"], 1, Run::Other(movement::reverse)).is(
        "The elements backwards along dimensions, or along all; `x[::-1]` does it for the first.",
        "a = reverse(x, dims = [1])  // f32[2, 3]",
        &["flip"],
    ),
    builtin("sort", &["x", "dim", "descending"], 1, Run::Other(positions::sort)).is(
        "The elements along a dimension, the last one unless `dim` names another, in increasing order; NaN comes last.",
        "a = sort(x)  // f32[2, 3]\nb = sort(x, descending = true)  // f32[2, 3]",
        &[],
    ),
    builtin("split", &["x", "parts", "dim"], 2, Run::Other(movement::split)).is(
        "Equal parts of a dimension, the last one unless `dim` names another: as many results as parts.",
        "a, b, c = split(x, 3)\nd = concat([c, b, a])  // f32[2, 3]",
        &["chunk"],
    ),
    builtin("stack", &["parts", "dim"], 1, Run::Other(lists::stack)).is(
        "Tensors of one shape along a new dimension, the first one unless `dim` names another.",
        "a = stack([x, y])  // f32[2, 2, 3]\nb = stack([x, y], dim = -1)  // f32[2, 3, 2]",
        &["list of tensors"],
    ),
    builtin("take", &["x", "indices", "dim"], 2, Run::Other(positions::take)).is(
        "What `indices` name along a dimension, the first one unless `dim` names another, which their dimensions take the place of; `x[indices]` does it for the first. Positions out of range are clamped.",
        "a = take(x, ids)  // f32[2, 3]\nb = x[:, ids]  // f32[2, 2]",
        &["index_select", "lookup", "gather rows", "index"],
    ),
    builtin("transpose", &["x", "order"], 1, Run::Other(movement::transpose)).is(
        "The dimensions in another order; without `order` they are reversed.",
        "a = transpose(x)  // f32[3, 2]\nb = transpose(x, [1, 0])  // f32[3, 2]",
        &["permute", "swapaxes"],
    ),
    builtin("where", &["condition", "x", "y"], 3, Run::Other(movement::select)).is(
        "Elements of `x` where the condition holds, of `y` elsewhere. `x` and `y` may be numbers; tensors are repeated to one shape.",
        "a = where(x > y, x, 0)  // f32[2, 3]",
        &["select", "mask", "masked_fill", "condition"],
    ),
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
    let error = place.mark(error, "unknown function");
    if let Some(builtin) = BUILTINS.iter().find(|builtin| builtin.about.aliases.contains(&name)) {
        return error.help(format!("here that is `{0}`; `halite help {0}` describes it", builtin.name));
    }
    match nearest(name, own.into_iter().chain(op_names(registry))) {
        Some(near) if op_names(registry).any(|op| op == near) => {
            error.help(format!("did you mean `{near}`? `halite help {near}` describes it"))
        }
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help(format!("define it, or see what `halite help {name}` finds")),
    }
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

/// How a builtin is called, as a note.
fn signature(builtin: &Builtin) -> String {
    format!("it is `{}`", builtin.form())
}

impl Builtin {
    /// `reshape(x, shape)`, with `..` for what may be left out.
    fn form(&self) -> String {
        let optional =
            |(at, name): (usize, &&str)| if at < self.required { (*name).to_owned() } else { format!("{name} = ..") };
        let arguments: Vec<_> = self.arguments.iter().enumerate().map(optional).collect();
        format!("{}({})", self.name, arguments.join(", "))
    }
}

/// What a reference says of each builtin, in order.
pub(crate) fn builtin_docs() -> impl Iterator<Item = BuiltinDoc> {
    BUILTINS.iter().map(|builtin| {
        let About { text, example, aliases } = builtin.about;
        BuiltinDoc { name: builtin.name, signature: builtin.form(), about: text, example, aliases }
    })
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
