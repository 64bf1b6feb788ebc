//! Makes the programs of checks.

use crate::program::{self, Program};
use halite::Session;
use halite::compile::CompileOptions;
use halite_ir::text::parse;
use halite_ir::{Interpreter, LowerOptions, Module};
use halite_neuron::Generation;
use halite_neuron::legality::{self, Profile};
use halite_neuron::tables::Level;
use halite_passes::{Runner, RunnerOptions};
use halite_recipe::Recipe;
use halite_support::{Diagnostic, Diagnostics, FileId, Result};
use halite_tensor::HostTensor;
use std::sync::Arc;

/// The preset whose training is compared.
pub(crate) const PRESET: &str = "tiny";

/// The session and the recipe that all programs are made with.
#[derive(Clone)]
pub struct Bench {
    pub(crate) session: Arc<Session>,
    pub(crate) target: Generation,
    pub(crate) recipe: Recipe,
}

impl Bench {
    /// A bench for a target whose compiler states this version.
    ///
    /// # Errors
    /// When the preset does not load, which is a bug.
    pub(crate) fn new(target: Generation, compiler: Option<&str>) -> std::result::Result<Self, Diagnostics> {
        let mut session = Session::new();
        let version = compiler.and_then(release).map(|version| format!("neuron.compiler=\"{version}\""));
        let settings: Vec<String> = [Some(format!("target={target}")), version].into_iter().flatten().collect();
        let recipe = session.load(PRESET, &settings)?.recipe;
        Ok(Self { session: Arc::new(session), target, recipe })
    }

    /// The same with these kernels, trusted or not.
    pub(crate) fn with_kernels(&self, names: &[&str]) -> Self {
        let mut bench = self.clone();
        bench.recipe.dialect.on = names.iter().map(|&name| name.to_owned()).collect();
        bench
    }

    /// Reads IR text.
    ///
    /// # Errors
    /// When it has a mistake, which is a bug of the check.
    pub(crate) fn module(&self, text: &str) -> Result<Module> {
        let parsed = parse(text, FileId::of("selftest.ir", text), &self.session.registry);
        parsed.map_err(|mistakes| mistakes.into_iter().next().unwrap_or_else(|| Diagnostic::bug("no mistake")))
    }

    /// A program of a module, after these passes and what makes it legal.
    ///
    /// # Errors
    /// When a pass or the lowering refuses it.
    pub(crate) fn program(&self, name: &str, module: Module, passes: &str) -> Result<Program> {
        let given = program::parameters(&module);
        let legal = self.legal(module, passes)?;
        Program::new(name, legal, &given, self.forms())
    }

    /// As [`program`](Self::program), of IR text.
    ///
    /// # Errors
    /// As [`program`](Self::program).
    pub(crate) fn program_of(&self, name: &str, text: &str) -> Result<Program> {
        self.program(name, self.module(text)?, "expand-composites")
    }

    /// The form of HLO that the target takes.
    pub(crate) fn forms(&self) -> LowerOptions {
        let options = CompileOptions::default();
        let forms = self.session.vocabulary.targets.get(&self.recipe.target);
        let forms = forms.map_or(options.lower, |target| options.for_target(target, &self.recipe).lower);
        LowerOptions { without_positions: true, ..forms }
    }

    fn legal(&self, mut module: Module, passes: &str) -> Result<Module> {
        let cx = self.session.pass_cx(Some(&self.recipe), None)?;
        let pipeline = self.session.passes.parse(&format!("{passes}, legalize"))?;
        Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx)?;
        Ok(module)
    }

    /// Returns the rule by which the tables say that the target refuses a program, if they do.
    pub(crate) fn refusal(&self, program: &Program) -> Option<&'static str> {
        let graph = program.graph();
        let findings = legality::check(&graph, &Profile::new(self.target));
        findings.iter().find(|finding| finding.rule.level == Level::Error).map(|finding| finding.rule.id.as_str())
    }

    /// The keys of the facts about opcodes that a program rests on.
    pub(crate) fn opcode_facts(&self, program: &Program) -> Vec<String> {
        let graph = program.graph();
        let presumed = legality::presumed(&graph, self.target);
        presumed.iter().map(|presumed| format!("opcodes/{}", presumed.opcode)).collect()
    }

    /// Interprets a program: the results of each rank for the inputs of each rank.
    ///
    /// # Errors
    /// When the inputs do not fit.
    pub(crate) fn interpret(&self, program: &Program, inputs: &[Vec<HostTensor>]) -> Result<Vec<Vec<HostTensor>>> {
        let entry = program.module.entry().ok_or_else(|| Diagnostic::bug("a program without an entry"))?;
        Interpreter::of(&program.module, &self.session.registry).run_ranks(entry, inputs.to_vec())
    }
}

/// The three numbers by which the tables know a version: `2.27.5334` of `2.27.5334.0+a1b2c3d4`.
fn release(version: &str) -> Option<String> {
    let numbers: Vec<&str> = version.split('+').next()?.split('.').take(3).collect();
    let is_number = |number: &&str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (numbers.len() == 3 && numbers.iter().all(is_number)).then(|| numbers.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_cut_to_their_release() {
        assert_eq!(release("2.27.5334.0+a1b2c3d4").as_deref(), Some("2.27.5334"));
        assert_eq!((release("2.x.1"), release("2"), release("")), (None, None, None));
    }
}
