//! A few numbers for each recipe.

use super::{NumericsReport, RecipeReport, RunReport};
use serde::Serialize;

/// The results of one recipe. A run that diverged counts as an infinite loss.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct RecipeSummary {
    /// The name of the recipe in the study.
    pub name: String,
    /// Held-out loss after the last update, by seed.
    pub held_out: Vec<f64>,
    /// Its median over the seeds.
    pub median: f64,
    /// The median less that of the reference, over that of the reference.
    pub relative: f64,
    /// Largest finite gradient norm of all runs.
    pub max_grad_norm: f64,
    /// Over the second half of the run, the root mean square of the difference between the training loss and that of the
    /// reference with the same seed; the median over the seeds.
    pub loss_deviation: f64,
    /// Gradient error by layer: the median over all measurements of all seeds.
    pub gradient_error: Vec<f64>,
    /// The number of runs that diverged.
    pub diverged: usize,
}

impl RecipeSummary {
    /// The relative difference to the reference in percent, `-` when it is not finite.
    ///
    /// ```
    /// use halite_page::study::RecipeSummary;
    /// let mut summary = RecipeSummary::default();
    /// let mut text = |relative| {
    ///     summary.relative = relative;
    ///     summary.percent()
    /// };
    /// assert_eq!([text(0.0123), text(-1e-6), text(f64::NAN)], ["+1.23%", "+0.00%", "-"]);
    /// ```
    pub fn percent(&self) -> String {
        // Adding 0 takes the sign from what rounds to 0.
        let rounded = (1e4 * self.relative).round() / 100.0 + 0.0;
        if rounded.is_finite() { format!("{rounded:+.2}%") } else { "-".to_owned() }
    }
}

impl NumericsReport {
    /// The results of each recipe.
    pub fn summary(&self) -> Vec<RecipeSummary> {
        let reference = self.reference().map_or(f64::NAN, |reference| median(held_out(reference)));
        self.recipes.iter().map(|recipe| self.summarize(recipe, reference)).collect()
    }

    /// The positions of the first and of the last layer that has a number, or of all when none has.
    pub fn first_and_last_layer(&self) -> Option<(usize, usize)> {
        let is_numbered = |layer: &&String| layer.ends_with(|last: char| last.is_ascii_digit());
        let numbered: Vec<usize> =
            self.layers.iter().enumerate().filter(|(_, layer)| is_numbered(layer)).map(|(index, _)| index).collect();
        match (numbered.first(), numbered.last()) {
            (Some(&first), Some(&last)) => Some((first, last)),
            _ => self.layers.len().checked_sub(1).map(|last| (0, last)),
        }
    }

    fn summarize(&self, recipe: &RecipeReport, reference: f64) -> RecipeSummary {
        let held_out = held_out(recipe);
        let center = median(held_out.iter().copied());
        let norms = recipe.runs.iter().flat_map(|run| run.grad_norms().map(|(_, norm)| norm));
        let error = |layer| median(recipe.runs.iter().flat_map(move |run| run.errors_of(layer)));
        let deviations = recipe.runs.iter().enumerate().filter_map(|(index, run)| {
            let reference = self.reference()?.runs.get(index)?;
            Some(if run.diverged.is_some() { f64::INFINITY } else { deviation(run, reference) })
        });
        RecipeSummary {
            name: recipe.name.clone(),
            median: center,
            relative: (center - reference) / reference,
            max_grad_norm: norms.filter(|norm| norm.is_finite()).fold(0.0, f64::max),
            loss_deviation: median(deviations),
            gradient_error: (0..self.layers.len()).map(error).collect(),
            diverged: recipe.runs.iter().filter(|run| run.diverged.is_some()).count(),
            held_out,
        }
    }
}

impl RunReport {
    /// Updates with their gradient norms.
    pub(crate) fn grad_norms(&self) -> impl Iterator<Item = (u64, f64)> {
        self.history.steps.iter().filter_map(|record| Some((record.step, *record.metrics.get("grad_norm")?)))
    }

    /// The gradient errors of one layer.
    pub(crate) fn errors_of(&self, layer: usize) -> impl Iterator<Item = f64> {
        self.gradient_errors.iter().filter_map(move |errors| errors.by_layer.get(layer).copied())
    }
}

fn held_out(recipe: &RecipeReport) -> Vec<f64> {
    let last = |run: &RunReport| match (run.diverged, run.history.evals.last()) {
        (None, Some(eval)) => eval.held_out_loss,
        (None, None) => f64::NAN,
        (Some(_), _) => f64::INFINITY,
    };
    recipe.runs.iter().map(last).collect()
}

fn deviation(run: &RunReport, reference: &RunReport) -> f64 {
    let (steps, others) = (&run.history.steps, &reference.history.steps);
    let half = steps.len() / 2;
    let squares = steps.iter().zip(others).skip(half).map(|(a, b)| (a.loss() - b.loss()).powi(2));
    let (sum, count) = squares.fold((0.0, 0), |(sum, count), square| (sum + square, count + 1));
    (sum / f64::from(count)).sqrt()
}

/// The middle value, or the mean of the two in the middle. NaN counts as infinite, and is the median of nothing.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> =
        values.into_iter().map(|value| if value.is_nan() { f64::INFINITY } else { value }).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => values[middle],
        _ => values[middle - 1].midpoint(values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_count_nan_as_infinite() {
        assert_eq!(median([3.0, f64::NAN, 1.0, 2.0]), 2.5);
        assert_eq!(median([-f64::NAN, f64::NAN, 1.0]), f64::INFINITY);
        assert_eq!(median([1.0, 2.0, f64::INFINITY]), 2.0);
        assert_eq!(median([1.0, 2.0]), 1.5);
        assert!(median([]).is_nan());
    }
}
