//! `place-stages`.

mod balance;
mod boundary;
mod layers;
mod parts;
mod source;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use balance::{Costs, cuts};
use boundary::Boundaries;
use halite_ir::composites::Transfer;
use halite_ir::{Function, InferCx, Module, ParamRole, Phase, Rewriter, Value, function_flops, inst_cost};
use halite_recipe::{Cuts, Recipe};
use halite_support::{Diagnostic, Name, Result, codes};
use layers::Layers;
pub use parts::{PartCost, part_costs};
pub(in crate::transform) use source::{Source, sources};

/// The name of the pass.
const PASS: &str = "place-stages";

/// Cuts a model into the parts that the stages of a pipeline hold, where the recipe has one: what a part reads of the part before it goes
/// through a `transfer`.
///
/// Parts follow one another in the order of the entry. They are cut where the most expensive one costs least, embedding and head
/// counted in; of cuts that cost about the same, the ones that send the fewest bytes. Where the recipe says with which layers parts begin,
/// they begin with these. What follows from the batch or from weights alone
/// is no part's own: whoever reads it makes it. Each weight says the first part that reads it.
///
/// ```text
/// %x = call %0, .. {callee = @block}      =>  %x = call %0, .. {callee = @block}
/// %y = call %x, .. {callee = @block}          %1 = transfer %x {from = 0, to = 1}
///                                             %y = call %1, .. {callee = @block}
/// ```
#[derive(Debug)]
pub(crate) struct PlaceStages;

impl Pass for PlaceStages {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "cut the model into the parts of a pipeline", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Built)
            .example(golden!("place_stages" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let Some(recipe) = cx.recipe.filter(|recipe| recipe.stages() > 1) else { return Ok(Changed::No) };
        let Some(entry) = module.entry() else { return Ok(Changed::No) };
        if entry.insts.iter().any(|inst| Transfer::ends(&inst.op).is_some()) {
            return Ok(Changed::No);
        }
        let infer = InferCx { functions: &module.functions, registry: cx.registry };
        let line = Line::of(&infer, entry);
        let begins = line.begins(entry, recipe)?;
        let mut entry = module.take_entry()?;
        line.stamp(&mut entry, &begins);
        let cut = line.cut(Rewriter::new(module, cx.registry, &entry), &entry, &begins);
        cut.map_err(|error| error.key(if recipe.cuts().is_some() { Cuts::KEY } else { "parallel.pipeline" }))?;
        Ok(Changed::Yes)
    }
}

/// The instructions of an entry that belong to parts, in order.
struct Line {
    /// Their positions.
    insts: Vec<usize>,
    /// The floating-point operations of each.
    flops: Vec<u64>,
    sources: Vec<Source>,
}

impl Line {
    fn of(infer: &InferCx<'_>, entry: &Function) -> Self {
        let (sources, callees) = (sources(entry), function_flops(infer));
        let is_own = |at: &usize| entry.insts[*at].results.iter().any(|value| sources[value.index()].is_own());
        let insts: Vec<usize> = (0..entry.insts.len()).filter(is_own).collect();
        let flops = insts.iter().map(|&at| inst_cost(infer, &callees, entry, &entry.insts[at]).flops).collect();
        Self { insts, flops, sources }
    }

    /// The instruction of the line that each part begins with.
    ///
    /// # Errors
    /// When the model has fewer instructions than there are parts, or no such layers as the recipe says.
    fn begins(&self, entry: &Function, recipe: &Recipe) -> Result<Vec<usize>> {
        let parts = recipe.pipeline()?.0.parts();
        let crossing = Boundaries::of(entry, &self.insts, &self.sources).bytes();
        if let Some(cuts) = recipe.cuts() {
            return Layers::of(entry, &self.insts, &self.sources, &crossing).cut(cuts);
        }
        let found = cuts(&Costs { flops: &self.flops, crossing: &crossing }, parts);
        found.ok_or_else(|| {
            let message = format!("a model of {} instructions is not cut into {parts} parts", self.insts.len());
            let note = "a part has an instruction of the model's `main`: a call of a layer, a product with a weight";
            let help = "choose fewer stages or chunks, or call the layers of the model in `main`";
            Diagnostic::error(codes::NOT_SUPPORTED, message).key("parallel.pipeline").note(note).help(help)
        })
    }

