//! `compare`.

use super::class::zip_numbers;
use super::special::{INTS, int_pairs, pred_pairs, real_pairs};
use crate::attr::{AttrVisitor, word_attr};
use crate::build::Builder;
use crate::described;
use crate::dims::FactorMap;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::op::{Cost, OpDef, Policy, Sample, Vjp, VjpCx, arity, require_same};
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_hlo::{Comparison, Id};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use smallvec::smallvec;

described! {
    /// Element-wise comparison of two tensors of one type. Any comparison with NaN is false, except `NE`, which is true;
    /// zeros of both signs are equal; `pred` has false below true.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Compare {
        /// The comparison that is made.
        pub direction: Direction,
    }
}

word_attr! {
    /// The comparison that [`Compare`] makes of its operands.
    Direction, "`EQ`, `NE`, `GE`, `GT`, `LE` or `LT`" {
        /// Equal.
        #[default]
        Eq = "EQ",
        /// Not equal.
        Ne = "NE",
        /// Greater or equal.
        Ge = "GE",
        /// Greater.
        Gt = "GT",
        /// Less or equal.
        Le = "LE",
        /// Less.
        Lt = "LT",
    }
}

impl Direction {
    /// The answer for two elements.
    pub fn holds<T: PartialOrd>(self, x: &T, y: &T) -> bool {
        match self {
            Direction::Eq => x == y,
            Direction::Ne => x != y,
            Direction::Ge => x >= y,
            Direction::Gt => x > y,
            Direction::Le => x <= y,
            Direction::Lt => x < y,
        }
    }

    /// The same in HLO.
    fn hlo(self) -> Comparison {
        match self {
            Direction::Eq => Comparison::Eq,
            Direction::Ne => Comparison::Ne,
            Direction::Ge => Comparison::Ge,
            Direction::Gt => Comparison::Gt,
            Direction::Le => Comparison::Le,
            Direction::Lt => Comparison::Lt,
        }
    }
}

impl OpDef for Compare {
    fn name(&self) -> &str {
        "compare"
    }

    fn attrs(&mut self, visitor: &mut dyn AttrVisitor) {
        visitor.attr("direction", &mut self.direction);
    }

    fn infer(&self, _: &InferCx<'_>, args: &[&TensorType]) -> Result<Types> {
        let [x, y] = arity("compare", args)?;
        require_same("compare", x, y)?;
        Ok(smallvec![x.with_dtype(DType::Pred)])
    }

    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>> {
        let real = |x: f64, y: f64| f64::from(u8::from(self.direction.holds(&x, &y)));
        let int = |x: i128, y: i128| i128::from(self.direction.holds(&x, &y));
        Ok(zip_numbers(cx, args, real, int))
    }

    fn vjp(&self, _: &mut Builder<'_>, _: &VjpCx<'_>) -> Result<Vjp> {
        Ok(Vjp::none("the result is a predicate"))
    }

    fn policy(&self, _: &InferCx<'_>) -> Policy {
        Policy::EXACT
    }

    fn cost(&self, _: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost {
        Cost::elementwise(1, args, results)
    }

    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap {
        FactorMap::elementwise(args, results)
    }

    fn lower(&self, cx: &mut LowerCx<'_>, args: &[Id]) -> Result<Ids> {
        cx.one(|hlo| hlo.compare(self.direction.hlo(), args[0], args[1]))
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let floats = Direction::ALL
            .iter()
            .map(|&direction| Sample::new(direction.word(), Compare { direction }, real_pairs(float)));
        let less = |dtype: DType| Sample::new(dtype.name(), Compare { direction: Direction::Lt }, int_pairs(dtype));
        let preds = Sample::new("pred", Compare { direction: Direction::Ge }, pred_pairs());
        floats.chain(INTS.map(less)).chain([preds]).collect()
    }
}

impl Builder<'_> {
    /// Element-wise comparison, giving `pred`.
    ///
    /// # Errors
    /// When the types differ.
    pub fn compare(&mut self, x: Value, y: Value, direction: Direction) -> Result<Value> {
        self.emit(Compare { direction }, &[x, y])
    }
}
