//! Matching a pattern with backtracking.

use super::found::Found;
use super::pattern::{Pattern, Side};
use super::view::{Inner, Scene, Seen};
use halite_ir::{Op, Value, loses};
use halite_tensor::rounding::round_to;

/// What almost matches has this many things in its way.
const MAX_OBSTACLES: usize = 1;

/// The ways in which the root of a scene fits a pattern, the first choices first.
pub(super) fn solve(scene: Scene<'_>, pattern: &Pattern) -> Vec<Found> {
    let root = Seen { value: scene.root, view: scene.aligned() };
    Matcher { scene }.fit(pattern, &root, &Found::default())
}

#[derive(Clone, Copy)]
struct Matcher<'a> {
    scene: Scene<'a>,
}

impl Matcher<'_> {
    /// The ways to go on from `so_far` when `pattern` fits what is seen.
    fn fit(self, pattern: &Pattern, seen: &Seen, so_far: &Found) -> Vec<Found> {
        match pattern {
            Pattern::Tensor(name) => bound(so_far, |found| found.bind_tensor(name, seen, &self.scene)),
            Pattern::Number(name) => {
                self.number(seen).map_or_else(Vec::new, |number| bound(so_far, |found| found.bind_number(name, number)))
            }
            Pattern::Is(number) => bound(so_far, |_| self.is(seen, *number)),
            Pattern::Size { of, reciprocal } => {
                let size = so_far.size(of, self.scene.shape());
                let wanted = size.map(|size| if *reciprocal { size.recip() } else { size });
                bound(so_far, |_| wanted.is_some_and(|wanted| self.is(seen, wanted)))
            }
            Pattern::Either(options) => options.iter().flat_map(|option| self.fit(option, seen, so_far)).collect(),
            Pattern::Near(pattern, otherwise) => self.fit_near(pattern, otherwise, seen, so_far),
            Pattern::Op(..)
            | Pattern::Composite(..)
            | Pattern::Reduce(..)
            | Pattern::Concatenate(_)
            | Pattern::Half(..) => self.fit_inst(pattern, seen, so_far).unwrap_or_default(),
        }
    }

    /// The ways in which the instruction behind movements and conversions fits.
    fn fit_inst(self, pattern: &Pattern, seen: &Seen, so_far: &Found) -> Option<Vec<Found>> {
        let inner = self.scene.inner(seen)?;
        let operands = self.operands(pattern, &inner)?;
        let mut found = so_far.clone();
        if let Some(dtype) = inner.rounded {
            found.block(format!("what lies between is rounded to `{dtype}`"));
        }
        if found.obstacles.len() > MAX_OBSTACLES {
            return None;
        }
        found.visit(inner.seen.value);
        Some(match (pattern, operands.as_slice()) {
            (Pattern::Reduce(_, name, operand), [x]) => {
                let Op::Reduce(reduce) = &inner.inst.op else { return None };
                let over = self.scene.reduced_dims(x, &reduce.dims);
                if found.bind_dims(name, over) { self.fit(operand, x, &found) } else { Vec::new() }
            }
            (Pattern::Half(_, operand), [x]) => self.fit(operand, x, &found),
            (Pattern::Op(op, patterns), [x, y]) if commutes(op) && x != y => {
                let mut ways = self.fit_all(patterns, &operands, found.clone());
                ways.extend(self.fit_all(patterns, &[y.clone(), x.clone()], found));
                ways
            }
            (Pattern::Op(_, patterns) | Pattern::Composite(_, patterns) | Pattern::Concatenate(patterns), _) => {
                self.fit_all(patterns, &operands, found)
            }
            _ => return None,
        })
    }

    /// The operands of an instruction as they are seen, when its op is that of the pattern.
    fn operands(self, pattern: &Pattern, inner: &Inner<'_>) -> Option<Vec<Seen>> {
        let Inner { inst, seen, .. } = inner;
        match (pattern, &inst.op) {
            (Pattern::Op(Op::Multiply(_), _), Op::DotGeneral(dot)) => {
                self.scene.outer(dot, &inst.args, &seen.view).map(Vec::from)
            }
            (Pattern::Op(op, _), own) if op == own => Some(aligned_args(inner)),
            (Pattern::Composite(name, _), Op::Composite(own)) if &*own.name == *name => Some(aligned_args(inner)),
            (Pattern::Reduce(kind, ..), Op::Reduce(reduce)) if reduce.kind == *kind => {
                Some(vec![self.scene.reduced(*inst.args.first()?, &reduce.dims, &seen.view)])
            }
            (Pattern::Concatenate(_), Op::Concatenate(concatenate)) => {
                let along = self.scene.last().is_some_and(|last| seen.view[concatenate.dim] == Some(last));
                along.then(|| aligned_args(inner))
            }
            (Pattern::Half(side, _), Op::Slice(_)) => self.half(inner, *side).map(|x| vec![x]),
            _ => None,
        }
    }

    /// The ways in which each pattern fits its operand.
    fn fit_all(self, patterns: &[Pattern], args: &[Seen], found: Found) -> Vec<Found> {
        if patterns.len() != args.len() {
            return Vec::new();
        }
        let fit_next = |ways: Vec<Found>, (pattern, arg): (&Pattern, &Seen)| {
            ways.iter().flat_map(|found| self.fit(pattern, arg, found)).collect()
        };
        patterns.iter().zip(args).fold(vec![found], fit_next)
    }

    /// What fits, and if nothing does without more in the way, the reason.
    fn fit_near(self, pattern: &Pattern, otherwise: &'static str, seen: &Seen, so_far: &Found) -> Vec<Found> {
        let mut ways = self.fit(pattern, seen, so_far);
        if ways.iter().all(|found| found.obstacles.len() > so_far.obstacles.len()) {
            let mut found = so_far.clone();
            found.block(otherwise);
            ways.extend((found.obstacles.len() <= MAX_OBSTACLES).then_some(found));
        }
        ways
    }

    /// The number that fills a value.
    fn number(self, seen: &Seen) -> Option<f64> {
        let inner = self.scene.inner(seen)?;
        if let Op::Constant(constant) = &inner.inst.op { constant.splat_value() } else { None }
    }

    /// Whether a value is filled by a number, up to its rounding.
    fn is(self, seen: &Seen, wanted: f64) -> bool {
        let (Some(number), Some(inner)) = (self.number(seen), self.scene.inner(seen)) else { return false };
        let (own, root) = (self.scene.function.ty(inner.seen.value).dtype(), self.scene.dtype());
        let dtype = if loses(root, own) { root } else { own };
        let exact = round_to(dtype, wanted) == wanted;
        number == wanted || (!exact && (number - wanted).abs() <= 2.0 * dtype.unit_roundoff() * wanted.abs())
    }

    /// The operand of a slice that takes one half along the last dimension of the root and all of the others.
    fn half(self, inner: &Inner<'_>, side: Side) -> Option<Seen> {
        let (Op::Slice(slice), &[x]) = (&inner.inst.op, inner.inst.args.as_slice()) else { return None };
        let last = self.scene.last()?;
        let takes = |(dim, &size): (usize, &usize)| {
            let (start, limit) = match side {
                _ if inner.seen.view[dim] != Some(last) => (0, size),
                Side::First => (0, size / 2),
                Side::Second => (size / 2, size),
            };
            (slice.start[dim], slice.limit[dim], slice.stride[dim]) == (start, limit, 1)
        };
        let sizes = self.scene.function.ty(x).shape();
        sizes.iter().enumerate().all(takes).then(|| Seen { value: x, view: inner.seen.view.clone() })
    }
}

/// The operands of an instruction that works element by element, or side by side.
fn aligned_args(inner: &Inner<'_>) -> Vec<Seen> {
    let seen = |&value: &Value| Seen { value, view: inner.seen.view.clone() };
    inner.inst.args.iter().map(seen).collect()
}

fn commutes(op: &Op) -> bool {
    matches!(op, Op::Add(_) | Op::Multiply(_) | Op::Maximum(_) | Op::Minimum(_))
}

/// What was found so far with one thing more, unless that does not fit.
fn bound(so_far: &Found, bind: impl FnOnce(&mut Found) -> bool) -> Vec<Found> {
    let mut found = so_far.clone();
    if bind(&mut found) { vec![found] } else { Vec::new() }
}
