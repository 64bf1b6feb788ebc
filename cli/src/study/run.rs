//! Training a model under several recipes.

use super::gradients::{Gradients, relative_errors};
use halite::Session;
use halite::compile::{CompileOptions, Compiled};
use halite::source::Source;
use halite_bundle::{Bundle, ModuleRole};
use halite_data::Data;
use halite_page::study::{GradientErrors, NumericsReport, RecipeReport, RunReport};
use halite_recipe::TargetName;
use halite_runtime::Executor;
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_train::{Feed, Programs, Run, check_data, is_due};
use std::sync::Arc;

/// Options of a comparison of recipes: `NumericsOptions { every: 5, ..NumericsOptions::new(300) }`.
#[derive(Clone, PartialEq, Debug)]
pub struct NumericsOptions {
    /// Updates of each run.
    pub steps: u64,
    /// Seeds of the state and of the order of data, one run each.
    pub seeds: Vec<u64>,
    /// Updates between measurements of the gradient error; 0 measures none.
    pub every: u64,
    /// Updates between evaluations; 0 evaluates at the start and the end only.
    pub eval_every: u64,
    /// The most batches of one evaluation.
    pub eval_batches: usize,
}

impl NumericsOptions {
    /// One run of each recipe for so many updates, from seed 0, measured and evaluated every 25 updates, on 16 batches at
    /// most.
    pub fn new(steps: u64) -> Self {
        Self { steps, seeds: vec![0], every: 25, eval_every: 25, eval_batches: 16 }
    }
}

/// Hears how a study goes, beside how each run goes.
pub trait Observer: halite_train::Observer {
    /// A recipe is being compiled.
    fn compiling(&mut self, _recipe: &str) {}

    /// A run begins. The observer then hears of it as of any training run.
    fn run_started(&mut self, _recipe: &str, _seed: u64) {}

    /// A gradient error was measured after so many updates.
    fn compared(&mut self, _errors: &GradientErrors) {}

    /// A run ended; with the number of the update with which it diverged, if it did.
    fn run_ended(&mut self, _diverged: Option<u64>) {}
}

impl Observer for halite_train::Silent {}

/// Recipes that are compiled and ready to be compared on data.
pub struct Comparison<'a> {
    session: &'a Session,
    data: &'a dyn Data,
    against: Source,
    recipes: Vec<(Source, Bundle)>,
}

impl<'a> Comparison<'a> {
    /// Compiles recipes of one model that differ in precision and optimizer only, and a reference to hold them against.
    /// [`Source::name`] tells them apart; the reference is trained too, once, also when it is one of the recipes.
    ///
    /// # Errors
    /// When two recipes share a name, one does not compile, or its bundle cannot be trained on the data.
    pub fn new(
        session: &'a Session,
        mut recipes: Vec<Source>,
        against: Source,
        data: &'a dyn Data,
    ) -> Result<Self, Diagnostics> {
        check_names(&recipes, &against)?;
        if !recipes.iter().any(|recipe| recipe.name == against.name) {
            recipes.push(against.clone());
        }
        let options =
            CompileOptions { roles: vec![ModuleRole::TRAIN_STEP, ModuleRole::EVAL], ..CompileOptions::default() };
        let compile = |mut source: Source| {
            // Of the targets, only CPU XLA takes every precision.
            source.recipe.target = TargetName::default();
            let Compiled { bundle, .. } = session.compile(&source, &options)?;
            check_data(&bundle, data)?;
            Ok((source, bundle))
        };
        let recipes = recipes.into_iter().map(compile).collect::<Result<Vec<_>, Diagnostics>>()?;
        Ok(Self { session, data, against, recipes })
    }
}

/// One name stands for one recipe.
fn check_names(recipes: &[Source], against: &Source) -> Result<(), Diagnostics> {
    let differs = |a: &Source, b: &Source| a.name == b.name && a.recipe != b.recipe;
    for (index, recipe) in recipes.iter().enumerate() {
        let twice = recipes[..index].iter().any(|earlier| earlier.name == recipe.name);
        if twice || differs(recipe, against) {
            let message = format!("two recipes are called `{}`", recipe.name);
            let error = Diagnostic::error(codes::USAGE, message);
            return Err(error.help("rename one of the files, or leave one out").into());
        }
    }
    Ok(())
}

