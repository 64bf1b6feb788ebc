//! `causal_attention` and its gradient.

use super::causal_mask::{self, CausalMask};
use super::parts::{sibling, spread_last};
use crate::attrs::{AttrKey, AttrSpec, Attrs};
use crate::build::{Builder, Values, present};
use crate::composite::{Composite, CompositeDef, VjpRule};
use crate::described;
use crate::infer::InferCx;
use crate::op::{Policy, Sample, SampleArg, attr_error, dtype_error, require_same, shape_error};
use crate::operands::{Args, Operands};
use crate::ops::Direction;
use crate::ops::class::{Takes, require_elements};
use crate::policy::Follows;
use crate::syntax::Value;
use crate::ty::{TensorType, Types};
use halite_support::Result;
use halite_tensor::DType;
use smallvec::smallvec;

/// The factor that scores are multiplied by; 0 stands for 1/sqrt(head_dim).
pub static SCALE: AttrKey<f64> =
    AttrKey::optional("scale", 0.0, "what scores are multiplied by; 0 stands for 1/sqrt(head_dim)");
/// The number of positions that a position sees, itself included; 0 for all up to itself.
pub static WINDOW: AttrKey<i64> =
    AttrKey::refinement("window", 0, "how many positions a position sees, itself included; 0 for all up to itself");

/// The optional operand of the number of the segment of each position.
pub const SEGMENTS: &str = "segments";

described! {
    /// Causal self-attention: `q[batch, seq, heads, dim]`, `k` and `v[batch, seq, kv_heads, dim]`, and perhaps
    /// `segments s32[batch, seq]`, to `[batch, seq, heads, dim]`.
    ///
    /// Query head `j` uses key and value head `j / (heads / kv_heads)`. Position `i` sees positions `0..=i`, with a `window` the last
    /// so many of these, and with `segments` those of its own segment alone; the scores of the others are replaced by minus infinity,
    /// so that they contribute exactly 0. Each position sees itself, whatever numbers segments have. Scores and probabilities are
    /// computed in the type that products accumulate in, or what mixed precision says; the probabilities are rounded to the operands'
    /// type before `v` is applied.
    #[derive(Debug)]
    pub struct CausalAttention;
}

fn check(op: &str, attrs: &Attrs, [q, k, v]: [&TensorType; 3], segments: Option<&TensorType>) -> Result<()> {
    require_elements(op, Takes::Float, q)?;
    require_same(op, k, v)?;
    if k.dtype() != q.dtype() {
        return Err(dtype_error(op, &format!("keys of `{}`", q.dtype()), k));
    }
    let scale = attrs.get(&SCALE)?;
    if !scale.is_finite() {
        return Err(attr_error(format!("`scale` of `{op}` is {scale}")));
    }
    let window = attrs.get(&WINDOW)?;
    if !(0..=1 << 31).contains(&window) {
        return Err(attr_error(format!("`window` of `{op}` is {window}, expected 0 to 2^31")));
    }
    let fits = |q: &[usize], k: &[usize]| q.len() == 4 && k.len() == 4 && q[..2] == k[..2] && q[3] == k[3];
    if !fits(q.shape(), k.shape()) {
        let message = format!("queries of `{q}` do not fit keys of `{k}`");
        return Err(shape_error(message).help("both are `[batch, seq, heads, dim]` and differ in `heads` at most"));
    }
    let (heads, kv_heads) = (q.shape()[2], k.shape()[2]);
    if kv_heads == 0 || heads % kv_heads != 0 {
        return Err(shape_error(format!("{heads} query heads cannot share {kv_heads} key heads evenly"))
            .help("make `heads` a multiple of `kv_heads`"));
    }
    let expected = TensorType::new(DType::S32, [q.shape()[0], q.shape()[1]]);
    match segments.filter(|segments| **segments != expected) {
        None => Ok(()),
        Some(found) => Err(shape_error(format!("the segments of `{op}` of `{q}` are `{expected}`, found `{found}`"))
            .help("each position has the number of its segment: `[batch, seq]`")),
    }
}

/// Sizes of one application. The heads that share a key head form a group, whose queries are the rows of one matrix.
#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    seq: usize,
    kv_heads: usize,
    group: usize,
    dim: usize,
    /// The number of positions that a position sees, itself included; `None` for all up to itself.
    window: Option<usize>,
}

