//! Matching a pattern with backtracking.

use super::bindings::Bindings;
use super::pattern::{Pattern, Side};
use super::view::{Inner, MatchCx, View};
use halite_ir::{Op, Value, loses};
use halite_tensor::rounding::round_to;

/// The most obstacles of a near miss.
const MAX_OBSTACLES: usize = 1;

/// The ways in which the root fits a pattern, the first choices first.
pub(super) fn solve(cx: MatchCx<'_>, pattern: &Pattern) -> Vec<Bindings> {
    let root = View { value: cx.root, dim_map: cx.aligned() };
    Matcher { cx }.fit(pattern, &root, &Bindings::default())
}

#[derive(Clone, Copy)]
struct Matcher<'a> {
    cx: MatchCx<'a>,
}

impl Matcher<'_> {
    /// The ways to go on from `so_far` when `pattern` fits what is seen.
    fn fit(self, pattern: &Pattern, view: &View, so_far: &Bindings) -> Vec<Bindings> {
        match pattern {
            Pattern::Tensor(name) => bound(so_far, |bindings| bindings.bind_tensor(name, view, &self.cx)),
            Pattern::Number(name) => self
                .number(view)
                .map_or_else(Vec::new, |number| bound(so_far, |bindings| bindings.bind_number(name, number))),
            Pattern::Is(number) => bound(so_far, |_| self.is(view, *number)),
            Pattern::Size { of, reciprocal } => {
                let size = so_far.size(of, self.cx.shape());
                let wanted = size.map(|size| if *reciprocal { size.recip() } else { size });
                bound(so_far, |_| wanted.is_some_and(|wanted| self.is(view, wanted)))
            }
            Pattern::Either(options) => options.iter().flat_map(|option| self.fit(option, view, so_far)).collect(),
            Pattern::Near(pattern, otherwise) => self.fit_near(pattern, otherwise, view, so_far),
            Pattern::Op(..)
            | Pattern::Composite(..)
            | Pattern::Reduce(..)
            | Pattern::Concatenate(_)
            | Pattern::Half(..) => self.fit_inst(pattern, view, so_far).unwrap_or_default(),
        }
    }

    /// The ways in which the instruction behind movements and conversions fits.
    fn fit_inst(self, pattern: &Pattern, view: &View, so_far: &Bindings) -> Option<Vec<Bindings>> {
        let inner = self.cx.inner(view)?;
        let operands = self.operands(pattern, &inner)?;
        let mut bindings = so_far.clone();
        if let Some(dtype) = inner.rounded {
            bindings.block(format!("what lies between is rounded to `{dtype}`"));
        }
        if bindings.obstacles.len() > MAX_OBSTACLES {
            return None;
        }
        bindings.visit(inner.view.value);
        Some(match (pattern, operands.as_slice()) {
            (Pattern::Reduce(_, name, operand), [x]) => {
                let Op::Reduce(reduce) = &inner.inst.op else { return None };
                let over = self.cx.reduced_dims(x, &reduce.dims);
                if bindings.bind_dims(name, over) { self.fit(operand, x, &bindings) } else { Vec::new() }
            }
            (Pattern::Half(_, operand), [x]) => self.fit(operand, x, &bindings),
            (Pattern::Op(op, patterns), [x, y]) if commutes(op) && x != y => {
                let mut ways = self.fit_all(patterns, &operands, bindings.clone());
                ways.extend(self.fit_all(patterns, &[y.clone(), x.clone()], bindings));
                ways
            }
            (Pattern::Op(_, patterns) | Pattern::Composite(_, patterns) | Pattern::Concatenate(patterns), _) => {
                self.fit_all(patterns, &operands, bindings)
            }
            _ => return None,
        })
    }

    /// The operands of an instruction as they are seen, when its op is that of the pattern.
    fn operands(self, pattern: &Pattern, inner: &Inner<'_>) -> Option<Vec<View>> {
        let Inner { inst, view, .. } = inner;
        match (pattern, &inst.op) {
            (Pattern::Op(Op::Multiply(_), _), Op::DotGeneral(dot)) => {
                self.cx.outer(dot, &inst.args, &view.dim_map).map(Vec::from)
            }
            (Pattern::Op(op, _), own) if op == own => Some(aligned_args(inner)),
            (Pattern::Composite(name, _), Op::Composite(own)) if &*own.name == *name => Some(aligned_args(inner)),
            (Pattern::Reduce(kind, ..), Op::Reduce(reduce)) if reduce.kind == *kind => {
                Some(vec![self.cx.reduced(*inst.args.first()?, &reduce.dims, &view.dim_map)])
            }
            (Pattern::Concatenate(_), Op::Concatenate(concatenate)) => {
                let along = self.cx.last().is_some_and(|last| view.dim_map[concatenate.dim] == Some(last));
                along.then(|| aligned_args(inner))
            }
            (Pattern::Half(side, _), Op::Slice(_)) => self.half(inner, *side).map(|x| vec![x]),
            _ => None,
        }
    }

    /// The ways in which each pattern fits its operand.
    fn fit_all(self, patterns: &[Pattern], args: &[View], bindings: Bindings) -> Vec<Bindings> {
        if patterns.len() != args.len() {
            return Vec::new();
        }
        let fit_next = |ways: Vec<Bindings>, (pattern, arg): (&Pattern, &View)| {
            ways.iter().flat_map(|bindings| self.fit(pattern, arg, bindings)).collect()
        };
        patterns.iter().zip(args).fold(vec![bindings], fit_next)
    }

    /// The ways in which `pattern` fits. If each of them adds an obstacle, there is one more way, with the obstacle `otherwise`.
    fn fit_near(self, pattern: &Pattern, otherwise: &'static str, view: &View, so_far: &Bindings) -> Vec<Bindings> {
        let mut ways = self.fit(pattern, view, so_far);
        if ways.iter().all(|bindings| bindings.obstacles.len() > so_far.obstacles.len()) {
            let mut bindings = so_far.clone();
            bindings.block(otherwise);
            ways.extend((bindings.obstacles.len() <= MAX_OBSTACLES).then_some(bindings));
        }
        ways
    }

    /// The number that fills a value.
    fn number(self, view: &View) -> Option<f64> {
        let inner = self.cx.inner(view)?;
        if let Op::Constant(constant) = &inner.inst.op { constant.splat_value() } else { None }
    }

    /// Whether a value is filled by a number, up to its rounding.
    fn is(self, view: &View, wanted: f64) -> bool {
        let (Some(number), Some(inner)) = (self.number(view), self.cx.inner(view)) else { return false };
        let (own, root) = (self.cx.function.ty(inner.view.value).dtype(), self.cx.dtype());
        let dtype = if loses(root, own) { root } else { own };
        let exact = round_to(dtype, wanted) == wanted;
        number == wanted || (!exact && (number - wanted).abs() <= 2.0 * dtype.unit_roundoff() * wanted.abs())
    }

    /// The operand of a slice that takes one half along the last dimension of the root and all of the others.
    fn half(self, inner: &Inner<'_>, side: Side) -> Option<View> {
        let (Op::Slice(slice), &[x]) = (&inner.inst.op, inner.inst.args.as_slice()) else { return None };
        let last = self.cx.last()?;
        let takes = |(dim, &size): (usize, &usize)| {
            let (start, limit) = match side {
                _ if inner.view.dim_map[dim] != Some(last) => (0, size),
                Side::First => (0, size / 2),
                Side::Second => (size / 2, size),
            };
            (slice.start[dim], slice.limit[dim], slice.stride[dim]) == (start, limit, 1)
        };
        let sizes = self.cx.function.ty(x).shape();
        sizes.iter().enumerate().all(takes).then(|| View { value: x, dim_map: inner.view.dim_map.clone() })
    }
}

/// The operands of an instruction that works element by element, or side by side.
fn aligned_args(inner: &Inner<'_>) -> Vec<View> {
    let view = |&value: &Value| View { value, dim_map: inner.view.dim_map.clone() };
    inner.inst.args.iter().map(view).collect()
}

fn commutes(op: &Op) -> bool {
    matches!(op, Op::Add(_) | Op::Multiply(_) | Op::Maximum(_) | Op::Minimum(_))
}

/// The bindings so far with one more, or none if that does not fit.
fn bound(so_far: &Bindings, bind: impl FnOnce(&mut Bindings) -> bool) -> Vec<Bindings> {
    let mut bindings = so_far.clone();
    if bind(&mut bindings) { vec![bindings] } else { Vec::new() }
}
