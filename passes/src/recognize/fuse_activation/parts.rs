//! Parts of the spellings of activations.

use crate::recognize::rewrite::{
    Pattern, add, composite, divide, either, erf, exponential, is, logistic, multiply, near, negate, power, tanh,
    tensor,
};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, SQRT_2};

/// `sqrt(2 / pi)`.
const SLOPE: f64 = FRAC_2_SQRT_PI * FRAC_1_SQRT_2;

/// The weight of the cube.
const CUBIC: f64 = 0.044715;

/// `1 + exp(-x)`.
fn one_and_power(x: impl Fn() -> Pattern) -> Pattern {
    add(exponential(either([negate(x()), multiply(x(), is(-1.0))])), is(1.0))
}

/// `1 / (1 + exp(-x))`.
fn gate(x: impl Fn() -> Pattern) -> Pattern {
    let one_and_power = || one_and_power(&x);
    either([logistic(x()), divide(is(1.0), one_and_power()), power(one_and_power(), is(-1.0))])
}

/// `x * gate(of)`.
pub(super) fn gated(x: impl Fn() -> Pattern, of: impl Fn() -> Pattern) -> Pattern {
    either([multiply(x(), gate(&of)), divide(x(), one_and_power(&of))])
}

/// `x * (gate(x) * y)`.
pub(super) fn gated_late(x: impl Fn() -> Pattern, y: Pattern) -> Pattern {
    multiply(x(), multiply(gate(&x), y))
}

/// `x / 2`.
pub(super) fn halved(x: Pattern) -> Pattern {
    either([multiply(x.clone(), is(0.5)), divide(x, is(2.0))])
}

/// `x * (1 + curve) / 2`, halved before anything can overflow.
pub(super) fn weighed(x: impl Fn() -> Pattern, curve: impl Fn() -> Pattern) -> Pattern {
    let doubled = || add(curve(), is(1.0));
    either([
        multiply(halved(x()), doubled()),
        multiply(x(), halved(doubled())),
        multiply(x(), add(halved(curve()), is(0.5))),
    ])
}

/// `erf(x / sqrt(2))`.
pub(super) fn exact_curve() -> Pattern {
    const SCALE: &str = "the argument of `erf` is not the operand over the root of 2";
    let x = || near(tensor("x"), "`erf` is that of another tensor");
    erf(either([multiply(x(), near(is(FRAC_1_SQRT_2), SCALE)), divide(x(), near(is(SQRT_2), SCALE))]))
}

/// `erfc(-x / sqrt(2))`.
pub(super) fn negated_curve() -> Pattern {
    const SCALE: &str = "the argument of `erfc` is not the negated operand over the root of 2";
    let x = || near(tensor("x"), "`erfc` is that of another tensor");
    let scale = |number: f64| near(is(number), SCALE);
    let argument = either([
        multiply(negate(x()), scale(FRAC_1_SQRT_2)),
        negate(multiply(x(), scale(FRAC_1_SQRT_2))),
        divide(negate(x()), scale(SQRT_2)),
        negate(divide(x(), scale(SQRT_2))),
        multiply(x(), scale(-FRAC_1_SQRT_2)),
        divide(x(), scale(-SQRT_2)),
    ]);
    composite("erfc", [argument])
}

/// `tanh(sqrt(2 / pi) * (x + 0.044715 x^3))`.
pub(super) fn tanh_curve() -> Pattern {
    let x = || tensor("x");
    let cubic = || near(is(CUBIC), "the weight of the cube is not 0.044715");
    let slope = || near(is(SLOPE), "the slope is not the root of 2 over pi");
    let square = || either([multiply(x(), x()), power(x(), is(2.0))]);
    let cube = || either([power(x(), is(3.0)), multiply(square(), x())]);
    let bent_cube = || either([multiply(cube(), cubic()), multiply(multiply(square(), cubic()), x())]);
    let bent_square = || either([multiply(square(), cubic()), multiply(multiply(x(), cubic()), x())]);
    let factor = || add(bent_square(), is(1.0));
    let bent = || multiply(square(), is(SLOPE * CUBIC));
    let argument = either([
        multiply(x(), add(bent(), is(SLOPE))),
        multiply(add(bent_cube(), x()), slope()),
        multiply(multiply(x(), factor()), slope()),
        multiply(multiply(x(), slope()), factor()),
        multiply(x(), multiply(factor(), slope())),
    ]);
    tanh(argument)
}
