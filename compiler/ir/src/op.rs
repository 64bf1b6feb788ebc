//! The trait of ops: everything the compiler knows about an op. Each op implements it in its own file.

use crate::attr::AttrVisitor;
use crate::build::Builder;
use crate::described::Described;
use crate::dims::FactorMap;
use crate::effect::Effect;
use crate::infer::InferCx;
use crate::interpret::EvalCx;
use crate::lower::{Ids, LowerCx};
use crate::ops::Op;
use crate::shards::{Linear, Shards};
use crate::syntax::Value;
use crate::syntax::Values;
use crate::ty::{TensorType, Types};
use crate::wire::Wire;
use halite_support::{Diagnostic, Name, Result};
use halite_tensor::{DType, HostTensor};
use smallvec::SmallVec;
use std::fmt;

/// Everything the compiler knows about an op. An op that has no gradient, no lowering or no samples says so and why; what
/// element-wise ops have in common is written once, in `ops/elementwise.rs`.
pub trait OpDef: fmt::Debug + Described + sealed::Sealed {
    /// The name in IR text: the StableHLO mnemonic where there is one.
    fn name(&self) -> &str;

    /// Shows every attribute to `visitor`, in print order. Printing, parsing and documentation come from this.
    fn attrs(&mut self, visitor: &mut dyn AttrVisitor);

    /// The types of the results, or why the operands do not fit. This is the only place that computes or checks types;
    /// the verifier calls it again.
    ///
    /// # Errors
    /// A diagnostic without a position; the caller adds it.
    fn infer(&self, cx: &InferCx<'_>, args: &[&TensorType]) -> Result<Types>;

    /// The reference meaning on one rank, written to be read: floats compute in `f64` and round once per instruction,
    /// integers wrap. Operands have passed `infer`.
    ///
    /// # Errors
    /// When these inputs have no meaning, or for ops that need all ranks.
    fn eval(&self, cx: &EvalCx<'_>, args: &[&HostTensor]) -> Result<Vec<HostTensor>>;

    /// The reference meaning on all ranks at once: `args[rank][operand]` to `results[rank][result]`.
    /// Only collectives need more than `eval` on each rank.
    ///
    /// # Errors
    /// As `eval`.
    fn eval_ranks(&self, cx: &EvalCx<'_>, args: &[Vec<&HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        args.iter().map(|args| self.eval(cx, args)).collect()
    }

    /// Emits the cotangents of the operands given those of the results. Rules prefer results over operands, so that
    /// operands can be freed, and emit literal constants, never `x / x`.
    ///
    /// # Errors
    /// Only when an emitted instruction is ill-typed, which is a bug of the rule.
    fn vjp(&self, b: &mut Builder<'_>, cx: &VjpCx<'_>) -> Result<Vjp>;

    /// Its policy under mixed precision: the types of operands, computation, sums and results.
    fn policy(&self, cx: &InferCx<'_>) -> Policy;

    /// Whether passes may remove, merge, move and reorder it.
    fn effect(&self, cx: &InferCx<'_>) -> Effect {
        let _ = cx;
        Effect::NONE
    }

    /// Floating-point operations and bytes moved, when each operand is read and each result written once.
    fn cost(&self, cx: &InferCx<'_>, args: &[&TensorType], results: &[TensorType]) -> Cost;

    /// The traffic of each rank for it; `None` for an op of one rank.
    fn wire<'a>(&'a self, args: &[&TensorType], results: &[&TensorType]) -> Option<Wire<'a>> {
        let _ = (args, results);
        None
    }

    /// The correspondence of operand dimensions and result dimensions.
    fn dims(&self, args: &[&TensorType], results: &[TensorType]) -> FactorMap;

    /// Its linearity: which partial sums may pass through it, on operands and to results of these types.
    fn linear(&self, args: &[TensorType], results: &[TensorType]) -> Linear {
        let _ = (args, results);
        Linear::No
    }

    /// Emits the op on one rank, given the rank's shard of each operand, and returns its shard of each result; `None` for the op as it
    /// is. Where a factor that is [reduced over](crate::dims::FactorKind::Contracted), or [indexed](crate::dims::FactorKind::Indexed)
    /// in an operand, is sharded, the rank gets one term of the result. Ops whose attributes are sizes or positions make them those of
    /// a rank here.
    ///
    /// # Errors
    /// Only when an emitted instruction is ill-typed.
    fn on_shards(&self, b: &mut Builder<'_>, shards: &Shards<'_>, args: &[Value]) -> Result<Option<Values>> {
        let _ = (b, shards, args);
        Ok(None)
    }

    /// Emits HLO for it and returns one id for each result.
    ///
    /// # Errors
    /// When HLO has no form for it.
    fn lower(&self, cx: &mut LowerCx<'_>, args: &[halite_hlo::Id]) -> Result<Ids>;

    /// The opcode of the only HLO instruction that it is, on the same operands and without attributes.
    fn opcode(&self) -> Option<halite_hlo::Opcode> {
        None
    }

    /// Small well-typed applications with floats of type `float`, from which the round-trip, gradient, precision and
    /// interpreter-against-XLA tests are made.
    fn samples(&self, float: DType) -> Vec<Sample>;
}

pub(crate) mod sealed {
    /// Ops are those of this crate; others add composites.
    pub trait Sealed {}
}

/// The context of a gradient rule.
#[derive(Debug)]
pub struct VjpCx<'a> {
    /// The operands of the primal instruction.
    pub args: &'a [Value],
    /// The results of the primal instruction.
    pub results: &'a [Value],
    /// Cotangents of the results; `None` is a symbolic zero. At least one is present.
    pub cts: &'a [Option<Value>],
    /// For each operand, whether it needs a cotangent. Others may be answered with `None`.
    pub wanted: &'a [bool],
}

impl VjpCx<'_> {
    /// The cotangent of the only result.
    pub fn ct(&self) -> Option<Value> {
        self.cts[0]
    }

    /// The cotangent of operand `index`, which `rule` emits only when it is wanted.
    ///
    /// # Errors
    /// Those of `rule`.
    pub fn want(&self, index: usize, rule: impl FnOnce() -> Result<Value>) -> Result<Option<Value>> {
        self.wanted[index].then(rule).transpose()
    }
}

/// The result of a gradient rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Vjp {
    /// One cotangent for each operand; `None` is a symbolic zero.
    Cotangents(SmallVec<[Option<Value>; 4]>),
    /// There is no derivative, for this reason.
    None(String),
}

