//! The loss over the steps, as a picture.

use crate::plot::{Axis, Drawn, FAINT, FONT, HELD_OUT, INK, Point, Ticks, smoothed, styled};
use halite_support::{Diagnostic, Result};
use halite_train::History;
use indexmap::IndexMap;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const SIZE: (u32, u32) = (960, 540);
/// Fewer steps have a dot each.
const FEW: usize = 16;
const TRAIN: RGBColor = RGBColor(42, 111, 187);

/// An SVG with the training loss (each step faintly, smoothed on top) and the loss on each data set that is held out.
///
/// # Errors
/// A bug diagnostic when drawing fails, which no history should make happen.
pub fn plot(title: &str, history: &History) -> Result<String> {
    let mut svg = String::new();
    draw(&mut svg, title, history).map_err(|error| Diagnostic::bug(format!("the loss plot: {error}")))?;
    Ok(svg)
}

fn draw(svg: &mut String, title: &str, history: &History) -> Drawn {
    let train = finite(history.steps.iter().map(|record| (record.step as f64, record.loss())));
    let held_out = held_out(history);
    let ((left, right), (bottom, top)) = ranges(&train, &held_out);
    let (steps, losses) = (left..right, bottom..top);
    let steps = Axis::new(&steps, Ticks::whole(&steps, 8));
    let losses = Axis::new(&losses, Ticks::linear(&losses, 8));
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let is_of_tokens = history.steps.first().is_none_or(|record| record.seen.is_of_tokens());
    let unit = if is_of_tokens { "loss per token (nats)" } else { "loss" };
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("{title}: loss by step"), (FONT, 22).into_font().color(&INK))
        .margin(24)
        .x_label_area_size(48)
        .y_label_area_size(60)
        .build_cartesian_2d(steps, losses)?;
    styled(&mut chart.configure_mesh(), 14).x_desc("step").y_desc(unit).draw()?;
    chart.draw_series(LineSeries::new(train.iter().copied(), TRAIN.mix(0.28).stroke_width(1)))?;
    chart
        .draw_series(LineSeries::new(smoothed(&train), TRAIN.stroke_width(3)))?
        .label("training, smoothed")
        .legend(|(x, y)| PathElement::new(vec![(x, y), (x + 26, y)], TRAIN.stroke_width(3)));
    for ((name, points), color) in held_out.iter().zip(HELD_OUT.into_iter().cycle()) {
        chart
            .draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(2)))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 26, y)], color.stroke_width(2)));
        chart.draw_series(points.iter().map(|point| Circle::new(*point, 4, color.filled())))?;
        let style = (FONT, 14).into_font().color(&color).pos(Pos::new(HPos::Right, VPos::Bottom));
        let above = |last: &Point| (last.0, last.1 + 0.02 * (top - bottom));
        chart.draw_series(points.last().map(|last| Text::new(format!("{:.3}", last.1), above(last), style)))?;
    }
    // A line of one point cannot be seen.
    let few = train.iter().filter(|_| train.len() < FEW);
    chart.draw_series(few.map(|point| Circle::new(*point, 3, TRAIN.filled())))?;
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .margin(12)
        .legend_area_size(34)
        .label_font((FONT, 15).into_font().color(&INK))
        .background_style(WHITE.mix(0.9))
        .border_style(FAINT)
        .draw()?;
    root.present()?;
    Ok(())
}

/// The loss on each data set that is held out, in the order in which they were first evaluated.
fn held_out(history: &History) -> IndexMap<&str, Vec<Point>> {
    let mut curves = IndexMap::<&str, Vec<Point>>::new();
    for record in &history.evals {
        let name = if record.data.is_empty() { "held out" } else { &record.data };
        curves.entry(name).or_default().extend(finite(std::iter::once((record.step as f64, record.held_out_loss))));
    }
    curves
}

fn finite(points: impl Iterator<Item = Point>) -> Vec<Point> {
    points.filter(|(_, loss)| loss.is_finite()).collect()
}

/// The ranges of steps and losses, never empty.
fn ranges(train: &[Point], held_out: &IndexMap<&str, Vec<Point>>) -> (Point, Point) {
    let all = || train.iter().chain(held_out.values().flatten());
    let right = all().map(|point| point.0).fold(1.0, f64::max);
    let low = all().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let high = all().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
    let room = 0.05 * (high - low).max(0.1);
    ((0.0, right), (low - room, high + room))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_train::{Amount, HeldOutCount};
    use halite_train::{EvalRecord, StepRecord};

    fn example() -> History {
        let noise = |step: u64| halite_bundle::Stream::new(1, "noise").normal_pair(step)[0] * 0.08;
        let curve = |step: u64| 1.9 + 3.6 * (-(step as f64) / 60.0).exp();
        let step = |step| StepRecord {
            step,
            seen: Amount::Tokens(step * 512),
            metrics: [("loss".to_owned(), curve(step) + noise(step))].into_iter().collect(),
        };
        let eval = |step| EvalRecord {
            step,
            data: String::new(),
            held_out_loss: curve(step) + 0.15,
            counted: HeldOutCount::Tokens(1),
            metrics: [].into(),
        };
        History { steps: (1..=300).map(step).collect(), evals: (0..=6).map(|index| eval(index * 50)).collect() }
    }

    #[test]
    fn a_plot_has_axes_legend_and_equal_bytes() {
        let svg = plot("tiny", &example()).unwrap();
        for part in ["<svg", "tiny: loss by step", "loss per token (nats)", "held out", "training, smoothed"] {
            assert!(svg.contains(part), "{part}");
        }
        assert_eq!(plot("tiny", &example()).unwrap(), svg);
        if let Ok(path) = std::env::var("HALITE_PLOT") {
            std::fs::write(path, &svg).unwrap();
        }
    }

    #[test]
    fn each_data_set_has_a_line_of_its_own() {
        let mut history = example();
        let other = |eval: &EvalRecord| EvalRecord { data: "code".to_owned(), ..eval.clone() };
        history.evals = history.evals.iter().flat_map(|eval| [eval.clone(), other(eval)]).collect();
        let svg = plot("two", &history).unwrap();
        assert!(svg.contains("held out") && svg.contains("code"));
        let color = |number: usize| {
            let RGBColor(red, green, blue) = HELD_OUT[number];
            format!("<polyline fill=\"none\" opacity=\"1\" stroke=\"#{red:02X}{green:02X}{blue:02X}\"")
        };
        // Of each its curve and its part of the legend.
        assert_eq!([0, 1, 2].map(|number| svg.matches(&color(number)).count()), [2, 2, 0]);
    }

    #[test]
    fn short_runs_have_plots_too() {
        assert!(plot("none", &History::default()).is_ok());
        let mut history = example();
        history.steps.truncate(1);
        history.evals.clear();
        assert!(plot("one", &history).is_ok());
    }
}
