//! The session, the global options and the output, which all commands share.

use crate::plugin_options::PluginOption;
use crate::{diagnostics, layout, plugin_options, terminal};
use halite::Session;
use halite::compile::{CompileOptions, Compiled};
use halite::source::Source;
use halite_bundle::Bundle;
use halite_report::{visible, visible_json};
use halite_runtime::{Pjrt, ProgramFormat, find_plugin};
use halite_support::{Diagnostic, Diagnostics, Severity, codes};
use halite_train::RunFiles;
use std::path::{Path, PathBuf};

/// The session and the global options.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) session: Session,
    pub(super) json: bool,
    pub(super) quiet: bool,
    pub(super) plugin: Option<PathBuf>,
    /// Options of the plugin.
    pub(super) plugin_options: Vec<PluginOption>,
    /// The format for the plugin, where it is not to be that of its platform.
    pub(super) format: Option<ProgramFormat>,
    /// The rank of this process where several run together. Rank 0 prints for all, the others print only errors.
    pub(super) rank: Option<u32>,
}

/// The output of a command.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// For people.
    pub(super) text: String,
    /// For programs.
    pub(super) json: serde_json::Value,
    /// Warnings to show with it.
    pub(super) warnings: Diagnostics,
    /// Whether a check or comparison failed.
    pub(super) failed: bool,
    /// The exit code of a command that ended early, with its work kept.
    pub(super) exit: Option<u8>,
    /// Whether the text is for programs too, such as IR or a script.
    pub(super) verbatim: bool,
    /// Whether the text is long, so that on a terminal it is read page by page.
    pub(super) paged: bool,
}

impl Output {
    pub(super) fn new(text: impl Into<String>, json: serde_json::Value) -> Self {
        Self { text: text.into(), json, ..Self::default() }
    }

    /// With a text that is to stay as it is.
    pub(super) fn verbatim(text: impl Into<String>, json: serde_json::Value) -> Self {
        Self { verbatim: true, ..Self::new(text, json) }
    }

    /// The text for standard output: one line of JSON, the text as it is, or the text fitted to the terminal.
    pub(super) fn shown(&self, json: bool) -> String {
        let columns = terminal::out_columns();
        match (json, self.verbatim, columns) {
            (true, ..) => visible_json(&self.json.to_string()) + "\n",
            (false, true, None) => self.text.clone(),
            (false, true, Some(_)) => self.text.split('\t').map(visible).collect::<Vec<_>>().join("\t"),
            (false, false, columns) => layout::fitted(&self.text, columns),
        }
    }
}

/// A bundle to work with.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) bundle: Bundle,
    /// Warnings of its compilation; none where the bundle already existed.
    pub(super) warnings: Diagnostics,
    /// The text of its model, where it was compiled from one that is not built in.
    pub(super) model: Option<String>,
    /// The files that this text uses.
    pub(super) libraries: Vec<(PathBuf, String)>,
    /// The folder of the run or of the checkpoint that was named, which holds a state.
    pub(super) state: Option<PathBuf>,
    /// The folder of the checkpoint of Transformers that was named, which holds weights.
    pub(super) weights: Option<PathBuf>,
    /// The source that the bundle was compiled from; `None` where the bundle already existed.
    pub(super) source: Option<Source>,
}

/// The result of a command.
pub(super) type Result<T> = std::result::Result<T, Diagnostics>;

impl Context {
    pub(super) fn new(session: Session, json: bool, quiet: bool) -> Self {
        Self { session, json, quiet, plugin: None, plugin_options: Vec::new(), format: None, rank: None }
    }

    /// Whether to show how far work is.
    pub(super) fn shows_progress(&self) -> bool {
        !self.quiet && !self.json && self.speaks()
    }

    /// Whether this process says what is said once.
    pub(super) fn speaks(&self) -> bool {
        self.rank.is_none_or(|rank| rank == 0)
    }

    /// Shows diagnostics on standard error.
    pub(super) fn show(&self, diagnostics: &[Diagnostic]) {
        let sources = &self.session.sources;
        let is_said = |diagnostic: &&Diagnostic| self.speaks() || diagnostic.severity() == Severity::Error;
        let diagnostics: Vec<Diagnostic> = diagnostics.iter().filter(is_said).cloned().collect();
        let text = match (self.json, self.rank) {
            (true, _) => diagnostics::json(&diagnostics, sources),
            (false, None) => diagnostics::text(&diagnostics, sources, terminal::style()),
            (false, Some(rank)) => {
                let text = diagnostics::text(&diagnostics, sources, terminal::style());
                text.lines().map(|line| format!("rank {rank}: {line}\n")).collect()
            }
        };
        terminal::err(&text);
    }

