//! The roles of a program, written into it as frontend attributes of its module.

use crate::signature::{Input, InputRole, Output, OutputRole, Signature};
use halite_hlo::graph::Graph;
use halite_support::{Diagnostic, Diagnostics, codes};
use halite_tensor::Init;

/// The parameters in order, each with its role and how a weight starts: `embed: weight = normal(0.02); scale: frozen; tokens: batch`.
const PARAMETERS: &str = "halite.parameters";

/// The results in order, each with its role: `loss: loss; logits: shown`.
const RESULTS: &str = "halite.results";

/// `true` where positions may read none that come later.
const CAUSAL: &str = "halite.causal";

/// The character between two parameters, or two results.
const SEPARATOR: char = ';';

/// The roles as frontend attributes: keys with their texts.
pub(crate) fn written(signature: &Signature) -> [(&'static str, String); 3] {
    let input = |input: &Input| match input.role {
        InputRole::Batch => format!("{}: batch", input.name),
        InputRole::Weight(init) => format!("{}: weight = {}", input.name, start(init)),
        InputRole::Frozen(init) => format!("{}: frozen = {}", input.name, start(init)),
    };
    let inputs: Vec<String> = signature.inputs.iter().map(input).collect();
    let outputs = signature.outputs.iter().map(|output| format!("{}: {}", output.name, word(output.role)));
    let between = format!("{SEPARATOR} ");
    [
        (PARAMETERS, inputs.join(&between)),
        (RESULTS, outputs.collect::<Vec<_>>().join(&between)),
        (CAUSAL, signature.causal.to_string()),
    ]
}

/// The roles that are written into a program.
///
/// # Errors
/// When there are none; every one that is no role.
pub(crate) fn read(graph: &Graph) -> Result<Signature, Diagnostics> {
    let attributes = graph.module().frontend_attributes.as_ref().map(|attributes| &attributes.map);
    let stated = |key: &str| attributes.and_then(|map| map.get(key)).map(String::as_str);
    let Some((parameters, results)) = stated(PARAMETERS).zip(stated(RESULTS)) else {
        let error = Diagnostic::error(codes::CONTRACT, "the program does not say what its parameters and results are");
        return Err(error.help(format!("write `{PARAMETERS}` and `{RESULTS}` into the frontend attributes of its module, as `save` of `halite.jax.model` and of `halite.Program` in Python does")).into());
    };
    let mut mistakes = Diagnostics::new();
    let mut kept = |fault: Diagnostic| mistakes.push(fault);
    let inputs = parameters.split(SEPARATOR).filter_map(|part| input(part.trim()).map_err(&mut kept).ok()).collect();
    let outputs = results.split(SEPARATOR).filter_map(|part| output(part.trim()).map_err(&mut kept).ok()).collect();
    let causal = stated(CAUSAL).unwrap_or("false");
    let causal = causal.parse().map_err(|_| kept(wrong(CAUSAL, causal, "`true` or `false`")));
    match causal {
        Ok(causal) if mistakes.is_empty() => Ok(Signature { inputs, outputs, causal }),
        _ => Err(mistakes),
    }
}

fn input(part: &str) -> Result<Input, Diagnostic> {
    let (name, role) = part.split_once(':').ok_or_else(|| wrong(PARAMETERS, part, "a name, `:` and a role"))?;
    let (role, init) = role.split_once('=').map_or((role, None), |(role, init)| (role, Some(init)));
    let init = match init {
        None => Init::Zeros,
        Some(text) => read_start(text.trim()).ok_or_else(|| wrong(PARAMETERS, part, Init::FORMS))?,
    };
    let role = match role.trim() {
        "batch" => InputRole::Batch,
        "weight" => InputRole::Weight(init),
        "frozen" => InputRole::Frozen(init),
        _ => return Err(wrong(PARAMETERS, part, "the role `batch`, `weight` or `frozen`")),
    };
    Ok(Input { name: name.trim().to_owned(), role })
}

fn output(part: &str) -> Result<Output, Diagnostic> {
    let (name, role) = part.split_once(':').map_or((part, "shown"), |(name, role)| (name, role.trim()));
    let roles = [OutputRole::Loss, OutputRole::Count, OutputRole::Shown];
    let role = roles.into_iter().find(|own| word(*own) == role);
    let role = role.ok_or_else(|| wrong(RESULTS, part, "the role `loss`, `count` or `shown`"))?;
    Ok(Output { name: name.trim().to_owned(), role })
}

fn wrong(key: &str, part: &str, expected: &str) -> Diagnostic {
    let message = format!("cannot read `{}` in `{key}` of the program", part.escape_debug());
    Diagnostic::error(codes::CONTRACT, message).help(format!("write {expected}"))
}

fn word(role: OutputRole) -> &'static str {
    match role {
        OutputRole::Loss => "loss",
        OutputRole::Count => "count",
        OutputRole::Shown => "shown",
    }
}

/// `normal(0.02)`.
fn start(init: Init) -> String {
    let (word, numbers) = init.written();
    let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:?}")).collect();
    if numbers.is_empty() { word.to_owned() } else { format!("{word}({})", numbers.join(", ")) }
}

fn read_start(text: &str) -> Option<Init> {
    let (word, numbers) = match text.strip_suffix(')') {
        Some(text) => text.split_once('(')?,
        None => (text, ""),
    };
    let numbers = numbers.split(',').map(str::trim).filter(|number| !number.is_empty());
    let numbers: Vec<f64> = numbers.map(|number| number.parse().ok()).collect::<Option<_>>()?;
    Init::read(word, &numbers).filter(|init| *init != Init::Weight && init.fault().is_none())
}
