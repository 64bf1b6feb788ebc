//! The flags of `neuronx-cc` for a recipe.

use super::given::{read, spell};
use super::version;
use crate::Tables;
use crate::tables::{CompilerFlag, CompilerVersion};
use crate::{Generation, Neuron};
use halite_recipe::{Precision, Recipe};
use halite_tensor::DType;

/// The hardware to compile for.
pub(super) const TARGET: &str = "--target";

/// Has `neuronx-cc` narrow what the program states wide; pinned to `none`.
pub(super) const AUTO_CAST: &str = "--auto-cast";

/// Names the type that `--auto-cast` narrows to.
pub(super) const AUTO_CAST_TYPE: &str = "--auto-cast-type";

/// Has `neuronx-cc` add up in `f32`, whatever the type of the operands.
pub(super) const WIDE_ACCUMULATION: &str = "--enable-mixed-precision-accumulation";

/// Has it add up in the type of the operands.
pub(super) const NARROW_ACCUMULATION: &str = "--disable-mixed-precision-accumulation";

/// The flag for the number of physical cores that one logical core joins.
pub(super) const LOGICAL_CORES: &str = "--logical-nc-config";

/// The flags of `neuronx-cc` for the modules of a recipe, each once and in the order of the table: those that the recipe states, else
/// those that Halite pins. Flags that the table does not know follow as written. For a target that is not Neuron's there are none.
pub fn flags(recipe: &Recipe) -> Vec<String> {
    let Some(generation) = Generation::of(recipe) else { return Vec::new() };
    let table = Neuron::of(recipe);
    let given = read(&table.flags);
    let version = version(&table);
    let known = Tables::builtin().flags.iter().flat_map(|flag| {
        let own = given.iter().rfind(|given| given.flag == Some(flag));
        own.map_or_else(
            || Vec::from_iter(pinned(flag, generation, (&recipe.precision, &version))),
            super::given::Given::spelled,
        )
    });
    let unknown = given.iter().filter(|given| given.flag.is_none()).flat_map(|given| given.written.iter().cloned());
    known.chain(unknown).collect()
}

/// The flag as Halite pins it for a recipe that does not state it.
fn pinned(
    flag: &CompilerFlag,
    generation: Generation,
    (precision, version): (&Precision, &CompilerVersion),
) -> Option<String> {
    if !flag.is_taken(generation, version) {
        return None;
    }
    match flag.name.as_str() {
        TARGET => Some(spell(flag, Some(generation.name()))),
        LOGICAL_CORES => Some(spell(flag, Some(&logical_core_sizes(generation).first()?.to_string()))),
        WIDE_ACCUMULATION | NARROW_ACCUMULATION => (flag.name == accumulation(precision)).then(|| spell(flag, None)),
        _ => flag.pinned.as_deref().map(|value| spell(flag, Some(value))),
    }
}

/// The sizes of logical cores of a target, the default first.
pub(super) fn logical_core_sizes(target: Generation) -> &'static [u32] {
    Tables::builtin().hardware(target).map_or(&[], |hardware| &hardware.logical_core_sizes)
}

/// The flag that has `neuronx-cc` add up as the program states; it knows no exception, so one narrow sum decides.
pub(super) fn accumulation(precision: &Precision) -> &'static str {
    if narrowest_sum(precision).size() < DType::F32.size() { NARROW_ACCUMULATION } else { WIDE_ACCUMULATION }
}

/// The narrowest type that a precision or one of its overrides states for sums.
pub(super) fn narrowest_sum(precision: &Precision) -> DType {
    let overrides = precision.overrides.iter().filter_map(|change| change.accumulate);
    overrides.fold(precision.accumulate, |least, dtype| if dtype.size() < least.size() { dtype } else { least })
}
