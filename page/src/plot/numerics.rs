//! Loss, gradient norm and gradient error of all recipes, side by side.

use crate::plot::{Axis, Drawn, FONT, INK, Point, Ticks, is_smoothed, smoothed, styled};
use crate::study::{NumericsReport, RecipeReport, RecipeSummary, RunReport, median};
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
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let (updates, seeds) = (report.steps, seeds as u64);
    let counts = format!("{updates} update{}, {seeds} seed{}", plural(updates), plural(seeds));
    let text = format!("{}: {counts}, against {}", report.model, report.against);
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
    let losses = Axis::new(&range, Ticks::linear(&range, 8));
    let mut chart = panel(area, "held-out loss", updates(report), losses)?;
    styled(&mut chart.configure_mesh(), 13).x_desc("update").y_desc("nats per token").draw()?;
    lines(&mut chart, &all, &range)?;
    dots(&mut chart, &all, &range)
}

/// Curves of fewer points are shown from their beginning, each point with a dot.
const FEW: usize = 16;

/// The range of the losses after the first quarter of the run, where recipes differ, without those that ran away.
fn late_range(all: &[Curves], steps: f64) -> Range<f64> {
    let late = |from: f64| {
        let points = all.iter().flat_map(|curve| curve.seeds.iter().flatten());
        points.filter(move |point| point.0 >= from).map(|point| point.1)
    };
    let is_short = all.iter().flat_map(|curve| &curve.seeds).all(|points| points.len() < FEW);
    let from = if is_short { 0.0 } else { steps / 4.0 };
    let low = late(0.0).fold(f64::INFINITY, f64::min);
    let high = late(from).fold(f64::NEG_INFINITY, f64::max).min(2.0 * median(late(from)));
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
    let norms = Ticks::logarithmic(&range);
    let y = range.clone().log_scale().with_key_points(norms.at.clone());
    let mut chart = panel(area, title, updates(report), y)?;
    styled(&mut chart.configure_mesh(), 13).x_desc("update").y_label_formatter(&|norm| norms.label(*norm)).draw()?;
    lines(&mut chart, &all, &range)?;
    dots(&mut chart, &all, &range)
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
    let errors = Ticks::logarithmic(&range);
    let mut chart = panel(area, &title, places, range.clone().log_scale().with_key_points(errors.at.clone()))?;
    let layer = |place: &f64| {
        let is_layer = (place - place.round()).abs() < 1e-6 && *place > -0.1;
        let name = is_layer.then(|| report.layers.get(place.round() as usize)).flatten();
        name.map_or_else(String::new, |name| name.rsplit('.').next().unwrap_or(name).to_owned())
    };
    styled(&mut chart.configure_mesh(), 13)
        .x_desc("layer")
        .x_labels((report.layers.len() + 1).min(12))
        .x_label_formatter(&layer)
        .y_label_formatter(&|error| errors.label(*error))
        .draw()?;
    lines(&mut chart, &all, &range)?;
    dots(&mut chart, &all, &range)
}

fn updates(report: &NumericsReport) -> Axis {
    let range = 0.0..report.steps.max(1) as f64;
    Axis::new(&range, Ticks::whole(&range, 6))
}

/// The range of positive values, with room.
fn log_range(all: &[Curves]) -> Range<f64> {
    let values = || all.iter().flat_map(|curve| curve.seeds.iter().flatten().map(|point| point.1));
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    if low <= high { low / 1.3..high * 1.3 } else { 0.1..1.0 }
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

/// A dot at each point of a median of few points, so that one alone is seen too.
fn dots<X, Y>(chart: &mut Chart<'_, '_, X, Y>, all: &[Curves], range: &Range<f64>) -> Drawn
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    for curve in all.iter().filter(|curve| curve.median.len() < FEW) {
        let inside = curve.median.iter().filter(|point| range.contains(&point.1));
        chart.draw_series(inside.map(|point| Circle::new(*point, 4, curve.color.filled())))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::GradientErrors;
    use halite_recipe::Precision;
    use halite_train::{Amount, HeldOutCount};
    use halite_train::{EvalRecord, History, StepRecord};
    use std::collections::{BTreeMap, BTreeSet};

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

    /// Two recipes evaluated after the given updates of a run of as many.
    fn example(steps: u64, evals: &[u64]) -> NumericsReport {
        let run = |shift: f64| RunReport {
            seed: 0,
            diverged: None,
            history: History {
                steps: (1..=steps)
                    .map(|step| StepRecord {
                        step,
                        seen: Amount::Tokens(step),
                        metrics: [("grad_norm".to_owned(), 2.2 + shift)].into_iter().collect(),
                    })
                    .collect(),
                evals: evals
                    .iter()
                    .map(|&step| EvalRecord {
                        data: String::new(),
                        step,
                        held_out_loss: 5.5 - 0.02 * step as f64 + shift,
                        counted: HeldOutCount::Tokens(1),
                        metrics: [].into(),
                    })
                    .collect(),
            },
            gradient_errors: vec![GradientErrors { step: 1, by_layer: vec![2e-3 * (1.0 + shift), 2.2e-3] }],
        };
        let recipe = |name: &str, shift: f64| RecipeReport {
            name: name.to_owned(),
            precision: Precision::default(),
            optimizer: halite_recipe::Optimizer::new("adamw", 1e-3),
            state_bytes_per_parameter: 16.0,
            runs: vec![run(shift)],
        };
        NumericsReport {
            model: "tiny".to_owned(),
            against: "fp32".to_owned(),
            steps,
            layers: vec!["model.layers.0".to_owned(), "model.layers.1".to_owned()],
            recipes: vec![recipe("mixed", 1e-3), recipe("fp32", 0.0)],
        }
    }

    /// The labels of the ticks of an SVG by axis: those below and those beside each of its panels.
    fn axes(svg: &str) -> Vec<Vec<String>> {
        let mut axes: BTreeMap<(bool, u32), Vec<String>> = BTreeMap::new();
        for text in svg.split("<text ").skip(1).filter(|text| text.contains("font-size=\"10.48")) {
            let after = |mark: &str| text.split_once(mark).unwrap().1;
            let label = after(">\n").lines().next().unwrap().to_owned();
            let x: u32 = after("x=\"").split('"').next().unwrap().parse().unwrap();
            if !label.is_empty() {
                axes.entry((text.contains("middle"), x / (SIZE.0 / 3))).or_default().push(label);
            }
        }
        axes.into_values().collect()
    }

    #[test]
    fn runs_of_few_updates_and_evaluations_are_seen() {
        for (steps, evals) in [(1, &[0, 1][..]), (2, &[0, 2]), (4, &[4]), (300, &[0, 300])] {
            let svg = plot(&example(steps, evals)).unwrap();
            if let Ok(folder) = std::env::var("HALITE_PLOTS") {
                std::fs::write(std::path::Path::new(&folder).join(format!("numerics-{steps}.svg")), &svg).unwrap();
            }
            let axes = axes(&svg);
            assert_eq!(axes.len(), 6, "{axes:?}");
            for labels in axes {
                let different: BTreeSet<&String> = labels.iter().collect();
                assert!(labels.len() > 1 && labels.len() == different.len(), "{steps} updates: {labels:?}");
            }
            // Each evaluation has its dot.
            assert!(svg.matches("<circle").count() >= 2 * evals.len(), "{steps} updates");
        }
    }
}
