//! The roles of parameters and results: `{weight, init = normal(0.02), decay = 0.1}`, `{state = m, of = "w"}`, `{loss}`.
//! A weight in a group of the optimizer, and one that no update changes, say so: `{weight, init = ones, group = "head", frozen}`.
//! State starts at zero unless it says otherwise: `{state = ema, of = "w", init = weight}`, `{state = s, transient}`. What sums up the
//! micro-batches of an update says so: `{state = accum, of = "w", sum}`, which is transient too.
//! One stored `[in, out]`, whose update rule asks for that, says which dimension is `out`: `{weight, init = zeros, out = 1}`.
//! A weight that stores several tensors of the model says which, and the number of ranks is its first dimension:
//! `{weight, init = zeros, packs = ["q"[4,8], "k"[2,8] x 2, "v"[8,4] transposed]}`.
//! One of which the model has names for sizes says them: `{weight, init = zeros, dims = [heads(12) * head_dim(64), 768]}`.
//! One that lies where its readers prefer it says which axis of the mesh shards each dimension, `{weight, init = zeros, place = ["tensor", ""]}`.
//! One of a layer of the model says which: `{weight, init = zeros, layer = "model.layers.3"}`.
//! Of what the host feeds, a parameter says what is declared of it: `{batch, causal}`, `{batch, ranks}`, `{batch, micro_batch}`, or the
//! streams and the seed of keys of random bits, `{batch, keys = ["layers.0.w", "layers.1.w"], seed = 7}`.
//! Where the model is cut into the parts of a pipeline, a weight says the first that reads it, and a sum over micro-batches the one that
//! adds it up: `{weight, init = zeros, part = 1}`, `{state = accum, of = "w", sum, part = 1}`.

use super::numbers::{parse_real, print_real};
use super::quoted::print_string;
use super::syntax::{AttrText, Field, MAX_ELEMENTS, PartText};
use crate::dim_names::{DimName, SizeFactor};
use crate::layer::Layer;
use crate::syntax::{ParamRole, ResultRole, WeightInfo};
use halite_support::{Diagnostic, Name, Result, codes};
use halite_tensor::{Content, Init, Packing, Part, StateSpec, StreamKeys};
use std::sync::Arc;

/// Strings of a list, without its brackets.
fn print_strings(strings: &[Name]) -> String {
    strings.iter().map(|string| print_string(string)).collect::<Vec<_>>().join(", ")
}

/// Prints what follows the type of a parameter; nothing for a plain argument.
pub(super) fn print_param_role(role: &ParamRole) -> String {
    match role {
        ParamRole::Argument => String::new(),
        ParamRole::Batch => " {batch}".to_owned(),
        ParamRole::Known(Content::Causal) => " {batch, causal}".to_owned(),
        ParamRole::Known(Content::Ranks) => " {batch, ranks}".to_owned(),
        ParamRole::Known(Content::MicroBatch) => " {batch, micro_batch}".to_owned(),
        ParamRole::Known(Content::Keys(keys)) => {
            format!(" {{batch, keys = [{}], seed = {}}}", print_strings(keys.streams()), keys.seed())
        }
        ParamRole::Weight(info) => {
            let decay = info.decay.map(|decay| format!(", decay = {}", print_real(decay))).unwrap_or_default();
            let group =
                info.group.as_ref().map(|group| format!(", group = {}", print_string(group))).unwrap_or_default();
            let frozen = if info.frozen { ", frozen" } else { "" };
            let out = if info.output == 0 { String::new() } else { format!(", out = {}", info.output) };
            let packs = info.packing.as_deref().map(print_packing).unwrap_or_default();
            let dims = info.dims.as_deref().map(|dims| format!(", dims = {}", print_dims(dims))).unwrap_or_default();
            let layer = info.layer.as_ref().map(|layer| format!(", layer = {}", print_string(&layer.to_string())));
            let layer = layer.unwrap_or_default();
            let part = print_part(info.part);
            let place = info.place.as_deref().map(|axes| format!(", place = [{}]", print_strings(axes)));
            let place = place.unwrap_or_default();
            format!(
                " {{weight, init = {}{decay}{group}{frozen}{out}{packs}{dims}{layer}{part}{place}}}",
                print_init(info.init)
            )
        }
        ParamRole::State(spec) => {
            let of = spec.of.as_ref().map(|of| format!(", of = {}", print_string(of))).unwrap_or_default();
            let init = match spec.init {
                Init::Zeros => String::new(),
                init => format!(", init = {}", print_init(init)),
            };
            let transient = match (spec.sum, spec.transient) {
                (true, _) => ", sum",
                (false, true) => ", transient",
                (false, false) => "",
            };
            format!(" {{state = {}{of}{init}{transient}{}}}", spec.kind, print_part(spec.part))
        }
    }
}

