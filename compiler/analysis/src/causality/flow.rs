//! The tokens that elements depend on: bounds on the latest position, each with the region where it applies.

use super::affine::{Affine, Digit, boundaries};
use super::levels::Substitution;
use super::region::Region;

/// The most terms that a value keeps.
const MAX_TERMS: usize = 8;

/// Elements in `guard` may depend on tokens up to position `form`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Term {
    pub(crate) form: Affine,
    pub(crate) guard: Region,
    /// Whether this is only a bound, because of an op that the analysis does not follow. Otherwise some element does read
    /// the position.
    pub(crate) vague: bool,
}

impl Term {
    /// A bound for all elements, where nothing closer is known.
    fn bound(form: i64) -> Self {
        Self { form: form.into(), guard: Region::default(), vague: true }
    }

    /// Its elements inside another region.
    fn within(&self, region: &Region) -> Option<Term> {
        Some(Term { guard: self.guard.and(region)?, ..self.clone() })
    }

    /// Whether another term says as much and more.
    fn is_covered(&self, by: &Term) -> bool {
        (!by.vague || self.vague) && self.guard.within(&by.guard) && self.guard.max_of(&self.form.minus(&by.form)) <= 0
    }

    /// The term with other digits; `None` where it then holds nowhere.
    fn replaced(&self, substitution: &Substitution<'_>) -> Option<Term> {
        let form = self.form.replaced(substitution);
        let guard: Option<Vec<_>> = self.guard.spaces().iter().map(|space| space.replaced(substitution)).collect();
        match form.zip(guard) {
            Some((form, guard)) => Some(Term { form, guard: Region::new(guard)?, vague: self.vague }),
            None => Some(Term::bound(self.form.high())),
        }
    }

    fn digits(&self) -> impl Iterator<Item = Digit> {
        let forms = std::iter::once(&self.form).chain(self.guard.spaces());
        forms.flat_map(|form| form.terms().iter().map(|(digit, _)| *digit))
    }

    /// The term without the digits that `gone` names, each standing for all of its values.
    pub(super) fn eliminated(self, gone: &dyn Fn(Digit) -> bool, vague: bool) -> Vec<Term> {
        let (mut done, mut open) = (Vec::new(), vec![self]);
        while let Some(term) = open.pop() {
            if done.len() + open.len() > MAX_TERMS {
                let form = open.iter().chain(&done).chain([&term]).map(|term| term.form.high()).max().unwrap_or(0);
                return vec![Term::bound(form)];
            }
            let digit = term.digits().find(|digit| gone(*digit));
            match digit {
                None => done.push(term),
                Some(digit) => open.extend(term.without(digit, vague)),
            }
        }
        done
    }

    /// The term without a digit, or without a part of it when others share its dimension.
    fn without(self, digit: Digit, vague: bool) -> Vec<Term> {
        let alike = self.digits().filter(|other| other.dim == digit.dim);
        let Some(at) = boundaries(alike) else { return self.relaxed(digit.dim) };
        let form = self.form.split(digit.dim, &at);
        let spaces: Vec<_> = self.guard.spaces().iter().map(|space| space.split(digit.dim, &at)).collect();
        let stride = digit.stride;
        let size = at.iter().find(|&&end| end > stride).map_or(digit.size, |end| end / stride);
        project(&form, &spaces, Digit { size, ..digit }, self.vague, vague)
    }

    /// The term without any digit of a dimension; each is taken for itself.
    fn relaxed(self, dim: usize) -> Vec<Term> {
        let most = |form: &Affine| {
            let mut all = Affine::from(form.offset());
            for &(digit, by) in form.terms() {
                let apart = if digit.dim == dim { None } else { Affine::from(digit).scaled(by) };
                all = all.plus(&apart.unwrap_or_else(|| (by.max(0) * (digit.size as i64 - 1)).into()));
            }
            all
        };
        let guard = Region::new(self.guard.spaces().iter().map(most));
        guard.map(|guard| Term { form: most(&self.form), guard, vague: true }).into_iter().collect()
    }
}

/// The largest value of `form` over all values of `digit` that the half-spaces allow, as terms of the other digits: one
/// for each bound on the digit, where that is the one that counts.
fn project(form: &Affine, spaces: &[Affine], digit: Digit, was_vague: bool, vague: bool) -> Vec<Term> {
    let (by, rest) = form.without(digit);
    if let Some(value) = only_value(spaces, digit) {
        let replaced = |form: &Affine| {
            let (by, rest) = form.without(digit);
            value.scaled(by).map(|value| rest.plus(&value))
        };
        let range = [value.clone(), value.negated().plus_constant(digit.size as i64 - 1)];
        let spaces: Option<Vec<_>> = spaces.iter().map(replaced).collect();
        if let Some((form, spaces)) = replaced(form).zip(spaces) {
            let guard = Region::new(spaces.into_iter().chain(range));
            return guard.map(|guard| Term { form, guard, vague: was_vague || vague }).into_iter().collect();
        }
    }
    let (mut lower, mut upper) = (vec![Affine::from(0)], vec![Affine::from(digit.size as i64 - 1)]);
    let (mut kept, mut exact) = (Vec::new(), true);
    for space in spaces {
        match space.without(digit) {
            (0, rest) => kept.push(rest),
            (1, rest) => lower.push(rest.negated()),
            (-1, rest) => upper.push(rest),
            (by, rest) => {
                exact = false;
                kept.push(rest.plus_constant(by.max(0) * (digit.size as i64 - 1)));
            }
        }
    }
    for high in &upper {
        kept.extend(lower.iter().map(|low| high.minus(low)));
    }
    let Some(guard) = Region::new(kept) else { return Vec::new() };
    let vague = was_vague || vague || !exact;
    let ends = match by {
        0 => return vec![Term { form: rest, guard, vague }],
        1.. => upper,
        _ => lower.iter().map(Affine::negated).collect(),
    };
    let steps = by.abs();
    let ends = closest(ends, &guard);
    let term = |at: usize| {
        let first = |(other, end): (usize, &Affine)| end.minus(&ends[at]).plus_constant(-i64::from(other < at));
        let others = ends.iter().enumerate().filter(|(other, _)| *other != at);
        let guard = guard.and(&Region::new(others.map(first))?)?;
        let found = ends[at].scaled(steps).map(|end| Term { form: rest.plus(&end), guard, vague });
        Some(found.unwrap_or_else(|| Term::bound(form.high())))
    };
    (0..ends.len()).filter_map(term).collect()
}

