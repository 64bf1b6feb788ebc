//! Loss, gradient norm and gradient error of all recipes, side by side.

use super::{NumericsReport, RecipeReport, RecipeSummary, RunReport, median};
use crate::chart::{Drawn, FONT, INK, Point, is_smoothed, smoothed, styled};
use halite_support::{Diagnostic, Result};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

const SIZE: (u32, u32) = (1500, 620);
const TITLE: i32 = 52;
const LEGEND_ROW: i32 = 24;
/// Width of one entry of the legend.
const LEGEND_COLUMN: i32 = 240;
const MARGIN: i32 = 24;
/// Distinct for people who do not see red and green alike (after Okabe and Ito), the reference in ink.
const COLORS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(124, 84, 196),
    RGBColor(140, 86, 75),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// An SVG with three panels: held-out loss, gradient norm, relative gradient error by layer. Thin lines are seeds, bold
/// ones their medians; a cross is where a run diverged.
///
/// # Errors
/// A bug diagnostic when drawing fails, which no report should make happen.
pub fn plot(report: &NumericsReport) -> Result<String> {
    let mut svg = String::new();
    draw(&mut svg, report).map_err(|error| Diagnostic::bug(format!("the plot of recipes: {error}")))?;
    Ok(svg)
}

fn draw(svg: &mut String, report: &NumericsReport) -> Drawn {
    let columns = (SIZE.0 as i32 - 2 * MARGIN) / LEGEND_COLUMN;
    let rows = (report.recipes.len() as i32 + columns - 1) / columns;
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (title, rest) = root.split_vertically(TITLE);
    let (panels, legend) = rest.split_vertically(SIZE.1 as i32 - TITLE - rows * LEGEND_ROW - MARGIN);
    let seeds = report.recipes.first().map_or(0, |recipe| recipe.runs.len());
    let plural = if seeds == 1 { "" } else { "s" };
    let text = format!("{}: {} updates, {seeds} seed{plural}, against {}", report.model, report.steps, report.against);
    title.draw(&Text::new(text, (MARGIN, 18), (FONT, 22).into_font().color(&INK)))?;
    let panels = panels.split_evenly((1, 3));
    loss(&panels[0], report)?;
    grad_norm(&panels[1], report)?;
    gradient_error(&panels[2], report)?;
    draw_legend(&legend, report, columns)?;
    root.present()?;
    Ok(())
}

/// One recipe in one panel.
struct Curves {
    color: RGBColor,
    is_reference: bool,
    seeds: Vec<Vec<Point>>,
    /// Whether each seed's curve ends early.
    ended: Vec<bool>,
    median: Vec<Point>,
}

fn curves(report: &NumericsReport, points: impl Fn(&RunReport) -> Vec<Point>) -> Vec<Curves> {
    let of = |(index, recipe): (usize, &RecipeReport)| {
        let seeds: Vec<Vec<Point>> = recipe.runs.iter().map(&points).collect();
        Curves {
            color: color(report, index),
            is_reference: recipe.name == report.against,
            median: median_curve(&seeds),
            ended: recipe.runs.iter().map(|run| run.diverged.is_some()).collect(),
            seeds,
        }
    };
    report.recipes.iter().enumerate().map(of).collect()
}

fn color(report: &NumericsReport, index: usize) -> RGBColor {
    let others = report.recipes[..index].iter().filter(|recipe| recipe.name != report.against).count();
    if report.recipes[index].name == report.against { INK } else { COLORS[others % COLORS.len()] }
}

/// The median at each place; a curve that ended counts as infinite.
fn median_curve(seeds: &[Vec<Point>]) -> Vec<Point> {
    let longest = seeds.iter().max_by_key(|points| points.len());
    let at = |index: usize| seeds.iter().map(move |points| points.get(index).map_or(f64::INFINITY, |point| point.1));
    let places = longest.into_iter().flatten().enumerate();
    places.map(|(index, point)| (point.0, median(at(index)))).filter(|point| point.1.is_finite()).collect()
}

fn finite(points: impl Iterator<Item = Point>) -> Vec<Point> {
    points.filter(|(_, value)| value.is_finite()).collect()
}

fn loss(area: &Area<'_>, report: &NumericsReport) -> Drawn {
    let evals =
        |run: &RunReport| finite(run.history.evals.iter().map(|record| (record.step as f64, record.held_out_loss)));
    let all = curves(report, evals);
    let range = late_range(&all, report.steps as f64);
    let mut chart = panel(area, "held-out loss", steps(report), range.clone())?;
    styled(&mut chart.configure_mesh(), 13)
        .x_desc("update")
        .y_desc("nats per token")
        .x_labels(6)
        .y_labels(8)
        .x_label_formatter(&|step| format!("{step:.0}"))
        .y_label_formatter(&|loss| format!("{loss:.2}"))
        .draw()?;
    lines(&mut chart, &all, &range)
}

