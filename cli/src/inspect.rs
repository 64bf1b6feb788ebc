//! `halite inspect`.

mod tensors;

use crate::compile::describe;
use crate::context::{Context, Output, Result};
use crate::graph::{decode, sound};
use crate::groups::describe as describe_groups;
use crate::precision::describe as describe_precision;
use crate::table::{bytes, grouped, short, table};
use crate::{estimate, listing, placement, plan, stages};
use clap::Args;
use halite::inspect::{Figures, Summary, groups, hlo, ir, precision};
use halite::program_file;
use halite_bundle::estimate::{Estimate, MemoryKind};
use halite_bundle::{Bundle, MANIFEST, ModuleRole, arguments};
use halite_hlo::graph::Graph;
use halite_ir::paths::family;
use halite_page::plot;
use halite_recipe::TargetName;
use halite_support::nearest::suggestion;
use halite_support::{Diagnostic, codes, files};
use halite_tensor::{DType, Shape};
use indexmap::IndexMap;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Show what is in a recipe, a bundle, an IR, an HLO or a safetensors file.
///
/// It counts parameters, instructions, FLOPs and bytes by op and by scope, and estimates the memory that a core needs.
/// Of a safetensors file it shows names, types and sizes. On one page unless `--all` is given, with how each group of parameters is
/// updated where the recipe has groups. With `--json` everything is there.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite inspect hlat-7b
  halite inspect hlat-7b --all
  halite inspect build/tiny --module train_step --depth 5
  halite inspect build/tiny --module forward --dot | dot -Tsvg > forward.svg
  halite inspect build/tiny/forward.hlo.pb
  halite inspect module_0001.jit_f.before_optimizations.txt
  halite inspect build/tiny/train_step.ir
  halite inspect runs/tiny/state.safetensors
  halite inspect hlat-7b --precision
  halite inspect --ir train_step hlat-7b
  halite inspect hlat-7b --placement --set parallel.data=4
  halite inspect tiny --placement-plot placement.svg --set parallel.fsdp=4
  halite inspect tiny --schedule --set parallel.pipeline=4
  halite inspect stages.toml --schedule-plot stages.svg
  halite inspect hlat-7b --target trn1 --memory-plot memory.svg
  halite inspect other.hlo.pb --target trn2")]
pub(super) struct Inspect {
    /// Preset, recipe, model file, bundle, `.ir`, `.safetensors`, or HLO: a `.pb`, or as text a `.txt`, `.hlo` or `.mlir` (StableHLO).
    input: String,
    /// Set a key of the recipe (`batch=4`, `optimizer.adamw.lr=1e-3`) or of the model (`layers=2`); may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Only this module of the bundle.
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
    /// Show everything: all parameters, all ops and scopes of each module, and what is in memory at its peak.
    #[arg(long)]
    all: bool,
    /// Levels of the scopes that are shown.
    #[arg(long, default_value_t = 4)]
    depth: usize,
    /// Print the module as a graph in the DOT language instead.
    #[arg(long)]
    dot: bool,
    /// Show element types instead: of the state, of sensitive ops, of sums.
    #[arg(long, conflicts_with = "dot")]
    precision: bool,
    /// Show the IR of this module instead, function by function, with the bytes that calls keep for the backward.
    #[arg(long, value_name = "MODULE", num_args = 0..=1, default_missing_value = "train_step")]
    #[arg(conflicts_with_all = ["dot", "precision", "module", "all"])]
    ir: Option<String>,
    /// Show where weights and their state lie on the mesh instead, and what ranks send to one another in an update.
    #[arg(long, conflicts_with_all = ["dot", "precision", "module", "all", "ir", "memory_plot"])]
    placement: bool,
    /// Write a plot of which ranks hold which part of each weight, and show the placement.
    #[arg(long, value_name = "FILE.svg", conflicts_with_all = ["dot", "precision", "module", "all", "ir", "memory_plot"])]
    placement_plot: Option<PathBuf>,
    /// Show what each stage of a pipeline does in an update instead, and how long stages wait.
    #[arg(long, conflicts_with_all = ["dot", "precision", "module", "ir", "placement", "placement_plot", "target", "memory_plot"])]
    schedule: bool,
    /// Write a plot of what the stages of a pipeline do over time, and show the schedule.
    #[arg(long, value_name = "FILE.svg", conflicts_with_all = ["dot", "precision", "module", "ir", "placement", "placement_plot", "target", "memory_plot"])]
    schedule_plot: Option<PathBuf>,
    /// Estimate what a core of this target needs [default: the target of the recipe].
    #[arg(long)]
    target: Option<String>,
    /// Write a plot of what is in memory while the first module runs, or the one named by `--module`.
    #[arg(long, value_name = "FILE.svg", conflicts_with_all = ["dot", "precision", "ir"])]
    memory_plot: Option<PathBuf>,
}