fn print_part(part: Option<usize>) -> String {
    part.map(|part| format!(", part = {part}")).unwrap_or_default()
}

fn print_init(init: Init) -> String {
    let (word, numbers) = init.written();
    let numbers: Vec<String> = numbers.into_iter().map(print_real).collect();
    if numbers.is_empty() { word.to_owned() } else { format!("{word}({})", numbers.join(", ")) }
}

fn print_packing(packing: &Packing) -> String {
    let part = |part: &Part| {
        let copies = if part.copies == 1 { String::new() } else { format!(" x {}", part.copies) };
        let sizes: Vec<_> = part.shape.iter().map(ToString::to_string).collect();
        let transposed = if part.transposed { " transposed" } else { "" };
        let padding = if part.padding == 0 { String::new() } else { format!(" + {}", part.padding) };
        format!("{}[{}]{copies}{padding}{transposed}", print_string(&part.name), sizes.join(","))
    };
    let parts: Vec<_> = packing.parts.iter().map(part).collect();
    format!(", packs = [{}]", parts.join(", "))
}

/// Prints the names of all dimensions.
fn print_dims(dims: &[DimName]) -> String {
    let dims: Vec<_> = dims.iter().map(|dim| dim.iter().map(print_factor).collect::<Vec<_>>().join(" * ")).collect();
    format!("[{}]", dims.join(", "))
}

fn print_factor(SizeFactor { name, size }: &SizeFactor) -> String {
    match name {
        None => size.to_string(),
        Some(name) if is_word(name) => format!("{name}({size})"),
        Some(name) => format!("{}({size})", print_string(name)),
    }
}

/// Whether a name is a word of the grammar.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.')
}

/// Prints what follows the type of a result; nothing for a plain value.
pub(super) fn print_result_role(role: &ResultRole) -> String {
    match role {
        ResultRole::Value => String::new(),
        ResultRole::Loss => " {loss}".to_owned(),
        ResultRole::Count => " {count}".to_owned(),
        ResultRole::Sum => " {sum}".to_owned(),
        ResultRole::Over(sum) => format!(" {{over = {}}}", print_string(sum)),
        ResultRole::Probe => " {probe}".to_owned(),
        ResultRole::Metric => " {metric}".to_owned(),
        ResultRole::Gradient(of) => format!(" {{gradient = {}}}", print_string(of)),
        ResultRole::Scale(of) => format!(" {{scale = {}}}", print_string(of)),
        ResultRole::Finite => " {finite}".to_owned(),
        ResultRole::Residual => " {residual}".to_owned(),
        ResultRole::State(of) => format!(" {{state = {}}}", print_string(of)),
    }
}

