//! The parts of each weight on the ranks of a mesh.

mod cut;
mod grid;
mod rows;

use crate::plot::{Drawn, FONT, INK};
use grid::{Grid, Place};
use halite_bundle::Manifest;
use halite_recipe::MeshAxis;
use halite_support::units::{bytes, counted, grouped};
use halite_support::{Diagnostic, Result};
use halite_tensor::{Mesh, SubAxisId};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::FontStyle;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use rows::{Column, Row, columns, rows};
use std::collections::BTreeSet;

/// The picture.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The height of title and legend, and the room at the edges.
const HEAD: i32 = 120;
const MARGIN: i32 = 24;
/// The width of the texts beside the grids.
const TEXTS: i32 = 228;
/// The height of a line of text, and that of a row's name.
const LINE: i32 = 16;
const NAME: i32 = 24;
/// The room under a row.
const ROOM: i32 = 20;
/// The most rows that are drawn.
const ROWS: usize = 40;

/// Draws an SVG of which ranks hold which part of each weight, layers that lie alike together: how it is stored, what it is computed
/// with, and how its state lies, where these differ. Ranks are numbered within a stage of a pipeline.
///
/// # Errors
/// A bug diagnostic when drawing fails, which no manifest should make happen.
pub fn plot(manifest: &Manifest) -> Result<String> {
    let mut svg = String::new();
    draw(&mut svg, manifest).map_err(|error| Diagnostic::bug(format!("the plot of a placement: {error}")))?;
    Ok(svg)
}

fn draw(svg: &mut String, manifest: &Manifest) -> Drawn {
    let mesh = &manifest.mesh;
    let all = rows(manifest);
    let columns = columns(&all);
    let shown = &all[..all.len().min(ROWS)];
    let grids: Vec<Vec<Option<Grid>>> = shown.iter().enumerate().map(|at| grids(mesh, &columns, at)).collect();
    let heights: Vec<i32> = shown.iter().zip(&grids).map(|(row, grids)| height(mesh, row, grids)).collect();
    let wide = match columns.len() {
        1 => 360,
        2 => 230,
        _ => 200,
    };
    let beside = |column: usize| grids.iter().filter_map(|row| row[column].as_ref()).map(Grid::beside).max();
    let mut left = MARGIN + TEXTS;
    let mut places = Vec::new();
    for column in 0..columns.len() {
        left += beside(column).unwrap_or(0).max(ROOM);
        places.push(Place { left, top: 0, width: wide });
        left += wide + ROOM;
    }
    let rest = all.len() - shown.len();
    let foot = if rest > 0 { NAME } else { 0 };
    let width = left - ROOM + MARGIN;
    let size = (width as u32, (HEAD + heights.iter().sum::<i32>() + foot) as u32);
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&WHITE)?;
    head(&root, manifest, width)?;
    legend(&root, mesh, &grids.iter().flatten().flatten().flat_map(Grid::cuts).collect())?;
    for (column, place) in columns.iter().zip(&places) {
        grid::title(&root, &column.title, Place { top: HEAD - 22, ..*place })?;
    }
    let mut top = HEAD;
    let longest = (width - 2 * MARGIN) as usize / 9;
    for ((row, grids), height) in shown.iter().zip(&grids).zip(heights) {
        texts(&root, mesh, row, (top, longest))?;
        for ((grid, place), column) in grids.iter().zip(&places).zip(&columns) {
            let place = Place { top: top + NAME, ..*place };
            match grid {
                Some(grid) => grid.draw(&root, mesh, place)?,
                None => grid::same(&root, column.same, place)?,
            }
        }
        top += height;
    }
    if rest > 0 {
        let text = format!("and {} with other weights", counted(rest, "row"));
        root.draw(&Text::new(text, (MARGIN, top + NAME / 2), ink(14)))?;
    }
    root.present()?;
    Ok(())
}

/// Text of this size, to the right of its place.
fn ink(size: i32) -> TextStyle<'static> {
    (FONT, size).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center))
}

/// The colours of the axes of the mesh, in their order; distinct for people who do not see red and green alike (after Okabe and Ito).
const COLORS: [RGBColor; 4] =
    [RGBColor(170, 68, 130), RGBColor(213, 94, 0), RGBColor(0, 138, 100), RGBColor(140, 86, 75)];

/// The colour of the axis of a sub-axis.
fn color(mesh: &Mesh, sub_axis: SubAxisId) -> RGBColor {
    let name = axis(mesh, sub_axis);
    let at = MeshAxis::ALL.iter().position(|axis| axis.name() == name);
    at.and_then(|at| COLORS.get(at)).copied().unwrap_or(INK)
}

