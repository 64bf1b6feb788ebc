//! The layouts of a plan: throughput over memory and over cost.

mod chart;
mod marks;

use crate::plot::{Drawn, FONT, INK};
use chart::{Chart, Point};
use halite_support::{Diagnostic, Result};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const WIDTH: u32 = 1120;
/// The height of the charts, and of a line below them.
const CHARTS: u32 = 440;
const LINE: u32 = 22;
const TITLE: u32 = 48;
const MARGIN: u32 = 24;
const GIB: f64 = (1_u64 << 30) as f64;
/// The layouts of each number of instances, in turn; distinct for people who do not see red and green alike (after Okabe and Ito).
const GROUPS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(0, 158, 115), RGBColor(204, 121, 167), RGBColor(140, 86, 75)];
/// The best layout, and the memory that there is.
const BEST: RGBColor = RGBColor(213, 94, 0);

/// A layout in the plot.
#[derive(Clone, PartialEq, Debug)]
pub struct PlacedLayout {
    /// Bytes that a rank needs.
    pub bytes: f64,
    /// Tokens in a second, over all ranks.
    pub tokens_per_second: f64,
    /// US dollars for a billion tokens, where a price is known.
    pub dollars: Option<f64>,
    /// The number of instances that it is for, as a position among those that are compared.
    pub group: usize,
    /// Whether it was compiled whole and is among the best of its group; others were told from shallow models alone.
    pub is_ranked: bool,
    /// The text beside it, where it has one.
    pub label: Option<Label>,
}

/// The text of a layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The text beside the dot.
    pub mark: String,
    /// The words of the mark, below the charts.
    pub words: String,
    /// Whether this is the best layout of all.
    pub is_best: bool,
}

/// An SVG of layouts under a title, a dot for each: tokens per second over the memory of a rank, and, where prices are known, over the cost
/// of tokens. A line joins the layouts that are ranked and that no other one beats in both.
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
    let labels: Vec<(&PlacedLayout, &Label)> =
        layouts.iter().filter_map(|own| Some((own, own.label.as_ref()?))).collect();
    let lines = labels.len().div_ceil(2) as u32 + 1;
    let root = SVGBackend::with_string(svg, (WIDTH, TITLE + CHARTS + lines * LINE + MARGIN)).into_drawing_area();
    root.fill(&WHITE)?;
    let (head, rest) = root.split_vertically(TITLE);
    head.draw(&Text::new(title, (MARGIN as i32, 18), (FONT, 22).into_font().color(&INK)))?;
    let (charts, words) = rest.split_vertically(CHARTS);
    let memory = Chart {
        across: "GiB of a rank",
        limit: Some(capacity / GIB),
        points: points(layouts, |own| Some(own.bytes / GIB)),
    };
    let fits = |own: &PlacedLayout| own.dollars.filter(|_| own.bytes <= capacity);
    let cost = Chart { across: "US dollars for a billion tokens", limit: None, points: points(layouts, fits) };
    if cost.points.iter().any(|point| point.is_ranked) {
        let (left, right) = charts.split_horizontally(WIDTH / 2);
        memory.draw(&left)?;
        cost.draw(&right)?;
    } else {
        memory.draw(&charts)?;
    }
    let text = (FONT, 14).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    let place = |at: usize| {
        let (column, row) = (at / (lines as usize - 1), at % (lines as usize - 1));
        (MARGIN as i32 + 12 + (column as u32 * WIDTH / 2) as i32, ((row as u32 + 1) * LINE) as i32 - LINE as i32 / 2)
    };
    for (at, (own, label)) in labels.iter().enumerate() {
        let (x, y) = place(at);
        words.draw(&Circle::new((x, y), 5, color(own).filled()))?;
        words.draw(&Text::new(format!("{}: {}", label.mark, label.words), (x + 14, y), text.clone()))?;
    }
    let said =
        "Orange: the best. With a ring, on the line: no other one beats it in both. Pale: told from shallow models.";
    words.draw(&Text::new(said, (MARGIN as i32, (lines * LINE) as i32 - LINE as i32 / 2), text))?;
    root.present()?;
    Ok(())
}

fn color(own: &PlacedLayout) -> RGBColor {
    match &own.label {
        Some(label) if label.is_best => BEST,
        _ => GROUPS[own.group % GROUPS.len()],
    }
}

fn points(layouts: &[PlacedLayout], across: impl Fn(&PlacedLayout) -> Option<f64>) -> Vec<Point> {
    let point = |own: &PlacedLayout| {
        Some(Point {
            at: (across(own)?, own.tokens_per_second),
            color: color(own),
            is_ranked: own.is_ranked,
            mark: own.label.as_ref().map(|label| label.mark.clone()),
            is_best: own.label.as_ref().is_some_and(|label| label.is_best),
        })
    };
    layouts.iter().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(gib: f64, tokens_per_second: f64, dollars: Option<f64>, words: Option<&str>) -> PlacedLayout {
        let label =
            words.map(|words| Label { mark: "1".to_owned(), words: words.to_owned(), is_best: words.contains("best") });
        let is_ranked = words.is_some();
        PlacedLayout { bytes: gib * GIB, tokens_per_second, dollars, group: 0, is_ranked, label }
    }

    #[test]
    fn layouts_are_drawn_over_memory_and_over_cost() {
        let layouts = [
            layout(8.0, 2e5, Some(40.0), Some("tensor 8, fsdp 4, the best")),
            layout(6.0, 1.9e5, Some(42.0), Some("tensor 8, data 4")),
            layout(10.0, 1.95e5, Some(41.0), None),
            layout(900.0, 1e5, Some(900.0), None),
        ];
        let svg = plot("a plan", &layouts, 16.0 * GIB).unwrap();
        for part in ["tensor 8, fsdp 4", "GiB of a rank", "US dollars for a billion tokens", "tokens per second"] {
            assert!(svg.contains(part), "{part}");
        }
        let count = |svg: &str, told: bool| {
            let circles = svg.match_indices("<circle").map(|(at, _)| svg[at..].split('>').next().unwrap_or_default());
            circles.filter(|circle| circle.contains(if told { "opacity=\"0.25\"" } else { "fill=\"none\"" })).count()
        };
        // The layout that is far beyond is left out. Neither of the two beats the other in memory, and the best is the cheapest.
        assert_eq!((count(&svg, true), count(&svg, false)), (2, 2 + 1));
        let costless: Vec<PlacedLayout> =
            layouts.iter().map(|own| PlacedLayout { dollars: None, ..own.clone() }).collect();
        let svg = plot("a plan", &costless, 16.0 * GIB).unwrap();
        assert!(!svg.contains("dollars"), "without prices there is no chart of them");
        assert_eq!((count(&svg, true), count(&svg, false)), (1, 2));
        assert!(plot("a plan", &[], 16.0 * GIB).is_ok());
    }
}
