//! Stochastic rounding that happens, and that can be done.

use crate::{Places, Precision, RoundingMode, SrBy, SrSites, StochasticRounding};
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::DType;

pub(super) fn check(precision: &Precision, places: &Places, mistakes: &mut Diagnostics) {
    if precision.rounding == RoundingMode::Rne {
        mistakes.extend(unused(places));
        return;
    }
    mistakes.extend(idle(precision, places));
    mistakes.extend(unrealizable(precision, places));
}

/// `sr` says how to round stochastically, which then must be asked for.
fn unused(places: &Places) -> Option<Diagnostic> {
    let place = places.get("precision.sr")?;
    let error =
        Diagnostic::error(codes::RECIPE_CLASH, "`precision.sr` has no effect while `precision.rounding` is `rne`")
            .at(place, "nothing rounds stochastically")
            .help("set `precision.rounding = \"sr\"`, or remove `precision.sr`");
    Some(error)
}

/// Something must be narrower than `f32`, in which engines compute, to be rounded at all.
fn idle(precision: &Precision, places: &Places) -> Option<Diagnostic> {
    let narrow = |dtype: DType| dtype.size() < DType::F32.size();
    let overrides = &precision.overrides;
    let mut weights = overrides.iter().filter_map(|change| change.weight).chain([precision.weight]);
    let weights_round = weights.any(narrow);
    let Precision { moments, operand, accumulate, sensitive, gradient, reduce, update, .. } = *precision;
    let others = [moments, operand, accumulate, sensitive, gradient, reduce, update];
    let changed = overrides.iter().flat_map(|change| {
        [change.moments, change.operand, change.accumulate, change.sensitive, change.gradient, change.reduce]
    });
    let anything_rounds = weights_round || others.into_iter().chain(changed.flatten()).any(narrow);
    let (what, help) = match precision.sr.sites {
        SrSites::WeightWrite if !weights_round => {
            ("weights are", "set `precision.sr.sites = \"all\"`, or store weights in `bf16` with `precision.weight`")
        }
        SrSites::All if !anything_rounds => {
            ("everything is", "set `precision.rounding = \"rne\"`, or narrow e.g. `precision.operand`")
        }
        _ => return None,
    };
    let sites = match precision.sr.sites {
        SrSites::WeightWrite => "weight_write",
        SrSites::All => "all",
    };
    let message = format!("stochastic rounding of `{sites}` has no effect: {what} written in `f32` or wider");
    let place = places.get("precision.sr.sites").or_else(|| places.nearest("precision.rounding"));
    Some(Diagnostic::error(codes::RECIPE_CLASH, message).or_at(place, "nothing rounds here").help(help))
}

/// The means must be able to round these sites alone.
fn unrealizable(precision: &Precision, places: &Places) -> Option<Diagnostic> {
    let error = check_realizable(precision.sr).err()?;
    let (by, sites) = (places.get("precision.sr.by"), places.get("precision.sr.sites"));
    let error = error.or_at(by.or(sites).or_else(|| places.nearest("precision")), "cannot leave out the other sites");
    match (by, sites) {
        (Some(_), Some(sites)) => Some(error.also(sites, "these sites")),
        _ => Some(error),
    }
}

/// Whether the target can round stochastically as asked: the switch of a runtime knows no exception.
///
/// # Errors
/// [`REALIZATION`](halite_support::codes::REALIZATION) when the switch would have to leave out sites.
pub fn check_realizable(sr: StochasticRounding) -> Result<()> {
    if sr.by == SrBy::Dither || sr.sites == SrSites::All {
        return Ok(());
    }
    let message =
        "the switch of the runtime rounds every narrowing of the process stochastically, not only `weight_write`";
    Err(Diagnostic::error(codes::REALIZATION, message).help(
        "set `precision.sr.by = \"dither\"`, which rounds weights alone; or keep every other site in `f32` \
         (`operand`, `moments`, ...) and set `precision.sr.sites = \"all\"`",
    ))
}
