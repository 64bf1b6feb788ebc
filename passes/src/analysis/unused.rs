//! Unused parts of a model: weights that never learn, inputs that reach nothing.

use crate::framework::pass::{Pass, PassCx};
use crate::transform::auto_diff::AutoDiff;
use halite_ir::graph::{Dependencies, Node};
use halite_ir::paths::family;
use halite_ir::{FuncResult, Function, Inst, LocTable, Module, Op, Param, ParamRole, Registry, ResultRole, Value};
use halite_support::{Diagnostic, Diagnostics, Name, Result, Span, codes};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// Weights without a gradient that are not frozen and inputs that reach no result of the entry of a module in phase `built`, as
/// warnings with the line of the model that reads them.
///
/// # Errors
/// When the objective cannot be differentiated.
pub fn check_unused(module: &Module, registry: &Registry) -> Result<Diagnostics> {
    let Some(entry) = module.entry() else { return Ok(Diagnostics::new()) };
    let view = Dependencies::new(entry);
    let reaching = |wanted: &dyn Fn(&ResultRole) -> bool| {
        let ends = (0..entry.results.len()).filter(|&at| wanted(&entry.results[at].role));
        let reaching = view.reaching(ends.map(Node::Result));
        (0..entry.params.len()).map(|at| reaching[view.index(Node::Param(at)).index()]).collect::<Vec<_>>()
    };
    let (any, loss) = (reaching(&|_| true), reaching(&|role| *role == ResultRole::Loss));
    let mut unused = UnusedParams { module, entry, readers: readers(entry), groups: IndexMap::new() };
    let moving = moving(module, registry)?;
    for (at, param) in entry.params.iter().enumerate() {
        match &param.role {
            ParamRole::Weight(info) if info.frozen => {}
            ParamRole::Weight(_) if moving.as_ref().is_some_and(|moving| !moving[at]) => {
                unused.add(param, if loss[at] { Fault::Blocked } else { Fault::Frozen });
            }
            ParamRole::Weight(_) | ParamRole::State(_) => {}
            ParamRole::Argument | ParamRole::Batch | ParamRole::Known(_) if any[at] => {}
            ParamRole::Argument | ParamRole::Batch | ParamRole::Known(_) => unused.add(param, Fault::Unread),
        }
    }
    Ok(unused.finish())
}

/// For each parameter of the entry, whether it has a gradient that is not simply zero; `None` without an objective.
fn moving(module: &Module, registry: &Registry) -> Result<Option<Vec<bool>>> {
    let entry = module.entry().filter(|entry| entry.results.iter().any(|result| result.role == ResultRole::Loss));
    let Some(entry) = entry else { return Ok(None) };
    let mut differentiated = module.clone();
    AutoDiff.run(&mut differentiated, &PassCx::new(registry))?;
    let Some(gradients) = differentiated.entry() else { return Ok(None) };
    let gradient_of = |result: &'_ FuncResult| match &result.role {
        ResultRole::Gradient(name) => Some((name.clone(), result.value)),
        _ => None,
    };
    let found: FxHashMap<Name, Value> = gradients.results.iter().filter_map(gradient_of).collect();
    let moves =
        |param: &Param| found.get(&param.name).is_some_and(|&gradient| !gradients.def(gradient).is_some_and(is_zero));
    Ok(Some(entry.params.iter().map(moves).collect()))
}

fn is_zero(inst: &Inst) -> bool {
    matches!(&inst.op, Op::Constant(constant) if constant.value.f64s().iter().all(|x| *x == 0.0))
}

/// The first instruction that reads each value.
fn readers(entry: &Function) -> FxHashMap<Value, usize> {
    let mut readers = FxHashMap::default();
    for (at, inst) in entry.insts.iter().enumerate() {
        for &arg in &inst.args {
            readers.entry(arg).or_insert(at);
        }
    }
    readers
}

/// The fault of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Fault {
    /// A weight that the loss does not depend on.
    Frozen,
    /// A weight that the loss depends on, but only through ops without a derivative.
    Blocked,
    /// An input that no result depends on.
    Unread,
}

/// The faulty parameters so far, by fault and family of names; layers fall together.
struct UnusedParams<'a> {
    module: &'a Module,
    entry: &'a Function,
    /// The first instruction that reads a value.
    readers: FxHashMap<Value, usize>,
    groups: IndexMap<(Fault, String), (Option<Span>, usize)>,
}

impl UnusedParams<'_> {
    fn add(&mut self, param: &Param, fault: Fault) {
        let reader = self.readers.get(&param.value).map(|&at| &self.entry.insts[at]);
        let locs: &LocTable = &self.module.locs;
        let span = reader.and_then(|inst| locs.span(inst.loc));
        let (_, count) = self.groups.entry((fault, family(&param.name))).or_insert((span, 0));
        *count += 1;
    }

    fn finish(self) -> Diagnostics {
        let groups = self.groups.into_iter();
        groups.map(|((fault, name), (span, count))| finding(fault, &name, count).or_at(span, "read here")).collect()
    }
}

fn finding(fault: Fault, name: &str, count: usize) -> Diagnostic {
    let (subject, learns) = match count {
        1 => (format!("the weight `{name}`"), "never learns"),
        _ => (format!("{count} weights `{name}`"), "never learn"),
    };
    match fault {
        Fault::Frozen => {
            Diagnostic::warning(codes::FROZEN, format!("{subject} {learns}: the loss does not depend on it"))
                .help("use it on the way to the loss, or remove it")
        }
        Fault::Blocked => Diagnostic::warning(
            codes::FROZEN,
            format!("{subject} {learns}: no derivative passes from the loss to it"),
        )
        .note(
            "every way to the loss leads through ops that are constant almost everywhere, such as `compare` or `floor`",
        )
        .help("use it in an op that has a derivative, or remove it"),
        Fault::Unread => Diagnostic::warning(codes::UNREAD, format!("the input `{name}` reaches no result"))
            .help("use it, or remove it from `main`"),
    }
}