impl Sizes {
    fn of(b: &Builder<'_>, attrs: &Attrs, q: Value, k: Value) -> Result<Self> {
        let (q, k) = (b.shape(q), b.shape(k));
        let window = usize::try_from(attrs.get(&WINDOW)?).ok().filter(|window| (1..q[1]).contains(window));
        Ok(Self { batch: q[0], seq: q[1], kv_heads: k[2], group: q[2] / k[2], dim: q[3], window })
    }

    /// `[batch, seq, heads, dim]` to one matrix for each sequence and key head, its rows ordered by head and position.
    fn to_matrices(self, b: &mut Builder<'_>, x: Value) -> Result<Value> {
        let group = b.shape(x)[2] / self.kv_heads;
        let x = b.transpose(x, &[0, 2, 1, 3])?;
        b.reshape(x, [self.batch * self.kv_heads, group * self.seq, self.dim])
    }

    /// The inverse of [`to_matrices`](Self::to_matrices) for `group` heads in each matrix.
    fn to_heads(self, b: &mut Builder<'_>, x: Value, group: usize) -> Result<Value> {
        let x = b.reshape(x, [self.batch, self.kv_heads * group, self.seq, self.dim])?;
        b.transpose(x, &[0, 2, 1, 3])
    }

    /// The mask of the scores that count, those of keys that the query sees: over the matrices, or with segments over batch and heads.
    /// Equal sizes and segments give the same instructions.
    fn mask(self, b: &mut Builder<'_>, segments: Option<Value>) -> Result<Value> {
        let Self { batch, seq, kv_heads, group, .. } = self;
        let seen = self.near(b)?;
        let Some(segments) = segments else {
            let rows = b.broadcast_in_dim(seen, &[1, 2], [group, seq, seq])?;
            let rows = b.reshape(rows, [group * seq, seq])?;
            return b.broadcast_in_dim(rows, &[1, 2], [batch * kv_heads, group * seq, seq]);
        };
        let seen = b.broadcast_in_dim(seen, &[1, 2], [batch, seq, seq])?;
        let [query, key] = [1, 2].map(|dim| b.broadcast_in_dim(segments, &[0, dim], [batch, seq, seq]));
        let same = b.compare(query?, key?, Direction::Eq)?;
        let seen = b.and(seen, same)?;
        b.broadcast_in_dim(seen, &[0, 2, 3], [batch, kv_heads * group, seq, seq])
    }

    /// Scores of keys that the query does not see replaced by minus infinity. With segments the mask differs from sequence to
    /// sequence: then it is applied with batch and heads apart, as ranks that share them hold it.
    fn masked(self, b: &mut Builder<'_>, scores: Value, segments: Option<Value>) -> Result<Value> {
        let seen = self.mask(b, segments)?;
        let (apart, together) = (b.shape(seen).clone(), b.shape(scores).clone());
        let scores = if segments.is_some() { b.reshape(scores, apart)? } else { scores };
        let unseen = b.splat_like(scores, f64::NEG_INFINITY)?;
        let scores = b.select(seen, scores, unseen)?;
        if segments.is_some() { b.reshape(scores, together) } else { Ok(scores) }
    }

    /// Key position at most query position, and within the window: `[seq, seq]`.
    fn near(self, b: &mut Builder<'_>) -> Result<Value> {
        let seq = self.seq;
        let mut seen = b.emit(super::op(&CausalMask, &[causal_mask::SIZE.to(seq as i64)]), &[])?;
        if let Some(window) = self.window {
            let (query, key) = (b.iota(DType::S32, [seq, seq], 0)?, b.iota(DType::S32, [seq, seq], 1)?);
            let behind = b.subtract(query, key)?;
            let window = b.splat_like(behind, window as f64)?;
            let near = b.compare(behind, window, Direction::Lt)?;
            seen = b.and(seen, near)?;
        }
        Ok(seen)
    }
}

/// `x y` for each matrix, summed over dimension `over.0` of `x` and `over.1` of `y`; wide.
fn matmul(b: &mut Builder<'_>, x: Value, y: Value, over: (usize, usize)) -> Result<Value> {
    b.dot_general(x, y, (&[0], &[0]), (&[over.0], &[over.1]))
}

/// A sample's op with a window shorter than its sequences.
fn windowed(def: &dyn CompositeDef) -> Composite {
    super::op(def, &[WINDOW.to(2)])
}

