//! Tables of known facts about Neuron. They are data files in `data/`, each row with its source, the month in which it was read there
//! and how reliable that is. They are parsed once.
//!
//! - `hardware.toml`: instances, cores, memory, rates, sizes of groups
//! - `topology.toml`: engines, links, fixed costs, prices
//! - `elements.toml`: element types
//! - `limits.toml`: limits of one module
//! - `costs.toml`: the cost of work in instructions
//! - `rules.toml`: HLO that targets refuse
//! - `opcodes.toml`: opcodes that are known to be taken
//! - `kernels.toml`: kernels that HLO calls by name
//! - `compiler.toml`: versions, flags and error codes of `neuronx-cc`
//! - `environment.toml`: variables of the environment
//! - `reserved.toml`: variables that only whoever runs a program sets
//! - `forms.toml`: the forms of HLO that can be written in several ways

mod compiler;
mod environment;
mod forms;
mod hardware;
mod kernel;
mod rule;
mod topology;

pub use compiler::{CompilerError, CompilerFlag, CompilerVersion, FlagDefault, FlagGiver, VersionRange};
pub use environment::{ReservedVariables, Setter, Variable, VariableValues};
pub use forms::Forms;
pub use hardware::{CoreGroups, ElementType, ElementUse, Hardware, Limits, Peak, StridedGroup};
pub use kernel::{KernelConfig, KernelResult, KernelSchema};
pub use rule::{Condition, Level, Numbers, Rule, TakenOpcodes, WindowForm};
pub use topology::{CoreLink, Topology};

use crate::Generation;
use halite_recipe::TargetName;
use halite_target::estimate::InstructionCosts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::LazyLock;

static BUILTIN: LazyLock<Tables> = LazyLock::new(Tables::parse);

/// Everything known of the targets.
#[derive(Clone, PartialEq, Debug)]
pub struct Tables {
    /// One row for each Neuron target.
    pub hardware: Vec<Hardware>,
    /// Engines, links and prices.
    pub topologies: Vec<Topology>,
    /// Element types.
    pub elements: Vec<ElementType>,
    /// Limits of one module.
    pub limits: Vec<Limits>,
    /// The cost of work in instructions.
    pub costs: Vec<InstructionCosts>,
    /// Rules about HLO that targets refuse.
    pub rules: Vec<Rule>,
    /// Opcodes that are known to be taken.
    pub opcodes: Vec<TakenOpcodes>,
    /// Kernels that HLO calls by name.
    pub kernels: &'static [KernelSchema],
    /// Released versions of `neuronx-cc`, oldest first.
    pub versions: Vec<CompilerVersion>,
    /// The flags of `neuronx-cc`.
    pub flags: Vec<CompilerFlag>,
    /// Errors of `neuronx-cc` that have a code.
    pub errors: Vec<CompilerError>,
    /// Variables of the environment.
    pub variables: Vec<Variable>,
    /// Variables that only whoever runs a program sets.
    pub reserved: Vec<ReservedVariables>,
    /// The forms of HLO that can be written in several ways.
    pub forms: Vec<Forms>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compiler {
    versions: Vec<CompilerVersion>,
    flag: Vec<CompilerFlag>,
    error: Vec<CompilerError>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows<T> {
    row: Vec<T>,
}

impl Tables {
    /// The tables of this build. The first call parses them.
    pub fn builtin() -> &'static Tables {
        &BUILTIN
    }

    fn parse() -> Self {
        let compiler: Compiler = parse("compiler.toml", include_str!("../data/compiler.toml"));
        Self {
            hardware: rows("hardware.toml", include_str!("../data/hardware.toml")),
            topologies: rows("topology.toml", include_str!("../data/topology.toml")),
            elements: rows("elements.toml", include_str!("../data/elements.toml")),
            limits: rows("limits.toml", include_str!("../data/limits.toml")),
            costs: rows("costs.toml", include_str!("../data/costs.toml")),
            rules: rows("rules.toml", include_str!("../data/rules.toml")),
            opcodes: rows("opcodes.toml", include_str!("../data/opcodes.toml")),
            kernels: KernelSchema::builtin(),
            versions: compiler.versions,
            flags: compiler.flag,
            errors: compiler.error,
            variables: rows("environment.toml", include_str!("../data/environment.toml")),
            reserved: rows("reserved.toml", include_str!("../data/reserved.toml")),
            forms: rows("forms.toml", include_str!("../data/forms.toml")),
        }
    }

    /// The hardware of a generation.
    pub fn hardware(&self, generation: Generation) -> Option<&Hardware> {
        self.hardware.iter().find(|row| row.target == generation)
    }

    /// The engines, links and prices of a generation, a row for each instance that has its cores: the usual one first.
    pub fn topologies(&self, generation: Generation) -> impl Iterator<Item = &Topology> {
        self.topologies.iter().filter(move |row| row.targets.contains(&generation))
    }

    /// The limits of one module for a target.
    pub fn limits(&self, target: Generation) -> Option<&Limits> {
        self.limits.iter().find(|row| row.targets.contains(&target))
    }

    /// The cost of work in instructions on a target.
    pub fn costs(&self, generation: Generation) -> Option<&InstructionCosts> {
        self.costs.iter().find(|row| row.targets.contains(&TargetName::from(generation)))
    }

    /// The forms that a target wants for HLO that can be written in several ways.
    pub fn forms(&self, target: Generation) -> Option<&Forms> {
        self.forms.iter().find(|row| row.targets.contains(&target))
    }

    /// The row of the element type that HLO calls `dtype` for a target under a version of its compiler, if anything is known.
    pub fn element(&self, target: Generation, version: &CompilerVersion, dtype: &str) -> Option<&ElementType> {
        let of = |row: &&ElementType| row.targets.contains(&target) && row.compiler.contains(version);
        self.elements.iter().filter(|row| row.dtype == dtype).find(of)
    }

    /// The rules of a target under a version of its compiler.
    pub fn rules(&self, target: Generation, version: &CompilerVersion) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.targets.contains(&target) && rule.compiler.contains(version))
    }

    /// The rule of this name, whatever its targets.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// The oldest version of `neuronx-cc` that the tables know.
    pub fn oldest(&self) -> &CompilerVersion {
        self.versions.first().expect("a test holds the table to at least one version")
    }

    /// The flag of `neuronx-cc` of this name, or with this alias.
    pub fn flag(&self, name: &str) -> Option<&CompilerFlag> {
        self.flags.iter().find(|flag| flag.is(name))
    }

    /// The variable of the environment of this name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.is(name))
    }

    /// The row that reserves the variable of this name for whoever runs a program.
    pub fn reserved(&self, name: &str) -> Option<&ReservedVariables> {
        self.reserved.iter().find(|row| row.hold(name))
    }

    /// The newest version of `neuronx-cc` that the tables know.
    pub fn newest(&self) -> &CompilerVersion {
        self.versions.last().expect("a test holds the table to at least one version")
    }

    /// The version of `neuronx-cc` whose rules stand for those of `version`: the nearest that the tables span, or the
    /// newest where none is named.
    pub fn nearest<'a>(&'a self, version: Option<&'a CompilerVersion>) -> &'a CompilerVersion {
        version.map_or(self.newest(), |version| version.clamp(self.oldest(), self.newest()))
    }
}

fn rows<T: DeserializeOwned>(file: &str, text: &str) -> Vec<T> {
    parse::<Rows<T>>(file, text).row
}

/// The data files are part of this build; a test parses them.
fn parse<T: DeserializeOwned>(file: &str, text: &str) -> T {
    toml::from_str(text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[cfg(test)]
mod tests;
