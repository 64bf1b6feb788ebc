//! The layouts of a plan: memory of a rank against throughput.

use crate::plot::{Axis, Drawn, FAINT, FONT, INK, Ticks, styled};
use halite_support::{Diagnostic, Result};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const SIZE: (u32, u32) = (1000, 560);
const TITLE: i32 = 52;
const MARGIN: u32 = 24;
const GIB: f64 = (1_u64 << 30) as f64;
/// A layout that was told, one that is shown, and the memory that there is.
const TOLD: RGBColor = RGBColor(86, 180, 233);
const SHOWN: RGBColor = RGBColor(0, 114, 178);
const LIMIT: RGBColor = RGBColor(213, 94, 0);

/// A layout in the plot.
#[derive(Clone, PartialEq, Debug)]
pub struct PlacedLayout {
    /// Bytes that a rank needs.
    pub bytes: f64,
    /// Tokens in a second, over all ranks.
    pub tokens_per_second: f64,
    /// Its place among the best and its words; `None` for one that was told from shallow models alone.
    pub shown: Option<String>,
}

/// An SVG of layouts under a title, a dot for each: memory of a rank to the right, tokens per second upwards. The layouts that are shown
/// have their words, and a line says what a rank has.
///
/// # Errors
/// A bug diagnostic when drawing fails, which no plan should make happen.
pub fn plot(title: &str, layouts: &[PlacedLayout], capacity: f64) -> Result<String> {
    let mut svg = String::new();
    draw(&mut svg, title, layouts, capacity)
        .map_err(|error| Diagnostic::bug(format!("the plot of a plan: {error}")))?;
    Ok(svg)
}

fn draw(svg: &mut String, title: &str, layouts: &[PlacedLayout], capacity: f64) -> Drawn {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (head, rest) = root.split_vertically(TITLE);
    head.draw(&Text::new(title, (MARGIN as i32, 18), (FONT, 22).into_font().color(&INK)))?;
    let most = |of: fn(&PlacedLayout) -> f64| layouts.iter().map(of).fold(0.0, f64::max);
    // Far beyond what a rank has, layouts are of no interest.
    let memory = 0.0..(1.05 * most(|own| own.bytes).max(capacity)).min(2.0 * capacity).max(f64::MIN_POSITIVE) / GIB;
    let rate = 0.0..(1.1 * most(|own| own.tokens_per_second)).max(1.0);
    let (bytes, tokens) = (Axis::new(&memory, Ticks::linear(&memory, 8)), Axis::new(&rate, Ticks::linear(&rate, 6)));
    let mut chart = ChartBuilder::on(&rest)
        .margin(MARGIN)
        .x_label_area_size(44)
        .y_label_area_size(96)
        .build_cartesian_2d(bytes, tokens)?;
    styled(&mut chart.configure_mesh(), 13).x_desc("GiB of a rank").y_desc("tokens per second").draw()?;
    let limit = capacity / GIB;
    chart.draw_series([PathElement::new(vec![(limit, 0.0), (limit, rate.end)], LIMIT.stroke_width(2))])?;
    let places = layouts.iter().filter(|own| own.bytes / GIB <= memory.end);
    let place = |own: &PlacedLayout| (own.bytes / GIB, own.tokens_per_second);
    let told = places.clone().filter(|own| own.shown.is_none());
    chart.draw_series(told.map(|own| Circle::new(place(own), 4, TOLD.mix(0.7).filled())))?;
    let shown: Vec<&PlacedLayout> = places.filter(|own| own.shown.is_some()).collect();
    chart.draw_series(shown.iter().map(|own| Circle::new(place(own), 6, SHOWN.filled())))?;
    let number = (FONT, 12).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Bottom));
    for (at, own) in shown.iter().enumerate() {
        chart.draw_series([EmptyElement::at(place(own)) + Text::new((at + 1).to_string(), (7, -4), number.clone())])?;
    }
    let legend = (FONT, 13).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    let (left, low) = (0.02 * memory.end, rate.end / 30.0);
    for (at, own) in shown.iter().enumerate() {
        let words = format!("{}  {}", at + 1, own.shown.as_deref().unwrap_or_default());
        chart.draw_series([Text::new(words, (left, low * (shown.len() - at) as f64), legend.clone())])?;
    }
    chart.draw_series([Text::new("a rank has", (limit + left / 2.0, rate.end * 0.97), legend)])?;
    chart.draw_series([PathElement::new(vec![(0.0, 0.0), (memory.end, 0.0)], FAINT)])?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_drawn_with_what_a_rank_has() {
        let layout = |bytes, tokens_per_second, shown: Option<&str>| PlacedLayout {
            bytes,
            tokens_per_second,
            shown: shown.map(str::to_owned),
        };
        let layouts = [
            layout(8.0 * GIB, 2e5, Some("tensor 8, fsdp 4")),
            layout(20.0 * GIB, 2.5e5, None),
            layout(900.0 * GIB, 1e5, None),
        ];
        let svg = plot("a plan", &layouts, 16.0 * GIB).unwrap();
        assert!(svg.contains("tensor 8, fsdp 4") && svg.contains("a rank has") && svg.contains("tokens per second"));
        // The one that is far beyond is left out.
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(plot("a plan", &[], 16.0 * GIB).unwrap().matches("<circle").count(), 0);
    }
}
