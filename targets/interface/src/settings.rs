//! Settings of the processes that run a program.

use halite_bundle::{Launch, Manifest};
use halite_support::{Diagnostic, Result, codes};
use indexmap::IndexMap;

/// The settings of the processes that run a program: environment, compiler flags, launch. Empty by default.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunSettings {
    /// Variables of the environment.
    pub environment: IndexMap<String, String>,
    /// Flags of the target's compiler.
    pub flags: Vec<String>,
    /// How processes are started; `None` where Halite or an embedder starts them.
    pub launch: Option<Launch>,
    /// The platform name of a PJRT plugin that runs the modules as compiled, kernels included; `None` where no kernel is called.
    pub platform: Option<String>,
}

impl RunSettings {
    /// Checks that a manifest holds these settings, which are those of its recipe.
    ///
    /// # Errors
    /// The first setting that differs.
    pub fn check(&self, manifest: &Manifest) -> Result<()> {
        let wrong = |message: String| Err(Diagnostic::error(codes::ENVIRONMENT, message));
        let (given, expected) = (&manifest.environment, &self.environment);
        let differs = |name: &&String| given.get(*name) != expected.get(*name);
        if let Some(name) = given.keys().chain(expected.keys()).find(differs) {
            let say = |value: Option<&String>| value.map_or_else(|| "nothing".to_owned(), |value| format!("`{value}`"));
            let (found, wanted) = (say(given.get(name)), say(expected.get(name)));
            return wrong(format!("the variable `{name}` is {found}, its recipe makes it {wanted}"));
        }
        let say =
            |flags: &[String]| if flags.is_empty() { "none".to_owned() } else { format!("`{}`", flags.join(" ")) };
        if manifest.flags != self.flags {
            let (found, wanted) = (say(&manifest.flags), say(&self.flags));
            return wrong(format!("the flags are {found}, its recipe makes them {wanted}"));
        }
        if manifest.launch != self.launch {
            return wrong("the launch is not that of its recipe".to_owned());
        }
        if manifest.platform != self.platform {
            return wrong("the platform is not that of its target".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_bundle::fixtures::small;

    #[test]
    fn what_a_recipe_does_not_make_is_refused() {
        let refused = |change: fn(&mut Manifest)| {
            let mut manifest = small().manifest;
            change(&mut manifest);
            RunSettings::default().check(&manifest).unwrap_err().to_string()
        };
        assert_eq!(RunSettings::default().check(&small().manifest), Ok(()));
        let variable = refused(|manifest| _ = manifest.environment.insert("XLA_USE_BF16".to_owned(), "1".to_owned()));
        assert_eq!(variable, "error[E0408]: the variable `XLA_USE_BF16` is `1`, its recipe makes it nothing");
        let flag = refused(|manifest| manifest.flags.push("--x".to_owned()));
        assert_eq!(flag, "error[E0408]: the flags are `--x`, its recipe makes them none");
        assert!(refused(|manifest| manifest.platform = Some("other".to_owned())).contains("the platform"));
        assert!(
            refused(|manifest| manifest.launch = Some(Launch { world_size: 1, forbidden: Vec::new() }))
                .contains("launch")
        );
    }
}
