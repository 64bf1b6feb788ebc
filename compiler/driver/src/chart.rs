//! What all plots have in common.

use plotters::chart::MeshStyle;
use plotters::prelude::{DrawingBackend, IntoFont, RGBColor, Ranged, TRANSPARENT};
use plotters::style::Color;

/// The fonts of all text.
pub(crate) const FONT: &str = "Helvetica, Arial, sans-serif";
/// Text and axes.
pub(crate) const INK: RGBColor = RGBColor(51, 60, 74);
/// Grid lines.
pub(crate) const FAINT: RGBColor = RGBColor(226, 230, 236);

/// What drawing gives.
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

/// How many points on either side of one are in its window.
fn reach(points: &[Point]) -> usize {
    points.len() / 80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_curves_are_left_as_they_are() {
        let zigzag = |length: usize| -> Vec<Point> { (0..length).map(|x| (x as f64, (x % 2) as f64)).collect() };
        for (length, changes) in [(0, false), (79, false), (80, true), (200, true)] {
            let curve = zigzag(length);
            assert_eq!((is_smoothed(&curve), smoothed(&curve) != curve), (changes, changes), "{length}");
        }
    }
}
