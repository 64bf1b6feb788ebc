//! The placement of one instruction, given the placements of its operands.

use super::fact::{Fact, FactorDigit, Placement, SubAxes, lie, to_factors};
use halite_ir::Linear;
use halite_ir::dims::{DimFactors, FactorKind, FactorMap};
use halite_ir::ops::Reduction;
use halite_tensor::{DimShard, DimShards, Sharding, SubAxisId};

/// An instruction that is to be placed.
pub(super) struct Question<'a> {
    pub(super) map: &'a FactorMap,
    pub(super) linear: Linear,
    /// Whether results are rounded, so that partial sums of them would be.
    pub(super) rounds: bool,
    /// The facts about each operand.
    pub(super) facts: &'a [Fact],
    /// Whether operands that are only stored in shards are gathered in any case: what is repeated is larger than they are.
    pub(super) repeats: bool,
    /// Bytes of each operand.
    pub(super) bytes: &'a [u64],
    /// The preferred sharding of each result.
    pub(super) preferences: &'a [Option<Sharding>],
}

/// The answer.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Decision {
    /// The placement that each operand must have.
    pub(super) operands: Vec<Placement>,
    /// The placement that each result then has.
    pub(super) results: Vec<Placement>,
    /// The reduction that completes the results, and the sub-axes that it runs over.
    pub(super) reduce: Option<(Reduction, SubAxes)>,
}

/// A digit of the sharding of an operand, or of the preferred sharding of a result.
#[derive(Clone, Copy)]
struct Claim {
    at: FactorDigit,
    /// The weight of the claim. Of several claims of one sub-axis, the greatest holds.
    weight: (bool, Rank, u64),
}

/// The rank of a claim, by its factor. What is only stored so gives way. Operands are easiest to gather along a sequence; gathering them
/// elsewhere repeats computation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Stored,
    Preference,
    SequenceReduced,
    Sequence,
    WishIndexed,
    Reduced,
    Parallel,
}

/// The form in which an op takes an operand that is a partial sum.
pub(super) enum Passing {
    /// It is partial along these sub-axes when the op is computed; along none it is whole.
    As(SubAxes),
    /// Its sum is needed first, over all sub-axes but these.
    Settled(SubAxes),
}

/// The form in which each operand is taken: partial sums are summed first where the op does not let them pass.
pub(super) fn passing(question: &Question<'_>) -> Vec<Passing> {
    let facts = question.facts;
    let all = |fact: &Fact| fact.place.partial.clone();
    let mut sub_axes: SubAxes = facts.iter().flat_map(all).collect();
    sub_axes.sort_unstable();
    sub_axes.dedup();
    let sharded = |sub_axis: SubAxisId| facts.iter().any(|fact| fact.place.sharding.find(sub_axis).is_some());
    let partial = |fact: &Fact| !fact.place.is_whole();
    let passes = |fact: &Fact| partial(fact) || fact.zero || fact.place.sharding.0.is_empty();
    let linear = match question.linear {
        Linear::No => false,
        Linear::Jointly => facts.iter().all(passes),
        Linear::Each => facts.iter().filter(|fact| partial(fact)).count() == 1,
        Linear::First => facts.iter().skip(1).all(|fact| !partial(fact)),
        Linear::Rest => facts.iter().take(1).all(|fact| !partial(fact)) && facts.iter().skip(1).all(passes),
    };
    let linear = linear && !question.rounds;
    let allowed = linear && !sub_axes.iter().any(|&sub_axis| sharded(sub_axis));
    // Operands from this one on are terms together, those before are whole.
    let first = match question.linear {
        Linear::Jointly => 0,
        Linear::Rest => 1,
        Linear::No | Linear::Each | Linear::First => facts.len(),
    };
    let of = |(at, fact): (usize, &Fact)| {
        let joint = at >= first;
        let scalar = fact.place.sharding.0.is_empty();
        let all = fact.place.partial == sub_axes || (joint && (fact.zero || scalar));
        match (partial(fact), allowed && all) {
            (true, true) => Some(sub_axes.clone()),
            (true, false) => None,
            (false, true) if joint => Some(sub_axes.clone()),
            (false, _) => Some(SubAxes::new()),
        }
    };
    let answer: Vec<Option<SubAxes>> = facts.iter().enumerate().map(of).collect();
    // Terms of a sum and a whole do not add up to terms, nor do terms along other sub-axes: then sums are needed up to what all share.
    let joint = first < facts.len();
    let apart = joint && answer.iter().any(Option::is_none);
    let shared = |sub_axis: &SubAxisId| {
        let mut terms = facts.iter().skip(first).filter(|fact| !fact.zero);
        terms.all(|fact| fact.place.partial.contains(sub_axis))
    };
    let stays = |sub_axis: &SubAxisId| apart && linear && shared(sub_axis) && !sharded(*sub_axis);
    let rest: SubAxes = sub_axes.iter().copied().filter(stays).collect();
    let materialized = |(at, (fact, passed)): (usize, (&Fact, Option<SubAxes>))| match passed.filter(|_| !apart) {
        Some(sub_axes) => Passing::As(sub_axes),
        None if at < first && !partial(fact) => Passing::As(SubAxes::new()),
        None if fact.zero || fact.place.partial == rest => Passing::As(rest.clone()),
        None => Passing::Settled(rest.clone()),
    };
    facts.iter().zip(answer).enumerate().map(materialized).collect()
}