/// A sample's op that is given segments.
fn segmented(composite: Composite) -> Composite {
    composite.with_operand(SEGMENTS).expect("attention may have segments")
}

/// A sample's segments: of one position, of several, of none that has a number.
fn segments() -> SampleArg {
    SampleArg::listed(DType::S32, [2, 4], &[1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 0.0, 0.0])
}

/// The operands as matrices and the probabilities in their type, which is what the backward pass saves.
struct Forward {
    sizes: Sizes,
    scale: f64,
    q: Value,
    k: Value,
    v: Value,
    probabilities: Value,
}

fn forward(b: &mut Builder<'_>, attrs: &Attrs, [q, k, v]: [Value; 3], segments: Option<Value>) -> Result<Forward> {
    let sizes = Sizes::of(b, attrs, q, k)?;
    let scale = match attrs.get(&SCALE)? {
        0.0 => 1.0 / (sizes.dim as f64).sqrt(),
        scale => scale,
    };
    let (q, k, v) = (sizes.to_matrices(b, q)?, sizes.to_matrices(b, k)?, sizes.to_matrices(b, v)?);
    let scores = matmul(b, q, k, (2, 2))?;
    let scores = b.convert(scores, attrs.compute().unwrap_or(b.dtype(scores)))?;
    let scores = b.multiply_scalar(scores, scale)?;
    let scores = sizes.masked(b, scores, segments)?;
    let probabilities = b.composite("softmax", &[], &[scores])?[0];
    let probabilities = b.convert(probabilities, b.dtype(q))?;
    Ok(Forward { sizes, scale, q, k, v, probabilities })
}

impl CompositeDef for CausalAttention {
    fn name(&self) -> &str {
        "causal_attention"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["q", "k", "v"]).optional(&[SEGMENTS])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![SCALE.spec(), WINDOW.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        check("causal_attention", attrs, args.required()?, args.get(SEGMENTS))?;
        Ok(smallvec![args[0].clone()])
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let dtype = attrs.result_dtype(0).unwrap_or(b.dtype(args[0]));
        let Forward { sizes, v, probabilities, .. } = forward(b, attrs, args.required()?, args.get(SEGMENTS))?;
        let wide = matmul(b, probabilities, v, (2, 1))?;
        let y = b.convert(wide, dtype)?;
        Ok(smallvec![sizes.to_heads(b, y, sizes.group)?])
    }

    fn vjp(&self) -> Option<VjpRule<'_>> {
        Some(Box::new(|b, attrs, cx| {
            let [q, k, v] = cx.args.required()?;
            let args = [q, k, v, cx.results[0], present(cx.ct())?];
            let cts = b.apply(sibling(&CausalAttentionGrad, attrs), &args, &cx.args.optional())?;
            Ok(cx.cotangents(cts.into_iter().map(Some), &[]))
        }))
    }

    fn policy(&self) -> Policy {
        Policy::MATMUL.compute(Follows::Sensitive).accumulate(Follows::Engine)
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let attention = |scale: f64| super::op(&CausalAttention, &[SCALE.to(scale)]);
        let arg = |heads: usize| SampleArg::uniform(float, [2, 4, heads, 2], -1.0, 1.0);
        vec![
            Sample::new("plain", attention(0.0), [arg(2), arg(2), arg(2)]).ulps(32.0),
            Sample::new("grouped", attention(0.0), [arg(4), arg(2), arg(2)]).ulps(32.0),
            Sample::new("one key head", attention(0.7), [arg(3), arg(1), arg(1)]).ulps(32.0),
            Sample::new("window", windowed(&CausalAttention), [arg(4), arg(2), arg(2)]).ulps(32.0),
            Sample::new("segments", segmented(attention(0.0)), [arg(4), arg(2), arg(2), segments()]).ulps(32.0),
            Sample::new(
                "window of segments",
                segmented(windowed(&CausalAttention)),
                [arg(2), arg(2), arg(2), segments()],
            )
            .ulps(32.0),
        ]
    }
}

described! {
    /// The gradients of `causal_attention` by `q`, `k` and `v` from these, the result `y`, the cotangent, and the segments if there
    /// are any.
    ///
    /// It repeats the instructions that lead to the probabilities. Where these are merged with those of the decomposition
    /// of `causal_attention`, the probabilities are saved; where they are not, they are recomputed.
    #[derive(Debug)]
    pub(super) struct CausalAttentionGrad;
}