/// The value of a digit, when two half-spaces leave it only one.
fn only_value(spaces: &[Affine], digit: Digit) -> Option<Affine> {
    let bounds = |side: i64| {
        let bound = move |space: &Affine| {
            let (by, rest) = space.without(digit);
            (by == side).then(|| if side > 0 { rest.negated() } else { rest })
        };
        spaces.iter().filter_map(bound)
    };
    bounds(1).find(|low| bounds(-1).any(|high| high == *low))
}

/// The bounds that are not above another one everywhere.
fn closest(ends: Vec<Affine>, guard: &Region) -> Vec<Affine> {
    let mut kept: Vec<Affine> = Vec::new();
    for end in ends {
        if kept.iter().any(|own| guard.max_of(&own.minus(&end)) <= 0) {
            continue;
        }
        kept.retain(|own| guard.max_of(&end.minus(own)) > 0);
        kept.push(end);
    }
    kept
}

/// The tokens that elements depend on.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Flow {
    /// Bounds on the latest token; an element depends on none beyond all that apply to it. Without any, on no token.
    pub(crate) terms: Vec<Term>,
    /// The positions that an element belongs to: those by which its dimensions are numbered. An element is causal by
    /// itself when it depends on no token after the latest of them. Used only to say where the future enters.
    pub(crate) times: Vec<Affine>,
}

impl Flow {
    /// Whether elements depend on no token.
    pub(super) fn is_static(&self) -> bool {
        self.terms.is_empty()
    }

    /// Adds the dependencies of another flow.
    pub(super) fn join(&mut self, other: &Flow) {
        for term in &other.terms {
            self.add(term.clone());
        }
        for time in &other.times {
            self.add_time(time.clone());
        }
    }

    /// Adds a term unless others cover it.
    pub(super) fn add(&mut self, term: Term) {
        if self.terms.iter().any(|own| term.is_covered(own)) {
            return;
        }
        self.terms.retain(|own| !own.is_covered(&term));
        self.terms.push(term);
        if self.terms.len() > MAX_TERMS {
            let form = self.terms.iter().map(|term| term.form.high()).max().unwrap_or(0);
            self.terms = vec![Term::bound(form)];
        }
        self.terms.sort_unstable();
    }

    fn add_time(&mut self, time: Affine) {
        if time.as_constant().is_none() && !self.times.contains(&time) {
            self.times.push(time);
            self.times.sort_unstable();
        }
    }

    /// The flow of the elements in one of these regions only.
    pub(super) fn within(&self, regions: &[Region]) -> Flow {
        if let [region] = regions
            && region.is_everywhere()
        {
            return self.clone();
        }
        let mut flow = Flow { terms: Vec::new(), times: self.times.clone() };
        for term in &self.terms {
            regions.iter().filter_map(|region| term.within(region)).for_each(|term| flow.add(term));
        }
        flow
    }

    /// The same with every term only a bound.
    pub(super) fn made_vague(mut self) -> Flow {
        self.terms.iter_mut().for_each(|term| term.vague = true);
        self
    }

    /// The flow elsewhere. Digits without a place stand for all of their values, which makes a term vague. `number` says
    /// how the dimensions of the new value number its elements.
    pub(super) fn carried(&self, substitution: &Substitution<'_>, number: &Substitution<'_>) -> Flow {
        let mut flow = Flow::default();
        let gone = |digit: Digit| substitution(digit).is_none();
        for term in &self.terms {
            if term.digits().any(gone) {
                let kept = term.clone().eliminated(&gone, true);
                kept.iter().filter_map(|term| term.replaced(substitution)).for_each(|term| flow.add(term));
            } else if let Some(term) = term.replaced(substitution) {
                flow.add(term);
            }
        }
        for time in self.times.iter().filter_map(|time| time.replaced(number)) {
            flow.add_time(time);
        }
        flow
    }

    /// The flow of what is combined over the digits that `gone` names.
    pub(super) fn eliminated(&self, gone: &dyn Fn(Digit) -> bool, vague: bool) -> Flow {
        let mut flow = Flow::default();
        for term in &self.terms {
            term.clone().eliminated(gone, vague).into_iter().for_each(|term| flow.add(term));
        }
        let stays = |time: &&Affine| !time.terms().iter().any(|(digit, _)| gone(*digit));
        self.times.iter().filter(stays).for_each(|time| flow.add_time(time.clone()));
        flow
    }
}
