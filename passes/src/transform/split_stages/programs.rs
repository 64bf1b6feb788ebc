//! The programs of stages, each a module.

use halite_ir::{
    Edge, FuncResult, Function, Module, Param, ParamRole, Registry, ResultRole, Rewriter, StageTask, TensorType, Value,
};
use halite_support::{Diagnostic, Name, Result, codes};
use rustc_hash::FxHashMap;

/// A program of a stage.
#[derive(Clone, Debug)]
pub struct StageProgram {
    /// Its task.
    pub task: StageTask,
    /// The stage that runs it.
    pub stage: usize,
    /// Its module, whose entry is the function of the task. State and data have the roles that they have in the whole; what programs hand on
    /// to one another are plain arguments and results, which have one name in all of them.
    pub module: Module,
}

/// The programs of a module that `split-stages` or `split-update` cut, in the order of its calls; none where neither did. The names of the
/// values that they hand on begin with `prefix`; state that is read on another stage than its own keeps its name.
///
/// # Errors
/// When the entry does anything beside.
pub fn stage_programs(
    module: &Module,
    registry: &Registry,
    prefix: &str,
    stage_of: impl Fn(usize) -> usize,
) -> Result<Vec<StageProgram>> {
    let Some(entry) = module.entry() else { return Ok(Vec::new()) };
    if module.functions.iter().all(|function| function.task.is_none()) {
        return Ok(Vec::new());
    }
    let calls = entry.insts.iter().map(|inst| {
        let call = inst.call().and_then(|edge| Some((edge, module.function(edge.callee).task?)));
        call.ok_or_else(|| beside(module, inst.op.name()))
    });
    let calls: Vec<(Edge<'_>, StageTask)> = calls.collect::<Result<_>>()?;
    let entry = Entry::of(module, entry, &calls, prefix);
    let program = |&(edge, task): &(Edge<'_>, StageTask)| {
        let stage = match task {
            StageTask::Forward { part }
            | StageTask::Backward { part }
            | StageTask::BackwardInput { part }
            | StageTask::BackwardWeights { part } => stage_of(part),
            StageTask::Update { stage, .. } => stage,
        };
        let is_elsewhere = |param: &Param| matches!(&param.role, ParamRole::State(spec) if spec.part.is_some_and(|part| stage_of(part) != stage));
        Ok(StageProgram { task, stage, module: entry.program(edge, registry, is_elsewhere)? })
    };
    calls.iter().map(program).collect()
}

/// An entry that calls programs.
struct Entry<'a> {
    module: &'a Module,
    params: FxHashMap<Value, &'a Param>,
    /// The parameters that are state, by name, with their types.
    state: FxHashMap<&'a Name, (&'a Param, &'a TensorType)>,
    results: FxHashMap<Value, Vec<&'a FuncResult>>,
    /// The names of values that programs hand on to one another.
    handed_on: FxHashMap<Value, Name>,
}

impl<'a> Entry<'a> {
    fn of(module: &'a Module, entry: &'a Function, calls: &[(Edge<'a>, StageTask)], prefix: &str) -> Self {
        let params = entry.params.iter().map(|param| (param.value, param)).collect();
        let state = entry.params.iter().map(|param| (&param.name, (param, entry.ty(param.value)))).collect();
        let mut results: FxHashMap<Value, Vec<&FuncResult>> = FxHashMap::default();
        for result in &entry.results {
            results.entry(result.value).or_default().push(result);
        }
        let mut handed_on = FxHashMap::default();
        for (edge, _) in calls {
            let name = &module.function(edge.callee).name;
            for (at, value) in edge.results.iter().enumerate() {
                handed_on.insert(*value, Name::from(format!("{prefix}.{name}.{at}")));
            }
        }
        let read: Vec<Value> = calls.iter().flat_map(|(edge, _)| edge.args.iter().copied()).collect();
        let handed_on = read.into_iter().filter_map(|value| Some((value, handed_on.remove(&value)?))).collect();
        Self { module, params, state, results, handed_on }
    }

    /// The module whose entry is a callee of this one. Of state that is `elsewhere`, it is given the value.
    fn program(&self, edge: Edge<'_>, registry: &Registry, is_elsewhere: impl Fn(&Param) -> bool) -> Result<Module> {
        let callee = self.module.function(edge.callee);
        let mut module = self.module.clone();
        module.take_entry()?;
        let mut b = Rewriter::without_params(&mut module, registry, callee);
        for (own, arg) in callee.params.iter().zip(edge.args) {
            let (name, role) = match self.params.get(arg) {
                Some(param) if is_elsewhere(param) => (param.name.clone(), ParamRole::Argument),
                Some(param) => (param.name.clone(), param.role.clone()),
                None => (self.name(*arg)?, ParamRole::Argument),
            };
            let value = b.param(name, callee.ty(own.value).clone(), role);
            b.replace(own.value, value);
        }
        for (param, ty) in self.replaced_unread(edge) {
            b.param(param.name.clone(), ty.clone(), param.role.clone());
        }
        for inst in &callee.insts {
            b.copy(callee, inst)?;
        }
        for (own, result) in callee.results.iter().zip(edge.results) {
            let value = b.value(own.value)?;
            for named in self.results.get(result).into_iter().flatten() {
                b.named_result(value, named.name.clone(), self.role(edge, &named.role));
            }
            if let Some(name) = self.handed_on.get(result) {
                b.named_result(value, name.clone(), ResultRole::Value);
            }
        }
        b.set_noinline(false);
        b.into_builder().finish();
        module.drop_unreached();
        Ok(module)
    }

    /// The role of a result of a callee. What a sum of another program is divided by is a metric here, whose name says of what.
    fn role(&self, edge: Edge<'_>, role: &ResultRole) -> ResultRole {
        let ResultRole::Over(of) = role else { return role.clone() };
        let mut own = edge.results.iter().flat_map(|result| self.results.get(result).into_iter().flatten());
        let has_sum = own.any(|other| other.role == ResultRole::Sum && other.name == *of);
        if has_sum { role.clone() } else { ResultRole::Metric }
    }

    /// The state that a callee replaces without reading it. Its memory is given to what replaces it.
    fn replaced_unread<'s>(&'s self, edge: Edge<'s>) -> impl Iterator<Item = (&'a Param, &'a TensorType)> + 's {
        let results = edge.results.iter().flat_map(|result| self.results.get(result).into_iter().flatten());
        let replaced = results.filter_map(|result| match &result.role {
            ResultRole::State(name) => self.state.get(name).copied(),
            _ => None,
        });
        replaced.filter(move |(param, _)| !edge.args.contains(&param.value))
    }

    fn name(&self, value: Value) -> Result<Name> {
        self.handed_on.get(&value).cloned().ok_or_else(|| Diagnostic::bug("a program reads what no other makes"))
    }
}

/// An entry that does anything beside calling programs.
fn beside(module: &Module, op: &str) -> Diagnostic {
    let message = format!("`{}` makes something of what several stages make: `{op}`", module.name);
    Diagnostic::error(codes::NOT_SUPPORTED, message)
        .key("parallel.pipeline")
        .note("what a model returns is made by one stage")
        .help("choose fewer stages, or do not ask for what is made of several")
}