    /// Shows something beside the result on standard error.
    pub(super) fn aside(&self, text: &str) {
        if self.shows_progress() {
            terminal::err(&layout::fitted(text, terminal::err_columns()));
        }
    }

    /// A bundle that is there, or one compiled in memory whose warnings are shown. Overrides need a recipe.
    pub(super) fn bundle(&mut self, input: &str, overrides: &[String]) -> Result<(String, Bundle)> {
        let (name, ready) = self.ready(input, overrides)?;
        self.show(&ready.warnings);
        Ok((name, ready.bundle))
    }

    /// A bundle that is there, or one compiled in memory with its warnings. Overrides need a recipe.
    pub(super) fn ready(&mut self, input: &str, overrides: &[String]) -> Result<(String, Ready)> {
        let folder = Path::new(input);
        if Bundle::is_at(folder) {
            if let Some(first) = overrides.first() {
                let message = format!("`--set {first}` cannot change a bundle that is already compiled");
                let error = Diagnostic::error(codes::OVERRIDE, message);
                return Err(error.help("give the recipe instead").into());
            }
            let name = folder_name(folder).unwrap_or_else(|| "bundle".to_owned());
            let (bundle, warnings) = (self.session.read_bundle(folder)?, Diagnostics::new());
            return Ok((
                name,
                Ready {
                    bundle,
                    warnings,
                    model: None,
                    libraries: Vec::new(),
                    state: None,
                    weights: None,
                    source: None,
                },
            ));
        }
        let run = if folder.is_dir() { RunFiles::at(folder) } else { None };
        let exported = folder.join("config.json");
        let is_exported = run.is_none() && exported.is_file();
        if folder.is_dir() && run.is_none() && !is_exported {
            let message =
                format!("the folder `{input}` holds neither a bundle nor a run, nor a checkpoint of Transformers");
            let help = "give the folder that `halite compile` or `halite train` wrote, a recipe, a model or a preset";
            return Err(Diagnostic::error(codes::INPUT, message).help(help).into());
        }
        if input.contains('/') && !folder.exists() {
            let message = format!("there is no file or folder `{input}`");
            let help = "check the path, or name a preset or a model that is built in: `halite list`";
            return Err(Diagnostic::error(codes::INPUT, message).help(help).into());
        }
        let is_run = run.is_some();
        let of_folder = run.map(|run| run.recipe()).or(is_exported.then_some(exported));
        let recipe = of_folder.map(|path| path.display().to_string());
        let source = self.session.load(recipe.as_deref().unwrap_or(input), overrides).map_err(|mistakes| {
            let takes_more = |mistake: Diagnostic| match mistake.code() {
                codes::INPUT => mistake.note("the folder of a bundle or of a run is taken too"),
                _ => mistake,
            };
            mistakes.into_iter().map(takes_more).collect::<Diagnostics>()
        })?;
        let Compiled { bundle, warnings, .. } = self.session.compile(&source, &CompileOptions::default())?;
        let model = source.own_text().map(str::to_owned);
        let libraries = source.own_libraries();
        let (state, weights) = (is_run.then(|| folder.to_owned()), is_exported.then(|| folder.to_owned()));
        let own = || source.name.clone();
        let name = if recipe.is_some() { folder_name(folder).unwrap_or_else(own) } else { own() };
        Ok((name, Ready { bundle, warnings, model, libraries, state, weights, source: Some(source) }))
    }

    /// Refuses to look for warnings in a bundle, which does not have the model any more.
    pub(super) fn require_recipe(&self, input: &str, flag: &str) -> Result<()> {
        if !Bundle::is_at(Path::new(input)) {
            return Ok(());
        }
        let message = format!("`{flag}` says nothing of a bundle that is already compiled");
        Err(Diagnostic::error(codes::USAGE, message).help("give the recipe instead").into())
    }

    /// The executor: the PJRT plugin, that of the CPU with this many devices.
    pub(super) fn executor(&self, devices: usize) -> Result<Pjrt> {
        let path = find_plugin(self.plugin.as_deref())?;
        let executor = Pjrt::open(&path, &plugin_options::of(&path, devices, &self.plugin_options))?;
        Ok(match self.format {
            Some(format) => executor.with_format(format),
            None => executor,
        })
    }
}

/// The last part of the canonical path of a folder.
fn folder_name(folder: &Path) -> Option<String> {
    Some(folder.canonicalize().ok()?.file_name()?.to_str()?.to_owned())
}
