//! The trait of passes, and their context.

use crate::framework::example::Example;
use crate::framework::findings::Findings;
use crate::framework::remark::Remark;
use crate::framework::target::TargetView;
use halite_ir::{Module, Phase, Registry};
use halite_optim::ScheduleShapes;
use halite_optim::UpdateRules;
use halite_recipe::Recipe;
use halite_support::{Diagnostic, Name, Result};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A transformation of modules.
///
/// A pass from outside is registered with a session's passes and named in a pipeline:
///
/// ```
/// use halite_ir::{Module, Registry, text};
/// use halite_passes::{Changed, Pass, PassCx, PassInfo, PassRegistry, Relation, Runner, RunnerOptions};
/// use halite_support::{FileId, Result};
/// use std::sync::Arc;
///
/// /// Gives the module another name.
/// #[derive(Debug)]
/// struct Rename;
///
/// impl Pass for Rename {
///     fn info(&self) -> PassInfo {
///         PassInfo::new("rename", "give the module another name", Relation::Identical)
///     }
///
///     fn run(&self, module: &mut Module, _: &PassCx<'_>) -> Result<Changed> {
///         module.name = "renamed".into();
///         Ok(Changed::No) // Names are no part of the structure.
///     }
/// }
///
/// let (registry, mut passes) = (Registry::builtin(), PassRegistry::builtin());
/// passes.register(Arc::new(Rename)).unwrap();
/// let ir = "func @main(%x: f32[4]) -> (f32[4]) {\n  %y = tanh %x : f32[4]\n  return %y\n}\n";
/// let mut module = text::parse(ir, FileId::of("main.ir", ir), &registry).unwrap();
/// let pipeline = passes.parse("cse, rename, dce").unwrap();
/// Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &PassCx::new(&registry)).unwrap();
/// assert_eq!(module.name, "renamed");
/// ```
pub trait Pass: fmt::Debug + Send + Sync {
    /// Its properties, for people and for the runner.
    fn info(&self) -> PassInfo;

    /// Transforms a module. On an error the module may be left in any state; the runner drops it.
    ///
    /// # Errors
    /// On a fault of the user's input, with a position. Broken invariants are found by the runner.
    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed>;

    /// The names of its rules, where it is made of rules that can be left out.
    fn rules(&self) -> Vec<Name> {
        Vec::new()
    }

    /// The pass with only the first so many of its rules, so that bisection can go on inside of it; `None` for a pass that
    /// cannot be taken apart.
    fn with_rules(&self, _count: usize) -> Option<Arc<dyn Pass>> {
        None
    }
}

/// The properties of a pass, for people and for the runner.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct PassInfo {
    /// Its name, e.g. `fold-constant`, by which pipelines, reports and dumps know it.
    pub name: Name,
    /// One line for people.
    pub summary: String,
    /// Whether a pipeline can do without it.
    pub kind: Kind,
    /// The phases it accepts.
    pub needs: RangeInclusive<Phase>,
    /// The phase it moves the module to.
    pub gives: Option<Phase>,
    /// The relation of results to those before.
    pub relation: Relation,
    /// The milestone that it is: a compile stops before it.
    pub milestone: Option<Milestone>,
    /// The example that the reference shows.
    pub example: Option<Example>,
}

impl PassInfo {
    /// An optimization that takes modules before lowering in any phase and leaves them there.
    pub fn new(name: impl Into<Name>, summary: impl Into<String>, relation: Relation) -> Self {
        let (name, summary) = (name.into(), summary.into());
        let needs = Phase::Built..=Phase::Step;
        Self { name, summary, kind: Kind::Optimization, needs, gives: None, relation, milestone: None, example: None }
    }

    /// A pass that later ones depend on; bisection never leaves it out.
    #[must_use]
    pub fn required(self) -> Self {
        Self { kind: Kind::Required, ..self }
    }

    /// A pass that accepts modules in these phases.
    #[must_use]
    pub fn needs(self, phases: RangeInclusive<Phase>) -> Self {
        Self { needs: phases, ..self }
    }

    /// A pass that a compile stops before for this.
    #[must_use]
    pub fn milestone(self, milestone: Milestone) -> Self {
        Self { milestone: Some(milestone), ..self }
    }

    /// A pass that the reference shows by this.
    #[must_use]
    pub fn example(self, example: Example) -> Self {
        Self { example: Some(example), ..self }
    }

    /// A pass that moves modules to this phase.
    #[must_use]
    pub fn gives(self, phase: Phase) -> Self {
        Self { gives: Some(phase), ..self }
    }
}

