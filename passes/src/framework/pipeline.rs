//! Passes by name, and pipelines of them.

use crate::framework::pass::{Kind, Pass, PassInfo};
use crate::transform::dispatch_dialect::DispatchDialect;
use halite_ir::Phase;
use halite_support::nearest::nearest;
use halite_support::{Diagnostic, Name, Result, codes};
use indexmap::IndexMap;
use std::sync::Arc;

/// The passes a session knows. A value owned by the session, never global state.
#[derive(Clone, Debug)]
pub struct PassRegistry {
    passes: IndexMap<Name, Arc<dyn Pass>>,
}

impl PassRegistry {
    /// The built-in passes.
    pub fn builtin() -> Self {
        let passes: [Arc<dyn Pass>; 17] = [
            Arc::new(crate::transform::bind_recipe::BindRecipe),
            Arc::new(crate::analysis::check_causality::CheckCausality),
            Arc::new(crate::transform::cse::Cse),
            Arc::new(crate::transform::dce::Dce),
            Arc::new(crate::recognize::fold_causal_mask::FoldCausalMask),
            Arc::new(crate::transform::coalesce_layers::CoalesceLayers),
            Arc::new(crate::transform::auto_diff::AutoDiff),
            Arc::new(crate::transform::auto_cast::AutoCast),
            Arc::new(crate::transform::append_optimizer::AppendOptimizer),
            Arc::new(crate::transform::simplify::Simplify::default()),
            Arc::new(crate::transform::fold_constant::FoldConstant),
            Arc::new(DispatchDialect),
            Arc::new(crate::transform::expand_composites::ExpandComposites),
            Arc::new(crate::transform::inline::Inline),
            Arc::new(crate::transform::annotate_rounding::AnnotateRounding),
            Arc::new(crate::transform::legalize::Legalize),
            Arc::new(crate::analysis::check_precision::CheckPrecision),
        ];
        let fusions = crate::fusions().map(|pass| Arc::new(pass) as Arc<dyn Pass>);
        Self { passes: passes.into_iter().chain(fusions).map(|pass| (pass.info().name, pass)).collect() }
    }

    /// Adds a pass. Pipelines, reports and dumps know it by its name: an ASCII letter, then ASCII letters, digits, `-`, `_`
    /// and `.`.
    ///
    /// # Errors
    /// When its name is not of that form, or another has it.
    pub fn register(&mut self, pass: Arc<dyn Pass>) -> Result<()> {
        let name = pass.info().name;
        name.check("pass", "-_.")?;
        if self.passes.contains_key(&name) {
            return Err(Diagnostic::error(codes::DUPLICATE, format!("a pass named `{name}` exists already")));
        }
        self.passes.insert(name, pass);
        Ok(())
    }

    /// All passes in order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Pass>> {
        self.passes.values()
    }

    /// The pass of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn Pass>> {
        self.passes.get(name).ok_or_else(|| {
            let known: Vec<_> = self.passes.keys().map(|name| format!("`{name}`")).collect();
            Diagnostic::error(codes::PIPELINE, format!("no pass is named `{name}`")).help(
                match nearest(name, self.passes.keys().map(|name| &**name)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the passes are {}", known.join(", ")),
                },
            )
        })
    }

    /// The pipeline written as pass names separated by commas; `(a, b)*` repeats a group until nothing changes.
    ///
    /// # Errors
    /// On an unknown name or an unbalanced group.
    pub fn pipeline(&self, text: &str) -> Result<Pipeline> {
        let mut stages = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (item, after) = split_item(rest)?;
            match item.strip_prefix('(').and_then(|inner| inner.strip_suffix(")*")) {
                Some(inner) => {
                    let names = inner.split(',').map(str::trim);
                    stages.push(Stage::Fixpoint(names.map(|name| self.get(name).cloned()).collect::<Result<_>>()?));
                }
                None => stages.push(Stage::Once(self.get(item)?.clone())),
            }
            rest = after;
        }
        Ok(Pipeline { stages })
    }
}

