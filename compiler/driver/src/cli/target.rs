//! The name of a target on the command line.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use halite_spec::Target;

/// A target, by its name in recipes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TargetName(pub(super) Target);

impl ValueEnum for TargetName {
    fn value_variants<'a>() -> &'a [Self] {
        const { &names() }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

const fn names() -> [TargetName; Target::ALL.len()] {
    let mut names = [TargetName(Target::Cpu); Target::ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = TargetName(Target::ALL[index]);
        index += 1;
    }
    names
}