/// The range of the losses after the first quarter of the run, where recipes differ, without those that ran away.
fn late_range(all: &[Curves], steps: f64) -> Range<f64> {
    let late = |from: f64| {
        let points = all.iter().flat_map(|curve| curve.seeds.iter().flatten());
        points.filter(move |point| point.0 >= from).map(|point| point.1)
    };
    let low = late(0.0).fold(f64::INFINITY, f64::min);
    let high = late(steps / 4.0).fold(f64::NEG_INFINITY, f64::max).min(2.0 * median(late(steps / 4.0)));
    if low > high {
        return 0.0..1.0;
    }
    let room = 0.05 * (high - low).max(0.02);
    low - room..high + room
}

fn grad_norm(area: &Area<'_>, report: &NumericsReport) -> Drawn {
    let logs = |run: &RunReport| finite(run.grad_norms().map(|(step, norm)| (step as f64, norm.log10())));
    let norms = |run: &RunReport| smoothed(&logs(run)).into_iter().map(|(step, log)| (step, 10f64.powf(log))).collect();
    let mut runs = report.recipes.iter().flat_map(|recipe| &recipe.runs);
    let title = if runs.any(|run| is_smoothed(&logs(run))) { "gradient norm, smoothed" } else { "gradient norm" };
    let all = curves(report, norms);
    let range = log_range(&all);
    let norms = range.clone().log_scale().with_key_points(key_points(&range));
    let mut chart = panel(area, title, steps(report), norms)?;
    styled(&mut chart.configure_mesh(), 13)
        .x_desc("update")
        .x_labels(6)
        .y_labels(6)
        .x_label_formatter(&|step| format!("{step:.0}"))
        .y_label_formatter(&|norm| short(*norm))
        .draw()?;
    lines(&mut chart, &all, &range)
}

fn gradient_error(area: &Area<'_>, report: &NumericsReport) -> Drawn {
    let by_layer = |run: &RunReport| {
        let errors = (0..report.layers.len()).map(|layer| (layer as f64, median(run.errors_of(layer))));
        finite(errors).into_iter().filter(|(_, error)| *error > 0.0).collect()
    };
    let all = curves(report, by_layer);
    let range = log_range(&all);
    let places = -0.4..(report.layers.len().max(1) as f64 - 0.6);
    let title = format!("relative gradient error against {}", report.against);
    let errors = range.clone().log_scale().with_key_points(key_points(&range));
    let mut chart = panel(area, &title, places, errors)?;
    let layer = |place: &f64| {
        let is_layer = (place - place.round()).abs() < 1e-6 && *place > -0.1;
        let name = is_layer.then(|| report.layers.get(place.round() as usize)).flatten();
        name.map_or_else(String::new, |name| name.rsplit('.').next().unwrap_or(name).to_owned())
    };
    styled(&mut chart.configure_mesh(), 13)
        .x_desc("layer")
        .x_labels((report.layers.len() + 1).min(12))
        .y_labels(6)
        .x_label_formatter(&layer)
        .y_label_formatter(&|error| short(*error))
        .draw()?;
    lines(&mut chart, &all, &range)?;
    for curve in &all {
        chart.draw_series(curve.median.iter().map(|point| Circle::new(*point, 4, curve.color.filled())))?;
    }
    Ok(())
}

fn steps(report: &NumericsReport) -> Range<f64> {
    0.0..report.steps.max(1) as f64
}

/// The range of positive values, with room.
fn log_range(all: &[Curves]) -> Range<f64> {
    let values = || all.iter().flat_map(|curve| curve.seeds.iter().flatten().map(|point| point.1));
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    if low <= high { low / 1.3..high * 1.3 } else { 0.1..1.0 }
}

/// Where a logarithmic axis has labels: at powers of ten, over less than two decades also at two and five times these.
fn key_points(range: &Range<f64>) -> Vec<f64> {
    let digits: &[f64] = if range.end / range.start < 100.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let decades = range.start.log10().floor() as i32..=range.end.log10().ceil() as i32;
    let all = decades.flat_map(|decade| digits.iter().map(move |digit| digit * 10f64.powi(decade)));
    all.filter(|value| range.contains(value)).collect()
}

type Chart<'a, 'b, X, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>;

fn panel<'a, 'b, X, Y>(
    area: &Area<'b>,
    title: &str,
    x: X,
    y: Y,
) -> std::result::Result<Chart<'a, 'b, X::CoordDescType, Y::CoordDescType>, Box<dyn std::error::Error>>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let chart = ChartBuilder::on(area)
        .caption(title, (FONT, 17).into_font().color(&INK))
        .margin(8)
        .margin_left(MARGIN)
        .x_label_area_size(44)
        .y_label_area_size(58)
        .build_cartesian_2d(x, y);
    Ok(chart?)
}

