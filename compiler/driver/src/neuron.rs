//! What surrounds a program on Neuron: the rounding of the process, its environment and the flags of `neuronx-cc`.
//!
//! Everything that could change element types or rounding is pinned here from the recipe's precision, and written to the
//! manifest; a recipe or a manifest that sets any of it otherwise is refused, since the program would no longer mean what
//! it says.

use halite_spec::environment::{
    AUTO_CAST, AUTO_CAST_TYPE, NARROW_ACCUMULATION, REPLACED_VARIABLES, Replaced, STOCHASTIC_ROUNDING_EN,
    STOCHASTIC_ROUNDING_SEED, WIDE_ACCUMULATION,
};
use halite_spec::{Manifest, Precision, Recipe, RoundingChoice, RoundingMode, SrBy};
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::DType;
use indexmap::IndexMap;

/// How narrowing rounds under a precision.
pub fn rounding(precision: &Precision) -> RoundingChoice {
    let mode = precision.rounding;
    RoundingChoice { mode, sr: (mode == RoundingMode::Sr).then_some(precision.sr) }
}

/// The environment in which a program runs: the pinned variables, then those of the recipe.
pub fn environment(recipe: &Recipe) -> IndexMap<String, String> {
    let sr = rounding(&recipe.precision).sr.filter(|sr| sr.by == SrBy::Switch);
    let pinned =
        [(STOCHASTIC_ROUNDING_EN, u32::from(sr.is_some())), (STOCHASTIC_ROUNDING_SEED, sr.map_or(0, |sr| sr.seed))];
    let pinned = pinned.into_iter().map(|(name, value)| (name.to_owned(), value.to_string()));
    pinned.chain(recipe.neuron.environment.clone()).collect()
}

/// The flags of `neuronx-cc`: the pinned ones, then those of the recipe that say something else.
pub fn flags(recipe: &Recipe) -> Vec<String> {
    let pinned = [format!("{AUTO_CAST}=none"), accumulation(&recipe.precision).to_owned()];
    let mut flags = pinned.to_vec();
    let mut own = recipe.neuron.flags.iter();
    while let Some(flag) = own.next() {
        if flag == AUTO_CAST {
            // Its value follows; `check` accepts `none` alone.
            own.next();
        } else if !pinned.contains(flag) {
            flags.push(flag.clone());
        }
    }
    flags
}

/// The flag that has `neuronx-cc` add up as the program states; it knows no exception, so one narrow sum decides.
fn accumulation(precision: &Precision) -> &'static str {
    if narrowest_sum(precision).size() < DType::F32.size() { NARROW_ACCUMULATION } else { WIDE_ACCUMULATION }
}

/// The narrowest type that a precision or one of its overrides states for sums.
fn narrowest_sum(precision: &Precision) -> DType {
    let overrides = precision.overrides.iter().filter_map(|change| change.accumulate);
    overrides.fold(precision.accumulate, |least, dtype| if dtype.size() < least.size() { dtype } else { least })
}

/// Every variable and flag of a recipe that would change what its program means, each with its key.
pub fn check(recipe: &Recipe) -> Diagnostics {
    let variables = recipe.neuron.environment.keys().filter_map(|name| {
        let refused = REPLACED_VARIABLES.iter().find(|replaced| replaced.name == name)?;
        Some(refuse(refused).key(format!("neuron.environment.{name}")))
    });
    variables.chain(check_flags(recipe)).collect()
}

fn refuse(replaced: &Replaced) -> Diagnostic {
    Diagnostic::error(codes::ENVIRONMENT, format!("the variable `{}` has no place around a program", replaced.name))
        .note(replaced.why)
        .help(format!("remove it; it is replaced by {}", replaced.by))
}

fn check_flags(recipe: &Recipe) -> Diagnostics {
    let flags = &recipe.neuron.flags;
    let refused = flags.iter().enumerate().filter_map(|(index, flag)| {
        let next = flags.get(index + 1).map_or("", String::as_str);
        Some(refuse_flag(flag, next, &recipe.precision)?.key(format!("neuron.flags.{index}")))
    });
    refused.collect()
}

