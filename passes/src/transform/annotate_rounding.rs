//! `annotate-rounding`.

mod dither;
mod helper;
mod sites;
mod words;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use dither::Dither;
use halite_ir::{Function, InferCx, Module, Phase, Rewriter, Rounding, rewrite_planned};
use halite_recipe::{RoundingMode, SrBy, StochasticRounding};
use halite_support::{Diagnostic, Result, codes};
use sites::{RoundingSite, sites};
use std::collections::VecDeque;
use words::Words;

/// The start of the names of helpers that round stochastically.
const DITHER: &str = "stochastic_";

/// Rounds stochastically where the precision recipe says so.
///
/// Each chosen narrowing gets a stream of random bits: a weight that is written, the one of its name; any other, one
/// named after its scope and op. Then it is realized by dither: the op computes wide, and a helper function, shared by
/// all sites of one shape, rounds the result with bits that depend on the seed, the stream, the number of the update and
/// the element's position. So equal tensors round alike on every rank, and however they are split. What the bits of
/// several elements share is computed before the first site: the words of all streams in one vector, and those of the
/// coordinates along each dimension of each size. Where the model is cut into the parts of a pipeline, the keys of each part's weights are a
/// parameter, `{batch, keys = [..], seed = ..}`, so that stages that are equal but for names are one program.
///
/// The stream of a weight that packs several tensors, or of a slot of it, stands for the streams of these: each is rounded
/// with the bits that it would have if it were stored alone, by its own name and coordinates, and so are its copies.
///
/// The switch of a target rounds every narrowing of a process and knows no streams. A program for such a target that relies on
/// it says which narrowings that are, and computes no bits; on CPU XLA the switch is emulated by dither.
///
/// ```text
/// %w1 = convert %new {rounding = rne} : bf16[8,8]
/// =>
/// %keys = constant [2654435769] : u32[1]
/// %stream_words = call %keys, %update {callee = @stream_words} : u32[1]
/// %rows_8 = call %update {callee = @rows_8} : u32[8]
/// %columns_8 = call %update {callee = @columns_8} : u32[8]
/// %word = reshape %stream_words : u32[]
/// %w1 = call %new, %word, %rows_8, %columns_8 {callee = @stochastic_bf16_8x8} : bf16[8,8]
/// ```
#[derive(Debug)]
pub(crate) struct AnnotateRounding;

impl Pass for AnnotateRounding {
    fn info(&self) -> PassInfo {
        PassInfo::new(
            "annotate-rounding",
            "round stochastically where the precision recipe says so",
            Relation::WithinRecipe,
        )
        .required()
        .needs(Phase::Cast..=Phase::Step)
        .example(golden!("annotate_rounding_switch" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let recipe = cx.recipe("annotate-rounding")?;
        let precision = &recipe.precision;
        let sr = (precision.rounding == RoundingMode::Sr).then_some(precision.sr);
        sr.map_or(Ok(()), halite_recipe::check_realizable)?;
        let mut plans: VecDeque<_> = module.functions.iter().map(|function| sites(module, function, sr)).collect();
        check_in_entry(module, &plans)?;
        let by_switch = cx.target.rounds_by_switch && sr.is_some_and(|sr| sr.by == SrBy::Switch);
        let seed = sr.map_or(StochasticRounding::default().seed, |sr| sr.seed);
        let plan = |_: InferCx<'_>, _: &Function| plans.pop_front().filter(|plan| plan.iter().any(Option::is_some));
        let changed = rewrite_planned(module, cx.registry, plan, |rewriter, source, sites| {
            if by_switch {
                return switch(rewriter, source, &sites);
            }
            let words = Words::emit(rewriter, source, &sites, seed)?;
            let mut dither = Dither::new(words);
            for (inst, site) in source.insts.iter().zip(sites) {
                match site {
                    Some(site) => dither.realize(rewriter, source, inst, &site)?,
                    None => rewriter.copy(source, inst)?,
                }
            }
            Ok(())
        })?;
        Ok(Changed::when(changed))
    }
}

/// Has the instructions of sites say that the switch rounds them.
fn switch(rewriter: &mut Rewriter<'_>, source: &Function, sites: &[Option<RoundingSite>]) -> Result<()> {
    for (inst, site) in source.insts.iter().zip(sites) {
        rewriter.copy(source, inst)?;
        if site.is_some() {
            rewriter.round_last(Rounding::Switched);
        }
    }
    Ok(())
}

/// Only the entry knows the number of the update, by which bits differ from step to step.
fn check_in_entry(module: &Module, plans: &VecDeque<Vec<Option<RoundingSite>>>) -> Result<()> {
    let mut callees = module.functions.iter().zip(plans).rev().skip(1);
    let Some((function, _)) = callees.find(|(_, plan)| plan.iter().any(Option::is_some)) else { return Ok(()) };
    let message =
        format!("`annotate-rounding` meets stochastic rounding in `@{}`, which is not the entry", function.name);
    Err(Diagnostic::error(codes::PIPELINE, message).help("run `inline` before"))
}
