//! IR for people: instructions that layers have in common are listed once.

use crate::compile::for_role;
use crate::session::Session;
use crate::source::Source;
use halite_bundle::ModuleRole;
use halite_ir::paths::family;
use halite_ir::text::{ValueNames, print_inst};
use halite_ir::{
    FuncId, FuncResult, Function, InferCx, Inst, Module, Op, Param, ParamRole, Registry, ResultRole, TensorType,
    function_flops,
};
use halite_passes::{Runner, RunnerOptions};
use halite_support::{Diagnostics, units};
use halite_tensor::Content;
use indexmap::IndexMap;
use serde::Serialize;
use std::fmt::Write;

/// Instructions in a row that differ in their layer alone are folded from so many on.
const MIN_FOLDED: usize = 4;
/// The column behind which notes on parameters and results stand.
const NOTES: usize = 68;
/// So many values are named one by one.
const MAX_NAMED: usize = 3;

/// A module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Listing {
    /// The module's name.
    pub name: String,
    /// Its functions: the entry, then as they are first called, those that compute with floats before others.
    pub functions: Vec<ListedFunction>,
}

/// A function of a listing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct ListedFunction {
    /// Its name.
    pub name: String,
    /// The number of runs in one execution of the module.
    pub runs: u64,
    /// Floating-point operations of one run.
    pub flops: u64,
    /// Bytes that one run returns for the backward.
    pub residual_bytes: u64,
    /// The function as text. It does not parse: instructions that differ in their layer alone are one line, and long lists of
    /// values are abridged.
    pub lines: Vec<String>,
}

impl Session {
    /// The legal IR of one module of a recipe as people read it.
    ///
    /// # Errors
    /// When the recipe does not compile.
    pub fn listing(&self, source: &Source, role: &ModuleRole) -> Result<Listing, Diagnostics> {
        let mut module = for_role(&self.elaborate(source)?.module, self.roles.get(role)?);
        let cx = self.pass_cx(Some(&source.recipe), None)?;
        Runner::new(RunnerOptions::default()).run(&self.pipeline(role)?, &mut module, &cx)?;
        Ok(list(&module, &self.registry))
    }
}

/// Lists a verified module.
pub fn list(module: &Module, registry: &Registry) -> Listing {
    let cx = InferCx { functions: &module.functions, registry };
    let (flops, runs) = (function_flops(&cx), runs(module));
    let mut order = order(module);
    order.sort_by_key(|id| flops[id.index()] == 0);
    let functions = order.into_iter().map(|id| {
        let function = module.function(id);
        let (flops, runs) = (flops[id.index()], runs[id.index()]);
        let residual_bytes = residuals(function).map(|result| bytes(function, result)).sum();
        let mut lines = vec![headline(function, runs, flops, residual_bytes)];
        lines.extend(Lines { module, function, names: ValueNames::new(function) }.all());
        ListedFunction { name: function.name.to_string(), runs, flops, residual_bytes, lines }
    });
    Listing { name: module.name.to_string(), functions: functions.collect() }
}

/// The functions as they are first called: the entry, then what it calls and what these call.
fn order(module: &Module) -> Vec<FuncId> {
    let mut listed = vec![false; module.functions.len()];
    let mut order: Vec<FuncId> = module.functions.len().checked_sub(1).map(FuncId::new).into_iter().collect();
    let mut next = 0;
    while let Some(&id) = order.get(next) {
        next += 1;
        for callee in module.function(id).insts.iter().filter_map(|inst| inst.op.callee()) {
            if !std::mem::replace(&mut listed[callee.index()], true) {
                order.push(callee);
            }
        }
    }
    order
}

/// The number of runs of each function in one execution.
pub(super) fn runs(module: &Module) -> Vec<u64> {
    let mut runs = vec![0u64; module.functions.len()];
    if let Some(entry) = runs.last_mut() {
        *entry = 1;
    }
    for (at, function) in module.functions.iter().enumerate().rev() {
        for callee in function.insts.iter().filter_map(|inst| inst.op.callee()) {
            runs[callee.index()] = runs[callee.index()].saturating_add(runs[at]);
        }
    }
    runs
}

