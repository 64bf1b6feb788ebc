//! Small plots of curves over updates, for pages: without title and background, in colours that a page may change.

use crate::plot::{Axis, Drawn, Point, Ticks, styled};
use halite_support::{Diagnostic, Result};
use plotters::prelude::*;

const SIZE: (u32, u32) = (420, 230);
/// The most points of a curve: as many as there are places for.
const POINTS: usize = 400;
/// Curves with fewer points have a dot for each.
const FEW: usize = 16;
/// Of lines at updates: readable on light and on dark ground.
const MARK: RGBColor = RGBColor(128, 128, 128);

/// A curve of a panel.
pub(crate) struct Curve {
    pub(crate) points: Vec<Point>,
    pub(crate) color: RGBColor,
    /// How much it covers what is below it, from 0 to 1.
    pub(crate) opacity: f64,
    pub(crate) width: u32,
}

/// An SVG of curves, of which numbers that are not finite are left out, with a line at each update that is marked; `zero` is whether
/// the axis begins there.
///
/// # Errors
/// A bug diagnostic when drawing fails, which no curve should make happen.
pub(crate) fn panel(curves: Vec<Curve>, marks: &[f64], zero: bool) -> Result<String> {
    let thin = |curve: Curve| Curve { points: thinned(&curve.points), ..curve };
    let curves: Vec<Curve> = curves.into_iter().map(thin).collect();
    let mut svg = String::new();
    draw(&mut svg, &curves, marks, zero).map_err(|error| Diagnostic::bug(format!("a plot of the page: {error}")))?;
    Ok(svg)
}

fn draw(svg: &mut String, curves: &[Curve], marks: &[f64], zero: bool) -> Drawn {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let right = points().map(|point| point.0).fold(1.0, f64::max);
    let low = points().map(|point| point.1).fold(if zero { 0.0 } else { f64::INFINITY }, f64::min);
    let high = points().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if low < high { (low, high) } else { around(if low.is_finite() { low } else { 0.0 }) };
    let room = 0.05 * (high - low);
    let (steps, values) = (0.0..right, low - if zero { 0.0 } else { room }..high + room);
    let axes = (Axis::new(&steps, Ticks::whole(&steps, 5)), Axis::new(&values, Ticks::linear(&values, 5)));
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&root)
        .margin(8)
        .margin_right(22)
        .x_label_area_size(24)
        .y_label_area_size(60)
        .build_cartesian_2d(axes.0, axes.1)?;
    styled(&mut chart.configure_mesh(), 16).draw()?;
    let ends = (values.start, values.end);
    let mark = |&at: &f64| PathElement::new(vec![(at, ends.0), (at, ends.1)], MARK.mix(0.6).stroke_width(1));
    chart.draw_series(marks.iter().filter(|at| **at <= right).map(mark))?;
    for Curve { points, color, opacity, width } in curves {
        chart.draw_series(LineSeries::new(points.iter().copied(), color.mix(*opacity).stroke_width(*width)))?;
        let few = points.iter().filter(|_| points.len() < FEW);
        chart.draw_series(few.map(|point| Circle::new(*point, 3, color.filled())))?;
    }
    root.present()?;
    Ok(())
}

/// A range around a value that is the only one.
fn around(value: f64) -> Point {
    let room = if value == 0.0 { 1.0 } else { 0.1 * value.abs() };
    (value - room, value + room)
}

/// At most so many points as there is place for, each the mean of those next to one another.
fn thinned(points: &[Point]) -> Vec<Point> {
    let finite: Vec<Point> = points.iter().copied().filter(|point| point.1.is_finite()).collect();
    let mean = |chunk: &[Point]| {
        let (x, y) = chunk.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        (x / chunk.len() as f64, y / chunk.len() as f64)
    };
    finite.chunks(finite.len().div_ceil(POINTS).max(1)).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: Vec<Point>) -> Curve {
        Curve { points, color: BLACK, opacity: 1.0, width: 2 }
    }

    #[test]
    fn every_curve_can_be_drawn() {
        for points in [vec![], vec![(3.0, 0.0)], vec![(1.0, 2.5), (2.0, 2.5)], vec![(1.0, f64::NAN), (2.0, 1e-7)]] {
            for zero in [false, true] {
                assert!(
                    panel(vec![curve(points.clone())], &[0.0, 1.0, 9.0], zero).unwrap().starts_with("<svg"),
                    "{points:?}"
                );
            }
        }
    }

    #[test]
    fn long_curves_are_thinned_to_means() {
        let points: Vec<Point> = (0..100_000).map(|x| (f64::from(x), f64::from(x % 2))).collect();
        let thin = thinned(&points);
        assert_eq!((thin.len(), thin[0]), (400, (124.5, 0.5)));
        assert!(panel(vec![curve(points)], &[], false).unwrap().len() < 20_000);
    }
}
