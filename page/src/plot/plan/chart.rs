//! One chart: layouts over something that little is wanted of.

use super::marks::{DOT, Marks};
use super::{BEST, MARGIN};
use crate::plot::{Axis, Drawn, FAINT, FONT, INK, Ticks, styled};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

/// A layout in a chart.
pub(super) struct Point {
    /// To the right and upwards.
    pub(super) at: (f64, f64),
    pub(super) color: RGBColor,
    /// Whether it was compiled whole.
    pub(super) is_ranked: bool,
    /// The text beside it.
    pub(super) mark: Option<String>,
    /// Whether it is the best of all.
    pub(super) is_best: bool,
}

/// Layouts over something that little is wanted of, such as memory.
pub(super) struct Chart {
    /// The name of the axis to the right.
    pub(super) across: &'static str,
    /// The most that there is of it.
    pub(super) limit: Option<f64>,
    pub(super) points: Vec<Point>,
}

impl Chart {
    pub(super) fn draw(&self, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Drawn {
        let across = self.range(|point| point.at.0, self.limit);
        let up = self.range(|point| point.at.1, None);
        let axes = (Axis::new(&across, Ticks::linear(&across, 7)), Axis::new(&up, Ticks::linear(&up, 6)));
        let mut chart = ChartBuilder::on(area)
            .margin(MARGIN)
            .margin_top(4)
            .x_label_area_size(46)
            .y_label_area_size(92)
            .build_cartesian_2d(axes.0, axes.1)?;
        styled(&mut chart.configure_mesh(), 14).x_desc(self.across).y_desc("tokens per second").draw()?;
        let there = |point: &&Point| across.contains(&point.at.0) && up.contains(&point.at.1);
        if let Some(limit) = self.limit.filter(|limit| across.contains(limit)) {
            let line = vec![(limit, up.start), (limit, up.end)];
            chart.draw_series([PathElement::new(line, BEST.mix(0.6).stroke_width(2))])?;
            let text = (FONT, 13).into_font().color(&INK).pos(Pos::new(HPos::Right, VPos::Top));
            chart.draw_series([EmptyElement::at((limit, up.end)) + Text::new("a rank has this", (-6, 4), text)])?;
        }
        let told = self.points.iter().filter(|point| !point.is_ranked).filter(there);
        chart.draw_series(told.map(|point| Circle::new(point.at, 3, point.color.mix(0.25).filled())))?;
        let frontier = self.frontier();
        chart.draw_series([PathElement::new(frontier.clone(), INK.mix(0.5).stroke_width(2))])?;
        let ranked: Vec<&Point> = self.points.iter().filter(|point| point.is_ranked).filter(there).collect();
        // The best is drawn last, over all others.
        let (best, others): (Vec<&Point>, Vec<&Point>) = ranked.into_iter().partition(|point| point.is_best);
        for point in others.iter().chain(&best) {
            let size = if point.is_best { DOT + 2 } else { DOT };
            let dot = |circle| EmptyElement::at(point.at) + circle;
            chart.draw_series([dot(Circle::new((0, 0), size, WHITE.filled()))])?;
            chart.draw_series([dot(Circle::new((0, 0), size - 1, point.color.filled()))])?;
            if frontier.contains(&point.at) {
                chart.draw_series([dot(Circle::new((0, 0), size + 2, INK.stroke_width(2)))])?;
            }
        }
        let mut marks = Marks::new(others.iter().chain(&best).map(|point| chart.backend_coord(&point.at)));
        let corners: Vec<(i32, i32)> = frontier.iter().map(|corner| chart.backend_coord(corner)).collect();
        corners.windows(2).for_each(|ends| marks.avoid(ends[0], ends[1]));
        let text = (FONT, 14).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        for point in best.iter().chain(&others) {
            let Some(mark) = &point.mark else { continue };
            let at = chart.backend_coord(&point.at);
            let (dx, dy) = marks.place(at, mark);
            chart.draw_series([EmptyElement::at(point.at) + Text::new(mark.clone(), (dx, dy), text.clone())])?;
        }
        chart.draw_series([PathElement::new(vec![(across.start, up.start), (across.end, up.start)], FAINT)])?;
        Ok(())
    }

    /// The points that are ranked and that none beats in both, as steps, the one that needs least first.
    fn frontier(&self) -> Vec<(f64, f64)> {
        let mut all: Vec<(f64, f64)> =
            self.points.iter().filter(|point| point.is_ranked).map(|point| point.at).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for point in all {
            match steps.last().copied() {
                Some(last) if point.1 <= last.1 => {}
                Some(last) => steps.extend([(point.0, last.1), point]),
                None => steps.push(point),
            }
        }
        steps
    }

    /// A range with room around the points that are ranked, or around all where none is; what there is of it is shown where it is near.
    fn range(&self, of: fn(&Point) -> f64, limit: Option<f64>) -> Range<f64> {
        let has_ranked = self.points.iter().any(|point| point.is_ranked);
        let shown = self.points.iter().filter(|point| point.is_ranked || !has_ranked).map(of);
        let (low, high) = shown.fold((f64::INFINITY, 0.0), |(low, high), value| (value.min(low), value.max(high)));
        let low = if low.is_finite() { low } else { 0.0 };
        let high = limit.filter(|limit| *limit < 2.5 * high).unwrap_or(high).max(high).max(f64::MIN_POSITIVE);
        let room = (0.15 * (high - low)).max(0.03 * high);
        (low - room).max(0.0)..high + room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: &[(f64, f64)]) -> Chart {
        let point = |&at: &(f64, f64)| Point { at, color: BLACK, is_ranked: true, mark: None, is_best: false };
        Chart { across: "", limit: None, points: points.iter().map(point).collect() }
    }

    #[test]
    fn the_frontier_has_what_none_beats_in_both() {
        let points = [(4.0, 10.0), (3.0, 8.0), (5.0, 9.0), (3.0, 7.0), (6.0, 12.0)];
        let corners = [(3.0, 8.0), (4.0, 8.0), (4.0, 10.0), (6.0, 10.0), (6.0, 12.0)];
        assert_eq!(chart(&points).frontier(), corners);
        assert_eq!(chart(&[(4.0, 10.0), (5.0, 9.0)]).frontier(), [(4.0, 10.0)], "one is best in both");
    }

    #[test]
    fn a_limit_that_is_far_away_is_not_shown() {
        let chart = chart(&[(4.0, 10.0), (6.0, 12.0)]);
        let range = |limit| chart.range(|point| point.at.0, limit);
        assert!(range(Some(12.0)).contains(&12.0) && !range(Some(90.0)).contains(&90.0));
        assert!(range(None).contains(&4.0) && range(None).contains(&6.0) && range(None).start > 3.0);
    }
}
