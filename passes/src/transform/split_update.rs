//! `split-update`.

mod homes;
mod rounds;

use crate::framework::example::golden;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use crate::transform::split_stages::Writer;
use halite_ir::{FuncResult, Function, InferCx, Module, ParamRole, Phase, Rewriter, StageTask};
use halite_support::Result;
use homes::Homes;
use rounds::{Turn, rounds};

/// The name of the pass.
const PASS: &str = "split-update";

/// Makes functions of the update that each stage of a pipeline makes of what it holds.
///
/// A weight with its sums and the state of its optimizer is on the stage of the first part that reads it, and so is all that is made of
/// them. Numbers that are made of the numbers of several stages, such as the norm of all gradients, each stage that reads them makes for
/// itself, in one order: they have the bits that one device gives them. So an update has rounds, before each of which stages give one
/// another what others read: the sum of the count, the squares of the gradients' norms. Numbers of one stage go together, as a vector.
///
/// ```text
/// %g = divide %accum.a, %count                    %g, %s = call %accum.a, %accum_count {callee = @stage_0_update_0}
/// %s = reduce %g ..                               %t = call %accum.b, %accum_count {callee = @stage_1_update_0}
/// %t = reduce %h ..                         =>    %a = call %a, %accum.a, %s, %t {callee = @stage_0_update_1}
/// %norm = add %s, %t                              %b = call %b, %accum.b, %s, %t {callee = @stage_1_update_1}
/// ```
#[derive(Debug)]
pub(crate) struct SplitUpdate;

impl Pass for SplitUpdate {
    fn info(&self) -> PassInfo {
        PassInfo::new(PASS, "make functions of what each stage of a pipeline updates", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Step)
            .example(golden!("split_update" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        let Some(recipe) = cx.recipe.filter(|recipe| recipe.stages() > 1) else { return Ok(Changed::No) };
        if module.phase != Phase::Step || !module.entry().is_some_and(is_update) {
            return Ok(Changed::No);
        }
        let pipeline = recipe.pipeline()?.0;
        let entry = module.take_entry()?;
        let homes = Homes::of(&entry, pipeline.stages(), |part| pipeline.stage_of(part));
        let infer = InferCx { functions: &module.functions, registry: cx.registry };
        let rounds = rounds(infer, &entry, &homes, pipeline.stages());
        let mut names = module.names();
        let mut writer = Writer::new(Rewriter::new(module, cx.registry, &entry), &entry);
        let mut results: Vec<FuncResult> = entry.results.clone();
        for (round, stages) in rounds.iter().enumerate() {
            for (stage, Turn { half, results: own }) in stages.iter().enumerate() {
                let returned = writer.half(&mut names, StageTask::Update { stage, round }, half)?;
                // Several functions may make one value: each returns its own.
                for &at in own {
                    let value = entry.results[at].value;
                    results[at].value =
                        returned.get(&value).map_or_else(|| writer.b.value(value), |&value| Ok(value))?;
                }
            }
        }
        writer.b.results(results);
        writer.b.into_builder().finish();
        Ok(Changed::Yes)
    }
}

/// Whether an entry is the part of an update that follows the micro-batches, of a model that is cut into parts.
fn is_update(entry: &Function) -> bool {
    let is_cut = |role: &ParamRole| matches!(role, ParamRole::Weight(info) if info.part.is_some());
    let is_fed = entry.params.iter().any(|param| param.role == ParamRole::Batch);
    !is_fed && entry.params.iter().any(|param| is_cut(&param.role))
}
