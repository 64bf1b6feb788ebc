//! `halite hlo`.

mod replicas;
mod rules;
mod shardings;

use crate::context::{Context, Output, Result};
use crate::deny::Deny;
use clap::{ArgGroup, Args, Subcommand};
use halite::program_file;
use halite_hlo::graph::Graph;
use halite_neuron::Tables;
use halite_neuron::legality::Profile;
use halite_neuron::report::{Report, report};
use halite_neuron::tables::CompilerVersion;
use halite_neuron::{Generation, refuse_allowed, unknown_version, untested};
use halite_support::{Diagnostic, Diagnostics, codes};
use replicas::OnMesh;
use serde_json::json;
use std::path::PathBuf;

/// Check HLO from any source.
#[derive(Subcommand, Debug)]
#[command(after_help = "\
Examples:
  halite hlo check step.hlo.pb --target trn1
  halite hlo check step.mlir --target trn1
  halite hlo check module_0001.jit_f.before_optimizations.txt --target trn1
  halite hlo check rank.hlo.pb --mesh data=2,tensor=4
  halite hlo check --rules --target trn2")]
pub(super) enum Hlo {
    Check(Check),
}

impl Hlo {
    pub(super) fn run(self, context: &mut Context) -> Result<Output> {
        match self {
            Hlo::Check(check) => check.run(context),
        }
    }
}

/// Check HLO against the rules of a Neuron target, or what its ranks hold.
///
/// With `--target` it finds what would not compile, would fail at run time or would compute something else; with `--mesh`, what ranks
/// do not hold as the shardings say, and sums over ranks that are missing or made twice.
///
/// The exit code is 1 when a rule of level `error` is broken or ranks do not hold what they should, 2 when the file holds no sound HLO for
/// another reason.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  halite hlo check step.hlo.pb --target trn1
  halite hlo check step.hlo.pb --target trn2 --compiler 2.27.5334
  halite hlo check step.hlo.pb --target trn1 --allow wide-integer --json
  halite hlo check rank.hlo.pb --mesh data=2,tensor=4
  halite hlo check rank.hlo.pb --mesh data=2,tensor=4 --shardings sharded.json
  halite hlo check --rules --target trn2")]
#[command(group(ArgGroup::new("against").args(["target", "mesh"]).required(true).multiple(true)))]
pub(super) struct Check {
    /// The program: a serialized HloModuleProto, also as XLA dumps it, or HLO or StableHLO as text.
    ///
    /// A module of a bundle, or what JAX gives with `lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()` or
    /// `lowered.as_text(debug_info=True)`. With `--mesh`, the
    /// program of one rank: its shapes are those of shards, and its collectives are instructions. JAX has it as
    /// `compiled.runtime_executable().hlo_modules()[0]`, and XLA dumps it, before anything is fused, with `XLA_FLAGS="--xla_dump_to=DIR
    /// --xla_dump_hlo_as_proto --xla_dump_hlo_pass_re=spmd-partitioning"`.
    #[arg(required_unless_present = "rules")]
    file: Option<PathBuf>,
    /// The target to check for.
    #[arg(long)]
    target: Option<String>,
    /// The version of `neuronx-cc` [default: the newest known].
    #[arg(long, value_name = "VERSION", requires = "target")]
    compiler: Option<String>,
    /// Physical cores per logical core [default: that of the target].
    #[arg(long, value_name = "N", requires = "target")]
    logical_core: Option<u32>,
    /// Allow this rule to be broken; may be given several times.
    #[arg(long, value_name = "RULE", requires = "target")]
    allow: Vec<String>,
    /// List the rules of the target instead.
    #[arg(long, conflicts_with_all = ["file", "mesh"], requires = "target")]
    rules: bool,
    /// Check what ranks hold: the axes of the mesh, the major one first.
    ///
    /// Ranks, which are devices in the order of the program, count along the last axis first. How parameters and results are sharded
    /// is read from the file. What takes the place of a donated parameter lies as that, and of what nothing is said is the same on all
    /// ranks. An op that is not followed, such as a loop, is trusted to give the same where it is given the same.
    #[arg(long, value_name = "AXIS=SIZE,..")]
    mesh: Option<String>,
    /// A file that says how parameters and results are sharded, in place of what FILE says.
    ///
    /// Parameters go by name or number, results by number; each dimension has an axis, a list of axes, the major one first, or `null`:
    /// `{"parameters": {"x": ["data", null], "1": [null, "tensor"]}, "results": {"0": [["data", "tensor"], null]}}`. A parameter by
    /// which ranks are told their numbers is `"rank"`.
    #[arg(long, value_name = "JSON", requires = "mesh")]
    shardings: Option<PathBuf>,
    /// Exit with 1 when there is a warning, or with `--deny unproven` when it is not proven what ranks hold.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "warnings")]
    deny: Option<Deny>,
}

