//! An op on values that lie on the mesh, by the factors of its dimensions.

use super::bonds::Bonds;
use super::digits::{Slot, above, choices, slots};
use super::free::{Free, Stretches, common, join, none, within};
use super::moves::Moves;
use super::question::{InFactor, Outcome, Question, View};
use super::state::{Cause, MAX_READINGS, Part, Placed, Reading, State, Why, pruned};
use super::unwritten::Unwritten;
use halite_ir::dims::{DimFactors, FactorKind, FactorMap};
use halite_ir::ops::Reduction;
use halite_ir::{Linear, Op};
use halite_support::check_cancelled;
use halite_tensor::{Mesh, SubAxisId};
use smallvec::SmallVec;

/// An op with the states of its operands.
pub(super) struct Application<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) op: &'a Op,
    pub(super) map: FactorMap,
    pub(super) linear: Linear,
    pub(super) args: &'a [State],
    pub(super) moves: Moves,
    pub(super) bonds: &'a Bonds,
    pub(super) cause: Cause,
}

/// The most combinations of readings that are tried: as many as a value may have readings, or those of one value are not all tried.
const MAX_COMBINATIONS: usize = MAX_READINGS;

impl Application<'_> {
    /// For each result its readings, given some for each operand; some of them where the work is cancelled.
    pub(super) fn readings(&self, operands: &[Vec<Reading>]) -> Vec<Vec<Reading>> {
        let count = self.map.results.len();
        if operands.iter().flatten().all(Reading::is_same) {
            return vec![vec![Reading::default()]; count];
        }
        let views: Vec<Vec<View>> = operands.iter().enumerate().map(|(at, own)| self.views(at, own)).collect();
        let free: Vec<Vec<Option<Stretches>>> = (0..operands.len()).map(|at| self.free_factors(at)).collect();
        let open = usize::from(self.moves == Moves::Unwritten);
        let mut results = vec![Vec::new(); count];
        let is_needed = |results: &[Vec<Reading>]| results.iter().any(Vec::is_empty) || check_cancelled().is_ok();
        for (clashes, chosen) in combinations(&views) {
            if !is_needed(&results) {
                break;
            }
            for later in [false, true].into_iter().take(1 + clashes.min(open)) {
                let question = Question { views: &chosen, free: &free, later };
                let mut outcomes: Vec<Outcome> =
                    (0..self.mesh.sub_axes().len()).map(|sub_axis| self.outcome(sub_axis, &question)).collect();
                let pairs = chosen.iter().enumerate().flat_map(|(at, view)| disordered(&chosen[..at], view));
                for sub_axis in pairs.flatten() {
                    outcomes[sub_axis] = self.own(Why::Unlike);
                }
                let order = order(&chosen);
                let all = match self.unwritten() {
                    Some(unwritten) => unwritten.moved(outcomes, &chosen),
                    None => vec![outcomes],
                };
                for outcomes in all {
                    for (result, dims) in results.iter_mut().zip(&self.map.results) {
                        result.push(self.result(dims, &outcomes, &order));
                    }
                }
            }
        }
        results.into_iter().map(pruned).collect()
    }

    /// Along what each result repeats itself.
    pub(super) fn free(&self) -> Vec<Free> {
        let operands: Vec<_> = (0..self.args.len()).map(|at| self.free_factors(at)).collect();
        let repeats = matches!(self.op, Op::BroadcastInDim(_));
        let factor = |factor: usize| {
            let size = self.map.factors[factor].size;
            let parallel = self.map.factors[factor].kind == FactorKind::Parallel;
            let mut shared: Option<Stretches> = None;
            for own in operands.iter().filter_map(|free| free[factor].as_ref()) {
                shared = Some(shared.map_or_else(|| own.clone(), |shared| common(&shared, own)));
            }
            let alone = if repeats { Stretches::from_slice(&[(1, size)]) } else { Stretches::new() };
            if parallel { shared.unwrap_or(alone) } else { Stretches::new() }
        };
        let dim = |factors: &DimFactors| {
            let (mut all, mut low) = (Stretches::new(), 1);
            for id in factors.iter().rev() {
                join(&mut all, &factor(id.index()), low);
                low *= self.map.factors[id.index()].size;
            }
            all
        };
        self.map.results.iter().map(|dims| dims.iter().map(dim).collect()).collect()
    }

    /// Along what an operand repeats itself within each factor; `None` for factors that it does not have.
    fn free_factors(&self, operand: usize) -> Vec<Option<Stretches>> {
        let mut free = vec![None; self.map.factors.len()];
        let own = &self.args[operand].free;
        for (factors, stretches) in self.map.operands[operand].iter().zip(own.iter()) {
            let mut low = 1;
            for id in factors.iter().rev() {
                let size = self.map.factors[id.index()].size;
                free[id.index()] = Some(within(stretches, low, size));
                low *= size;
            }
        }
        free
    }

    fn views(&self, operand: usize, readings: &[Reading]) -> Vec<View> {
        readings.iter().flat_map(|reading| self.view(operand, reading)).collect()
    }

    /// A reading with factors for its digits, in all ways. What lies across factors is lost.
    fn view(&self, operand: usize, reading: &Reading) -> Vec<View> {
        let dims = &self.map.operands[operand];
        let factors: Vec<usize> = dims.iter().rev().flat_map(|dim| dim.iter().rev().map(|id| id.index())).collect();
        let mut parts = reading.parts.clone();
        let (mut digits, mut candidates) = (Vec::new(), Vec::new());
        for digit in &reading.digits {
            let before: usize = dims[digit.dim + 1..].iter().map(|dim| dim.len()).sum();
            let sizes: Vec<usize> = dims[digit.dim].iter().rev().map(|id| self.map.factors[id.index()].size).collect();
            let found: Vec<Slot> =
                slots(&sizes, digit.stride).into_iter().map(|(slot, stride)| (before + slot, stride)).collect();
            if found.is_empty() {
                parts.push((digit.sub_axis, Part::Varying(Why::Cut), self.cause));
            } else {
                digits.push(*digit);
                candidates.push(found);
            }
        }
        let view = |chosen: Vec<Slot>| {
            let at = |(&(slot, stride), digit): (&Slot, &Placed)| InFactor {
                factor: factors[slot],
                stride,
                sub_axis: digit.sub_axis,
            };
            View { at: chosen.iter().zip(&digits).map(at).collect(), parts: parts.clone() }
        };
        choices(&candidates, &self.bonds.follows(&digits), above).into_iter().map(view).collect()
    }

    fn outcome(&self, sub_axis: SubAxisId, question: &Question<'_>) -> Outcome {
        let mut terms: SmallVec<[Option<Reduction>; 4]> = SmallVec::new();
        let (mut at, mut cause): (Option<InFactor>, Option<Cause>) = (None, None);
        for view in question.views {
            let mut own = None;
            match view.parts.iter().find(|part| part.0 == sub_axis) {
                Some((_, Part::Varying(why), cause)) => return Outcome::Part(Part::Varying(*why), *cause),
                Some((_, Part::OwnerByIndex(..) | Part::MaskedOwner(_), cause)) => {
                    return Outcome::Part(Part::Varying(Why::Index), *cause);
                }
                Some((_, Part::Partial(kind), from)) => {
                    own = Some(*kind);
                    cause = cause.or(Some(*from));
                }
                None => {}
            }
            terms.push(own);
            let found = view.at.iter().find(|other| other.sub_axis == sub_axis).copied();
            match (at, found) {
                (Some(x), Some(y)) if x != y => {
                    match self.unwritten().and_then(|unwritten| unwritten.either(x, y, question.later)) {
                        Some(one) => at = Some(one),
                        None => return self.own(Why::Unlike),
                    }
                }
                _ => at = at.or(found),
            }
        }
        match (at, cause) {
            (Some(_), Some(_)) => self.own(Why::Unlike),
            (Some(at), None) => self.shard(at, question),
            (None, Some(cause)) => match self.passes(&terms) {
                Some(kind) => Outcome::Part(Part::Partial(kind), cause),
                None => self.own(Why::NotLinear),
            },
            (None, None) => Outcome::Same,
        }
    }

    fn unwritten(&self) -> Option<Unwritten<'_>> {
        (self.moves == Moves::Unwritten).then_some(Unwritten { map: &self.map, op: self.op, cause: self.cause })
    }

    fn own(&self, why: Why) -> Outcome {
        Outcome::Part(Part::Varying(why), self.cause)
    }

    /// The outcome of a factor that operands shard.
    fn shard(&self, at: InFactor, question: &Question<'_>) -> Outcome {
        let elsewhere = || self.unwritten()?.elsewhere(at, question);
        let at = if question.agrees(at) { Some(at) } else { elsewhere() };
        let Some(at) = at else { return self.own(Why::Unlike) };
        match self.map.factors[at.factor].kind {
            FactorKind::Parallel => Outcome::At(at),
            FactorKind::Contracted(Some(kind)) => Outcome::Part(Part::Partial(kind), self.cause),
            FactorKind::Indexed => self.own(Why::Index),
            FactorKind::Contracted(None) | FactorKind::Mixed => self.own(Why::Cut),
        }
    }

    /// The reduction of which the result is terms, where these operands are terms; `None` where the op does not keep them terms.
    fn passes(&self, terms: &[Option<Reduction>]) -> Option<Reduction> {
        let kind = terms.iter().copied().flatten().next()?;
        if terms.iter().flatten().any(|&other| other != kind) {
            return None;
        }
        let all = |own: &[Option<Reduction>], from: usize| {
            own.iter().enumerate().all(|(at, term)| term.is_some() || self.args[from + at].zero)
        };
        let count = terms.iter().flatten().count();
        let passes = match self.linear {
            _ if kind != Reduction::Sum => moves(self.op, self.linear) || combines(self.op, kind),
            Linear::Jointly => all(terms, 0),
            Linear::Each => count == 1,
            Linear::First => count == 1 && terms[0].is_some(),
            Linear::Rest => terms[0].is_none() && all(&terms[1..], 1),
            Linear::No => false,
        };
        passes.then_some(kind)
    }

    fn result(&self, dims: &[DimFactors], outcomes: &[Outcome], order: &[SubAxisId]) -> Reading {
        let mut reading = Reading::default();
        for (dim, factors) in dims.iter().enumerate().rev() {
            let mut low = 1;
            for id in factors.iter().rev() {
                let digits = order.iter().filter_map(|&sub_axis| match &outcomes[sub_axis] {
                    Outcome::At(at) if at.factor == id.index() => {
                        Some(Placed { sub_axis, dim, stride: at.stride * low })
                    }
                    _ => None,
                });
                let mut digits: Vec<Placed> = digits.collect();
                digits.sort_by_key(|digit| digit.stride);
                reading.digits.extend(digits);
                low *= self.map.factors[id.index()].size;
            }
        }
        for (sub_axis, outcome) in outcomes.iter().enumerate() {
            match outcome {
                Outcome::Part(part, cause) => reading.set(sub_axis, Some((part.clone(), *cause))),
                Outcome::At(_) if reading.digit(sub_axis).is_none() => {
                    reading.set(sub_axis, Some((Part::Varying(Why::Cut), self.cause)));
                }
                Outcome::At(_) | Outcome::Same => {}
            }
        }
        reading
    }

    /// Nothing for each dimension of each result.
    pub(super) fn nothing_free(&self) -> Vec<Free> {
        self.map.results.iter().map(|dims| none(dims.len())).collect()
    }
}

