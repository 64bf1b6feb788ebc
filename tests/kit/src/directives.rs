//! `//@ key: value` lines.

use halite_ir::KernelForm;
use halite_recipe::Recipe;

/// The directives of a golden file. `README.md` has a table of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Directives {
    /// The suite; empty where the file does not say it.
    pub suite: String,
    /// The pipeline, as `halite opt --passes` takes it.
    pub passes: Option<String>,
    /// The lines of the recipe: TOML with dotted keys.
    pub recipe: Vec<String>,
    /// A preset, or a file of the folder `models`.
    pub model: Option<String>,
    /// Settings of the model.
    pub set: Vec<String>,
    /// The tolerance of floats of CPU XLA and of `~=`, relative to the largest magnitude, in units of roundoff.
    pub tolerance: f64,
    /// Whether remarks are printed.
    pub remarks: bool,
    /// Whether locations are printed.
    pub locations: bool,
    /// Whether HLO metadata is printed.
    pub metadata: bool,
    /// Whether StableHLO is printed instead of HLO.
    pub stablehlo: bool,
    /// The form that calls of kernels are lowered to.
    pub kernels: KernelForm,
}

impl Directives {
    /// All keys.
    pub const KEYS: [&str; 11] = [
        "suite",
        "passes",
        "recipe",
        "model",
        "set",
        "tolerance",
        "remarks",
        "locations",
        "metadata",
        "stablehlo",
        "kernels",
    ];

    /// Reads the directives of a text.
    ///
    /// # Errors
    /// On an unknown key or a wrong value, with its line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut directives = Self::default();
        for (index, line) in text.lines().enumerate() {
            let Some(directive) = line.strip_prefix("//@") else { continue };
            directives.set(directive.trim()).map_err(|error| format!("line {}: {error}", index + 1))?;
        }
        Ok(directives)
    }

    fn set(&mut self, directive: &str) -> Result<(), String> {
        let (key, value) = directive.split_once(':').ok_or("a directive is `//@ key: value`")?;
        let value = value.trim();
        let is_shown = || if value == "shown" { Ok(true) } else { Err(format!("`{key}` is `shown` or left out")) };
        match key.trim() {
            "suite" => self.suite = value.to_owned(),
            "passes" => self.passes = Some(value.to_owned()),
            "recipe" => self.recipe.push(value.to_owned()),
            "model" => self.model = Some(value.to_owned()),
            "set" => self.set.push(value.to_owned()),
            "tolerance" => self.tolerance = value.parse().map_err(|_| format!("`{value}` is not a number"))?,
            "remarks" => self.remarks = is_shown()?,
            "locations" => self.locations = is_shown()?,
            "metadata" => self.metadata = is_shown()?,
            "stablehlo" => self.stablehlo = is_shown()?,
            "kernels" if value == "called" => self.kernels = KernelForm::CustomCalls,
            "kernels" => return Err(format!("`{key}` is `called` or left out")),
            key => return Err(format!("there is no directive `{key}`; directives are {}", Self::KEYS.join(", "))),
        }
        Ok(())
    }

    /// Checks that the file says the suite whose folder it is in.
    pub(crate) fn belong_to(&self, folder: &str) -> Result<(), String> {
        match self.suite.as_str() {
            "" => Err(format!("the file does not say `//@ suite: {folder}`")),
            suite if suite == folder => Ok(()),
            suite => Err(format!("the file says `suite: {suite}`, its folder is `{folder}`")),
        }
    }

    /// The recipe, when there is a line of it.
    ///
    /// # Errors
    /// With the message of the TOML parser.
    pub fn recipe(&self) -> Result<Option<Recipe>, String> {
        if self.recipe.is_empty() {
            return Ok(None);
        }
        let defaults = [
            ("halite", "halite = 1"),
            ("batch", "batch = 1"),
            ("seq", "seq = 1"),
            ("model.name", "model.name = \"golden\""),
            ("optimizer", "optimizer.sgd.lr = 0.1"),
        ];
        let given = |key: &str| self.recipe.iter().any(|line| line.starts_with(key));
        let defaults = defaults.iter().filter(|(key, _)| !given(key)).map(|(_, line)| (*line).to_owned());
        let text: Vec<String> = defaults.chain(self.recipe.iter().cloned()).collect();
        toml::from_str(&text.join("\n")).map(Some).map_err(|error| format!("recipe: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_dotted_lines() {
        let text = "//@ suite: opt\n//@ recipe: optimizer.adamw.lr = 0.5\n//@ recipe: batch = 3\n";
        let recipe = Directives::parse(text).unwrap().recipe().unwrap().unwrap();
        assert_eq!((recipe.batch, recipe.seq), (Some(3), Some(1)));
    }

    #[test]
    fn no_other_keys_are_known() {
        let refused =
            |key: &str| Directives::parse(&format!("//@ {key}: ?")).is_err_and(|error| error.contains("no directive"));
        assert!(refused("colour") && !Directives::KEYS.iter().any(|key| refused(key)));
    }
}
