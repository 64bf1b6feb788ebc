//! Integers on engines that compute in `f32`, and constants of 64 bits.

use super::Checker;
use super::describe::describe;
use super::groups::Groups;
use super::ranges::{combiner, integers, reduced_elements, starts_beyond};
use halite_hlo::cost::Product;
use halite_tensor::{DType, IntRange};

/// `f32` holds every integer up to this magnitude.
const EXACT: i128 = 1 << 24;

impl Checker<'_, '_> {
    /// Operands or sums of integers may leave the range in which `f32` is exact.
    pub(super) fn unproven_integer(&self, at: usize, of: &[String]) -> Option<String> {
        let inst = self.graph.inst(at);
        let shape = self.graph.operand_shape(at, 0)?;
        let dtype = shape.dtype().filter(|dtype| dtype.is_int())?;
        if !of.is_empty() && !of.iter().any(|name| name == dtype.name()) {
            return None;
        }
        let ranges = self.ranges();
        let operand = |number: usize| ranges.operand(self.graph, at, number);
        let (x, y) = (operand(0), operand(1));
        let result = match &*inst.opcode {
            "dot" => Product::of(self.graph, at).map(|product| (x * y).sum_of(i128::from(product.inner))),
            "reduce" if starts_beyond(self.graph, at, x, y) => Some(x),
            "reduce" => self.folded(at, x, reduced_elements(self.graph, at)).map(|sums| sums.union(y)),
            "all-reduce" | "reduce-scatter" => {
                self.folded(at, x, Groups::of(inst).map(|groups| groups.largest() as i128))
            }
            "add" => Some((x + y).union(y)),
            "subtract" => Some((x - y).union(y)),
            "multiply" => Some((x * y).union(y)),
            _ => None,
        };
        // What leaves the type wraps, which floats do not.
        let all = IntRange::of(dtype).unwrap_or(IntRange::ALL);
        let exact = IntRange::new(all.low.max(1 - EXACT), all.high.min(EXACT - 1));
        if result.is_some_and(|result| result.union(x).within(exact)) {
            return None;
        }
        let (opcode, of) = (&inst.opcode, describe(Some(shape)));
        Some(match result {
            Some(result) => format!("`{opcode}` of `{of}` in {x} makes integers in {result}, and {exact} are exact"),
            None => format!("`{opcode}` of `{of}` in {x} makes integers that may leave {exact}"),
        })
    }

    /// A divisor that is not proven to be one power of two: division goes through a reciprocal in `f32`.
    pub(super) fn inexact_division(&self, at: usize) -> Option<String> {
        let shape = self.graph.operand_shape(at, 1).filter(|shape| shape.dtype().is_some_and(DType::is_int))?;
        let divisor = self.ranges().operand(self.graph, at, 1);
        let is_power = divisor.low == divisor.high && divisor.low > 0 && divisor.low & (divisor.low - 1) == 0;
        let (opcode, of) = (self.graph.opcode(at), describe(Some(shape)));
        (!is_power).then(|| format!("`{opcode}` of `{of}` by what lies in {divisor}, which is no power of two"))
    }

    /// The compiler refuses integers here, whatever their range, unless its flag names the op.
    pub(super) fn unnamed_downcast(&self, at: usize, of: &[String]) -> Option<String> {
        let opcode = self.graph.opcode(at);
        let (shape, name) = (self.graph.operand_shape(at, 0)?, opcode.replace('-', "_"));
        let named = |own: &String| *own == name || own == "all";
        if self.profile.downcasts.iter().any(named) || !of.iter().any(|of| of == shape.element_name()) {
            return None;
        }
        Some(format!(
            "`{opcode}` of `{}`, and `--implicit-integer-downcast` does not name `{name}`",
            describe(Some(shape))
        ))
    }

    /// The range of the result of combining `count` values; bits are combined without arithmetic.
    fn folded(&self, at: usize, x: IntRange, count: Option<i128>) -> Option<IntRange> {
        match combiner(self.graph, at)? {
            "add" => Some(x.sum_of(count?)),
            "maximum" | "minimum" => Some(x),
            "and" | "or" | "xor" => Some(IntRange::ZERO),
            _ => None,
        }
    }

    /// A 64-bit constant holds a value beyond 32 bits.
    pub(super) fn wide_constant(&self, at: usize) -> Option<String> {
        let inst = self.graph.inst(at);
        let dtype = inst.shape.as_ref()?.dtype()?;
        let narrow = match dtype {
            DType::S64 => DType::S32,
            DType::U64 => DType::U32,
            _ => return None,
        };
        let taken = IntRange::of(narrow)?;
        let literal = inst.literal.as_deref()?;
        let wide = integers(literal, dtype);
        let wide = wide.into_iter().find(|&value| !IntRange::new(value, value).within(taken))?;
        Some(format!("the constant {wide} does not fit `{narrow}`"))
    }
}