/// Reads the role of a parameter of the given sizes from its fields.
///
/// # Errors
/// On an unknown role, field or value, at its position.
pub(super) fn parse_param_role(fields: &[Field<'_>], sizes: &[usize]) -> Result<ParamRole> {
    let Some((role, rest)) = fields.split_first() else { return Ok(ParamRole::Argument) };
    match (role.name, &role.value) {
        ("batch", None) => {
            known_fields(rest, &["causal", "ranks", "micro_batch", "keys", "seed"])?;
            Ok(match rest {
                [] => ParamRole::Batch,
                [field] if field.name == "causal" => ParamRole::Known(Content::Causal),
                [field] if field.name == "ranks" => ParamRole::Known(Content::Ranks),
                [field] if field.name == "micro_batch" => ParamRole::Known(Content::MicroBatch),
                [field] => {
                    return Err(error(field, "keys of random bits have streams and a seed")
                        .help("write e.g. `keys = [\"layers.0.w\", \"layers.1.w\"], seed = 7`"));
                }
                [keys, seed] if keys.name == "keys" && seed.name == "seed" => {
                    ParamRole::Known(Content::Keys(parse_keys(keys, seed)?))
                }
                [one, other, ..] => {
                    return Err(error(other, format!("a parameter that is `{}` is nothing else", one.name)));
                }
            })
        }
        ("weight", None) => {
            known_fields(rest, &["init", "decay", "group", "frozen", "out", "packs", "dims", "layer", "part", "place"])?;
            let init = find(rest, "init").map(parse_init).transpose()?;
            let init =
                init.ok_or_else(|| error(role, "a weight says how it starts").help("add e.g. `init = zeros`"))?;
            let decay = find(rest, "decay").map(parse_decay).transpose()?;
            let group = find(rest, "group").map(parse_group).transpose()?;
            let frozen = find(rest, "frozen").is_some();
            let output = find(rest, "out").map(parse_output).transpose()?.unwrap_or(0);
            let packing = find(rest, "packs").map(|field| parse_packing(field, sizes)).transpose()?.map(Arc::new);
            let dims = find(rest, "dims").map(parse_dims).transpose()?;
            let layer = find(rest, "layer").map(parse_layer).transpose()?;
            let part = find(rest, "part").map(parse_part_number).transpose()?;
            let place = find(rest, "place").map(|field| parse_place(field, sizes)).transpose()?;
            Ok(ParamRole::Weight(WeightInfo { init, decay, group, frozen, output, packing, dims, layer, part, place }))
        }
        ("state", Some(AttrText::Word(word))) => {
            known_fields(rest, &["of", "init", "transient", "sum", "part"])?;
            let of = find(rest, "of").map(parse_of).transpose()?;
            let init = find(rest, "init").map(parse_init).transpose()?.unwrap_or(Init::Zeros);
            let sum = find(rest, "sum").is_some();
            let transient = sum || find(rest, "transient").is_some();
            let part = find(rest, "part").map(parse_part_number).transpose()?;
            Ok(ParamRole::State(StateSpec { kind: Name::from(*word), of, init, transient, sum, part }))
        }
        _ => Err(error(role, format!("`{}` is not a role of a parameter", role.text))
            .help("roles are `batch`, `batch, causal`, `batch, ranks`, `batch, micro_batch`, `batch, keys = [\"<stream>\"], seed = <number>`, `weight, init = ..` and `state = <kind>, of = \"<weight>\"`")),
    }
}

/// Reads the role of a result from its fields.
///
/// # Errors
/// As [`parse_param_role`].
pub(super) fn parse_result_role(fields: &[Field<'_>]) -> Result<ResultRole> {
    let Some((role, rest)) = fields.split_first() else { return Ok(ResultRole::Value) };
    known_fields(rest, &[])?;
    match (role.name, &role.value) {
        ("loss", None) => Ok(ResultRole::Loss),
        ("count", None) => Ok(ResultRole::Count),
        ("sum", None) => Ok(ResultRole::Sum),
        ("over", Some(AttrText::Text(sum))) => Ok(ResultRole::Over(Name::from(sum.as_str()))),
        ("probe", None) => Ok(ResultRole::Probe),
        ("metric", None) => Ok(ResultRole::Metric),
        ("finite", None) => Ok(ResultRole::Finite),
        ("residual", None) => Ok(ResultRole::Residual),
        ("gradient", Some(AttrText::Text(of))) => Ok(ResultRole::Gradient(Name::from(of.as_str()))),
        ("scale", Some(AttrText::Text(of))) => Ok(ResultRole::Scale(Name::from(of.as_str()))),
        ("state", Some(AttrText::Text(of))) => Ok(ResultRole::State(Name::from(of.as_str()))),
        _ => Err(error(role, format!("`{}` is not a role of a result", role.text)).help(
            "roles are `loss`, `count`, `sum`, `over = \"<sum>\"`, `probe`, `metric`, `finite`, `gradient = \"<parameter>\"`, `scale = \"<parameter>\"` and `state = \"<parameter>\"`",
        )),
    }
}

fn error(field: &Field<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(codes::ATTRIBUTE, message).at(field.span, "")
}

fn find<'a, 't>(fields: &'a [Field<'t>], name: &str) -> Option<&'a Field<'t>> {
    fields.iter().find(|field| field.name == name)
}

fn known_fields(fields: &[Field<'_>], known: &[&str]) -> Result<()> {
    for (position, field) in fields.iter().enumerate() {
        if !known.contains(&field.name) {
            return Err(error(field, format!("`{}` is not part of this role", field.name)));
        }
        if find(&fields[..position], field.name).is_some() {
            return Err(error(field, format!("`{}` is given twice", field.name)));
        }
    }
    Ok(())
}

fn parse_init(field: &Field<'_>) -> Result<Init> {
    let (word, numbers) = match &field.value {
        Some(AttrText::Word(word)) => (*word, Some(Vec::new())),
        Some(AttrText::Applied(word, text)) => {
            (*word, text.split(',').map(|number| parse_real(number.trim())).collect())
        }
        _ => ("", None),
    };
    let init = numbers.and_then(|numbers: Vec<f64>| Init::read(word, &numbers));
    init.ok_or_else(|| {
        error(field, format!("`{}` is no initializer", field.text))
            .help(format!("write {}; on state also `weight`", Init::FORMS))
    })
}

fn parse_decay(field: &Field<'_>) -> Result<f64> {
    let decay = if let Some(AttrText::Element(text)) = &field.value { parse_real(text) } else { None };
    decay.ok_or_else(|| error(field, format!("`{}` needs a number", field.name)))
}

fn parse_output(field: &Field<'_>) -> Result<usize> {
    let output = if let Some(AttrText::Element(text)) = &field.value { text.parse().ok() } else { None };
    output.ok_or_else(|| error(field, format!("`{}` needs the number of a dimension", field.name)))
}

fn parse_part_number(field: &Field<'_>) -> Result<usize> {
    let part = if let Some(AttrText::Element(text)) = &field.value { text.parse().ok() } else { None };
    part.ok_or_else(|| error(field, format!("`{}` needs the number of a part of the model", field.name)))
}

/// Parses the axes that shard the dimensions of a parameter of the given sizes.
fn parse_place(field: &Field<'_>, sizes: &[usize]) -> Result<Arc<[Name]>> {
    let axes = if let Some(AttrText::Texts(axes)) = &field.value { Some(axes) } else { None };
    let axes = axes.filter(|axes| axes.len() == sizes.len());
    axes.map(|axes| axes.iter().map(|axis| Name::from(axis.as_str())).collect()).ok_or_else(|| {
        let message = format!("`{}` does not name an axis for each of {} dimensions", field.text, sizes.len());
        error(field, message)
            .help("write e.g. `place = [\"tensor\", \"\"]`, with `\"\"` for a dimension that is whole on each rank")
    })
}

/// Parses the keys of streams of random bits under a seed.
fn parse_keys(keys: &Field<'_>, seed: &Field<'_>) -> Result<StreamKeys> {
    let Some(AttrText::Texts(streams)) = &keys.value else {
        return Err(error(keys, format!("`{}` names no stream", keys.text))
            .help("write e.g. `keys = [\"layers.0.w\", \"layers.1.w\"]`"));
    };
    let number = if let Some(AttrText::Element(text)) = &seed.value { text.parse().ok() } else { None };
    let number = number.ok_or_else(|| error(seed, format!("`{}` needs a number from 0", seed.name)))?;
    StreamKeys::new(streams.iter().map(|stream| Name::from(stream.as_str())), number)
        .map_err(|error| error.at(keys.span, ""))
}

/// Parses the packing of a parameter of the given sizes.
fn parse_packing(field: &Field<'_>, sizes: &[usize]) -> Result<Packing> {
    let Some(AttrText::Parts(parts)) = &field.value else {
        return Err(error(field, format!("`{}` is no list of tensors", field.text))
            .help("write e.g. `packs = [\"q.weight\"[4,8], \"k.weight\"[2,8]]`"));
    };
    let parts = parts.iter().map(|part| parse_part(field, part)).collect::<Result<_>>()?;
    Ok(Packing { ranks: sizes.first().copied().unwrap_or(0), parts })
}

fn parse_part(field: &Field<'_>, text: &PartText) -> Result<Part> {
    let PartText { name, sizes, copies, padding, word } = text;
    let transposed = match word.as_deref() {
        None => false,
        Some("transposed") => true,
        Some(word) => {
            return Err(error(field, format!("`{word}` says nothing of `{name}`"))
                .help("a tensor stored as `[in, out]` is `transposed`"));
        }
    };
    let size = |&size: &i64| usize::try_from(size).ok();
    let shape: Option<Vec<usize>> = sizes.iter().map(size).collect();
    let count = |shape: &Vec<usize>| {
        let elements = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size.max(1)));
        elements.is_some_and(|elements| elements <= MAX_ELEMENTS)
    };
    let none = || error(field, format!("no tensor has the sizes of `{name}`"));
    let shape = shape.filter(count).ok_or_else(none)?;
    let part =
        Part { name: name.clone(), shape, transposed, copies: copies.unwrap_or(1), padding: padding.unwrap_or(0) };
    if count(&part.padded().to_vec()) { Ok(part) } else { Err(none()) }
}

