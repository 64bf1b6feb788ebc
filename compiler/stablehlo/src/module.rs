//! The text of a module.

use crate::form::Form;
use crate::function::{Attributes, Writer};
use crate::quoted::{string, symbol};
use crate::write;
use halite_hlo::proto::HloModuleProto;
use halite_hlo::{CheckedHlo, OUTPUT_NAMES, decode};
use halite_support::{Diagnostic, Result, codes};

/// A module as StableHLO.
///
/// ```
/// use halite_hlo::{ArrayType, CheckedHlo, ModuleBuilder};
/// use halite_stablehlo::Form;
/// use halite_tensor::DType;
///
/// let mut module = ModuleBuilder::new("example");
/// let mut entry = module.computation("main");
/// let x = entry.parameter("x", ArrayType::new(DType::F32, [4]))?;
/// let y = entry.tanh(x)?;
/// let root = entry.root_tuple(&[y])?;
/// entry.finish(root)?;
/// let hlo = CheckedHlo::new(module.finish()?)?;
/// let text = halite_stablehlo::print(&hlo, Form::Program { num_replicas: 1 })?;
/// assert!(text.contains("%tanh.1 = \"stablehlo.tanh\"(%x.0) : (tensor<4xf32>) -> tensor<4xf32>"));
/// # Ok::<(), halite_support::Diagnostic>(())
/// ```
///
/// # Errors
/// When an instruction has no form in StableHLO, or carries something that its form has no place for, and when functions have no name,
/// a channel below 1, or ranks that are no partitions.
pub fn print(hlo: &CheckedHlo, form: Form<'_>) -> Result<String> {
    form.require_sound()?;
    let graph = hlo.graph();
    let entry = graph.entry_number().ok_or_else(|| unwritable(hlo, "it has no entry"))?;
    require_no_shardings(hlo)?;
    let (inputs, outputs) = match form {
        Form::Program { .. } => (inputs(hlo, entry), outputs(hlo, entry)),
        Form::Functions(_) => (Vec::new(), Vec::new()),
    };
    let mut writer = Writer::new(graph, form);
    for (number, times) in graph.executions().into_iter().enumerate() {
        match number {
            _ if number == entry => writer.function(number, form.visibility(true), (&inputs, &outputs))?,
            _ if times > 0 => writer.function(number, form.visibility(false), (&[], &[]))?,
            _ => {}
        }
    }
    let unknown = writer.locations.of(None);
    let (functions, locations) = (writer.out, writer.locations.definitions());
    let frontend = write::frontend(hlo.frontend_attributes.as_ref());
    let (partitions, replicas) = form.counts();
    let counts = [("partitions", partitions), ("replicas", replicas)];
    let counts = counts.map(|(what, count)| format!("mhlo.num_{what} = {count} : i32"));
    let attributes: Vec<String> = counts.into_iter().chain(frontend).collect();
    let head = format!("module {} attributes {{{}}}", symbol(&hlo.name), attributes.join(", "));
    Ok(format!("{head} {{\n{functions}}}{unknown}\n{locations}"))
}

/// The bytes of a module as StableHLO.
///
/// # Errors
/// When they are no sound module, and as [`print()`].
pub fn translate(hlo: &[u8], form: Form<'_>) -> Result<String> {
    print(&CheckedHlo::new(decode(hlo)?)?, form)
}

fn unwritable(hlo: &HloModuleProto, reason: &str) -> Diagnostic {
    Diagnostic::error(codes::STABLEHLO, format!("`{}` cannot be written as StableHLO: {reason}", hlo.name))
}

/// Refuses a module that XLA would cut into the programs of devices, which the ranks of ours have behind them.
fn require_no_shardings(hlo: &HloModuleProto) -> Result<()> {
    match hlo.spmd_output_sharding.is_some() || !hlo.spmd_parameters_shardings.is_empty() {
        true => Err(unwritable(hlo, "it states shardings of its parameters or results")),
        false => Ok(()),
    }
}

/// The attributes of each parameter: which result takes its buffer, or that any may. The checker holds both to whole parameters.
fn inputs(hlo: &CheckedHlo, entry: usize) -> Vec<Attributes> {
    let mut inputs = vec![Attributes::new(); hlo.graph().computations()[entry].parameters.len()];
    let mut add = |parameter: i64, attribute: String| {
        let input = usize::try_from(parameter).ok().and_then(|parameter| inputs.get_mut(parameter));
        input.into_iter().for_each(|input| input.push(attribute.clone()));
    };
    for alias in hlo.input_output_alias.iter().flat_map(|aliases| &aliases.entries) {
        let output = alias.output_shape_index.first().copied().unwrap_or(0);
        add(alias.parameter_number, format!("tf.aliasing_output = {output} : i32"));
    }
    for donor in hlo.buffer_donor.iter().flat_map(|donors| &donors.entries) {
        add(donor.parameter_number, "jax.buffer_donor = true".to_owned());
    }
    inputs
}

/// The attributes of each result: its name, where the root of the entry has names.
fn outputs(hlo: &CheckedHlo, entry: usize) -> Vec<Attributes> {
    let root = hlo.graph().root(entry).map(|root| hlo.graph().inst(root));
    let names = root.and_then(|root| root.frontend_attributes.as_deref()?.map.get(OUTPUT_NAMES));
    let named = |name: &str| vec![format!("jax.result_info = {}", string(name.as_bytes()))];
    names.map(|names| names.split(',').map(named).collect()).unwrap_or_default()
}