impl Vjp {
    /// The cotangent of a single operand.
    pub fn one(ct: Value) -> Self {
        Self::Cotangents(SmallVec::from_slice(&[Some(ct)]))
    }

    /// Cotangents in operand order.
    pub fn of(cts: impl IntoIterator<Item = Option<Value>>) -> Self {
        Self::Cotangents(cts.into_iter().collect())
    }

    /// There is no derivative, for this reason: half a sentence for people.
    pub fn none(reason: impl Into<String>) -> Self {
        Self::None(reason.into())
    }

    /// Zero for each of `count` operands: the op is locally constant almost everywhere.
    pub fn zeros(count: usize) -> Self {
        Self::Cotangents(smallvec::smallvec![None; count])
    }
}

pub use crate::policy::Policy;

/// Work of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Floating-point operations; a fused multiply-add counts two, a transcendental function one.
    pub flops: u64,
    /// Bytes read and written.
    pub bytes: u64,
}

impl Cost {
    /// `flops`, and each operand and result moved once.
    pub fn new(flops: u64, args: &[&TensorType], results: &[TensorType]) -> Self {
        let bytes = args.iter().map(|ty| ty.bytes()).chain(results.iter().map(TensorType::bytes)).sum();
        Self { flops, bytes }
    }

    /// One operation for each element of the first operand when it is a float: what sums and comparisons of all elements take.
    pub fn over_operand(args: &[&TensorType], results: &[TensorType]) -> Self {
        let flops = args.first().filter(|x| x.dtype().is_float()).map_or(0, |x| x.shape().num_elements() as u64);
        Self::new(flops, args, results)
    }

    /// `per_element` operations for each element of the first result when it is a float.
    pub fn elementwise(per_element: u64, args: &[&TensorType], results: &[TensorType]) -> Self {
        let float = args.iter().any(|ty| ty.dtype().is_float());
        let elements = results.first().map_or(0, |ty| ty.shape().num_elements() as u64);
        Self::new(if float { per_element * elements } else { 0 }, args, results)
    }
}

/// A small application of an op, with the values to apply it to.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The case that it shows, in a word or two; unique among the samples of an op.
    pub label: Name,
    /// The op, attributes included.
    pub op: Op,
    /// Its operands in order: types, and where elements come from.
    pub args: Vec<SampleArg>,
    /// The largest distance of CPU XLA from the interpreter, norm-wise, in units of roundoff of the result's type; 0 is bit-exact.
    pub ulps: f64,
    /// Number of ranks it runs on: 1 but for collectives.
    pub ranks: usize,
}