fn residuals(function: &Function) -> impl Iterator<Item = &FuncResult> {
    function.results.iter().filter(|result| result.role == ResultRole::Residual)
}

fn bytes(function: &Function, result: &FuncResult) -> u64 {
    function.ty(result.value).bytes()
}

fn headline(function: &Function, runs: u64, flops: u64, residual_bytes: u64) -> String {
    let times = if runs == 1 { "runs once".to_owned() } else { format!("runs {runs} times") };
    let mut line = format!("// @{} {times}: {} instructions", function.name, function.insts.len());
    write!(line, ", {} FLOPs", units::short(flops)).expect("a string takes any text");
    if residual_bytes > 0 {
        write!(line, ", keeps {}", units::bytes(residual_bytes)).expect("a string takes any text");
    }
    line + if runs == 1 { "" } else { " each time" }
}

/// A function on its way to lines.
struct Lines<'a> {
    module: &'a Module,
    function: &'a Function,
    names: ValueNames,
}

impl Lines<'_> {
    fn all(&self) -> Vec<String> {
        let Function { name, params, results, .. } = self.function;
        let mut lines = vec![format!("func @{name}(")];
        lines.extend(folded(params.iter().map(|param| self.param(param))));
        lines.push(") -> (".to_owned());
        lines.extend(folded(results.iter().map(|result| self.result(result))));
        lines.push(") {".to_owned());
        lines.extend(self.body());
        lines.push("}".to_owned());
        lines
    }

    fn param(&self, param: &Param) -> Item<'_> {
        let role = match &param.role {
            ParamRole::Argument => String::new(),
            ParamRole::Batch => "batch".to_owned(),
            ParamRole::Known(Content::Causal) => "batch, the causal mask".to_owned(),
            ParamRole::Known(Content::Ranks) => "batch, the number of the rank".to_owned(),
            ParamRole::Known(Content::MicroBatch) => "batch, the number of the micro-batch".to_owned(),
            ParamRole::Known(Content::Keys(_)) => "batch, the keys of random bits".to_owned(),
            ParamRole::Weight(info) if info.frozen => "weight, frozen".to_owned(),
            ParamRole::Weight(_) => "weight".to_owned(),
            ParamRole::State(spec) => format!("state `{}`", spec.kind),
        };
        let of_weight = param.role.weight_of().map(|weight| param.name.replacen(weight, "*", 1));
        let family = of_weight.unwrap_or_else(|| family(&param.name));
        let ty = self.function.ty(param.value);
        Item { name: format!("%{}", param.name), family: format!("%{family}"), ty, role }
    }

    fn result(&self, result: &FuncResult) -> Item<'_> {
        let role = match &result.role {
            ResultRole::Value => "",
            ResultRole::Loss => "loss",
            ResultRole::Count => "count",
            ResultRole::Sum => "sum of a metric",
            ResultRole::Over(_) => "count of a metric",
            ResultRole::Probe => "output",
            ResultRole::Gradient(_) => "gradient",
            ResultRole::Scale(_) => "scale of a gradient",
            ResultRole::Finite => "whether all is finite",
            ResultRole::State(_) => "state",
            ResultRole::Metric => "metric",
            ResultRole::Residual => &format!("residual, {}", units::bytes(bytes(self.function, result))),
        };
        let name = if result.name.is_empty() { self.names.get(result.value) } else { &result.name };
        let family = if role == "state" { "*".to_owned() } else { family(name) };
        Item { name: name.to_owned(), family, ty: self.function.ty(result.value), role: role.to_owned() }
    }

    fn body(&self) -> Vec<String> {
        let insts: Vec<_> = self.function.insts.iter().map(|inst| (self.kind(inst), inst)).collect();
        let mut lines = Vec::new();
        for alike in insts.chunk_by(|(a, _), (b, _)| a == b) {
            let shown = if alike.len() < MIN_FOLDED { alike.len() } else { 1 };
            lines.extend(alike[..shown].iter().map(|(_, inst)| self.inst(inst)));
            if let Some((_, last)) = alike[shown..].last() {
                let path = self.module.locs.path(last.loc);
                let to = if path.is_empty() { String::new() } else { format!(", to {path}") };
                lines.push(format!("  ... and {} more like it{to}", alike.len() - shown));
            }
        }
        lines
    }

    /// The properties of an instruction that all have which differ in their layer alone, or in the part that they slice.
    fn kind<'i>(&self, inst: &'i Inst) -> (Option<&'i Op>, String, Vec<String>) {
        let op = (!matches!(inst.op, Op::Slice(_))).then_some(&inst.op);
        let types = inst.results.iter().map(|&result| self.function.ty(result).to_string()).collect();
        (op, family(&self.module.locs.path(inst.loc)), types)
    }

    fn inst(&self, inst: &Inst) -> String {
        let (text, note) = match inst.call() {
            Some(edge) => self.call(inst, self.module.function(edge.callee)),
            None => (print_inst(self.module, self.function, &self.names, inst), String::new()),
        };
        let path = self.module.locs.path(inst.loc);
        let notes: Vec<_> = [path, note].into_iter().filter(|part| !part.is_empty()).collect();
        if notes.is_empty() { format!("  {text}") } else { format!("  {text}     // {}", notes.join("; ")) }
    }

    /// A call, and a note on the residuals that it keeps for the backward.
    fn call(&self, inst: &Inst, callee: &Function) -> (String, String) {
        let results = inst.results.iter().zip(&callee.results);
        let (kept, own): (Vec<_>, Vec<_>) = results.partition(|(_, result)| result.role == ResultRole::Residual);
        let types: Vec<_> = own.iter().map(|(value, _)| self.function.ty(**value).to_string()).collect();
        let all = |values: &[halite_ir::Value]| abridged(values.iter().map(|&value| self.names.get(value)));
        let (left, args) = (all(&inst.results), all(&inst.args));
        let types = abridged(types.iter().map(String::as_str));
        let bytes = kept.iter().map(|(_, result)| bytes(callee, result)).sum();
        let note = if kept.is_empty() {
            String::new()
        } else {
            format!("keeps {} in {} residuals", units::bytes(bytes), kept.len())
        };
        (format!("{left} = call @{}({args}) : {types}", callee.name), note)
    }
}

