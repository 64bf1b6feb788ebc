//! The numbers of sequences in a step and in an update.

use crate::{Divides, MeshAxis, Parallel, Recipe};
use halite_support::{Diagnostic, Result, codes};
use std::iter::once;

/// Sequences of a step and of an update: `global_batch = batch * data * accumulate`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Sequences in one step on one replica.
    pub batch: u64,
    /// Ranks that take different sequences.
    pub data: u64,
    /// Steps in one update.
    pub accumulate: u64,
    /// Sequences in one update.
    pub global_batch: u64,
}

impl Recipe {
    /// Sequences of a step and of an update; a recipe without `batch` has 1 in a step.
    ///
    /// Where `parallel.global_batch` is stated and `accumulate` is not, that follows from it.
    ///
    /// # Errors
    /// When they disagree, at `parallel.global_batch`; when a size does not fit in 64 bits.
    pub fn sizes(&self) -> Result<Sizes> {
        let batch = self.batch.map_or(1, |batch| batch as u64);
        let parallel = self.parallel.as_ref();
        let data = parallel.map_or(1, |parallel| parallel.ranks_that_divide(Divides::Batch));
        let accumulate = self.accumulate.map(|accumulate| u64::from(accumulate.steps));
        let Some(all) = parallel.and_then(|parallel| parallel.global_batch).map(u64::from) else {
            let accumulate = accumulate.unwrap_or(1);
            return Ok(Sizes { batch, data, accumulate, global_batch: product(batch, data, accumulate)? });
        };
        let found = match accumulate {
            Some(accumulate) => Some(accumulate),
            None => quotient(all, product(batch, data, 1)?),
        };
        match found {
            Some(accumulate) if product(batch, data, accumulate)? == all => {
                Ok(Sizes { batch, data, accumulate, global_batch: all })
            }
            _ => Err(disagreement(batch, parallel, accumulate, all)),
        }
    }
}

/// The number of times that a size goes into a larger one; `None` where it does not.
fn quotient(all: u64, part: u64) -> Option<u64> {
    (part > 0 && all >= part && all.is_multiple_of(part)).then(|| all / part)
}

fn product(batch: u64, data: u64, accumulate: u64) -> Result<u64> {
    let all = batch.checked_mul(data).and_then(|all| all.checked_mul(accumulate));
    all.ok_or_else(|| {
        let axes: String = MeshAxis::that_divide(Divides::Batch).map(|axis| format!(", `{}`", axis.key())).collect();
        Diagnostic::error(codes::RECIPE_RANGE, "the sequences of an update do not fit in 64 bits")
            .key("batch")
            .help(format!("choose a smaller `batch`{axes} or `accumulate`"))
    })
}

fn disagreement(batch: u64, parallel: Option<&Parallel>, accumulate: Option<u64>, all: u64) -> Diagnostic {
    let degree = |axis: MeshAxis| (axis.key(), parallel.map_or(1, |parallel| parallel.degree(axis).into()));
    // An axis of one rank that nobody stated is not worth a word.
    let is_told = |(at, (_, degree)): &(usize, (String, u64))| *at == 0 || *degree > 1;
    let axes = MeshAxis::that_divide(Divides::Batch).map(degree).enumerate().filter(is_told).map(|(_, axis)| axis);
    let steps = accumulate.map(|steps| ("accumulate".to_owned(), steps));
    let stated: Vec<(String, u64)> = once(("batch".to_owned(), batch)).chain(axes).chain(steps).collect();
    let product: u128 = stated.iter().map(|(_, factor)| u128::from(*factor)).product();
    let factors: Vec<String> = stated.iter().map(|(key, factor)| format!("`{key}` = {factor}")).collect();
    let (verb, help) = match accumulate {
        Some(_) => ("is not", format!("set it to {product}, or leave out `accumulate` or it")),
        None => ("is no multiple of", "choose a multiple, or another `batch`".to_owned()),
    };
    let message =
        format!("`parallel.global_batch` is {all}, which {verb} {product}, the product of {}", factors.join(", "));
    Diagnostic::error(codes::RECIPE_CLASH, message).key("parallel.global_batch").help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Accumulate, ModelChoice, Optimizer};

    /// `[data, accumulate, global_batch]` of a recipe with batch 4.
    fn sizes(data: u32, accumulate: Option<u32>, global_batch: Option<u32>) -> Result<[u64; 3]> {
        let recipe = Recipe {
            accumulate: accumulate.map(|steps| Accumulate { steps, form: None }),
            parallel: Some(Parallel { data, global_batch, ..Parallel::default() }),
            ..Recipe::new(ModelChoice::new("llama"), 4, 8, Optimizer::new("sgd", 0.1))
        };
        recipe.sizes().map(|sizes| [sizes.data, sizes.accumulate, sizes.global_batch])
    }

    #[test]
    fn a_global_batch_gives_the_steps_that_are_not_stated() {
        let of = |data, accumulate, all| sizes(data, accumulate, all).unwrap();
        assert_eq!(of(1, None, None), [1, 1, 4]);
        assert_eq!(of(2, Some(3), None), [2, 3, 24]);
        assert_eq!(of(2, None, Some(24)), [2, 3, 24]);
        assert_eq!(of(1, None, Some(24)), [1, 6, 24]);
        assert_eq!(of(2, Some(3), Some(24)), [2, 3, 24]);
    }

    #[test]
    fn disagreement_is_found_at_the_global_batch() {
        let wrong = |data, accumulate, all| {
            let error = sizes(data, accumulate, Some(all)).unwrap_err();
            assert_eq!(error.recipe_key(), Some("parallel.global_batch"));
            error.message().to_owned()
        };
        assert!(wrong(1, None, 10).starts_with("`parallel.global_batch` is 10, which is no multiple of 4"));
        assert_eq!(
            wrong(2, Some(3), 25),
            "`parallel.global_batch` is 25, which is not 24, the product of `batch` = 4, `parallel.data` = 2, `accumulate` = 3"
        );
        assert!(wrong(2, None, 20).contains("no multiple of 8"));
    }
}