impl Inspect {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        if tensors::are_at(&self.input) {
            return if self.is_of_programs() {
                Err(tensors::no_program(&self.input).into())
            } else {
                tensors::describe(&self.input, self.all)
            };
        }
        if let Some(module) = &self.ir {
            context.require_recipe(&self.input, "--ir")?;
            let role = role(context, module)?;
            return listing::show(context, &self.input, &self.overrides(), &role);
        }
        if self.placement || self.placement_plot.is_some() {
            let target = self.target.as_ref().map(|target| format!("target={target}"));
            let set: Vec<String> = self.set.iter().cloned().chain(target).collect();
            return placement::show(context, &self.input, &set, self.placement_plot.as_deref());
        }
        if self.schedule || self.schedule_plot.is_some() {
            context.require_recipe(&self.input, "--schedule")?;
            return stages::show(context, (&self.input, &self.set), self.all, self.schedule_plot.as_deref());
        }
        if program_file::is_named(Path::new(&self.input)) && !self.precision {
            let hlo = sound(program_file::read(Path::new(&self.input), &mut context.session.sources)?, &self.input)?;
            let target = self.target.as_deref().map_or_else(TargetName::default, TargetName::from);
            let memory = Memory { target, flags: Vec::new(), arguments: vec![Vec::new()] };
            return self.modules(context, &[hlo], &memory, String::new(), json!({}));
        }
        if self.input.ends_with(".ir") {
            return self.ir(context);
        }
        if self.precision {
            return self.precision(context);
        }
        let (_, bundle) = context.bundle(&self.input, &self.overrides())?;
        let manifest = &bundle.manifest;
        let entries = match &self.module {
            Some(name) => vec![bundle.module(name)?],
            None if self.dot => manifest.modules.iter().take(1).collect(),
            None => manifest.modules.iter().collect(),
        };
        let modules =
            entries.iter().map(|entry| decode(bundle.hlo(entry)?, &entry.file)).collect::<Result<Vec<_>>>()?;
        let parameters = if self.all { format!("\n{}", parameters(&bundle)) } else { String::new() };
        let groups = groups::summarize(manifest);
        let shown = self.all || !manifest.recipe.optimizer.groups.is_empty();
        let table = if shown { format!("\n{}", describe_groups(&groups)) } else { String::new() };
        let told = plan::summary(context, &bundle.manifest);
        let text = describe(&bundle, None, told) + &table + &parameters;
        let own = &manifest.recipe.target;
        let target = self.target.as_deref().map_or_else(|| own.clone(), TargetName::from);
        let flags = if target == *own { manifest.flags.clone() } else { Vec::new() };
        let arguments = entries.iter().map(|entry| arguments(entry, &manifest.buffers)).collect();
        let memory = Memory { target, flags, arguments };
        self.modules(context, &modules, &memory, text, json!({"manifest": manifest, "groups": groups}))
    }

    /// Whether an option is given that says something of programs alone.
    fn is_of_programs(&self) -> bool {
        let has_name = [&self.module, &self.ir, &self.target].into_iter().any(Option::is_some);
        has_name
            || self.dot
            || self.precision
            || self.placement
            || self.placement_plot.is_some()
            || self.schedule
            || self.schedule_plot.is_some()
            || self.memory_plot.is_some()
            || !self.set.is_empty()
    }

    /// The overrides of the recipe; a bundle that is there stays as it is, for whatever target it is looked at.
    fn overrides(&self) -> Vec<String> {
        let is_bundle = Path::new(&self.input).join(MANIFEST).is_file();
        let target = self.target.as_ref().filter(|_| !is_bundle).map(|target| format!("target={target}"));
        self.set.iter().cloned().chain(target).collect()
    }

    fn ir(&self, context: &mut Context) -> Result<Output> {
        let text = files::read_text(Path::new(&self.input))?;
        let file = context.session.sources.add(&self.input, text);
        let module = context.session.parse_ir(file)?;
        if self.dot {
            let graph = halite_ir::graph::dot(&module);
            return Ok(Output::verbatim(graph.clone(), json!({"dot": [graph]})));
        }
        if self.precision {
            let summary = precision::summarize(&module, &context.session.registry)?;
            return Ok(Output::new(describe_precision(&summary), json!(summary)));
        }
        let summary = ir::summarize(&module, &context.session.registry, self.depth)?;
        Ok(Output::new(figures(&summary, self.rows(1)).trim_start_matches('\n'), json!({"modules": [summary]})))
    }

    /// How many ops and scopes of the first of so many modules are shown.
    fn rows(&self, modules: usize) -> usize {
        match (self.all, modules) {
            (true, _) => usize::MAX,
            (false, 1) => 8,
            (false, _) => 5,
        }
    }

    /// The element types of a recipe. A bundle tells only those of its state.
    fn precision(&self, context: &mut Context) -> Result<Output> {
        if Path::new(&self.input).join(MANIFEST).is_file() {
            let (_, bundle) = context.bundle(&self.input, &self.set)?;
            let summary = precision::summarize_bundle(&bundle.manifest);
            context.aside("a bundle tells the types of its state only; for those of ops name its recipe\n");
            return Ok(Output::new(describe_precision(&summary), json!(summary)));
        }
        let source = context.session.load(&self.input, &self.set)?;
        let role = self.module.as_ref().map_or(Ok(ModuleRole::TRAIN_STEP), |name| role(context, name))?;
        let summary = context.session.precision(&source, &role)?;
        Ok(Output::new(describe_precision(&summary), json!(summary)))
    }

    /// Adds figures or a graph of modules to what is known already.
    fn modules(
        &self,
        context: &Context,
        modules: &[Graph],
        memory: &Memory,
        mut text: String,
        mut json: serde_json::Value,
    ) -> Result<Output> {
        if self.dot {
            let graphs = modules.iter().map(hlo::dot).collect::<halite_support::Result<Vec<_>>>()?;
            return Ok(Output::verbatim(graphs.concat(), json!({"dot": graphs})));
        }
        let summaries = modules.iter().map(|module| hlo::summarize(module, self.depth));
        let summaries = summaries.collect::<halite_support::Result<Vec<_>>>()?;
        let target = context.session.vocabulary.targets.get(&memory.target)?;
        let analyses = modules.iter().zip(&memory.arguments);
        let analyses = analyses.map(|(hlo, arguments)| target.analyze(hlo, &memory.target, &memory.flags, arguments));
        let analyses = analyses.collect::<halite_support::Result<Vec<_>>>()?;
        let estimates: Vec<_> = analyses.iter().map(|analysis| &analysis.estimate).collect();
        if self.all {
            let modules = summaries.iter().zip(&estimates);
            let module = |(summary, estimate): (&Summary, &&Estimate)| {
                figures(summary, usize::MAX) + &estimate::describe(&summary.name, estimate)
            };
            text.push_str(&modules.map(module).collect::<String>());
        } else {
            text.push_str(&overview(&summaries, &estimates));
            text.push_str(
                &summaries.first().map_or_else(String::new, |first| figures(first, self.rows(summaries.len()))),
            );
            text.push_str("\n`--all` shows the rest\n");
        }
        json["modules"] = json!(summaries);
        json["target"] = json!(memory.target);
        json["estimates"] = json!(estimates);
        if let (Some(path), Some(summary), Some(analysis)) = (&self.memory_plot, summaries.first(), analyses.first()) {
            let svg = plot::memory(&summary.name, analysis)?;
            halite_disk::write(path, svg.as_bytes())?;
            text.push_str(&format!("\nwrote {}\n", path.display()));
        }
        Ok(Output::new(text.trim_start_matches('\n'), json))
    }
}

