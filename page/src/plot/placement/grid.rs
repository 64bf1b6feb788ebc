//! A tensor as a grid of the parts that ranks hold.

use super::cut::{MOST, Ranks, Side};
use super::{Area, axis, color, ink};
use crate::plot::{Drawn, FONT, INK};
use halite_tensor::{DimShards, Mesh, Shape, Sharding, SubAxisId};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The colours of what rank 0 holds and of what it does not.
pub(super) const OWN: RGBColor = RGBColor(0, 114, 178);
pub(super) const OTHER: RGBColor = RGBColor(221, 235, 245);

/// The height of the size above a grid.
const SIZE: i32 = 16;
/// The height of a part, that of a grid at least, and that of one of a list.
const PART: i32 = 18;
const LEAST: i32 = 48;
const LIST: i32 = 32;
/// The size of a gap in the place of parts, in parts.
const GAP: f64 = 0.6;
/// The width of a letter and the height of a line in a part.
const LETTER: i32 = 7;
const LINE: i32 = 15;

/// Where a column has room for a grid, without the sizes on its left.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) width: i32,
}

impl Place {
    fn middle(self) -> i32 {
        self.left + self.width / 2
    }
}

/// A size with the axes of the mesh that cut it.
struct Size {
    text: String,
    /// A sub-axis of the axis that cuts it, where it is the only one.
    sub_axis: Option<SubAxisId>,
}

/// A tensor as parts: its last dimension from left to right, all others from top to bottom.
pub(super) struct Grid {
    down: Side,
    across: Side,
    sizes: Vec<Size>,
}

impl Grid {
    pub(super) fn new(mesh: &Mesh, shape: &Shape, sharding: &Sharding) -> Self {
        let split = shape.rank().saturating_sub(1);
        let side = |from: usize, to: usize| Side::new(shape[from..to].iter().zip(&sharding.0[from..to]));
        let size = |(size, digits): (&usize, &DimShards)| {
            let sub_axes = digits.iter().map(|digit| digit.sub_axis);
            let text = format!("{size} {}", mesh.along(sub_axes.clone())).trim_end().to_owned();
            let first = sub_axes.clone().next();
            let only = first.filter(|&first| sub_axes.clone().all(|other| axis(mesh, other) == axis(mesh, first)));
            Size { text, sub_axis: only }
        };
        let sizes = shape.iter().zip(&sharding.0).map(size).collect();
        Self { down: side(0, split), across: side(split, shape.rank()), sizes }
    }

    /// The height with the size above.
    pub(super) fn height(&self) -> i32 {
        let parts = self.down.shown(MOST).len() as i32;
        let sizes = LINE * self.sizes.len().saturating_sub(1).min(MOST) as i32;
        let least = if self.sizes.len() > 1 { LEAST } else { LIST };
        SIZE + least.max(PART * parts).max(sizes)
    }

    /// The width of the sizes on its left.
    pub(super) fn beside(&self) -> i32 {
        let (_, others) = self.sizes.split_last().unzip();
        let longest = others.unwrap_or_default().iter().map(|size: &Size| size.text.chars().count()).max();
        longest.map_or(0, |letters| LETTER * letters as i32 + 8)
    }