/// A parameter or a result.
struct Item<'a> {
    name: String,
    /// The name under which it is listed together with others.
    family: String,
    ty: &'a TensorType,
    role: String,
}

/// A line for each family of items. The state of all weights, whose types are those of the weights, is one.
fn folded<'a>(items: impl Iterator<Item = Item<'a>>) -> Vec<String> {
    let mut families: IndexMap<(String, String, String), Vec<Item<'a>>> = IndexMap::new();
    for item in items {
        let ty = if item.family.ends_with('*') { String::new() } else { item.ty.to_string() };
        families.entry((item.family.clone(), ty, item.role.clone())).or_default().push(item);
    }
    let lines = families.into_iter().map(|((family, ty, role), items)| {
        let bytes = units::bytes(items.iter().map(|item| item.ty.bytes()).sum());
        let (start, note) = match &items[..] {
            [item] => (format!("  {}: {},", item.name, item.ty), role),
            items if ty.is_empty() => (format!("  {family}: {bytes},"), format!("{role}, {} of them", items.len())),
            items => (format!("  {family}: {ty},"), format!("{role}, {} of them", items.len())),
        };
        if note.is_empty() { start } else { format!("{start:NOTES$}     // {note}") }
    });
    lines.collect()
}

/// Names between commas; of many in a row of one family, or of plain numbers, the first and the last.
fn abridged<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let parts = names.chunk_by(|a, b| stem(a) == stem(b)).map(|alike| match (stem(alike[0]), alike) {
        (stem, [_, _, ..]) if !stem.is_empty() => format!("%{stem}.* ({})", alike.len()),
        (_, [first, .., last]) if alike.len() > MAX_NAMED => format!("{first} .. {last} ({})", alike.len()),
        _ => alike.join(", "),
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// The common part of names that stand together in a list: nothing for plain numbers, the layer for weights of one.
fn stem(name: &str) -> String {
    let plain = name.trim_start_matches('%');
    if plain.bytes().all(|byte| byte.is_ascii_digit()) {
        return String::new();
    }
    let layer = plain.split('.').position(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    layer.map_or_else(|| plain.to_owned(), |at| plain.split('.').take(at + 1).collect::<Vec<_>>().join("."))
}
