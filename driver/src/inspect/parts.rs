//! The parts that a model is cut into for a pipeline, with what they cost.

use crate::compile::locate;
use crate::pipelines::prepare;
use crate::session::Session;
use crate::source::Source;
pub use halite_passes::PartCost;
use halite_passes::{Runner, RunnerOptions, part_costs};
use halite_support::Diagnostics;

impl Session {
    /// The parts of a recipe's model, in its order; one where the recipe has no pipeline.
    ///
    /// # Errors
    /// When the recipe does not compile so far.
    pub fn parts(&self, source: &Source) -> Result<Vec<PartCost>, Diagnostics> {
        let mut module = self.elaborate(source)?.module;
        let pipeline = self.passes.pipeline(&prepare())?;
        let cx = self.pass_cx(Some(&source.recipe), None)?;
        let ran = Runner::new(RunnerOptions::default()).run(&pipeline, &mut module, &cx);
        ran.map_err(|error| locate(source, error))?;
        Ok(part_costs(&module, &self.registry))
    }
}