/// A row for each module.
fn overview(summaries: &[Summary], estimates: &[&Estimate]) -> String {
    let head = ["module", "instructions", "FLOPs", "bytes", "memory", "fits"].map(str::to_owned).to_vec();
    let row = |(summary, estimate): (&Summary, &&Estimate)| {
        let Figures { instructions, flops, bytes: size, .. } = summary.total;
        let fits = estimate.fit.map_or("unknown", |fit| estimate::word(fit.verdict()));
        let figures = [grouped(instructions), short(flops), bytes(size), bytes(estimate.memory.total())];
        [summary.name.clone()].into_iter().chain(figures).chain([fits.to_owned()]).collect()
    };
    let rows = summaries.iter().zip(estimates).map(row);
    format!("\n{}", table(&[head].into_iter().chain(rows).collect::<Vec<_>>()))
}

/// For what memory is estimated.
struct Memory {
    target: TargetName,
    /// Flags of the compiler of the target.
    flags: Vec<String>,
    /// The kind of memory of each parameter, by module.
    arguments: Vec<Vec<MemoryKind>>,
}

/// The role of this name.
fn role(context: &Context, name: &str) -> Result<ModuleRole> {
    let known: Vec<_> = context.session.roles.iter().map(|role| role.name.name()).collect();
    let role = context.session.roles.iter().find(|role| role.name.name() == name).map(|role| role.name.clone());
    Ok(role.ok_or_else(|| {
        Diagnostic::error(codes::MODULE, format!("a recipe has no module `{name}`")).help(suggestion(name, &known))
    })?)
}

