//! The work of the stages of a pipeline over time.

use crate::plot::{Axis, Drawn, FAINT, FONT, INK, Ticks, styled};
use halite_recipe::ScheduleKind;
use halite_schedule::{Action, Crossing, Schedule, Span, Task, Timeline, Transfer};
use halite_support::{Diagnostic, Result};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::collections::BTreeMap;

/// A plot of stages over time.
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, RangedCoordf64>>;

const WIDTH: u32 = 1100;
/// The heights of all but the stages, and of a stage.
const FRAME: u32 = 148;
const STAGE: u32 = 34;
/// The most of stages: those of more are thinner.
const MOST: u32 = 1200;
/// The width of a column that has room for the number of a micro-batch, in pixels.
const NUMBER: f64 = 13.0;
/// The most transfers that are drawn.
const LINES: usize = 400;

/// Draws an SVG of what each stage runs, over time: forwards, backwards and what is sent, with the numbers of micro-batches where there is
/// room.
///
/// # Errors
/// A bug diagnostic when drawing fails, which no schedule should make happen.
pub fn plot(kind: ScheduleKind, schedule: &Schedule, timeline: &Timeline) -> Result<String> {
    let mut svg = String::new();
    draw(&mut svg, kind, schedule, timeline)
        .map_err(|error| Diagnostic::bug(format!("the plot of a schedule: {error}")))?;
    Ok(svg)
}

/// The colour and the name of a task; distinct for people who do not see red and green alike (after Okabe and Ito).
fn look(task: Task) -> (RGBColor, &'static str) {
    match task {
        Task::Forward => (RGBColor(0, 114, 178), "forward"),
        Task::Backward => (RGBColor(0, 158, 115), "backward"),
        Task::BackwardInput => (RGBColor(86, 180, 233), "gradient by the input"),
        Task::BackwardWeights => (RGBColor(230, 159, 0), "gradients by weights"),
    }
}

/// The tasks, in the order of the legend.
const TASKS: [Task; 4] = [Task::Forward, Task::Backward, Task::BackwardInput, Task::BackwardWeights];

/// The height of title and legend, and that of the legend's middle, in pixels from the top.
const HEAD: u32 = 64;
const LEGEND: i32 = 50;

/// The colour of what is sent.
const SENT: RGBColor = RGBColor(204, 121, 167);

fn draw(svg: &mut String, kind: ScheduleKind, schedule: &Schedule, timeline: &Timeline) -> Drawn {
    let pipeline = schedule.pipeline();
    let stages = pipeline.stages();
    let height = (STAGE * stages as u32).min(MOST) + FRAME;
    let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let waits = 100.0 * timeline.bubble();
    let title =
        format!("{}: {stages} stages, {} micro-batches, {waits:.1}% waiting", kind.name(), pipeline.micro_batches());
    let end = timeline.end().max(1) as f64;
    let time = 0.0..end;
    let (head, body) = root.split_vertically(HEAD);
    let style = (FONT, 20).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Center));
    head.draw(&Text::new(title, (WIDTH as i32 / 2, 22), style))?;
    let mut chart = ChartBuilder::on(&body)
        .margin(16)
        .margin_top(4)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(Axis::new(&time, Ticks::whole(&time, 12)), stages as f64..0.0)?;
    styled(&mut chart.configure_mesh(), 13)
        .disable_y_mesh()
        .x_desc("time, in forwards of a part of the model")
        .y_desc("stage")
        .y_labels(0)
        .draw()?;
    numbers(&mut chart, stages, end)?;
    let room = chart.plotting_area().dim_in_pixel().0 as f64 / end;
    for task in TASKS {
        runs(&mut chart, (schedule, timeline), task, room)?;
    }
    let lines = sent(&mut chart, schedule, timeline)?;
    legend(&head, schedule, lines > 0)?;
    root.present()?;
    Ok(())
}

/// The colours of what the schedule has, right above the stages, where nothing is drawn.
fn legend(head: &DrawingArea<SVGBackend<'_>, Shift>, schedule: &Schedule, has_lines: bool) -> Drawn {
    let runs =
        |task: Task| (0..schedule.pipeline().stages()).any(|stage| schedule.runs(stage).any(|run| run.task == task));
    let tasks = TASKS.into_iter().filter(|&task| runs(task)).map(look);
    let style = (FONT, 13).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    let mut left = 72;
    for (color, name) in tasks.chain(has_lines.then_some((SENT, "sent"))) {
        head.draw(&Rectangle::new([(left, LEGEND - 5), (left + 14, LEGEND + 5)], color.filled()))?;
        head.draw(&Text::new(name, (left + 20, LEGEND), style.clone()))?;
        left += 44 + 7 * name.len() as i32;
    }
    Ok(())
}

