//! Every builtin, with what a reference says of it.

use super::numbers::whole_power;
use super::{Binary, Builtin, Run, Unary, Unexplained, dropout, einsum, lists, movement, positions, reductions};
use crate::ops::division::{floor_divide, tensor_floor_divide};
use halite_ir::ops::Reduction;

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

pub(super) static BUILTINS: &[Builtin] = &[
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
    binary("floor_divide", tensor_floor_divide, |x, y| (x / y).floor(), floor_divide).is(
        "Each quotient rounded down to a whole number, as `//` does in Python; of tensors of whole numbers, or of reals, and of numbers.",
        "a = floor_divide(ids, 2)  // s32[2]\nb = floor_divide(-7, 2)",
        &["integer division", "div", "floordiv"],
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