impl Sample {
    /// A sample on one rank that must be bit-exact.
    pub fn new(label: impl Into<Name>, op: impl Into<Op>, args: impl IntoIterator<Item = SampleArg>) -> Self {
        Self { label: label.into(), op: op.into(), args: args.into_iter().collect(), ulps: 0.0, ranks: 1 }
    }

    /// Allows XLA `ulps` units of roundoff.
    #[must_use]
    pub fn ulps(self, ulps: f64) -> Self {
        Self { ulps, ..self }
    }

    /// Runs on `ranks` ranks with different operands on each.
    #[must_use]
    pub fn ranks(self, ranks: usize) -> Self {
        Self { ranks, ..self }
    }
}

/// An operand of a sample.
#[derive(Clone, Debug)]
pub struct SampleArg {
    /// Element type and shape of the operand.
    pub ty: TensorType,
    /// The source of its elements.
    pub values: SampleValues,
}

/// The source of the elements of a sample operand.
#[derive(Clone, PartialEq, Debug)]
pub enum SampleValues {
    /// Seeded, uniform between the bounds. Gradient rules are compared with central differences there, so the bounds
    /// keep away from kinks.
    Uniform(f64, f64),
    /// Seeded whole numbers, both bounds included.
    Whole(i64, i64),
    /// These, in order and repeated as needed. For special values; gradients are not compared there.
    Listed(Vec<f64>),
}

impl SampleArg {
    /// Uniform reals.
    pub fn uniform(dtype: DType, shape: impl Into<halite_tensor::Shape>, low: f64, high: f64) -> Self {
        Self { ty: TensorType::new(dtype, shape), values: SampleValues::Uniform(low, high) }
    }

    /// Uniform whole numbers.
    pub fn whole(dtype: DType, shape: impl Into<halite_tensor::Shape>, low: i64, high: i64) -> Self {
        Self { ty: TensorType::new(dtype, shape), values: SampleValues::Whole(low, high) }
    }

    /// Listed values.
    pub fn listed(dtype: DType, shape: impl Into<halite_tensor::Shape>, values: &[f64]) -> Self {
        Self { ty: TensorType::new(dtype, shape), values: SampleValues::Listed(values.to_vec()) }
    }
}

/// Checks the number of operands: `let [x, y] = arity("add", args)?;`
///
/// # Errors
/// When there are not exactly `N`.
pub fn arity<'t, const N: usize>(op: &str, args: &[&'t TensorType]) -> Result<[&'t TensorType; N]> {
    <[&TensorType; N]>::try_from(args).map_err(|_| {
        let plural = if N == 1 { "operand" } else { "operands" };
        Diagnostic::error(halite_support::codes::ARITY, format!("`{op}` takes {N} {plural}, found {}", args.len()))
    })
}

/// A complaint about an element type: ``  `tanh` needs a float, found `s32[4]` ``.
pub fn dtype_error(op: &str, expected: &str, found: &TensorType) -> Diagnostic {
    Diagnostic::error(halite_support::codes::DTYPE, format!("`{op}` needs {expected}, found `{found}`"))
}

/// A complaint about shapes.
pub fn shape_error(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(halite_support::codes::SHAPE, message)
}

/// A complaint about an attribute.
pub fn attr_error(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(halite_support::codes::ATTRIBUTE, message)
}

/// Checks that two operands have equal shapes and element types.
///
/// # Errors
/// Naming both types.
pub fn require_same(op: &str, x: &TensorType, y: &TensorType) -> Result<()> {
    if x.shape() != y.shape() {
        let help = "broadcast one operand with `broadcast_in_dim`";
        return Err(shape_error(format!("operands of `{op}` have different shapes, `{x}` and `{y}`")).help(help));
    }
    if x.dtype() != y.dtype() {
        let message = format!("operands of `{op}` have different element types, `{x}` and `{y}`");
        return Err(Diagnostic::error(halite_support::codes::DTYPE, message).help("convert one operand with `convert`"));
    }
    Ok(())
}

/// Checks that a dimension number is within the rank of `ty`.
///
/// # Errors
/// Naming the dimension and the type.
pub fn require_dim(op: &str, ty: &TensorType, dim: usize) -> Result<()> {
    if dim < ty.rank() {
        return Ok(());
    }
    Err(attr_error(format!("`{op}` names dimension {dim} of `{ty}`, which has rank {}", ty.rank())))
}