/// Combinations of one view of each operand, each with the number of sub-axes that lie differently in two of its views; the lowest
/// first.
///
/// Once the work is cancelled, only the first view of each operand is taken.
fn combinations(views: &[Vec<View>]) -> Vec<(usize, Vec<&View>)> {
    let mut all: Vec<(usize, Vec<&View>)> = vec![(0, Vec::new())];
    for views in views {
        let mut longer = Vec::new();
        for (index, (before, chosen)) in all.iter().enumerate() {
            let lies = Lies::of(chosen);
            let goes_on = |(at, _): &(usize, &View)| *at == 0 || check_cancelled().is_ok();
            let views = views.iter().enumerate().take_while(goes_on);
            let mut own: Vec<_> = views.map(|(_, view)| (before + lies.clashes(chosen, view), index, view)).collect();
            // Of one no more can be among those that are left of all.
            own.sort_by_key(|own| own.0);
            own.truncate(MAX_COMBINATIONS);
            longer.extend(own);
        }
        longer.sort_by_key(|longer| longer.0);
        longer.truncate(MAX_COMBINATIONS);
        let with = |(count, index, view): (usize, usize, _)| (count, [&all[index].1[..], &[view]].concat());
        all = longer.into_iter().map(with).collect();
    }
    all
}

/// For each sub-axis where some views have it.
struct Lies(Vec<SmallVec<[InFactor; 2]>>);