fn parse_dims(field: &Field<'_>) -> Result<Arc<[DimName]>> {
    let Some(AttrText::Dims(dims)) = &field.value else {
        return Err(error(field, format!("`{}` names no dimension", field.text))
            .help("write e.g. `dims = [heads(12) * head_dim(64), hidden(768)]`"));
    };
    Ok(dims.as_slice().into())
}

/// The path of a layer, which ends with its number.
fn parse_layer(field: &Field<'_>) -> Result<Layer> {
    let path = if let Some(AttrText::Text(path)) = &field.value { path.as_str() } else { "" };
    let layer = Layer::of_path(path).filter(|layer| layer.to_string() == path);
    layer.ok_or_else(|| {
        error(field, format!("`{}` is no layer", field.text))
            .help("write the path of its list and its place there in quotes, e.g. `layer = \"model.layers.3\"`")
    })
}

fn parse_of(field: &Field<'_>) -> Result<Name> {
    let Some(AttrText::Text(of)) = &field.value else {
        return Err(error(field, "`of` needs the name of a weight").help("write it in quotes"));
    };
    Ok(Name::from(of.as_str()))
}

fn parse_group(field: &Field<'_>) -> Result<Name> {
    let Some(AttrText::Text(group)) = &field.value else {
        return Err(error(field, "`group` needs the name of a group").help("write it in quotes"));
    };
    Ok(Name::from(group.as_str()))
}
