//! Weights of layers that a program keeps in one array, a row for each.
//!
//! A loop over layers reads in each round a row of each of its weights. Where nothing else reads a weight, it becomes a weight for each
//! layer: `layers.w` of 12 rows is `layers.0.w` to `layers.11.w`. So layers can be put on stages, and sharded one by one.

mod results;
mod sources;

use crate::numbers::known;
use crate::signature::{Input, InputRole, Signature};
use halite_ir::{Builder, Function, InferCx, Module, Registry, Rewriter, TensorType, Value};
use halite_support::Result;
use halite_tensor::Shape;
use indexmap::IndexSet;
use results::Results;
use sources::{OfLoop, Sources};

/// A weight of a program that became one for each layer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stack {
    /// Its name in the program.
    pub name: String,
    /// The names of its rows, which are the weights of the model.
    pub rows: Vec<String>,
}

/// Takes apart the weights of layers, in the entry and in the roles of what it takes; what loops fill row by row becomes its rows, one
/// after another.
///
/// # Errors
/// A bug when an instruction cannot be copied.
pub(crate) fn take_apart(
    module: &mut Module,
    registry: &Registry,
    signature: &Signature,
) -> Result<(Signature, Vec<Stack>)> {
    let entry = module.take_entry()?;
    let cx = InferCx { functions: &module.functions, registry };
    let known = known(cx, &entry);
    let sources = Sources::of(cx, &entry, &weights(&entry, signature), &known);
    let results = Results::of(&entry, &known);
    let stacks = stacks(&entry, signature, &sources);
    if stacks.iter().all(Option::is_none) && results.is_empty() {
        module.functions.push(entry);
        return Ok((signature.clone(), Vec::new()));
    }
    let mut b = Rewriter::without_params(module, registry, &entry);
    let rows = params(&mut b, &entry, &stacks);
    for (at, inst) in entry.insts.iter().enumerate() {
        if let Some((param, row)) = sources.read(inst) {
            let outer = b.set_loc(inst.loc);
            let row = one_row(&mut b, rows[param][row])?;
            let row = sources.row(&mut b, &entry, inst.args[0], row)?;
            b.set_loc(outer);
            b.replace(inst.results[0], row);
        } else if let Some(updates) = results.whole(at) {
            let parts = b.values(updates)?;
            let outer = b.set_loc(inst.loc);
            let whole = b.concatenate(&parts, 0)?;
            b.set_loc(outer);
            b.replace(inst.results[0], whole);
        } else if !results.is_part(at) && !sources.is_of_all(inst) {
            b.copy(&entry, inst)?;
        }
    }
    b.finish(&entry)?;
    let inputs = signature.inputs.iter().zip(&stacks).flat_map(|(input, stack)| match stack {
        Some(stack) => stack.rows.iter().map(|name| Input { name: name.clone(), role: input.role }).collect(),
        None => vec![input.clone()],
    });
    let signature = Signature { inputs: inputs.collect(), ..signature.clone() };
    Ok((signature, stacks.into_iter().flatten().collect()))
}

/// Adds the parameters, those of a stack for each row; returns these.
fn params(b: &mut Rewriter<'_>, entry: &Function, stacks: &[Option<Stack>]) -> Vec<Vec<Value>> {
    let mut rows = vec![Vec::new(); entry.params.len()];
    for (at, param) in entry.params.iter().enumerate() {
        let Some(stack) = &stacks[at] else {
            b.copy_param(entry, param);
            continue;
        };
        let ty = entry.ty(param.value);
        let row = ty.with_shape(Shape::from(&ty.shape()[1..]));
        rows[at] = stack.rows.iter().map(|name| b.param(name.as_str(), row.clone(), param.role.clone())).collect();
    }
    rows
}

/// A value as an array of one row.
fn one_row(b: &mut Builder<'_>, value: Value) -> Result<Value> {
    let shape: Shape = std::iter::once(1).chain(b.shape(value).iter().copied()).collect();
    b.reshape(value, shape)
}

/// Whether each parameter is a weight of several rows.
fn weights(entry: &Function, signature: &Signature) -> Vec<bool> {
    let is_stack = |ty: &TensorType| ty.shape().first().is_some_and(|&rows| rows > 1);
    let params = entry.params.iter().zip(&signature.inputs);
    params.map(|(param, input)| input.role != InputRole::Batch && is_stack(entry.ty(param.value))).collect()
}

/// For each parameter, the weights that it becomes, if it does.
fn stacks(entry: &Function, signature: &Signature, sources: &Sources) -> Vec<Option<Stack>> {
    let mut stacks = vec![None; entry.params.len()];
    let mut taken: IndexSet<String> = signature.inputs.iter().map(|input| input.name.clone()).collect();
    for OfLoop { rows, params, .. } in sources.loops(entry) {
        let names: Vec<&str> = params.iter().map(|&at| signature.inputs[at].name.as_str()).collect();
        for (&at, stack) in params.iter().zip(named(&names, rows, &taken)) {
            taken.extend(stack.rows.iter().cloned());
            stacks[at] = Some(stack);
        }
    }
    stacks
}

/// The rows of the weights of a loop by name: the path that they have in common, or `layers`, the number of the layer, then the rest. Of the
/// path, no more is taken than tells them from other weights.
fn named(names: &[&str], rows: usize, taken: &IndexSet<String>) -> Vec<Stack> {
    let paths: Vec<Vec<&str>> = names.iter().map(|name| name.split('.').collect()).collect();
    let shortest = paths.iter().map(|path| path.len() - 1).min().unwrap_or_default();
    let common = (0..shortest).take_while(|&at| paths.iter().all(|path| path[at] == paths[0][at])).count();
    let is_apart = |common: &usize| {
        let begins = |name: &&String| {
            name.split('.').zip(&paths[0][..*common]).filter(|(one, other)| one == *other).count() == *common
        };
        taken.iter().filter(begins).count() == names.len()
    };
    let common = (1..common).find(is_apart).unwrap_or(common);
    let first = paths.first().map_or_else(String::new, |path| list(&path[..common]));
    let mut list = first.clone();
    for number in 1.. {
        let row = |path: &[&str], row: usize| format!("{list}.{row}.{}", path[common..].join("."));
        let rows_of = |path: &[&str]| (0..rows).map(|number| row(path, number)).collect();
        let stack = |(name, path): (&&str, &Vec<&str>)| Stack { name: (*name).to_owned(), rows: rows_of(path) };
        let found: Vec<Stack> = names.iter().zip(&paths).map(stack).collect();
        if found.iter().flat_map(|stack| &stack.rows).all(|name| !taken.contains(name)) {
            return found;
        }
        list = format!("{first}_{number}");
    }
    Vec::new()
}

/// The path of a list of layers. A number in it becomes part of a word: the first number that is a part by itself is that of the layer.
fn list(path: &[&str]) -> String {
    let mut list = String::new();
    for part in path {
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        list += if list.is_empty() {
            ""
        } else if is_number {
            "_"
        } else {
            "."
        };
        list += part;
    }
    if list.is_empty() { "layers".to_owned() } else { list }
}
