//! The live memory over the steps of a module, stacked by kind, with the layers that run.

mod layers;

use crate::plot::{Axis, Drawn, FONT, INK, Ticks, styled};
use halite_bundle::estimate::{MemoryByKind, MemoryKind};
use halite_support::units::bytes;
use halite_support::{Diagnostic, Result};
use halite_target::estimate::Analysis;
use layers::Run;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A plot of bytes over steps.
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, RangedCoordf64>>;

const SIZE: (u32, u32) = (1100, 560);
const MARGIN: i32 = 18;
/// Points along the time axis at most; of the steps between two, the one with most in memory is drawn.
const POINTS: usize = 1000;

/// Draws an SVG of the live memory while each step runs, with the memory of a core where it is near, and the numbers of the layers
/// over the steps that are of one.
///
/// # Errors
/// A bug diagnostic when drawing fails, which no module should make happen.
pub fn plot(name: &str, analysis: &Analysis) -> Result<String> {
    let mut svg = String::new();
    draw(&mut svg, name, analysis).map_err(|error| Diagnostic::bug(format!("the plot of memory: {error}")))?;
    Ok(svg)
}

/// The colour of a kind of memory; distinct for people who do not see red and green alike (after Okabe and Ito).
fn color(kind: MemoryKind) -> RGBColor {
    match kind {
        MemoryKind::Weights => RGBColor(0, 114, 178),
        MemoryKind::Optimizer => RGBColor(86, 180, 233),
        MemoryKind::Batch => RGBColor(140, 86, 75),
        MemoryKind::Arguments => RGBColor(120, 130, 145),
        MemoryKind::Results => RGBColor(204, 121, 167),
        MemoryKind::Gradients => RGBColor(213, 94, 0),
        MemoryKind::Activations => RGBColor(0, 158, 115),
        MemoryKind::Workspace => RGBColor(230, 159, 0),
        MemoryKind::Resident => RGBColor(0, 0, 0),
    }
}

fn draw(svg: &mut String, name: &str, analysis: &Analysis) -> Drawn {
    let points = thinned(&analysis.timeline);
    let most = points.iter().map(|(_, live)| live.total()).max().unwrap_or(0).max(1);
    let limit = analysis.estimate.fit.map(|fit| fit.memory_limit).filter(|limit| *limit < most.saturating_mul(3));
    let (unit, word) = unit(most);
    let runs = layers::runs(&analysis.layers, analysis.backward_at);
    let high = most.max(limit.unwrap_or(0)) as f64 / unit;
    let top = high * if runs.is_empty() { ROOM } else { ROOM + STRIP };
    let steps = 0.0..analysis.timeline.len().max(2) as f64 - 1.0;
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("{name}: memory of one core while it runs"), (FONT, 20).into_font().color(&INK))
        .margin(MARGIN)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(Axis::new(&steps, Ticks::whole(&steps, 10)), 0.0..top)?;
    styled(&mut chart.configure_mesh(), 13)
        .disable_x_mesh()
        .x_desc(if runs.is_empty() {
            STEPS.to_owned()
        } else {
            format!("{STEPS}; above them the numbers of their layers")
        })
        .y_desc(word)
        .y_label_formatter(&|bytes| format!("{bytes:.4}").trim_end_matches('0').trim_end_matches('.').to_owned())
        .draw()?;
    bands(&mut chart, &runs, (analysis.timeline.len(), top))?;
    kinds(&mut chart, &points, most, unit)?;
    if let Some(backward) = analysis.backward_at {
        let line = vec![(backward as f64, 0.0), (backward as f64, top)];
        chart.draw_series(std::iter::once(PathElement::new(line, INK.mix(0.5))))?;
        let place = (backward as f64, high * ROOM * 0.985);
        chart.draw_series(std::iter::once(Text::new(" backward", place, (FONT, 13).into_font().color(&INK))))?;
    }
    if let Some((step, live)) = points.iter().max_by_key(|(step, live)| (live.total(), std::cmp::Reverse(*step))) {
        let place = (*step as f64, live.total() as f64 / unit);
        // Beside the peak, on the side that has room.
        let side = if *step * 2 > analysis.timeline.len() { HPos::Right } else { HPos::Left };
        let style = (FONT, 13).into_font().color(&INK).pos(Pos::new(side, VPos::Bottom));
        chart.draw_series([Circle::new(place, 3, INK.filled())])?;
        chart.draw_series([Text::new(format!(" peak {} ", bytes(live.total())), place, style)])?;
    }
    if let Some(limit) = limit {
        let line = vec![(0.0, limit as f64 / unit), (analysis.timeline.len() as f64, limit as f64 / unit)];
        let style = INK.stroke_width(2);
        chart
            .draw_series(std::iter::once(PathElement::new(line, style)))?
            .label(format!("memory of a core, {}", bytes(limit)))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::Coordinate(10, if runs.is_empty() { 10 } else { 42 }))
        .background_style(WHITE.mix(0.85))
        .label_font((FONT, 13).into_font().color(&INK))
        .draw()?;
    root.present()?;
    Ok(())
}

