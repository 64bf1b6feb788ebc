//! Initial values of parameters, as a model states them.

use super::Place;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::Init;

/// Deviations by how many products an element of the result sums up (`fan_in`), and in the backward (`fan_out`). Models give the numbers:
/// a shape does not tell which of its dimensions is which.
const FAN_FORMS: &str = "`he_normal(fan_in)`, `he_uniform(fan_in)`, `lecun_normal(fan_in)`, `glorot_normal(fan_in, fan_out)` or \
                             `glorot_uniform(fan_in, fan_out)`";

/// The initial value scaled by the number of products that an element of the result sums up, `fan_in`, and in the backward, `fan_out`:
/// `he_normal`, `he_uniform` (He et al. 2015) and `lecun_normal` (LeCun et al. 1998) take the first, `glorot_normal` and
/// `glorot_uniform` (Glorot and Bengio 2010) both. `None` for other words, and for another count of numbers than the word takes.
pub fn by_fan(word: &str, numbers: &[f64]) -> Option<Init> {
    let normal = |variance: f64| Init::Normal { std: variance.sqrt() };
    let uniform = |variance: f64| Init::Uniform { low: -(3.0 * variance).sqrt(), high: (3.0 * variance).sqrt() };
    Some(match (word, numbers) {
        ("he_normal", &[fan_in]) => normal(2.0 / fan_in),
        ("he_uniform", &[fan_in]) => uniform(2.0 / fan_in),
        ("lecun_normal", &[fan_in]) => normal(1.0 / fan_in),
        ("glorot_normal", &[fan_in, fan_out]) => normal(2.0 / (fan_in + fan_out)),
        ("glorot_uniform", &[fan_in, fan_out]) => uniform(2.0 / (fan_in + fan_out)),
        _ => return None,
    })
}

/// The initial value that a word and numbers state. `place` is that of the word, `at` that of the numbers.
pub(crate) fn initial(word: &str, numbers: &[f64], place: Place<'_>, at: Place<'_>) -> Result<Init> {
    let stated = Init::read(word, numbers).filter(|init| *init != Init::Weight).or_else(|| by_fan(word, numbers));
    let Some(init) = stated else {
        let error = Diagnostic::error(codes::CALL, format!("`{word}` is not an initial value written so"));
        return Err(place
            .mark(error, "here")
            .help(format!("write {}, {FAN_FORMS}", Init::FORMS.replace(" or ", ", "))));
    };
    match init.fault() {
        None => Ok(init),
        Some((expected, found)) => {
            let error = Diagnostic::error(codes::KIND, format!("expected {expected}, found `{found}`"));
            Err(at.mark(error, "here").help(format!("write {expected} here")))
        }
    }
}
