//! Plots as SVG, and their common parts.

mod loss;
mod memory;
mod numerics;
mod panel;
mod placement;
mod plan;
mod schedule;

pub use loss::plot as loss;
pub use memory::plot as memory;
pub use numerics::plot as numerics;
pub(crate) use panel::{Curve, panel};
pub use placement::plot as placement;
pub use plan::{Label, PlacedLayout, plot as plan};
pub use schedule::plot as schedule;

use halite_support::units::grouped;
use plotters::chart::MeshStyle;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{DrawingBackend, IntoFont, RGBColor, Ranged, TRANSPARENT};
use plotters::style::Color;
use std::collections::BTreeSet;
use std::ops::Range;

/// The fonts of all text.
pub(crate) const FONT: &str = "Helvetica, Arial, sans-serif";
/// Text and axes.
pub(crate) const INK: RGBColor = RGBColor(51, 60, 74);
/// Grid lines.
pub(crate) const FAINT: RGBColor = RGBColor(226, 230, 236);

/// The colours of the data sets that are held out, in turn; distinct for people who do not see red and green alike (after Okabe and
/// Ito).
pub(crate) const HELD_OUT: [RGBColor; 4] =
    [RGBColor(222, 108, 39), RGBColor(0, 158, 115), RGBColor(204, 121, 167), RGBColor(140, 86, 75)];

/// The result of drawing.
pub(crate) type Drawn = Result<(), Box<dyn std::error::Error>>;
/// A point of a curve.
pub(crate) type Point = (f64, f64);

/// Axes and grid in the colours of all plots; labels of `size` pixels, names of axes a little larger.
pub(crate) fn styled<'m, 'a, 'b, X: Ranged, Y: Ranged, DB: DrawingBackend>(
    mesh: &'m mut MeshStyle<'a, 'b, X, Y, DB>,
    size: i32,
) -> &'m mut MeshStyle<'a, 'b, X, Y, DB> {
    mesh.axis_desc_style((FONT, size + 2).into_font().color(&INK))
        .label_style((FONT, size).into_font().color(&INK))
        .axis_style(INK.mix(0.6))
        .bold_line_style(FAINT)
        .light_line_style(TRANSPARENT)
}

/// The places of the labels of an axis, and their texts: no two are the same.
#[derive(Clone, Debug)]
pub(crate) struct Ticks {
    pub(crate) at: Vec<f64>,
    labels: Vec<String>,
}

impl Ticks {
    /// Round numbers in a range, up to `most` and one.
    pub(crate) fn linear(range: &Range<f64>, most: usize) -> Self {
        Self::apart(range, step(range, most))
    }

    /// Whole numbers in a range, up to `most` and one.
    pub(crate) fn whole(range: &Range<f64>, most: usize) -> Self {
        Self::apart(range, step(range, most).max(1.0))
    }

    /// Ticks of a logarithmic axis: powers of ten, or also two and five times these, or round numbers, whatever gives three first.
    pub(crate) fn logarithmic(range: &Range<f64>) -> Self {
        let decades = range.start.log10().floor() as i32..=range.end.log10().ceil() as i32;
        let times = |digits: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|decade| digits.iter().map(move |digit| digit * 10f64.powi(decade)));
            all.filter(|value| range.contains(value)).collect()
        };
        let at = [times(&[1.0]), times(&[1.0, 2.0, 5.0])].into_iter().find(|at| at.len() > 2);
        let at = at.unwrap_or_else(|| Self::linear(range, 5).at);
        let labels = (0..8).map(|digits| at.iter().map(|&value| short(value, digits)).collect::<Vec<_>>());
        let labels = labels.into_iter().find(|labels| are_different(labels)).unwrap_or_default();
        Self { at, labels }
    }

    fn apart(range: &Range<f64>, step: f64) -> Self {
        let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
        let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        let at: Vec<f64> = (first..=last).map(|index| index as f64 * step).collect();
        // Adding 0 takes the sign from a negative zero.
        let label = |value: &f64| match decimals {
            0 if *value >= 1000.0 => grouped(*value as u64),
            _ => format!("{:.decimals$}", value + 0.0),
        };
        let labels = at.iter().map(label).collect();
        Self { at, labels }
    }

    /// The label at a tick.
    pub(crate) fn label(&self, value: f64) -> String {
        let far = |tick: &f64| (tick - value).abs();
        let nearest = self.at.iter().enumerate().min_by(|a, b| far(a.1).total_cmp(&far(b.1)));
        nearest.and_then(|(index, _)| self.labels.get(index)).cloned().unwrap_or_default()
    }
}