/// Draws the memory of each kind, one above the other, in units.
fn kinds(chart: &mut Chart<'_, '_>, points: &[(usize, MemoryByKind)], most: u64, unit: f64) -> Drawn {
    let mut below: Vec<f64> = vec![0.0; points.len()];
    for kind in MemoryKind::ALL.into_iter().filter(|kind| points.iter().any(|(_, live)| live.of(*kind) * 500 > most)) {
        let above: Vec<f64> =
            below.iter().zip(points).map(|(below, (_, live))| below + live.of(kind) as f64 / unit).collect();
        let outline = points.iter().zip(&above).map(|((step, _), bytes)| (*step as f64, *bytes));
        let back = points.iter().zip(&below).rev().map(|((step, _), bytes)| (*step as f64, *bytes));
        let color = color(kind);
        chart
            .draw_series(std::iter::once(Polygon::new(outline.chain(back).collect::<Vec<_>>(), color.mix(0.85))))?
            .label(kind.name())
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], color.filled()));
        below = above;
    }
    Ok(())
}

/// The label of the horizontal axis.
const STEPS: &str = "steps that store a value, in order";
/// The height of the plot over its highest value.
const ROOM: f64 = 1.08;
/// The height, in the same measure, of the strip above with the numbers of layers.
const STRIP: f64 = 0.08;
/// The ground of every other layer.
const BAND: RGBColor = RGBColor(236, 239, 244);
/// The number of places that a number takes, of [`POINTS`] along the time axis.
const NUMBER: usize = 22;

/// The layers as bands behind the curves, every other one shaded, with their numbers above as far as there is room.
fn bands(chart: &mut Chart<'_, '_>, runs: &[Run], (steps, top): (usize, f64)) -> Drawn {
    let shaded = runs.iter().filter(|run| run.layer % 2 == 0);
    let band = |run: &Run| Rectangle::new([(run.start as f64, 0.0), (run.end as f64, top)], BAND.filled());
    chart.draw_series(shaded.map(band))?;
    let style = (FONT, 13).into_font().color(&INK.mix(0.8)).pos(Pos::new(HPos::Center, VPos::Center));
    let place = top * (1.0 - 0.5 * STRIP / (ROOM + STRIP));
    let number = |run: &Run| Text::new(run.layer.to_string(), (run.middle(), place), style.clone());
    chart.draw_series(layers::apart(runs, steps * NUMBER / POINTS).map(number))?;
    Ok(())
}

/// At most [`POINTS`] steps with their positions: of each run of steps the one with most in memory.
fn thinned(timeline: &[MemoryByKind]) -> Vec<(usize, MemoryByKind)> {
    let run = timeline.len().div_ceil(POINTS).max(1);
    let most = |(index, run_of): (usize, &[MemoryByKind])| {
        let best = run_of.iter().enumerate().max_by_key(|(at, live)| (live.total(), std::cmp::Reverse(*at)));
        best.map(|(at, live)| (index * run + at, *live))
    };
    timeline.chunks(run).enumerate().filter_map(most).collect()
}

/// The unit in which a number of bytes reads well.
fn unit(bytes: u64) -> (f64, &'static str) {
    match bytes {
        0..0x10_0000 => (1024.0, "KiB"),
        0x10_0000..0x4000_0000 => (1024.0 * 1024.0, "MiB"),
        _ => (1024.0 * 1024.0 * 1024.0, "GiB"),
    }
}