impl Lies {
    fn of(chosen: &[&View]) -> Self {
        let mut lies: Vec<SmallVec<[InFactor; 2]>> = Vec::new();
        for at in chosen.iter().flat_map(|view| &view.at) {
            lies.resize(lies.len().max(at.sub_axis + 1), SmallVec::new());
            if !lies[at.sub_axis].contains(at) {
                lies[at.sub_axis].push(*at);
            }
        }
        Self(lies)
    }

    /// Along how many sub-axes a view lies otherwise than one of these: it shards another factor, in another order, or is terms where the
    /// other is sharded.
    fn clashes(&self, chosen: &[&View], view: &View) -> usize {
        let elsewhere = |at: &&InFactor| self.0.get(at.sub_axis).is_some_and(|own| own.iter().any(|own| own != *at));
        let terms = |one: &View, other: &View| {
            let sharded = |part: &&(SubAxisId, Part, Cause)| other.at.iter().any(|at| at.sub_axis == part.0);
            one.parts.iter().filter(sharded).count()
        };
        let apart: usize = chosen.iter().map(|other| terms(other, view) + terms(view, other)).sum();
        view.at.iter().filter(elsewhere).count() + apart + 2 * disordered(chosen, view).len()
    }
}

/// The pairs of sub-axes that share a place in a view and in one of these, and stand there in another order.
fn disordered(chosen: &[&View], view: &View) -> Vec<[SubAxisId; 2]> {
    let mut found = Vec::new();
    for other in chosen.iter().filter(|other| other.at != view.at) {
        // Those that both have, where the other has them.
        let place = |at: &InFactor| Some((*at, other.at.iter().position(|own| own == at)?));
        let both: SmallVec<[(InFactor, usize); 16]> = view.at.iter().filter_map(place).collect();
        for (high, (y, y_place)) in both.iter().enumerate() {
            let share = |(x, _): &&(InFactor, usize)| (x.factor, x.stride) == (y.factor, y.stride);
            for (x, _) in both[..high].iter().filter(share).filter(|(_, x_place)| x_place > y_place) {
                let pair = [x.sub_axis, y.sub_axis];
                if !found.contains(&pair) {
                    found.push(pair);
                }
            }
        }
    }
    found
}

