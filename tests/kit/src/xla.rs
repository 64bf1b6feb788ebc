//! Modules on CPU XLA.

use crate::directives::Directives;
use crate::handed;
use halite_hlo::CheckedHlo;
use halite_ir::{Inst, LowerOptions, Module, Phase, Registry, Sample, lower, sample_module, verify};
use halite_passes::{PassCx, PassRegistry, Runner, RunnerOptions};
use halite_runtime::{
    ClientOptions, CompileOptions, Executable, Executor, Pjrt, Program, ProgramFormat, evaluate_replicas, find_plugin,
};
use halite_stablehlo::Form;
use halite_support::{Diagnostic, Result, SourceMap};
use halite_tensor::HostTensor;
use std::sync::{Arc, OnceLock};

/// Devices of the shared client: the most ranks that a sample asks for.
pub const NUM_DEVICES: usize = 8;

/// The plugin's client, one for each test binary, or why there is none.
///
/// # Errors
/// When the plugin is missing or does not start.
pub fn try_client() -> std::result::Result<&'static Pjrt, &'static Diagnostic> {
    static CLIENT: OnceLock<std::result::Result<Pjrt, Diagnostic>> = OnceLock::new();
    let open = |path: std::path::PathBuf| Pjrt::open(&path, &ClientOptions::cpu(NUM_DEVICES));
    CLIENT.get_or_init(|| find_plugin(None).and_then(open).map_err(Diagnostic::from)).as_ref()
}

/// The plugin's client.
///
/// # Panics
/// When the plugin is missing, with the way to get it: a test that needs it must not pass without it.
pub fn client() -> &'static Pjrt {
    try_client().unwrap_or_else(|diagnostic| panic!("{diagnostic}; {}", diagnostic.help_text().unwrap_or_default()))
}

/// The plugin's client, for what owns its executor.
///
/// # Panics
/// As [`client`].
pub fn executor() -> Arc<dyn Executor> {
    Arc::new(client().clone())
}

/// Runs passes on a module, verifying after each.
///
/// # Errors
/// As [`Runner::run`].
pub fn run_passes(passes: &str, module: &mut Module, registry: &Registry) -> Result<()> {
    let pipeline = PassRegistry::builtin().parse(passes)?;
    Runner::new(RunnerOptions::default()).run(&pipeline, module, &PassCx::new(registry)).map(drop)
}

/// The HLO of a module in any phase that needs no optimizer.
///
/// # Errors
/// An error of passes, lowering or the HLO checker.
pub fn hlo(module: &Module, registry: &Registry, options: LowerOptions) -> Result<Vec<u8>> {
    let mut module = module.clone();
    run_passes("expand-composites", &mut module, registry)?;
    realize(&mut module, registry)?;
    run_passes("legalize", &mut module, registry)?;
    let module = verify(&module, registry).map_err(|errors| errors.into_bug("before lowering"))?;
    let hlo = CheckedHlo::new(lower(module, &SourceMap::new(), options)?);
    Ok(hlo.map_err(|broken| broken.into_bug("lowering"))?.encode())
}

/// Whether the HLO of a sample in this form is another than in the default form, or this is the default form.
pub fn has_form(sample: &Sample, registry: &Registry, options: LowerOptions) -> bool {
    let own = |options| sample_module(sample, registry).and_then(|module| hlo(&module, registry, options)).ok();
    options == LowerOptions::default() || own(options) != own(LowerOptions::default())
}

/// Realizes stochastic rounding that the module states, with the bits that the interpreter takes: seed and update 0.
fn realize(module: &mut Module, registry: &Registry) -> Result<()> {
    if !module.functions.iter().flat_map(|function| &function.insts).any(Inst::rounds_at_random) {
        return Ok(());
    }
    let recipe = Directives { recipe: vec!["precision = \"fp32\"".to_owned()], ..Directives::default() }.recipe();
    let recipe = recipe.map_err(Diagnostic::bug)?;
    let phase = std::mem::replace(&mut module.phase, Phase::Cast);
    let pipeline = PassRegistry::builtin().parse("inline, annotate-rounding")?;
    let cx = PassCx { recipe: recipe.as_ref(), findings: None, ..PassCx::new(registry) };
    Runner::new(RunnerOptions::default()).run(&pipeline, module, &cx)?;
    module.phase = phase;
    Ok(())
}

