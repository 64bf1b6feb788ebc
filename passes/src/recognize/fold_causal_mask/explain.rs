//! Remarks on masks that fold, and on those that do not.

use super::NAME;
use super::halves::Halves;
use super::layout::Axes;
use super::plan::{NearMiss, Plan};
use crate::framework::pass::PassCx;
use crate::framework::remark::Remark;
use halite_analysis::MaskKind;
use halite_ir::{Def, FuncId, Function, LocId, LocTable, Module, Op, ParamRole, Value};
use halite_tensor::DType;

/// Adds a remark for each mask of a function, and for each near miss.
pub(super) fn explain(module: &Module, id: FuncId, plan: &Plan, cx: &PassCx<'_>) {
    if !cx.explains() {
        return;
    }
    let function = module.function(id);
    for (index, near) in plan.near_misses(function).iter().enumerate() {
        let value = Value::new(index);
        let remark = plan
            .replaced(value)
            .map(|halves| folded(function, value, halves))
            .or_else(|| near.as_ref().map(|near| kept(function, value, near)))
            .or_else(|| mixed(function, plan, value))
            .or_else(|| undeclared(function, value));
        if let Some(remark) = remark {
            cx.explain(|| remark.at(module, id, loc(function, value)));
        }
    }
}

/// A condition of which the causal part folds.
fn mixed(function: &Function, plan: &Plan, value: Value) -> Option<Remark> {
    let inst = function.def(value).filter(|inst| matches!(inst.op, Op::And(_) | Op::Or(_)))?;
    inst.args.iter().find(|arg| plan.replaced(**arg).is_some())?;
    let message = format!("{} is a causal mask and another condition, which stays", name(function, value));
    Some(Remark::missed(NAME, "mixed", message))
}

/// An input that could be a mask.
fn undeclared(function: &Function, value: Value) -> Option<Remark> {
    let param = function.params.iter().find(|param| param.value == value && param.role == ParamRole::Batch)?;
    let message = format!("`{}` is an input that the model does not declare causal", param.name);
    function.ty(value).is_mask().then(|| Remark::missed(NAME, "input", message))
}

fn loc(function: &Function, value: Value) -> LocId {
    match function.values[value.index()].def {
        Def::Param(_) => LocTable::unknown(),
        Def::Inst(at, _) => function.insts[at as usize].loc,
    }
}

/// The name of a value in messages: its own name or its type.
fn name(function: &Function, value: Value) -> String {
    match &function.values[value.index()].hint {
        Some(hint) => format!("`{hint}`"),
        None => format!("the value of type `{}`", function.ty(value)),
    }
}

fn folded(function: &Function, value: Value, halves: &Halves) -> Remark {
    let name = name(function, value);
    let size = halves.axes.map_or(0, |axes| axes.size());
    if function.ty(value).dtype() == DType::Pred {
        return Remark::taken(NAME, "predicate", format!("{name} is the causal mask of {size} positions"));
    }
    let (seen, unseen) = (halves.seen.f64s()[0], halves.unseen.f64s()[0]);
    let message =
        format!("{name} is {seen:?} where the causal mask of {size} positions is true and {unseen:?} elsewhere");
    Remark::taken(NAME, "fill", message)
}

fn kept(function: &Function, value: Value, near: &NearMiss) -> Remark {
    let name = name(function, value);
    let missed = |rule: &str, what: String| Remark::missed(NAME, rule, format!("{name} is {what}"));
    let NearMiss::Mask(mask) = near else {
        return missed("unknown", "a predicate of positions, but not a mask of a known kind".to_owned());
    };
    let (queries, keys) = (mask.query.size, mask.key.size);
    match mask.kind {
        MaskKind::Causal if Axes::of(mask).has_blocks() => {
            missed("blocks", format!("causal by blocks of {} positions", mask.key.stride))
        }
        MaskKind::Causal if mask.seen == 0.0 => {
            missed("shifted", "off the diagonal: position t sees up to t - 1".to_owned())
        }
        MaskKind::Causal => missed("transposed", "causal the other way round: position t sees t and later".to_owned()),
        MaskKind::Shifted { ahead: 0 } => missed("length", format!("causal over {queries} queries and {keys} keys")),
        MaskKind::Shifted { ahead: ahead @ 1.. } => {
            missed("shifted", format!("off the diagonal: position t sees up to t + {ahead}"))
        }
        MaskKind::Shifted { ahead } => {
            missed("shifted", format!("off the diagonal: position t sees up to t - {}", -ahead))
        }
        MaskKind::Window { behind, ahead: 0 } => missed("window", format!("a sliding window of {}", behind + 1)),
        MaskKind::Window { behind, ahead } => {
            missed("window", format!("a band: position t sees from t - {behind} to t + {ahead}"))
        }
        MaskKind::Prefix { length } => {
            missed("prefix", format!("causal but for a prefix: every position sees the first {length}"))
        }
    }
}