/// The grids of a row; `None` where one would be that of the first column.
fn grids(mesh: &Mesh, columns: &[Column<'_>], (at, row): (usize, &Row)) -> Vec<Option<Grid>> {
    let grid = |(number, column): (usize, &Column<'_>)| {
        let sharding = column.shardings[at].filter(|own| number == 0 || **own != row.stored)?;
        Some(Grid::new(mesh, &row.shape, sharding))
    };
    columns.iter().enumerate().map(grid).collect()
}

fn height(mesh: &Mesh, row: &Row, grids: &[Option<Grid>]) -> i32 {
    let highest = grids.iter().flatten().map(Grid::height).max().unwrap_or(0);
    NAME + highest.max(LINE * lines(mesh, row).len() as i32) + ROOM
}

/// Title, and numbering of the ranks.
fn head(root: &Area<'_>, manifest: &Manifest, width: i32) -> Drawn {
    let mesh = &manifest.mesh;
    let (ranks, stages) = (mesh.num_ranks(), manifest.num_stages());
    let axes = mesh.axes().iter().map(|axis| format!("{} {}", axis.name, axis.size)).collect::<Vec<_>>().join(", ");
    let on = if stages > 1 { format!("{stages} stages, each of ") } else { String::new() };
    let title = format!("{} on {on}{} ranks: {axes}", manifest.model.name, grouped(ranks as u64));
    let style = (FONT, 20).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Center));
    root.draw(&Text::new(title, (width / 2, 24), style))?;
    root.draw(&Text::new(numbering(mesh, stages > 1), (MARGIN, 76), ink(14)))?;
    Ok(())
}

/// The colours, of axes those that cut something.
fn legend(root: &Area<'_>, mesh: &Mesh, cuts: &BTreeSet<SubAxisId>) -> Drawn {
    let mut axes: Vec<(&str, RGBColor)> = cuts.iter().map(|&id| (axis(mesh, id), color(mesh, id))).collect();
    axes.dedup();
    let parts = [(grid::OWN, "held by rank 0".to_owned(), 6), (grid::OTHER, "by other ranks".to_owned(), 6)];
    let cuts = axes.into_iter().map(|(axis, color)| (color, format!("cut along {axis}"), 1));
    let mut left = MARGIN;
    for (color, text, half) in parts.into_iter().chain(cuts) {
        root.draw(&Rectangle::new([(left, 54 - half), (left + 14, 54 + half)], color.filled()))?;
        let wide = 44 + 7 * text.len() as i32;
        root.draw(&Text::new(text, (left + 20, 54), ink(14)))?;
        left += wide;
    }
    Ok(())
}

fn axis(mesh: &Mesh, sub_axis: SubAxisId) -> &str {
    &mesh.axes()[mesh.sub_axes()[sub_axis].axis].name
}

/// The meaning of the number of a rank, by that of the last one.
fn numbering(mesh: &Mesh, has_stages: bool) -> String {
    let places = mesh.axes().iter().map(|axis| format!("{} {}", axis.name, axis.size - 1));
    let (last, places) = (mesh.num_ranks() - 1, places.collect::<Vec<_>>().join(", "));
    let within = if has_stages { " of a stage" } else { "" };
    format!("Numbers in parts are ranks{within}, from 0 on; rank {last} is at {places}.")
}

/// The name of a row, and the lines under it.
fn texts(root: &Area<'_>, mesh: &Mesh, row: &Row, (top, longest): (i32, usize)) -> Drawn {
    let times = if row.count > 1 { format!("  ({})", grouped(row.count as u64)) } else { String::new() };
    let name = shortened(&row.name, longest.saturating_sub(times.len())) + &times;
    let style = (FONT, 16).into_font().style(FontStyle::Bold).color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    root.draw(&Text::new(name, (MARGIN, top + NAME / 2 - 4), style))?;
    for (at, line) in lines(mesh, row).into_iter().enumerate() {
        root.draw(&Text::new(line, (MARGIN, top + NAME + LINE / 2 + LINE * at as i32), ink(14)))?;
    }
    Ok(())
}

/// The lines under the name of a row: all that its grids do not say.
fn lines(mesh: &Mesh, row: &Row) -> Vec<String> {
    let (ranks, parts) =
        (mesh.num_ranks(), row.stored.sub_axes().map(|id| mesh.sub_axes()[id].size).product::<usize>());
    let held = match (parts, ranks / parts) {
        (1, _) => "whole on each rank".to_owned(),
        (_, 1) => format!("{} parts, one on each rank", grouped(parts as u64)),
        (_, copies) => format!("{} parts, each on {} ranks", grouped(parts as u64), grouped(copies as u64)),
    };
    let each = if row.count > 1 { "each " } else { "" };
    let size = match parts {
        1 => format!("{} {each}on a rank", bytes(row.local_bytes)),
        _ => format!("{} of {} {each}on a rank", bytes(row.local_bytes), bytes(row.bytes)),
    };
    let only_stored = row.stored.sub_axes().filter(|id| row.computed.find(*id).is_none());
    let gathered = mesh.along(only_stored);
    let gathered = (!gathered.is_empty()).then(|| format!("gathered along {gathered} where read"));
    let stages = (!row.stages.is_empty()).then(|| on_stages(row));
    [format!("{}, {held}", row.dtype), size].into_iter().chain(gathered).chain(stages).collect()
}

/// The stages that hold weights of a row.
fn on_stages(row: &Row) -> String {
    let (first, last) = (row.stages.first().copied().unwrap_or(0), row.stages.last().copied().unwrap_or(0));
    match row.stages.len() {
        1 => format!("on stage {first}"),
        count if count == last - first + 1 => format!("on stages {first} to {last}"),
        _ => format!("on stages {}", row.stages.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A text of at most so many letters, without those in the middle where it has more.
fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let side = most.saturating_sub(1) / 2;
    let (start, end): (String, String) = (text.chars().take(side).collect(), text.chars().skip(count - side).collect());
    format!("{start}…{end}")
}
