//! A program as a model.

use crate::closed::copy_once;
use crate::signature::{Input, InputRole, OutputRole, Signature};
use crate::stacks::{Stack, take_apart};
use crate::{helpers, layers, loops};
use halite_hlo::CheckedHlo;
use halite_hlo::graph::Graph;
use halite_hlo::origin;
use halite_ir::{Function, InferCx, Layer, Module, Op, ParamRole, Registry, ResultRole, Rewriter, Value, WeightInfo};
use halite_lang::is_needed;
use halite_lift::{is_own, own_composites, stated_name};
use halite_support::{Diagnostic, Diagnostics, Name, Result, codes};
use halite_tensor::DType;

/// A program as a model.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) module: Module,
    /// The weights of the program that are several of the model.
    pub(crate) stacks: Vec<Stack>,
}

/// The model that a program is, whose values have these roles.
///
/// # Errors
/// Every kind of instruction that the IR has no op for; random bits; every weight that the objective does not depend on.
pub(crate) fn taken(name: &Name, hlo: &CheckedHlo, signature: &Signature) -> std::result::Result<Taken, Diagnostics> {
    let registry = Registry::builtin();
    let lifted = halite_lift::lift(hlo.graph(), 1)?;
    let mut mistakes: Diagnostics =
        lifted.unfollowed.iter().map(|(name, &count)| no_op(hlo.graph(), name, count)).collect();
    let mut module = lifted.module;
    module.name = name.clone();
    mistakes.extend(effects(&module, &registry));
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    loops::write_out(&mut module, &registry, &lifted.rounds)?;
    helpers::write_out(&mut module, &registry)?;
    let (signature, stacks) = take_apart(&mut module, &registry, signature)?;
    let mut entry = module.take_entry()?;
    entry.name = module.unused_name("main");
    let unneeded = with_roles(&mut module, &registry, &entry, &signature)?;
    mistakes.extend(unneeded.into_iter().map(not_needed));
    module.bidirectional = !signature.causal;
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    layers::outline(&mut module, &registry)?;
    Ok(Taken { module, stacks })
}

/// Adds the entry with the roles of its parameters and results: the batch, then the weights. Returns the trained weights that the objective
/// does not depend on.
fn with_roles<'s>(
    module: &mut Module,
    registry: &Registry,
    entry: &Function,
    signature: &'s Signature,
) -> Result<Vec<&'s str>> {
    let mut b = Rewriter::without_params(module, registry, entry);
    let mut weights: Vec<(&str, Value)> = Vec::new();
    let is_batch = |input: &Input| input.role == InputRole::Batch;
    for batches in [true, false] {
        for (input, param) in signature.inputs.iter().zip(&entry.params).filter(|(input, _)| is_batch(input) == batches)
        {
            let value = b.param(input.name.as_str(), entry.ty(param.value).clone(), role(input));
            b.replace(param.value, value);
            if matches!(input.role, InputRole::Weight(_)) {
                weights.push((&input.name, value));
            }
        }
    }
    copy_once(&mut b, entry)?;
    let results: Vec<Value> = entry.results.iter().map(|result| b.value(result.value)).collect::<Result<_>>()?;
    let mut b = b.into_builder();
    let Some(loss) = result_of(signature, &results, OutputRole::Loss) else {
        return Err(Diagnostic::bug("a program without objective"));
    };
    let count = match result_of(signature, &results, OutputRole::Count) {
        Some(count) => count,
        None => b.splat(DType::F32, [], 1.0)?,
    };
    let needed = is_needed(&b, loss);
    b.named_result(loss, "loss", ResultRole::Loss);
    b.named_result(count, "count", ResultRole::Count);
    for (output, &value) in
        signature.outputs.iter().zip(&results).filter(|(output, _)| output.role == OutputRole::Shown)
    {
        b.named_result(value, output.name.as_str(), ResultRole::Probe);
    }
    b.finish();
    Ok(weights.into_iter().filter(|(_, value)| !needed[value.index()]).map(|(name, _)| name).collect())
}

fn role(input: &Input) -> ParamRole {
    let info = |init, frozen| WeightInfo { frozen, layer: Layer::of_path(&input.name), ..WeightInfo::new(init) };
    match input.role {
        InputRole::Batch => ParamRole::Batch,
        InputRole::Weight(init) => ParamRole::Weight(info(init, false)),
        InputRole::Frozen(init) => ParamRole::Weight(info(init, true)),
    }
}

fn result_of(signature: &Signature, results: &[Value], role: OutputRole) -> Option<Value> {
    let at = signature.outputs.iter().position(|output| output.role == role)?;
    results.get(at).copied()
}

/// The refusal of the instructions of a name, with the line of the first.
fn no_op(graph: &Graph, name: &str, count: usize) -> Diagnostic {
    let times = if count == 1 { String::new() } else { format!(", {count} times") };
    let message = format!("the program has `{name}`{times}, for which there is no op");
    let help = if is_own(name) {
        let own: Vec<String> = own_composites().map(|name| format!("`{name}`")).collect();
        format!("Halite's composites are {}, with the operands that its guide to StableHLO names", own.join(", "))
    } else {
        "write that part of the model in another way".to_owned()
    };
    let error = Diagnostic::error(codes::FOREIGN, message).help(help);
    let is_of = |at: &usize| stated_name(graph, *at) == name;
    let first = graph.computations().iter().flat_map(|computation| computation.range()).find(is_of);
    match first.and_then(|at| origin(graph.inst(at), graph.module())) {
        Some(origin) if !origin.file.is_empty() => {
            let scope = if origin.scope.is_empty() { String::new() } else { format!(", in `{}`", origin.scope) };
            error.note(format!("first in {}:{}{scope}", origin.file, origin.line))
        }
        Some(origin) if !origin.scope.is_empty() => error.note(format!("first in `{}`", origin.scope)),
        _ => error,
    }
}

/// The refusals of programs that draw random bits, or talk to other devices.
fn effects(module: &Module, registry: &Registry) -> Diagnostics {
    let ops = || module.functions.iter().flat_map(|function| &function.insts).map(|inst| &inst.op);
    let random = ops().find(|op| matches!(op, Op::RngBitGenerator(_))).map(|_| {
        Diagnostic::error(codes::FOREIGN, "the program draws random bits, which would be the same in each update").help(
            "export the model without them, as for an evaluation; `halite help dropout` describes dropout that is trained with",
        )
    });
    let cx = InferCx { functions: &module.functions, registry };
    let of_several = |op: &&Op| op.def().effect(&cx).ordered || matches!(op, Op::ReplicaId(_));
    let ranks = ops().find(of_several).map(|op| {
        let message = format!("the program has `{}`: it is the program of one device of several", op.name());
        Diagnostic::error(codes::FOREIGN, message)
            .help("export the function of one device; `parallel` of the recipe shards it over devices")
    });
    random.into_iter().chain(ranks).collect()
}

fn not_needed(name: &str) -> Diagnostic {
    Diagnostic::error(codes::UNUSED, format!("the objective of the program does not depend on the weight `{name}`"))
        .help("leave it out, or freeze it")
}
