//! The table of the recipe: `[neuron]`.

use crate::tables::CompilerVersion;
use halite_hlo::GroupField;
use halite_recipe::Recipe;
use halite_recipe::schema::{Field, Form, Kind};
use halite_support::Result;
use indexmap::IndexMap;

/// Its name in recipes.
pub(crate) const NAME: &str = "neuron";

halite_recipe::table! {
    /// Settings of the Neuron compiler and runtime.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Neuron {
        /// Variables of the environment in which the step runs.
        pub environment: IndexMap<String, String> = IndexMap::new(),
        /// Those of these variables that the tables of targets do not know, and that are meant so.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub allow_environment: Vec<String> = Vec::new(),
        /// Flags of `neuronx-cc`.
        pub flags: Vec<String> = Vec::new(),
        /// The version of `neuronx-cc` whose rules hold; left out, the newest that the tables know.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub compiler: Option<CompilerVersion> = None,
        /// Rules of the target that the program may break, by name; each must be one that can be allowed.
        pub allow: Vec<String> = Vec::new(),
        /// The forms of the HLO that public sources do not settle.
        pub emit: Emit = Emit::default(),
    }
}

halite_recipe::table! {
    /// Forms of HLO between which public sources leave a choice.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Emit {
        /// Where collectives hold their groups.
        pub groups: GroupField as GROUPS = GroupField::default(),
        /// Whether collectives carry a channel.
        pub channels: bool = false,
        /// Whether a token puts the collectives of a module in one order, and each in a stream, where ranks store parts of weights and
        /// layers are written out: those along `tensor` run in stream 0, others in stream 1. The environment then has what goes with it.
        /// It is as the vendor's page on overlap has it, and was never run on a device.
        pub tokens: bool = false,
    }
}

const GROUPS: Kind = Kind::Word(&["replica_groups", "collective_device_list"]);

impl Field for CompilerVersion {
    const KIND: Kind = Kind::Form(Form {
        expected: "a version of `neuronx-cc` such as \"2.27\"",
        is_one: |text| CompilerVersion::try_from(text.to_owned()).is_ok(),
    });
}

impl Neuron {
    /// The table of a recipe; its default where there is none.
    ///
    /// # Errors
    /// When it is not such a table.
    pub fn read(recipe: &Recipe) -> Result<Self> {
        recipe.section(NAME)
    }

    /// Changes the table of a recipe.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn change(recipe: &mut Recipe, change: impl FnOnce(&mut Self)) -> Result<()> {
        let mut table = Self::read(recipe)?;
        change(&mut table);
        *recipe = recipe.clone().with_section(NAME, &table);
        Ok(())
    }

    /// As [`read`](Self::read), of a recipe that was checked.
    pub(crate) fn of(recipe: &Recipe) -> Self {
        Self::read(recipe).unwrap_or_default()
    }
}
