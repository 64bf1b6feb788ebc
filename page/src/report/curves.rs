//! The curves of the page.

use crate::html::escaped;
use crate::measured::{self, GROUP_NORM};
use crate::plot::{Curve, HELD_OUT, Point, is_smoothed, panel, smoothed};
use halite_support::Result;
use halite_train::{History, Seen};
use plotters::style::RGBColor;

/// Readable on light and on dark ground, as `HELD_OUT` is.
pub(crate) const MEASURED: RGBColor = RGBColor(47, 125, 214);

/// A figure for each thing that is measured.
///
/// # Errors
/// A bug diagnostic when drawing fails.
pub(super) fn figures(seen: &Seen<'_>) -> Result<String> {
    let metric = |name: &str| metric(seen.history, name);
    let rates = seen.times.records().iter().map(|record| (record.step as f64, record.rate())).collect();
    let marks: Vec<f64> = seen.events.iter().map(|event| event.update() as f64).collect();
    let is_of_tokens = seen.history.steps.first().is_none_or(|record| record.seen.is_of_tokens());
    let (loss, rate) = match is_of_tokens {
        true => ("Loss per token (nats)", "Tokens per second"),
        false => ("Loss", "Examples per second"),
    };
    let (norms, groups) = group_norms(seen.history);
    let norms = series(metric("grad_norm")).into_iter().chain(norms).collect();
    let learning_rate = vec![line(metric("learning_rate"), MEASURED)];
    let of_model = of_model(seen.history).into_iter().map(|name| compared(seen, &escaped(name), name, &marks));
    let of_model = of_model.collect::<Result<String>>()?;
    Ok([
        compared(seen, loss, "loss", &marks)?,
        of_model,
        figure("Norm of the gradient", &groups, norms, &marks, true)?,
        figure("Learning rate", &[], learning_rate, &marks, true)?,
        figure(rate, &[], series(rates), &marks, true)?,
    ]
    .concat())
}

/// Something that is measured of training and of data that are held out.
fn compared(seen: &Seen<'_>, title: &str, name: &str, marks: &[f64]) -> Result<String> {
    let held_out = held_out(seen.history, name);
    let training = ("training".to_owned(), MEASURED);
    let legend = held_out.iter().map(|(name, curve)| (name.clone(), curve.color));
    let legend: Vec<_> = std::iter::once(training).chain(legend).collect();
    let curves = series(metric(seen.history, name)).into_iter().chain(held_out.into_iter().map(|(_, curve)| curve));
    figure(title, &legend, curves.collect(), marks, false)
}

/// The metrics that the model reports itself.
fn of_model(history: &History) -> Vec<&str> {
    history.steps.last().into_iter().flat_map(measured::of_model).map(|(name, _)| name).collect()
}

/// The values of a metric, by update.
pub(crate) fn metric(history: &History, name: &str) -> Vec<Point> {
    history.steps.iter().filter_map(|record| Some((record.step as f64, *record.metrics.get(name)?))).collect()
}

pub(crate) fn finite(points: Vec<Point>) -> Vec<Point> {
    points.into_iter().filter(|point| point.1.is_finite()).collect()
}

/// A curve faintly with its smooth one on top; one that is too short to be smoothed as it is.
fn series(points: Vec<Point>) -> Vec<Curve> {
    let points = finite(points);
    if !is_smoothed(&points) {
        return vec![line(points, MEASURED)];
    }
    let smooth = line(smoothed(&points), MEASURED);
    vec![Curve { points, color: MEASURED, opacity: 0.3, width: 1 }, smooth]
}

/// A smooth curve; of points that are too few to be smoothed, one through them.
pub(crate) fn smooth(points: Vec<Point>, color: RGBColor) -> Curve {
    let points = finite(points);
    line(if is_smoothed(&points) { smoothed(&points) } else { points }, color)
}

pub(crate) fn line(points: Vec<Point>, color: RGBColor) -> Curve {
    Curve { points, color, opacity: 1.0, width: 2 }
}

/// The smooth curves of the norms of groups of the optimizer, and their names; no name where there are none.
fn group_norms(history: &History) -> (Vec<Curve>, Vec<(String, RGBColor)>) {
    let names: Vec<&String> = history
        .steps
        .first()
        .map_or(Vec::new(), |record| record.metrics.keys().filter(|name| name.starts_with(GROUP_NORM)).collect());
    let all = names.iter().map(|_| ("all".to_owned(), MEASURED)).take(1);
    let (mut curves, mut legend) = (Vec::new(), all.collect::<Vec<_>>());
    for (name, color) in names.into_iter().zip(HELD_OUT.into_iter().cycle()) {
        curves.push(smooth(metric(history, name), color));
        legend.push((name[GROUP_NORM.len()..].to_owned(), color));
    }
    (curves, legend)
}

/// Something on each data set that is held out, in the order in which they were first evaluated.
fn held_out(history: &History, measured: &str) -> Vec<(String, Curve)> {
    let mut curves: Vec<(String, Curve)> = Vec::new();
    for record in &history.evals {
        let name = if record.data.is_empty() { "held out" } else { &record.data };
        let at = curves.iter().position(|(own, _)| own == name).unwrap_or_else(|| {
            curves.push((name.to_owned(), line(Vec::new(), HELD_OUT[curves.len() % HELD_OUT.len()])));
            curves.len() - 1
        });
        let value = if measured == "loss" { Some(record.held_out_loss) } else { record.metrics.get(measured).copied() };
        curves[at].1.points.extend(value.filter(|value| value.is_finite()).map(|value| (record.step as f64, value)));
    }
    curves
}

/// Curves with a title and a legend; nothing where there is none to see: no points, or more than one and all of one value, which
/// stands in a table.
///
/// # Errors
/// A bug diagnostic when drawing fails.
pub(crate) fn figure(
    name: &str,
    legend: &[(String, RGBColor)],
    curves: Vec<Curve>,
    marks: &[f64],
    zero: bool,
) -> Result<String> {
    let mut values = curves.iter().flat_map(|curve| &curve.points).map(|point| point.1);
    let Some(first) = values.next() else { return Ok(String::new()) };
    let mut others = values.peekable();
    if others.peek().is_some() && others.all(|value| value == first) {
        return Ok(String::new());
    }
    let key = |(name, RGBColor(r, g, b)): &(String, RGBColor)| {
        format!(" <span class=\"key\" style=\"color: rgb({r}, {g}, {b})\">{}</span>", escaped(name))
    };
    let keys: String = legend.iter().map(key).collect();
    let svg = panel(curves, marks, zero)?;
    Ok(format!("<figure>\n<figcaption>{name}{keys}</figcaption>\n{svg}</figure>\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_nothing_is_left_out() {
        let shown = |curves: &[&[Point]]| {
            let curves = curves.iter().map(|points| line(points.to_vec(), MEASURED)).collect();
            !figure("x", &[], curves, &[], true).unwrap().is_empty()
        };
        assert!(!shown(&[]) && !shown(&[&[], &[]]), "no points");
        assert!(!shown(&[&[(1.0, 2.0), (2.0, 2.0)]]) && !shown(&[&[(1.0, 2.0)], &[(1.0, 2.0)]]), "one value");
        assert!(shown(&[&[(1.0, 2.0)]]), "one point");
        assert!(shown(&[&[(1.0, 2.0), (2.0, 2.5)]]) && shown(&[&[(1.0, 2.0)], &[(1.0, 3.0)]]));
    }
}