/// What is wrong with a flag that is followed by `next`.
fn refuse_flag(flag: &str, next: &str, precision: &Precision) -> Option<Diagnostic> {
    let (name, value) = flag.split_once('=').unwrap_or((flag, next));
    let error = |message: String| Diagnostic::error(codes::ENVIRONMENT, message);
    match name {
        _ if name.starts_with('-') && name.contains(char::is_whitespace) => Some(
            Diagnostic::error(
                codes::RECIPE_RANGE,
                format!("`{flag}` is one entry, which `neuronx-cc` takes as one word"),
            )
            .help("write `--flag=value`, or the flag and its value as two entries"),
        ),
        AUTO_CAST if value == "none" => None,
        AUTO_CAST => Some(
            error(format!("`{AUTO_CAST}` is `{value}`, and Halite compiles with `none`"))
                .note("it has the compiler narrow what the program states wide")
                .help("remove it; it is replaced by `precision.operand`"),
        ),
        AUTO_CAST_TYPE => Some(
            error(format!("`{AUTO_CAST_TYPE}` has no place beside `{AUTO_CAST}=none`"))
                .note("it names the type to which the compiler narrows what the program states wide")
                .help("remove it; it is replaced by `precision.operand`"),
        ),
        WIDE_ACCUMULATION | NARROW_ACCUMULATION if flag != name => Some(
            error(format!("`{name}` takes no value, and here has `{value}`"))
                .help("remove it; it is replaced by `precision.accumulate`"),
        ),
        WIDE_ACCUMULATION | NARROW_ACCUMULATION if name != accumulation(precision) => Some(
            error(format!("`{name}` contradicts `accumulate`, which is `{}`", narrowest_sum(precision)))
                .note(format!("Halite compiles with `{}` then", accumulation(precision)))
                .help("remove it; it is replaced by `precision.accumulate`"),
        ),
        _ => None,
    }
}