/// The placements with which the instruction is computed. Operands that are partial here stay so.
pub(super) fn decide(question: &Question<'_>, passing: &[Passing]) -> Decision {
    let map = question.map;
    let passed = |passing: &'_ Passing| match passing {
        Passing::As(sub_axes) => sub_axes.clone(),
        Passing::Settled(_) => SubAxes::new(),
    };
    let mut partial: SubAxes = passing.iter().flat_map(passed).collect();
    partial.sort_unstable();
    partial.dedup();
    let sharded = assign(map, &claims(question), question.rounds, partial.clone());
    let terms = |kind: FactorKind, factor: usize| match kind {
        FactorKind::Contracted(reduction) => reduction,
        FactorKind::Indexed if in_operand(map, factor) => Some(Reduction::Sum),
        _ => None,
    };
    let mut reduced: Option<(Reduction, SubAxes)> = None;
    for (factor, digits) in sharded.iter().enumerate() {
        let Some(kind) = terms(map.factors[factor].kind, factor) else { continue };
        let (_, sub_axes) = reduced.get_or_insert((kind, SubAxes::new()));
        sub_axes.extend(digits.iter().map(|digit| digit.sub_axis));
    }
    let place = |dims: &[DimFactors], partial: &SubAxes| Placement {
        sharding: lie(map, dims, &sharded),
        partial: partial.clone(),
    };
    let operands: Vec<Placement> =
        map.operands.iter().zip(passing).map(|(dims, own)| place(dims, &passed(own))).collect();
    let mut reduce = None;
    match reduced.filter(|(_, sub_axes)| !sub_axes.is_empty()) {
        Some((Reduction::Sum, sub_axes)) => partial.extend(sub_axes),
        other => reduce = other,
    }
    partial.sort_unstable();
    partial.dedup();
    let results = map.results.iter().map(|dims| place(dims, &partial)).collect();
    Decision { operands, results, reduce }
}

fn in_operand(map: &FactorMap, factor: usize) -> bool {
    map.operands.iter().flatten().flatten().any(|other| other.index() == factor)
}

/// The claims of operands and preferences, the greatest weight first.
fn claims(question: &Question<'_>) -> Vec<Claim> {
    let map = question.map;
    let parallel = |at: &FactorDigit| map.factors[at.factor].kind == FactorKind::Parallel;
    let mut claims = Vec::new();
    for ((fact, dims), &bytes) in question.facts.iter().zip(&map.operands).zip(question.bytes) {
        for (dim, (digits, factors)) in fact.place.sharding.0.iter().zip(dims).enumerate() {
            let along = fact.sequence == Some(dim);
            let is_kept = |at: &FactorDigit| !(question.repeats && fact.stored.contains(&at.digit.sub_axis));
            claims.extend(to_factors(map, factors, digits).filter(is_kept).map(|at| {
                let is_stored = fact.stored.contains(&at.digit.sub_axis);
                let rank = match (along, parallel(&at)) {
                    _ if is_stored => Rank::Stored,
                    (false, true) => Rank::Parallel,
                    (false, false) => Rank::Reduced,
                    (true, true) => Rank::Sequence,
                    (true, false) => Rank::SequenceReduced,
                };
                Claim { weight: (fact.stationary && !is_stored, rank, bytes), at }
            }));
        }
    }
    for (preference, dims) in question.preferences.iter().zip(&map.results) {
        for (digits, factors) in preference.iter().flat_map(|preference| &preference.0).zip(dims) {
            claims.extend(to_factors(map, factors, digits).map(|at| {
                let rank = if parallel(&at) { Rank::Preference } else { Rank::WishIndexed };
                Claim { weight: (false, rank, 0), at }
            }));
        }
    }
    claims.sort_by_key(|claim| std::cmp::Reverse(claim.weight));
    claims
}

/// For each factor the digits that it is sharded by; along sub-axes that are taken, by none.
fn assign(map: &FactorMap, claims: &[Claim], rounds: bool, mut taken: SubAxes) -> Vec<DimShards> {
    let mut sharded = vec![DimShards::new(); map.factors.len()];
    for Claim { at: FactorDigit { factor, digit }, .. } in claims {
        let possible = match map.factors[*factor].kind {
            FactorKind::Parallel => true,
            FactorKind::Contracted(reduction) => reduction.is_some() && !rounds,
            FactorKind::Indexed => !rounds,
            FactorKind::Mixed => false,
        };
        if possible
            && !taken.contains(&digit.sub_axis)
            && insert(&mut sharded[*factor], map.factors[*factor].size, *digit)
        {
            taken.push(digit.sub_axis);
        }
    }
    sharded
}

/// Adds a digit to those of a factor, if it does not overlap them.
fn insert(digits: &mut DimShards, size: usize, digit: DimShard) -> bool {
    let together = Sharding(std::iter::once(digits.clone()).collect()).with(0, digit);
    let fits = together.fits(&[size][..].into());
    if fits {
        *digits = together.0[0].clone();
    }
    fits
}