/// Weights of the model by name with layers folded together, and what stores those that are not stored on their own.
fn parameters(bundle: &Bundle) -> String {
    let mut groups: IndexMap<[String; 3], (u64, u64)> = IndexMap::new();
    let mut add = |name: &str, dtype: DType, shape: &[usize], stored: String| {
        let shape = Shape::from(shape);
        let (count, elements) = groups.entry([family(name), format!("{dtype}{shape}"), stored]).or_default();
        *count += 1;
        *elements += shape.num_elements() as u64;
    };
    for buffer in bundle.manifest.buffers.iter().filter(|buffer| buffer.is_weight()) {
        let Some(packing) = &buffer.packing else {
            add(&buffer.name, buffer.dtype, &buffer.shape, String::new());
            continue;
        };
        let whole = format!("{} {}{}", family(&buffer.name), buffer.dtype, Shape::from(buffer.shape.as_slice()));
        for part in &packing.parts {
            let times = if part.copies > 1 { format!(", {} times", part.copies) } else { String::new() };
            let rows = if part.padding > 0 { format!(", {} rows of zeros", part.padding) } else { String::new() };
            add(&part.name, buffer.dtype, &part.shape, format!("{whole}{times}{rows}"));
        }
    }
    let head = ["parameter", "type", "count", "elements", "stored in"].map(str::to_owned).to_vec();
    let row = |([name, ty, stored], (count, elements)): ([String; 3], (u64, u64))| {
        vec![name, ty, grouped(count), grouped(elements), stored]
    };
    let is_packed = groups.keys().any(|[_, _, stored]| !stored.is_empty());
    let rows = [head].into_iter().chain(groups.into_iter().map(row));
    let shown = if is_packed { 5 } else { 4 };
    table(&rows.map(|row| row.into_iter().take(shown).collect()).collect::<Vec<_>>())
}

/// The figures of a module by op and by scope, of each at most so many.
fn figures(summary: &Summary, most: usize) -> String {
    let head = |what: &str| [what, "instructions", "FLOPs", "bytes"].map(str::to_owned).to_vec();
    let row = |name: &str, figures: &Figures| {
        vec![name.to_owned(), grouped(figures.instructions), short(figures.flops), bytes(figures.bytes)]
    };
    let rows = |what: &str, groups: &IndexMap<String, Figures>| {
        let shown = if groups.len() <= most.saturating_add(1) { groups.len() } else { most };
        let rows = groups.iter().take(shown).map(|(name, figures)| row(name, figures));
        let mut others = Figures::default();
        groups.values().skip(shown).for_each(|figures| others.add(*figures));
        let others = (shown < groups.len()).then(|| row(&format!("{} others", groups.len() - shown), &others));
        let sums = others.into_iter().chain([row("all", &summary.total)]);
        table(&[head(what)].into_iter().chain(rows).chain(sums).collect::<Vec<_>>())
    };
    format!("\n{}\n{}\n{}", summary.name, rows("op", &summary.by_op), rows("scope", &summary.by_scope))
}