/// Whether a manifest pins what its own recipe says.
///
/// # Errors
/// When its environment or flags are others; the first that differs.
pub(crate) fn check_manifest(manifest: &Manifest) -> Result<(), Diagnostic> {
    let recipe = &manifest.recipe;
    let expected = environment(recipe);
    let given = &manifest.environment;
    if let Some(name) = given.keys().chain(expected.keys()).find(|name| given.get(*name) != expected.get(*name)) {
        if let Some(refused) =
            REPLACED_VARIABLES.iter().find(|r| r.name == name).filter(|_| !expected.contains_key(name))
        {
            return Err(refuse(refused));
        }
        let say = |value: Option<&String>| value.map_or_else(|| "nothing".to_owned(), |value| format!("`{value}`"));
        let (found, wanted) = (say(given.get(name)), say(expected.get(name)));
        let message = format!("the variable `{name}` is {found}, its recipe makes it {wanted}");
        return Err(Diagnostic::error(codes::ENVIRONMENT, message));
    }
    if manifest.flags != flags(recipe) {
        let message = format!(
            "the flags are `{}`, its recipe makes them `{}`",
            manifest.flags.join(" "),
            flags(recipe).join(" ")
        );
        return Err(Diagnostic::error(codes::ENVIRONMENT, message));
    }
    if manifest.rounding != rounding(&recipe.precision) {
        return Err(Diagnostic::error(codes::ENVIRONMENT, "the rounding is not that of its recipe"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::tests::small;
    use halite_spec::PrecisionOverride;

    fn recipe(precision: &str, flags: &[&str]) -> Recipe {
        let mut sources = halite_support::SourceMap::new();
        let mut recipe = crate::source::load("tiny", &[format!("precision={precision}")], &mut sources).unwrap().recipe;
        recipe.neuron.flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        recipe.neuron.environment.insert("NEURON_RT_LOG_LEVEL".to_owned(), "INFO".to_owned());
        recipe
    }

    #[test]
    fn the_environment_follows_from_the_precision() {
        let variables = |precision, seed| {
            let mut recipe = recipe(precision, &[]);
            recipe.precision.sr.seed = seed;
            environment(&recipe).into_values().collect::<Vec<_>>()
        };
        assert_eq!(variables("mixed", 7), ["0", "0", "INFO"]);
        assert_eq!(variables("bf16-sr", 7), ["0", "0", "INFO"], "dither works with the switch off");
        assert_eq!(variables("mixed-sr", 7), ["1", "7", "INFO"]);
    }

    #[test]
    fn flags_are_pinned_once() {
        let own = ["--auto-cast", "none", "--enable-mixed-precision-accumulation", "-O1", "--auto-cast=none"];
        let expected = ["--auto-cast=none", "--enable-mixed-precision-accumulation", "-O1"];
        assert_eq!(flags(&recipe("mixed", &own)), expected);
        assert!(check(&recipe("mixed", &own)).is_empty());
        let mut narrow = recipe("bf16", &[]);
        narrow.precision.accumulate = DType::Bf16;
        assert_eq!(flags(&narrow)[1], "--disable-mixed-precision-accumulation");
        let mut partly = recipe("mixed", &["--disable-mixed-precision-accumulation"]);
        assert_eq!(check(&partly).len(), 1);
        partly.precision.overrides =
            vec![PrecisionOverride { accumulate: Some(DType::F16), ..PrecisionOverride::default() }];
        assert_eq!(flags(&partly), ["--auto-cast=none", "--disable-mixed-precision-accumulation"]);
        assert!(check(&partly).is_empty());
    }

    #[test]
    fn whatever_changes_the_meaning_of_a_program_is_refused() {
        let flags = [
            "--auto-cast=all",
            "--auto-cast",
            "matmult",
            "--auto-cast-type=bf16",
            "--auto-cast none",
            "--disable-mixed-precision-accumulation",
            "--enable-mixed-precision-accumulation=false",
            "--enable-mixed-precision-accumulation=true",
            "--auto-cast",
        ];
        let mut recipe = recipe("mixed", &flags);
        for replaced in REPLACED_VARIABLES {
            recipe.neuron.environment.insert(replaced.name.to_owned(), "0".to_owned());
        }
        let mistakes = check(&recipe);
        assert_eq!(mistakes.len(), REPLACED_VARIABLES.len() + 8, "{mistakes:?}");
        let keys: Vec<_> = mistakes.iter().rev().filter_map(Diagnostic::recipe_key).take(3).collect();
        assert_eq!(keys, ["neuron.flags.8", "neuron.flags.7", "neuron.flags.6"]);
    }

    #[test]
    fn a_manifest_pins_what_its_recipe_says() {
        let manifest = small().manifest;
        assert!(check_manifest(&manifest).is_ok());
        let refused = |change: fn(&mut Manifest)| {
            let mut manifest = manifest.clone();
            change(&mut manifest);
            check_manifest(&manifest).unwrap_err().to_string()
        };
        let refusals = [
            refused(|manifest| _ = manifest.environment.insert("XLA_DOWNCAST_BF16".to_owned(), "1".to_owned())),
            refused(|manifest| _ = manifest.environment.insert("OTHER".to_owned(), "1".to_owned())),
            refused(|manifest| _ = manifest.environment.swap_remove(STOCHASTIC_ROUNDING_EN)),
            refused(|manifest| _ = manifest.flags.pop()),
            refused(|manifest| manifest.rounding.mode = RoundingMode::Sr),
        ];
        assert!(refusals.iter().all(|refusal| refusal.contains("E0408")), "{refusals:?}");
        assert!(refusals[0].contains("has no place") && refusals[2].contains("is nothing"), "{refusals:?}");
    }
}