/// The sum of `y * ct` for each row of the matrices, wide. It equals the sum over the keys of a probability times its
/// cotangent, without reading either.
fn row_sums(b: &mut Builder<'_>, y: Value, ct: Value) -> Result<Value> {
    let wide = if b.dtype(y) == DType::F64 { DType::F64 } else { DType::F32 };
    let (y, ct) = (b.convert(y, wide)?, b.convert(ct, wide)?);
    let products = b.multiply(y, ct)?;
    b.reduce_sum(products, &[2])
}

impl CompositeDef for CausalAttentionGrad {
    fn name(&self) -> &str {
        "causal_attention_grad"
    }

    fn operands(&self) -> Operands {
        Operands::of(&["q", "k", "v", "y", "ct"]).optional(&[SEGMENTS])
    }

    fn schema(&self) -> Vec<AttrSpec> {
        vec![SCALE.spec(), WINDOW.spec()]
    }

    fn infer(&self, _: &InferCx<'_>, attrs: &Attrs, args: Args<'_, &TensorType>) -> Result<Types> {
        let op = "causal_attention_grad";
        let [q, k, v, y, ct] = args.required()?;
        check(op, attrs, [q, k, v], args.get(SEGMENTS))?;
        require_same(op, q, y)?;
        require_same(op, q, ct)?;
        Ok(smallvec![q.clone(), k.clone(), v.clone()])
    }

    fn expand(&self, b: &mut Builder<'_>, attrs: &Attrs, args: Args<'_, Value>) -> Result<Values> {
        let [q, k, v, y, ct] = args.required()?;
        let dtype = b.dtype(y);
        let Forward { sizes, scale, q, k, v, probabilities } = forward(b, attrs, [q, k, v], args.get(SEGMENTS))?;
        let (y, ct) = (sizes.to_matrices(b, y)?, sizes.to_matrices(b, ct)?);
        let row_sums = row_sums(b, y, ct)?;
        let v_ct = matmul(b, probabilities, ct, (1, 1))?;
        let probabilities_ct = matmul(b, ct, v, (2, 2))?;
        let compute = attrs.compute().unwrap_or(b.dtype(probabilities_ct));
        let probabilities_ct = b.convert(probabilities_ct, compute)?;
        let row_sums = b.convert(row_sums, compute)?;
        let row_sums = spread_last(b, row_sums, probabilities_ct)?;
        let centered = b.subtract(probabilities_ct, row_sums)?;
        let probabilities = b.convert(probabilities, b.dtype(centered))?;
        let scores_ct = b.multiply(probabilities, centered)?;
        let scores_ct = b.multiply_scalar(scores_ct, scale)?;
        let scores_ct = b.convert(scores_ct, dtype)?;
        let q_ct = matmul(b, scores_ct, k, (2, 1))?;
        let k_ct = matmul(b, scores_ct, q, (1, 1))?;
        let mut finish = |index: usize, wide: Value, group: usize| {
            let ct = b.convert(wide, attrs.result_dtype(index).unwrap_or(dtype))?;
            sizes.to_heads(b, ct, group)
        };
        Ok(smallvec![finish(0, q_ct, sizes.group)?, finish(1, k_ct, 1)?, finish(2, v_ct, 1)?])
    }

    fn policy(&self) -> Policy {
        Policy::MATMUL.compute(Follows::Sensitive).accumulate(Follows::Engine)
    }

    fn samples(&self, float: DType) -> Vec<Sample> {
        let grad = || super::op(&CausalAttentionGrad, &[]);
        let arg = |heads: usize| SampleArg::uniform(float, [2, 4, heads, 2], -1.0, 1.0);
        let args = |heads: usize, kv_heads: usize| [arg(heads), arg(kv_heads), arg(kv_heads), arg(heads), arg(heads)];
        vec![
            Sample::new("plain", grad(), args(2, 2)).ulps(64.0),
            Sample::new("grouped", grad(), args(4, 2)).ulps(64.0),
            Sample::new("window", windowed(&CausalAttentionGrad), args(4, 2)).ulps(64.0),
            Sample::new("segments", segmented(grad()), args(4, 2).into_iter().chain([segments()])).ulps(64.0),
        ]
    }
}