/// Compiles HLO with exact rounding.
///
/// # Errors
/// An error of XLA.
pub fn compile(hlo: &[u8], num_replicas: usize) -> Result<Box<dyn Executable>> {
    compile_in(ProgramFormat::Hlo, hlo, num_replicas)
}

/// Compiles HLO with exact rounding, handed to the plugin in a format.
///
/// # Errors
/// When it cannot be written in the format, or XLA refuses it.
pub fn compile_in(format: ProgramFormat, hlo: &[u8], num_replicas: usize) -> Result<Box<dyn Executable>> {
    let program = Program::new(hlo, CompileOptions { num_replicas, ..CompileOptions::default() })?
        .in_format(format, |hlo| translate(hlo, num_replicas))?;
    Ok(client().clone().with_format(format).compile(&program)?)
}

fn translate(hlo: &[u8], num_replicas: usize) -> Result<String> {
    let text = halite_stablehlo::translate(hlo, Form::Program { num_replicas })?;
    handed::keep(hlo, &text);
    Ok(text)
}

/// Compiles HLO with exact rounding and runs it once.
///
/// # Errors
/// When the plugin is missing, with the way to get it; otherwise what XLA says.
pub fn evaluate(hlo: &[u8], inputs: &[HostTensor]) -> std::result::Result<Vec<HostTensor>, String> {
    evaluate_in(ProgramFormat::Hlo, hlo, inputs)
}

/// As [`evaluate`], handed to the plugin in a format.
///
/// # Errors
/// As [`evaluate`], and when the HLO cannot be written in the format.
pub fn evaluate_in(
    format: ProgramFormat,
    hlo: &[u8],
    inputs: &[HostTensor],
) -> std::result::Result<Vec<HostTensor>, String> {
    Ok(evaluate_ranks_in(format, hlo, &[inputs.to_vec()])?.swap_remove(0))
}

/// Compiles HLO with exact rounding and runs it once on as many ranks as there are inputs: `inputs[rank][parameter]` to
/// `results[rank][result]`.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_ranks(hlo: &[u8], inputs: &[Vec<HostTensor>]) -> std::result::Result<Vec<Vec<HostTensor>>, String> {
    evaluate_ranks_in(ProgramFormat::Hlo, hlo, inputs)
}

/// As [`evaluate_ranks`], handed to the plugin in a format.
///
/// # Errors
/// As [`evaluate`], and when the HLO cannot be written in the format.
pub fn evaluate_ranks_in(
    format: ProgramFormat,
    hlo: &[u8],
    inputs: &[Vec<HostTensor>],
) -> std::result::Result<Vec<Vec<HostTensor>>, String> {
    let missing = |error: &Diagnostic| format!("not executed: {error}\nhelp: {}", error.remedy());
    let client = try_client().map_err(missing)?;
    let executable = compile_in(format, hlo, inputs.len()).map_err(|error| error.to_string())?;
    let inputs: Vec<&[HostTensor]> = inputs.iter().map(Vec::as_slice).collect();
    evaluate_replicas(client, executable.as_ref(), &inputs).map_err(|error| error.to_string())
}

/// Runs a module once on CPU XLA: `inputs[rank][parameter]` to `results[rank][result]`.
///
/// # Errors
/// As [`hlo`] and [`compile`], or when the run fails.
pub fn run(
    module: &Module,
    registry: &Registry,
    options: LowerOptions,
    inputs: &[Vec<HostTensor>],
) -> Result<Vec<Vec<HostTensor>>> {
    let executable = compile(&hlo(module, registry, options)?, inputs.len())?;
    let inputs: Vec<&[HostTensor]> = inputs.iter().map(Vec::as_slice).collect();
    Ok(evaluate_replicas(client(), executable.as_ref(), &inputs)?)
}