    /// The part of an instruction of the line.
    fn part(begins: &[usize], number: usize) -> usize {
        begins.partition_point(|&begin| begin <= number).saturating_sub(1)
    }

    /// Stamps each weight with the first part that reads it, also one that is made into another value first; the first of all on one that
    /// nothing reads.
    fn stamp(&self, entry: &mut Function, begins: &[usize]) {
        let mut first: Vec<Option<usize>> = vec![None; entry.values.len()];
        let mut line = self.insts.iter().enumerate().rev().peekable();
        for (at, inst) in entry.insts.iter().enumerate().rev() {
            let own = line.next_if(|(_, own)| **own == at).map(|(number, _)| Self::part(begins, number));
            let Some(part) = own.or_else(|| inst.results.iter().filter_map(|result| first[result.index()]).min())
            else {
                continue;
            };
            for arg in &inst.args {
                let known = &mut first[arg.index()];
                *known = Some(known.map_or(part, |known| known.min(part)));
            }
        }
        for param in &mut entry.params {
            if let ParamRole::Weight(info) = &mut param.role {
                info.part = Some(first[param.value.index()].unwrap_or(0));
            }
        }
    }

    /// Writes the entry with transfers.
    ///
    /// # Errors
    /// When a part reads from further back than the one before it, or nothing of that.
    fn cut(&self, mut b: Rewriter<'_>, entry: &Function, begins: &[usize]) -> Result<()> {
        // The last part in which each value is, and its replacement where it was made.
        let mut parts: Vec<Option<usize>> = vec![None; entry.values.len()];
        let mut made: Vec<Option<Value>> = vec![None; entry.values.len()];
        let mut line = self.insts.iter().enumerate().peekable();
        let mut part = 0;
        let mut reads = vec![false; begins.len()];
        for (at, inst) in entry.insts.iter().enumerate() {
            let own = line.next_if(|(_, own)| **own == at);
            if let Some((number, _)) = own {
                part = Self::part(begins, number);
                for &arg in &inst.args {
                    let Some(from) = parts[arg.index()].filter(|&from| from < part) else { continue };
                    if from + 1 < part {
                        return Err(b.locate(skipped(entry, arg, (from, part))));
                    }
                    let outer = b.set_loc(entry.def(arg).map_or(inst.loc, |made| made.loc));
                    let there = b.value(arg)?;
                    let here = Transfer::emit(&mut b, there, from, part)?;
                    b.set_loc(outer);
                    b.replace(arg, here);
                    parts[arg.index()] = Some(part);
                    reads[part] = true;
                }
            }
            b.copy(entry, inst)?;
            if own.is_some() {
                for &result in &inst.results {
                    parts[result.index()] = Some(part);
                    made[result.index()] = Some(b.value(result)?);
                }
            }
        }
        // Results leave from where they were made.
        for result in &entry.results {
            if let Some(value) = made[result.value.index()] {
                b.replace(result.value, value);
            }
        }
        if let Some(part) = (1..begins.len()).find(|&part| !reads[part]) {
            return Err(apart(part));
        }
        b.finish(entry)?;
        Ok(())
    }
}

/// A part that reads nothing of the one before it.
fn apart(part: usize) -> Diagnostic {
    let message = format!("part {part} of the model reads nothing that part {} makes", part - 1);
    let error = Diagnostic::error(codes::NOT_SUPPORTED, message);
    error.note("micro-batches go from stage to stage").help("choose fewer stages, or other cuts")
}

/// A value that is read further on than in the next part.
fn skipped(entry: &Function, value: Value, (from, to): (usize, usize)) -> Diagnostic {
    let name = entry.values[value.index()].hint.as_ref().map_or_else(|| format!("{value:?}"), Name::to_string);
    let message = format!("`{name}` is made in part {from} of the model and read in part {to}");
    let error = Diagnostic::error(codes::NOT_SUPPORTED, message);
    error
        .note("a stage of a pipeline sends to the next one alone")
        .help("choose fewer stages, other cuts, or have the model hand the value from layer to layer")
}