/// Draws all seeds, then all medians on top, and where runs ended.
fn lines<X, Y>(chart: &mut Chart<'_, '_, X, Y>, all: &[Curves], range: &Range<f64>) -> Drawn
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    for curve in all {
        for points in &curve.seeds {
            let style = curve.color.mix(0.35).stroke_width(1);
            chart.draw_series(clipped(points, range).into_iter().map(|line| PathElement::new(line, style)))?;
        }
    }
    // The reference lies below the others, which are to be seen against it.
    let (reference, others): (Vec<_>, Vec<_>) = all.iter().partition(|curve| curve.is_reference);
    for curve in reference.into_iter().chain(others) {
        let style = curve.color.stroke_width(if curve.is_reference { 4 } else { 2 });
        chart.draw_series(clipped(&curve.median, range).into_iter().map(|line| PathElement::new(line, style)))?;
        let last = curve.seeds.iter().zip(&curve.ended).filter(|(_, ended)| **ended).filter_map(|(run, _)| run.last());
        let cross = |point: &Point| {
            Cross::new((point.0, point.1.clamp(range.start, range.end)), 6, curve.color.stroke_width(3))
        };
        chart.draw_series(last.map(cross))?;
    }
    Ok(())
}

/// The parts of a curve whose values lie in a range.
fn clipped(points: &[Point], range: &Range<f64>) -> Vec<Vec<Point>> {
    let mut parts: Vec<Vec<Point>> = Vec::new();
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let inside = |value: f64| value.clamp(range.start, range.end);
        if a.1.max(b.1) < range.start || a.1.min(b.1) > range.end {
            continue;
        }
        let at = |value: f64| if a.1 == b.1 { a.0 } else { a.0 + (value - a.1) / (b.1 - a.1) * (b.0 - a.0) };
        let end = |point: Point| {
            let value = inside(point.1);
            if value == point.1 { point } else { (at(value), value) }
        };
        let (a, b) = (end(a), end(b));
        match parts.last_mut() {
            Some(part) if part.last() == Some(&a) => part.push(b),
            _ => parts.push(vec![a, b]),
        }
    }
    parts
}

fn draw_legend(area: &Area<'_>, report: &NumericsReport, columns: i32) -> Drawn {
    let width = (SIZE.0 as i32 - 2 * MARGIN) / columns.max(1);
    for (index, summary) in report.summary().iter().enumerate() {
        let (row, column) = (index as i32 / columns, index as i32 % columns);
        let (x, y) = (MARGIN + column * width, 12 + row * LEGEND_ROW);
        let color = color(report, index);
        let stroke = color.stroke_width(if summary.name == report.against { 4 } else { 3 });
        area.draw(&PathElement::new(vec![(x, y), (x + 28, y)], stroke))?;
        let style = (FONT, 15).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(entry(report, summary), (x + 36, y), style))?;
    }
    Ok(())
}

/// The name of a recipe and how it ended.
fn entry(report: &NumericsReport, summary: &RecipeSummary) -> String {
    let name = &summary.name;
    match summary.diverged {
        0 if *name == report.against => format!("{name}  {:.4}", summary.median),
        0 => format!("{name}  {}", summary.percent()),
        count => format!("{name}  {count} of {} diverged", summary.held_out.len()),
    }
}

/// A number of a logarithmic axis.
fn short(value: f64) -> String {
    if (0.01..1000.0).contains(&value) { format!("{}", (1e4 * value).round() / 1e4) } else { format!("{value:.0e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_cut_where_they_leave_the_range() {
        let curve = [(0.0, 4.0), (1.0, 2.0), (2.0, 1.5), (3.0, 5.5), (4.0, 9.0), (5.0, 2.0)];
        let parts = clipped(&curve, &(1.0..3.0));
        assert_eq!(parts.len(), 2, "{parts:?}");
        assert_eq!(parts[0], [(0.5, 3.0), (1.0, 2.0), (2.0, 1.5), (2.375, 3.0)]);
        assert_eq!(parts[1].last(), Some(&(5.0, 2.0)));
        assert_eq!(clipped(&[(0.0, 2.0), (1.0, 2.0)], &(1.0..3.0)), [[(0.0, 2.0), (1.0, 2.0)]]);
    }

    #[test]
    fn the_median_goes_on_where_most_seeds_do() {
        let curve = |values: &[f64]| values.iter().enumerate().map(|(step, value)| (step as f64, *value)).collect();
        let seeds = [curve(&[1.0, 1.0, 1.0]), curve(&[3.0]), curve(&[2.0, 5.0, 2.0])];
        assert_eq!(median_curve(&seeds), [(0.0, 2.0), (1.0, 5.0), (2.0, 2.0)]);
        assert_eq!(median_curve(&[curve(&[1.0, 2.0]), curve(&[1.0]), curve(&[3.0])]), [(0.0, 1.0)]);
    }

    #[test]
    fn logarithmic_axes_have_a_few_labels() {
        assert_eq!(key_points(&(0.4..3.0)), [0.5, 1.0, 2.0]);
        assert_eq!(key_points(&(2e-7..5e-3)).len(), 4);
        assert_eq!((short(0.5), short(2e-7)), ("0.5".to_owned(), "2e-7".to_owned()));
    }
}
