//! Comparisons of runs.

use crate::html::{escaped, table};
use crate::measured::of_model;
use crate::plot::{Curve, HELD_OUT, Point, panel};
use crate::report::curves::{MEASURED, figure, finite, line, metric, smooth};
use halite_recipe::Recipe;
use halite_support::Result;
use halite_support::units::grouped;
use halite_train::{History, differences};
use plotters::style::RGBColor;

/// A run that is compared.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// The recipe that it was trained from.
    pub recipe: Recipe,
    /// The beginning of the SHA-256 of the text of its model, where that is a file's.
    pub model: Option<String>,
    /// Its measurements.
    pub history: History,
}

/// Runs, and the differences of their recipes.
#[derive(Clone, Debug)]
pub struct Comparison {
    runs: Vec<Compared>,
    differences: Vec<(String, Vec<Option<String>>)>,
}

impl Comparison {
    /// Compares these runs, in this order.
    ///
    /// # Errors
    /// None that recipes which were read give.
    pub fn new(runs: Vec<Compared>) -> Result<Self> {
        let mut differences = differences(&runs.iter().map(|run| &run.recipe).collect::<Vec<_>>())?;
        let models: Vec<Option<String>> = runs.iter().map(|run| run.model.clone()).collect();
        if models.iter().any(|model| *model != models[0]) {
            differences.insert(0, ("text of the model".to_owned(), models));
        }
        Ok(Self { runs, differences })
    }

    /// The runs.
    pub fn runs(&self) -> &[Compared] {
        &self.runs
    }

    /// The keys in which their recipes differ, each with its value in every one of them; `None` where it is not set.
    pub fn differences(&self) -> &[(String, Vec<Option<String>>)] {
        &self.differences
    }

    /// The results of each run: the rows of a table, the first its head.
    pub fn losses(&self) -> Vec<Vec<String>> {
        let head = ["run", "updates", "seen", "training loss", "held-out loss"].map(str::to_owned).to_vec();
        let row = |run: &Compared| {
            let (last, eval) = (run.history.steps.last(), run.history.evals.last());
            let seen = last
                .map_or_else(String::new, |record| format!("{} {}", grouped(record.seen.number()), record.seen.unit()));
            vec![
                run.name.clone(),
                last.map_or_else(|| "0".to_owned(), |record| grouped(record.step)),
                seen,
                last.map_or_else(String::new, |record| format!("{:.4}", record.loss())),
                eval.map_or_else(String::new, |record| format!("{:.4}", record.held_out_loss)),
            ]
        };
        std::iter::once(head).chain(self.runs.iter().map(row)).collect()
    }

    /// A row for each key in which recipes differ, with the values of all runs as they are shown, below a head.
    pub fn rows(&self, shown: fn(&str) -> String) -> Vec<Vec<String>> {
        let head = std::iter::once("recipe".to_owned()).chain(self.runs.iter().map(|run| run.name.clone())).collect();
        let row = |(key, values): &(String, Vec<Option<String>>)| {
            let values = values.iter().map(|value| shown(value.as_deref().unwrap_or_default()));
            std::iter::once(key.clone()).chain(values).collect()
        };
        std::iter::once(head).chain(self.differences.iter().map(row)).collect()
    }

    /// The training losses as a picture: an SVG.
    ///
    /// # Errors
    /// A bug diagnostic when drawing fails.
    pub fn loss(&self) -> Result<String> {
        panel(self.curves("loss"), &[], false)
    }

    /// All curves and the differences, as a page of HTML that needs no other file.
    ///
    /// # Errors
    /// A bug diagnostic when drawing fails.
    pub fn page(&self) -> Result<String> {
        let runs = &self.runs;
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in runs.iter().filter_map(|run| run.history.steps.last()).flat_map(of_model) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut curves = self.figure("Training loss", "loss")? + &self.held_out()?;
        for name in names.into_iter().chain(["grad_norm"]) {
            let title = if name == "grad_norm" { "Norm of the gradient" } else { name };
            curves.push_str(&self.figure(title, name)?);
        }
        Ok(format!(
            include_str!("compare.html"),
            title = escaped(&runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>().join(", ")),
            style = include_str!("page.css"),
            curves = curves,
            losses = table(&self.losses()),
            differences = table(&self.rows(str::to_owned)),
        ))
    }

    /// The runs with their colours, which come again where there are many.
    fn colored(&self) -> impl Iterator<Item = (&Compared, RGBColor)> {
        self.runs.iter().zip(std::iter::once(MEASURED).chain(HELD_OUT).cycle())
    }

    /// The names of runs with their colours.
    fn legend(&self) -> Vec<(String, RGBColor)> {
        self.colored().map(|(run, color)| (run.name.clone(), color)).collect()
    }

    /// The smooth curves of a metric of updates, one for each run.
    fn curves(&self, name: &str) -> Vec<Curve> {
        self.colored().map(|(run, color)| smooth(metric(&run.history, name), color)).collect()
    }

    fn figure(&self, title: &str, name: &str) -> Result<String> {
        figure(&escaped(title), &self.legend(), self.curves(name), &[], false)
    }

    /// The held-out loss of all runs.
    fn held_out(&self) -> Result<String> {
        let points = |run: &Compared| {
            let first = run.history.evals.first().map(|record| record.data.clone()).unwrap_or_default();
            let own = run.history.evals.iter().filter(|record| record.data == first);
            own.map(|record| (record.step as f64, record.held_out_loss)).collect::<Vec<Point>>()
        };
        let curves = self.colored().map(|(run, color)| line(finite(points(run)), color)).collect();
        figure("Held-out loss", &self.legend(), curves, &[], false)
    }
}
