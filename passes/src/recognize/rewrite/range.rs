//! Between which numbers the elements of a value lie.

use halite_ir::ops::Reduction;
use halite_ir::{Function, Inst, Op, Value};

/// The depth to which operands are followed.
const DEPTH: usize = 16;

/// Bounds of the elements that are numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Range {
    /// No finite element is less.
    pub(crate) low: f64,
    /// No element is greater.
    pub(crate) high: f64,
    /// Whether elements may be minus infinity besides, as masks make them.
    pub(crate) masked: bool,
}

impl Range {
    fn new(low: f64, high: f64) -> Option<Self> {
        (low.is_finite() && high.is_finite()).then_some(Self { low, high, masked: false })
    }

    /// The hull of several numbers.
    fn hull(numbers: [f64; 4]) -> Option<Self> {
        let least = numbers.into_iter().fold(f64::INFINITY, f64::min);
        Self::new(least, numbers.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }

    fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high), masked: self.masked || other.masked }
    }
}

/// Bounds that hold for every input, if some are known. NaN aside.
pub(crate) fn range(function: &Function, value: Value) -> Option<Range> {
    bounds(function, value, DEPTH)
}

fn bounds(function: &Function, value: Value, depth: usize) -> Option<Range> {
    let Inst { op, args, .. } = function.def(value)?;
    let arg = |at: usize| bounds(function, args[at], depth.checked_sub(1)?);
    let plain = |at: usize| arg(at).filter(|range| !range.masked);
    match op {
        Op::Constant(constant) => {
            let numbers = constant.value.f64s();
            let finite = || numbers.iter().copied().filter(|number| number.is_finite());
            let known = numbers.iter().all(|number| number.is_finite() || *number == f64::NEG_INFINITY);
            let low = finite().fold(f64::INFINITY, f64::min);
            let high = finite().fold(f64::NEG_INFINITY, f64::max);
            let range = known.then(|| Range::new(low, high)).flatten()?;
            Some(Range { masked: numbers.contains(&f64::NEG_INFINITY), ..range })
        }
        Op::Tanh(_) | Op::Erf(_) | Op::Sine(_) | Op::Cosine(_) => Range::new(-1.0, 1.0),
        Op::Logistic(_) => Range::new(0.0, 1.0),
        Op::Clamp(_) => Range::new(arg(0)?.low, arg(2)?.high),
        Op::Negate(_) => plain(0).and_then(|x| Range::new(-x.high, -x.low)),
        Op::Add(_) => {
            let (x, y) = (arg(0)?, arg(1)?);
            let sum = Range::new(x.low + y.low, x.high + y.high)?;
            Some(Range { masked: x.masked || y.masked, ..sum })
        }
        Op::Subtract(_) => {
            let (x, y) = (arg(0)?, plain(1)?);
            let difference = Range::new(x.low - y.high, x.high - y.low)?;
            Some(Range { masked: x.masked, ..difference })
        }
        Op::Multiply(_) => {
            let (x, y) = (plain(0)?, plain(1)?);
            Range::hull([x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high])
        }
        Op::Select(_) => select(function, args, depth),
        Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) | Op::Reverse(_) => arg(0),
        Op::Reduce(reduce) if reduce.kind != Reduction::Sum => plain(0),
        _ => None,
    }
}

/// Either of two, one of which may be minus infinity everywhere.
fn select(function: &Function, args: &[Value], depth: usize) -> Option<Range> {
    let depth = depth.checked_sub(1)?;
    let side = |at: usize| bounds(function, args[at], depth);
    let fills = |at: usize| is_minus_infinity(function, args[at]);
    match (fills(1), fills(2)) {
        (true, false) => Some(Range { masked: true, ..side(2)? }),
        (false, true) => Some(Range { masked: true, ..side(1)? }),
        _ => Some(side(1)?.with(side(2)?)),
    }
}

fn is_minus_infinity(function: &Function, value: Value) -> bool {
    match function.def(value) {
        Some(Inst { op: Op::Constant(constant), .. }) => constant.splat_value() == Some(f64::NEG_INFINITY),
        Some(Inst { op: Op::BroadcastInDim(_) | Op::Reshape(_), args, .. }) => is_minus_infinity(function, args[0]),
        _ => false,
    }
}