/// Sub-axes such that those of one factor stand with the lowest first, as in all operands that have them.
fn order(views: &[&View]) -> Vec<SubAxisId> {
    let mut all: Vec<&View> = views.to_vec();
    all.sort_by_key(|view| std::cmp::Reverse(view.at.len()));
    let mut order: Vec<InFactor> = Vec::new();
    for at in all.iter().flat_map(|view| &view.at) {
        if !order.iter().any(|other| other.sub_axis == at.sub_axis) {
            order.push(*at);
        }
    }
    order.sort_by_key(|at| (at.factor, at.stride));
    order.into_iter().map(|at| at.sub_axis).collect()
}

/// Whether an op hands on elements as they are, of one operand after another; a conversion that rounds nothing does.
fn moves(op: &Op, linear: Linear) -> bool {
    match op {
        Op::Convert(_) => linear == Linear::Jointly,
        Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Transpose(_) => true,
        Op::Slice(_) | Op::Reverse(_) | Op::DynamicSlice(_) => true,
        _ => false,
    }
}

/// Whether an op combines elements as the reduction does.
fn combines(op: &Op, kind: Reduction) -> bool {
    match op {
        Op::Reduce(op) => op.kind == kind,
        Op::Maximum(_) => kind == Reduction::Max,
        Op::Minimum(_) => kind == Reduction::Min,
        Op::And(_) => kind == Reduction::And,
        Op::Or(_) => kind == Reduction::Or,
        _ => false,
    }
}