impl Comparison<'_> {
    /// The number of recipes to train, the reference included.
    pub fn num_recipes(&self) -> usize {
        self.recipes.len()
    }

    /// Tokens predicted in one update.
    pub fn tokens_per_step(&self) -> u64 {
        self.recipes.first().map_or(0, |(_, bundle)| bundle.manifest.statistics.tokens_per_step)
    }

    /// The most ranks that one of the programs runs on.
    pub fn num_ranks(&self) -> usize {
        self.recipes.iter().map(|(_, bundle)| bundle.manifest.num_ranks()).max().unwrap_or(1)
    }

    /// Trains under each recipe with each seed.
    ///
    /// # Errors
    /// When the executor fails. A run that diverges is no error.
    pub fn run(
        &self,
        executor: Arc<dyn Executor>,
        options: &NumericsOptions,
        observer: &mut dyn Observer,
    ) -> Result<NumericsReport, Diagnostics> {
        observer.compiling(&self.against.name);
        let reference = Gradients::compile(self.session, &self.against, executor.as_ref())?;
        let study = Study { session: self.session, reference, data: self.data, options, executor };
        let recipes = self.recipes.iter().map(|(source, bundle)| study.recipe(source, bundle, observer));
        Ok(NumericsReport {
            recipes: recipes.collect::<Result<_, _>>()?,
            model: self.against.model_name.clone(),
            against: self.against.name.clone(),
            steps: options.steps,
            layers: study.reference.layers(),
        })
    }
}

/// The inputs and the executor that all runs share.
struct Study<'a> {
    session: &'a Session,
    reference: Gradients,
    data: &'a dyn Data,
    options: &'a NumericsOptions,
    executor: Arc<dyn Executor>,
}

impl Study<'_> {
    fn recipe(
        &self,
        source: &Source,
        bundle: &Bundle,
        observer: &mut dyn Observer,
    ) -> Result<RecipeReport, Diagnostics> {
        observer.compiling(&source.name);
        let gradients = Gradients::compile(self.session, source, self.executor.as_ref())?;
        let takes = Feed::of(bundle)?.takes;
        let held_out = self.data.open(&takes, 0)?.held_out;
        let programs = Programs::load(self.executor.clone(), bundle, held_out, self.options.eval_batches)?;
        let mut runs = Vec::new();
        for &seed in &self.options.seeds {
            observer.run_started(&source.name, seed);
            let mut step = programs.step();
            step.init_state(seed)?;
            let run = Run::new(&programs, self.data.open(&takes, seed)?.train, step);
            let run = self.run(run, seed, &gradients, observer)?;
            observer.run_ended(run.diverged);
            runs.push(run);
        }
        let statistics = bundle.manifest.statistics;
        Ok(RecipeReport {
            name: source.name.clone(),
            precision: source.recipe.precision.clone(),
            optimizer: source.recipe.optimizer.clone(),
            state_bytes_per_parameter: statistics.state_bytes as f64 / statistics.parameters.max(1) as f64,
            runs,
        })
    }

    fn run(
        &self,
        mut run: Run<'_>,
        seed: u64,
        gradients: &Gradients,
        observer: &mut dyn Observer,
    ) -> Result<RunReport, Diagnostics> {
        let layers = self.reference.layers();
        let mut gradient_errors = Vec::new();
        halite_train::Observer::started(observer, 0);
        let mut diverged = has_diverged(run.evaluate(0, observer))?.then_some(0);
        let mut steps = 1..=self.options.steps;
        while let (None, Some(step)) = (diverged, steps.next()) {
            let batch = run.batch()?;
            if is_due(step - 1, self.options.every) {
                let state = run.step.state()?;
                let at = |gradients: &Gradients| gradients.at(self.executor.as_ref(), &state, &batch);
                let by_layer = relative_errors(&at(gradients)?, &at(&self.reference)?, &layers)?;
                let errors = GradientErrors { step: step - 1, by_layer };
                observer.compared(&errors);
                gradient_errors.push(errors);
            }
            let is_evaluated = is_due(step, self.options.eval_every) || step == self.options.steps;
            let made = run.step(step, &batch, observer);
            let made = made.and_then(|()| if is_evaluated { run.evaluate(step, observer) } else { Ok(()) });
            diverged = has_diverged(made)?.then_some(step);
        }
        Ok(RunReport { seed, diverged, history: run.history, gradient_errors })
    }
}

/// Whether a run diverged: a result of a study, where every other error ends it.
fn has_diverged(made: Result<(), Diagnostics>) -> Result<bool, Diagnostics> {
    match made {
        Ok(()) => Ok(false),
        Err(errors) if errors.iter().all(|error| error.code() == codes::DIVERGED) => Ok(true),
        Err(errors) => Err(errors),
    }
}