/// A milestone of a pipeline. A compile stops before the first such pass, wherever a pipeline has it, to compare the module with what
/// comes after, or to go on in several ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Milestone {
    /// It makes the program of one rank.
    Ranks,
    /// It holds that program to the layout.
    RanksAreChecked,
    /// It chooses what is computed again.
    Recompute,
    /// It writes out calls: before it, what stages of a pipeline run are functions of one module.
    WritesOut,
}

/// Whether a pipeline can do without a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Later passes depend on it.
    Required,
    /// It only makes the module better; `--bisect` may leave it out.
    Optimization,
}

/// The relation of the results of a module to those before a pass, on equal inputs, under the reference interpreter. The harness tests
/// exactly this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// Bit for bit the same.
    Identical,
    /// Within this many units of roundoff, norm-wise.
    Ulp(u32),
    /// The old results bit for bit, followed by new ones.
    Extends,
    /// The same up to the element types and roundings that the precision recipe asks for.
    WithinRecipe,
    /// As `Ulp`, on inputs and results some of which are stored otherwise: each weight says how by its packing.
    Mapped(u32),
    /// New inputs and results; the pass is compared with an independent model of what it defines.
    Defines,
}

/// Whether a pass did anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    /// The module is another one.
    Yes,
    /// The module is structurally the same.
    No,
}

impl Changed {
    /// `Yes` when `changed`.
    pub fn when(changed: bool) -> Self {
        if changed { Changed::Yes } else { Changed::No }
    }
}

/// The maker of a module, who is told about faults that a check finds in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MadeBy {
    /// The compiler, from a model: a wrong layout is a fault of ours.
    Compiler,
    /// Somebody who wrote it as text, or chose the passes that it went through: a wrong layout is theirs.
    Hand,
}

/// The context of a pass: all that it may look at besides the module.
#[derive(Clone, Copy, Debug)]
pub struct PassCx<'a> {
    /// Known composites.
    pub registry: &'a Registry,
    /// Known update rules.
    pub rules: &'a UpdateRules,
    /// Known shapes of schedules.
    pub shapes: &'a ScheduleShapes,
    /// The recipe; passes that do not depend on training run without one.
    pub recipe: Option<&'a Recipe>,
    /// The findings of the run, which passes add to; without it they are lost.
    pub findings: Option<&'a Findings>,
    /// The properties of the program's target.
    pub target: TargetView<'a>,
    /// The maker of the module.
    pub made_by: MadeBy,
    /// Makes the same model in smaller sizes, for trials on inputs.
    pub smaller: Option<Smaller<'a>>,
}

/// Makes the module that a pipeline begins with in smaller sizes, where the model takes such.
#[derive(Clone, Copy)]
pub struct Smaller<'a>(pub &'a dyn Fn() -> Option<Module>);

impl fmt::Debug for Smaller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Smaller")
    }
}

impl<'a> PassCx<'a> {
    /// Composites alone: no update rule, no shape of schedules, no recipe, no findings, a target with the default properties, and a
    /// module made by hand.
    pub fn new(registry: &'a Registry) -> Self {
        static RULES: UpdateRules = UpdateRules::none();
        static SHAPES: ScheduleShapes = ScheduleShapes::none();
        let target = TargetView::default();
        let (recipe, findings, made_by) = (None, None, MadeBy::Hand);
        Self { registry, rules: &RULES, shapes: &SHAPES, recipe, findings, target, made_by, smaller: None }
    }

    /// The recipe, for a pass that cannot do without.
    ///
    /// # Errors
    /// When there is none.
    pub fn recipe(&self, pass: &str) -> Result<&'a Recipe> {
        self.recipe.ok_or_else(|| {
            let message = format!("`{pass}` needs a recipe");
            Diagnostic::error(halite_support::codes::PIPELINE, message).help("name one with `--recipe`")
        })
    }

    /// Whether remarks are read, for passes that have to search for something to say.
    pub fn explains(&self) -> bool {
        self.findings.is_some_and(Findings::keeps_remarks)
    }

    /// Adds a remark for `--explain`; it is made only when remarks are read.
    pub fn explain(&self, remark: impl FnOnce() -> Remark) {
        if let Some(findings) = self.findings {
            findings.remark(remark);
        }
    }

    /// Leaves a warning; without anyone to tell, it is not made.
    pub(crate) fn warn(&self, warning: impl FnOnce() -> Diagnostic) {
        if let Some(findings) = self.findings {
            findings.warn(warning());
        }
    }
}