/// The first item of a pipeline text and what follows its comma.
fn split_item(text: &str) -> Result<(&str, &str)> {
    let end = if text.starts_with('(') {
        text.find(")*").map(|at| at + 2).ok_or_else(|| {
            Diagnostic::error(codes::PIPELINE, format!("`{text}` opens a group that does not end in `)*`"))
                .help("end the group with `)*`")
        })?
    } else {
        text.find(',').unwrap_or(text.len())
    };
    let (item, after) = text.split_at(end);
    Ok((item.trim(), after.trim_start().trim_start_matches(',').trim_start()))
}

/// One step of a pipeline.
#[derive(Clone, Debug)]
pub enum Stage {
    /// A pass.
    Once(Arc<dyn Pass>),
    /// Passes repeated until a round changes nothing.
    Fixpoint(Vec<Arc<dyn Pass>>),
}

/// Passes in order.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// The steps.
    pub stages: Vec<Stage>,
}

impl Pipeline {
    /// Every pass in order, groups once.
    pub fn passes(&self) -> impl Iterator<Item = &Arc<dyn Pass>> {
        self.stages.iter().flat_map(|stage| match stage {
            Stage::Once(pass) => std::slice::from_ref(pass),
            Stage::Fixpoint(passes) => passes.as_slice(),
        })
    }

    /// The pipeline without its optimizations: what verification compares against.
    #[must_use]
    pub fn required_only(&self) -> Pipeline {
        let required = |stage: &&Stage| match stage {
            Stage::Once(pass) => pass.info().kind == Kind::Required,
            Stage::Fixpoint(_) => false,
        };
        Pipeline { stages: self.stages.iter().filter(required).cloned().collect() }
    }

    /// The pipeline in two: what comes before the first pass that moves a module on, and that pass with the rest.
    #[must_use]
    pub fn split_at_phase(&self) -> (Pipeline, Pipeline) {
        let moves = |stage: &Stage| match stage {
            Stage::Once(pass) => pass.info().gives.is_some(),
            Stage::Fixpoint(passes) => passes.iter().any(|pass| pass.info().gives.is_some()),
        };
        let at = self.stages.iter().position(moves).unwrap_or(self.stages.len());
        let (before, after) = self.stages.split_at(at);
        (Pipeline { stages: before.to_vec() }, Pipeline { stages: after.to_vec() })
    }

    /// Checks that nothing in a group moves a module to another phase, which it does once.
    fn check_groups(&self) -> Result<()> {
        let groups = self.stages.iter().filter_map(|stage| match stage {
            Stage::Once(_) => None,
            Stage::Fixpoint(passes) => Some(passes),
        });
        let moves = |info: PassInfo| Some((info.gives?, info.name));
        match groups.flatten().find_map(|pass| moves(pass.info())) {
            None => Ok(()),
            Some((phase, name)) => {
                let message = format!("`{name}` cannot be repeated, because it leads to phase `{phase}`");
                Err(Diagnostic::error(codes::PIPELINE, message)
                    .help(format!("take `{name}` out of the group `(...)*`")))
            }
        }
    }

    /// Checks that each pass finds a phase it accepts, starting from `phase`, however often groups are repeated.
    ///
    /// # Errors
    /// Naming the first pass that does not.
    pub fn check_phases(&self, mut phase: Phase) -> Result<()> {
        self.check_groups()?;
        for pass in self.passes() {
            let info = pass.info();
            if !info.needs.contains(&phase) {
                let (name, from, to) = (info.name, info.needs.start(), info.needs.end());
                let takes = if from == to { format!("`{from}`") } else { format!("`{from}` to `{to}`") };
                return Err(Diagnostic::error(
                    codes::PIPELINE,
                    format!("`{name}` takes modules in phase {takes}, but is given one in `{phase}`"),
                )
                .help(if phase > *to {
                    format!("put `{name}` before the pass that leads to `{phase}`, or start from an earlier module")
                } else {
                    format!("put the passes that lead to `{from}` before `{name}`")
                }));
            }
            phase = info.gives.unwrap_or(phase);
        }
        Ok(())
    }
}