impl Check {
    fn run(self, context: &mut Context) -> Result<Output> {
        let profile = self.target.as_deref().map(|target| self.profile(target)).transpose()?;
        let Some(file) = self.file.as_deref().filter(|_| !self.rules) else {
            let listed = profile.as_ref().map(rules::rules).unwrap_or_default();
            return Ok(Output { warnings: self.unknown_compiler()?.into_iter().collect(), ..listed });
        };
        let mesh = self.mesh.as_deref().map(|text| OnMesh::new(text, self.shardings.as_deref())).transpose()?;
        let graph = Graph::new(program_file::read(file, &mut context.session.sources)?);
        let explain = |fault: Diagnostic| fault.context(format!("`{}`", file.display()));
        let in_file = |faults: Diagnostics| faults.into_iter().map(explain).collect::<Diagnostics>();
        let of_mesh = mesh.map(|mesh| mesh.check(&graph)).transpose().map_err(in_file)?;
        let of_target = profile.map(|profile| self.held_to_rules(&graph, &profile).map_err(in_file)).transpose()?;
        let output = both(of_target, of_mesh);
        let failed = output.failed || self.deny.is_some_and(|deny| deny.count(&output.warnings) > 0);
        Ok(Output { failed, ..output })
    }

    /// Checks a module against the rules of a target.
    fn held_to_rules(&self, graph: &Graph, profile: &Profile) -> Result<Output> {
        let mut report = report(graph, profile);
        let faults: Diagnostics = std::mem::take(&mut report.faults).into_iter().collect();
        if report.legal && !faults.is_empty() {
            return Err(faults);
        }
        let warnings = faults
            .into_iter()
            .chain(self.unknown_compiler()?)
            .chain(self.idle(&report))
            .chain(untested(profile.target))
            .collect();
        Ok(Output { warnings, failed: !report.legal, ..Output::new(rules::describe(&report), json!(report)) })
    }

    fn profile(&self, target: &str) -> Result<Profile> {
        let target = generation(target)?;
        let version = Tables::builtin().nearest(self.compiler()?.as_ref()).clone();
        let mut profile = Profile { version, allow: self.allow.clone(), ..Profile::new(target) };
        profile.logical_core = self.logical_core(target, profile.logical_core)?;
        let mistakes: Diagnostics = self.allow.iter().filter_map(|id| refuse_allowed(id)).collect();
        if mistakes.is_empty() { Ok(profile) } else { Err(mistakes) }
    }

    fn unknown_compiler(&self) -> Result<Option<Diagnostic>> {
        let unknown = self.compiler()?.as_ref().and_then(unknown_version);
        Ok(unknown.map(|warning| warning.help("give a version that is known")))
    }

    fn compiler(&self) -> Result<Option<CompilerVersion>> {
        let wrong = |message: String| {
            let help = "write the numbers of a version, such as `--compiler 2.27.5334`";
            Diagnostic::error(codes::USAGE, message).help(help)
        };
        Ok(self.compiler.clone().map(CompilerVersion::try_from).transpose().map_err(wrong)?)
    }

    fn logical_core(&self, target: Generation, default: u32) -> Result<u32> {
        let sizes = Tables::builtin().hardware(target).map_or(&[][..], |hardware| &hardware.logical_core_sizes);
        match self.logical_core {
            Some(stated) if !sizes.contains(&stated) => {
                let message = format!("a logical core of {target} does not join {stated} physical ones");
                let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
                Err(Diagnostic::error(codes::USAGE, message).help(format!("choose from {}", sizes.join(", "))).into())
            }
            stated => Ok(stated.unwrap_or(default)),
        }
    }

    /// Rules that are allowed and that nothing breaks.
    fn idle(&self, report: &Report) -> Diagnostics {
        let idle = self.allow.iter().filter(|id| report.broken.iter().all(|rule| rule.rule != **id));
        let explain = |id: &String| {
            let message = format!("nothing breaks the rule `{id}`, which is allowed");
            Diagnostic::warning(codes::PATTERN, message).help(format!("leave out `--allow {id}`"))
        };
        idle.map(explain).collect()
    }
}

fn generation(target: &str) -> Result<Generation> {
    Ok(Generation::named(&target.into()).ok_or_else(|| {
        let message = format!("there are no rules for the target `{target}`: XLA takes what it made itself");
        Diagnostic::error(codes::USAGE, message).help("name a Neuron target, such as `trn1`")
    })?)
}

/// Joins the outputs of the checks against a target and on a mesh.
fn both(of_target: Option<Output>, of_mesh: Option<Output>) -> Output {
    let (mut both, mesh) = match (of_target, of_mesh) {
        (Some(target), Some(mesh)) => (target, mesh),
        (target, mesh) => return target.or(mesh).unwrap_or_default(),
    };
    both.text = format!("{}\n{}", both.text, mesh.text);
    if let (Some(all), Some(own)) = (both.json.as_object_mut(), mesh.json.as_object()) {
        all.extend(own.clone());
    }
    both.warnings.extend(mesh.warnings);
    both.failed |= mesh.failed;
    both
}