/// The numbers of stages, as many as there is room for, and lines between them.
fn numbers(chart: &mut Chart<'_, '_>, stages: usize, end: f64) -> Drawn {
    let apart = stages.div_ceil((MOST / 16) as usize).max(1);
    let style = (FONT, 13).into_font().color(&INK).pos(Pos::new(HPos::Right, VPos::Center));
    let number = |stage: usize| {
        EmptyElement::at((0.0, stage as f64 + 0.5)) + Text::new(stage.to_string(), (-8, 0), style.clone())
    };
    chart.draw_series((0..stages).step_by(apart).map(number))?;
    let line = |stage: usize| PathElement::new([(0.0, stage as f64), (end, stage as f64)], FAINT);
    chart.draw_series((1..stages).map(line))?;
    Ok(())
}

/// The runs of one kind, with `room` pixels for a unit of time. Chunks after the first are darker.
fn runs(chart: &mut Chart<'_, '_>, (schedule, timeline): (&Schedule, &Timeline), task: Task, room: f64) -> Drawn {
    let pipeline = schedule.pipeline();
    let mut boxes = Vec::new();
    for (stage, (list, spans)) in schedule.stages().iter().zip(&timeline.stages).enumerate() {
        for (action, span) in list.iter().zip(spans) {
            let Action::Run(run) = action else { continue };
            if run.task == task {
                boxes.push((stage, *run, *span));
            }
        }
    }
    if boxes.is_empty() {
        return Ok(());
    }
    let (color, _) = look(task);
    let shade = |part: usize| {
        let chunk = (part / pipeline.stages()) as f64 / pipeline.chunks() as f64;
        color.mix(1.0 - 0.45 * chunk)
    };
    let place = |stage: usize, Span { start, end }: Span| {
        [(start as f64, stage as f64 + 0.08), (end as f64, stage as f64 + 0.92)]
    };
    chart.draw_series(
        boxes.iter().map(|&(stage, run, span)| Rectangle::new(place(stage, span), shade(run.part).filled())),
    )?;
    let edges = boxes.iter().map(|&(stage, _, span)| Rectangle::new(place(stage, span), WHITE.mix(0.7)));
    chart.draw_series(edges)?;
    let style = (FONT, 12).into_font().color(&WHITE).pos(Pos::new(HPos::Center, VPos::Center));
    let is_wide = |span: &Span| (span.end - span.start) as f64 * room > NUMBER;
    let number = |&(stage, run, span): &(usize, halite_schedule::Run, Span)| {
        let middle = (span.start as f64 + span.end as f64) / 2.0;
        Text::new(run.micro_batch.to_string(), (middle, stage as f64 + 0.5), style.clone())
    };
    chart.draw_series(boxes.iter().filter(|(.., span)| is_wide(span)).map(number))?;
    Ok(())
}

/// Transfers: lines from the end of what made it to the beginning of what reads it. The number of lines; 0 where they would be a haze.
fn sent(
    chart: &mut Chart<'_, '_>,
    schedule: &Schedule,
    timeline: &Timeline,
) -> std::result::Result<usize, Box<dyn std::error::Error>> {
    let (mut begins, mut ends) = (BTreeMap::<Transfer, (usize, u64)>::new(), BTreeMap::new());
    for (stage, (list, spans)) in schedule.stages().iter().zip(&timeline.stages).enumerate() {
        for (action, span) in list.iter().zip(spans) {
            match action {
                Action::Send(transfer) => _ = begins.insert(*transfer, (stage, span.start)),
                Action::Receive(transfer) => _ = ends.insert(*transfer, (stage, span.end)),
                Action::Run(_) | Action::Reduce | Action::Update => {}
            }
        }
    }
    if begins.len() > LINES {
        return Ok(0);
    }
    let line = |(transfer, &(from, start)): (&Transfer, &(usize, u64))| {
        let &(to, end) = ends.get(transfer)?;
        // From the edge of one row to the edge of the other.
        let (leave, arrive) = if from < to { (0.92, 0.08) } else { (0.08, 0.92) };
        let points = [(start as f64, from as f64 + leave), (end as f64, to as f64 + arrive)];
        let width = if transfer.crossing == Crossing::Activations { 2 } else { 1 };
        Some(PathElement::new(points, SENT.stroke_width(width)))
    };
    chart.draw_series(begins.iter().filter_map(line))?;
    Ok(begins.len())
}
