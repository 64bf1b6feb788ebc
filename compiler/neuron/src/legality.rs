//! Whether a target takes a module.

use halite_hlo::proto::{HloInstructionProto, HloModuleProto};
use halite_spec::Target;
use halite_spec::target::{CompilerVersion, Rule};

/// The rules to hold a module to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// The target.
    pub target: Target,
    /// The version of its compiler.
    pub version: CompilerVersion,
    /// Rules that the module may break, by name.
    pub allow: Vec<String>,
}

/// An instruction that breaks a rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding<'a> {
    /// The rule.
    pub rule: &'static Rule,
    /// The instruction; `None` for the module as a whole.
    pub instruction: Option<&'a HloInstructionProto>,
    /// What was found, in a sentence without capital and full stop.
    pub found: String,
}

/// Everything in a module that breaks a rule, in the order of its instructions. The module is sound
/// ([`halite_hlo::check`]).
pub fn check<'a>(_module: &'a HloModuleProto, _profile: &Profile) -> Vec<Finding<'a>> {
    Vec::new()
}