    /// The sub-axes of the mesh that cut it.
    pub(super) fn cuts(&self) -> impl Iterator<Item = SubAxisId> + '_ {
        self.down.sub_axes().chain(self.across.sub_axes())
    }

    pub(super) fn draw(&self, root: &Area<'_>, mesh: &Mesh, place: Place) -> Drawn {
        let (left, top) = (place.left, place.top + SIZE);
        let (right, bottom) = (place.left + place.width, place.top + self.height());
        self.sizes(root, mesh, [(left, top), (right, bottom)])?;
        let rows = slots(&self.down, MOST, top..bottom);
        let columns = slots(&self.across, self.most_across(mesh, place.width), left..right);
        for (row, y) in &rows {
            for (column, x) in &columns {
                let corners = [(x.start, y.start), (x.end, y.end)];
                match row.zip(*column) {
                    Some(at) => self.part(root, mesh, at, corners)?,
                    None => centered(root, &["…".to_owned()], corners, INK)?,
                }
            }
        }
        root.draw(&Rectangle::new([(left, top), (right, bottom)], INK.mix(0.6)))?;
        for (part, y) in rows.iter().skip(1) {
            let ends = [(left, y.start), (right, y.start)];
            cut(root, mesh, part.and_then(|part| self.down.before(part)), ends)?;
        }
        for (part, x) in columns.iter().skip(1) {
            let ends = [(x.start, top), (x.start, bottom)];
            cut(root, mesh, part.and_then(|part| self.across.before(part)), ends)?;
        }
        Ok(())
    }

    /// The number of parts from left to right that have room for a text each.
    fn most_across(&self, mesh: &Mesh, width: i32) -> usize {
        let texts = self.ranks(mesh, (self.down.parts() - 1, self.across.parts() - 1)).texts();
        let longest = texts.last().into_iter().flatten().map(|word| word.chars().count()).max().unwrap_or(1);
        width as usize / (LETTER as usize * longest + 2)
    }

    /// The ranks that hold a part.
    fn ranks(&self, mesh: &Mesh, (row, column): (usize, usize)) -> Ranks {
        Ranks::new(mesh, &self.down.coordinates(row).chain(self.across.coordinates(column)).collect())
    }

    /// A part, with the ranks that hold it.
    fn part(&self, root: &Area<'_>, mesh: &Mesh, at: (usize, usize), corners: Corners) -> Drawn {
        let ranks = self.ranks(mesh, at);
        let is_own = ranks.starts_at_0();
        let (fill, letters) = if is_own { (OWN, WHITE) } else { (OTHER, INK) };
        root.draw(&Rectangle::new(corners, fill.filled()))?;
        let [(left, top), (right, bottom)] = corners;
        let (letter_count, line_count) = ((right - left - 2) / LETTER, (bottom - top - 2) / LINE);
        let lines = ranks.texts().iter().find_map(|words| fitted(words, letter_count as usize, line_count as usize));
        centered(root, &lines.unwrap_or_default(), corners, letters)
    }

    /// The sizes: the last one above, the others on the left.
    fn sizes(&self, root: &Area<'_>, mesh: &Mesh, [(left, top), (right, bottom)]: Corners) -> Drawn {
        let Some((last, others)) = self.sizes.split_last() else { return Ok(()) };
        let style = |size: &Size, at: HPos| {
            let color = size.sub_axis.map_or(INK, |sub_axis| color(mesh, sub_axis));
            (FONT, 14).into_font().color(&color).pos(Pos::new(at, VPos::Center))
        };
        root.draw(&Text::new(last.text.clone(), ((left + right) / 2, top - 8), style(last, HPos::Center)))?;
        let middle = (top + bottom) / 2 - LINE * (others.len() as i32 - 1) / 2;
        for (at, size) in others.iter().enumerate() {
            let place = (left - 8, middle + LINE * at as i32);
            root.draw(&Text::new(size.text.clone(), place, style(size, HPos::Right)))?;
        }
        Ok(())
    }
}

/// The upper left corner and the lower right one.
type Corners = [(i32, i32); 2];

/// The title of a column, above its grids.
pub(super) fn title(root: &Area<'_>, text: &str, place: Place) -> Drawn {
    let style = ink(15).pos(Pos::new(HPos::Center, VPos::Center));
    Ok(root.draw(&Text::new(text.to_owned(), (place.middle(), place.top), style))?)
}

/// In place of a grid that is drawn already.
pub(super) fn same(root: &Area<'_>, text: &str, place: Place) -> Drawn {
    let top = place.top + SIZE;
    let corners = [(place.left, top), (place.left + place.width, top + LIST)];
    centered(root, &[text.to_owned()], corners, INK)
}

/// The line between two parts, in the colour of the axis along which their ranks differ.
fn cut(root: &Area<'_>, mesh: &Mesh, sub_axis: Option<SubAxisId>, ends: [(i32, i32); 2]) -> Drawn {
    let style = sub_axis.map_or(INK.mix(0.6).stroke_width(1), |sub_axis| color(mesh, sub_axis).stroke_width(2));
    Ok(root.draw(&PathElement::new(ends, style))?)
}

/// The parts of a side that are drawn where at most so many are, `None` for a gap, and where.
fn slots(side: &Side, most: usize, range: std::ops::Range<i32>) -> Vec<(Option<usize>, std::ops::Range<i32>)> {
    let shown = side.shown(most);
    let size = |part: &Option<usize>| if part.is_some() { 1.0 } else { GAP };
    let all: f64 = shown.iter().map(size).sum();
    let place = |before: f64| range.start + (f64::from(range.end - range.start) * before / all).round() as i32;
    let mut before = 0.0;
    let mut slots = Vec::new();
    for part in shown {
        let start = place(before);
        before += size(&part);
        slots.push((part, start..place(before)));
    }
    slots
}

/// Lines in the middle of a part.
fn centered(root: &Area<'_>, lines: &[String], [(left, top), (right, bottom)]: Corners, color: RGBColor) -> Drawn {
    let style = (FONT, 14).into_font().color(&color).pos(Pos::new(HPos::Center, VPos::Center));
    let first = (top + bottom) / 2 - LINE * (lines.len() as i32 - 1) / 2;
    for (at, line) in lines.iter().enumerate() {
        root.draw(&Text::new(line.clone(), ((left + right) / 2, first + LINE * at as i32), style.clone()))?;
    }
    Ok(())
}

/// Words as at most so many lines of so many letters; `None` where they do not fit.
fn fitted(words: &[String], letters: usize, lines: usize) -> Option<Vec<String>> {
    let mut all: Vec<String> = Vec::new();
    for word in words {
        match all.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= letters) {
            Some(line) => line.push_str(&format!(" {word}")),
            None => all.push(word.clone()),
        }
    }
    (all.len() <= lines && all.iter().all(|line| line.chars().count() <= letters)).then_some(all)
}