/// A linear axis with its own labels.
#[derive(Clone)]
pub(crate) struct Axis {
    places: RangedCoordf64,
    ticks: Ticks,
}

impl Axis {
    pub(crate) fn new(range: &Range<f64>, ticks: Ticks) -> Self {
        Self { places: range.clone().into(), ticks }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.places.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.at.clone()
    }

    fn range(&self) -> Range<f64> {
        self.places.range()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        value.to_string()
    }

    fn format_ext(&self, value: &f64) -> String {
        self.ticks.label(*value)
    }
}

/// The smallest of 1, 2 and 5 times powers of ten that parts a range into `most` at most.
fn step(range: &Range<f64>, most: usize) -> f64 {
    let least = ((range.end - range.start) / most as f64).max(1e-12);
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= least * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

/// A number of a logarithmic axis, with so many decimals where it is small or large.
fn short(value: f64, decimals: usize) -> String {
    if (0.01..1000.0).contains(&value) {
        format!("{}", (1e4 * value).round() / 1e4)
    } else {
        format!("{value:.decimals$e}")
    }
}

fn are_different(labels: &[String]) -> bool {
    labels.iter().collect::<BTreeSet<_>>().len() == labels.len()
}

/// The mean over a window of about a fortieth of the curve around each point.
pub(crate) fn smoothed(points: &[Point]) -> Vec<Point> {
    let reach = reach(points);
    let mean = |(index, (step, _)): (usize, &Point)| {
        let reach = reach.min(index).min(points.len() - 1 - index);
        let window = &points[index - reach..=index + reach];
        (*step, window.iter().map(|point| point.1).sum::<f64>() / window.len() as f64)
    };
    points.iter().enumerate().map(mean).collect()
}

/// Whether a curve is long enough for [`smoothed`] to change it.
pub(crate) fn is_smoothed(points: &[Point]) -> bool {
    reach(points) > 0
}

/// The number of points on either side of one that are in its window.
fn reach(points: &[Point]) -> usize {
    points.len() / 80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_labels_of_an_axis_are_the_same() {
        let ranges = [
            0.0..1.0,
            0.0..3.0,
            0.0..1e6,
            5.118..5.1201,
            -0.001..0.001,
            1e-7..3e-7,
            2.0..2.3,
            0.4..3.0,
            2e-7..5e-3,
            1e3..1.01e3,
        ];
        for range in ranges {
            let mut all = vec![Ticks::linear(&range, 6), Ticks::whole(&range, 6)];
            all.extend((range.start > 0.0).then(|| Ticks::logarithmic(&range)));
            for (index, ticks) in all.iter().enumerate() {
                assert!(are_different(&ticks.labels) && ticks.at.len() == ticks.labels.len(), "{range:?} {ticks:?}");
                assert!(ticks.at.len() <= 8 && (index == 1 || ticks.at.len() > 2), "{range:?} {ticks:?}");
                assert!(ticks.at.iter().all(|tick| ticks.labels.contains(&ticks.label(*tick))));
            }
        }
        assert_eq!(Ticks::whole(&(0.0..2.0), 6).labels, ["0", "1", "2"]);
        assert_eq!(Ticks::linear(&(5.118..5.1201), 5).labels, ["5.1180", "5.1185", "5.1190", "5.1195", "5.1200"]);
        assert_eq!(Ticks::logarithmic(&(0.4..3.0)).labels, ["0.5", "1", "2"]);
        assert_eq!(Ticks::logarithmic(&(2e-7..5e-3)).labels, ["1e-6", "1e-5", "1e-4", "1e-3"]);
    }

    #[test]
    fn short_curves_are_left_as_they_are() {
        let zigzag = |length: usize| -> Vec<Point> { (0..length).map(|x| (x as f64, (x % 2) as f64)).collect() };
        for (length, changes) in [(0, false), (79, false), (80, true), (200, true)] {
            let curve = zigzag(length);
            assert_eq!((is_smoothed(&curve), smoothed(&curve) != curve), (changes, changes), "{length}");
        }
    }
}
