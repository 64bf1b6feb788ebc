//! Printing modules and functions.

use super::attrs::{AttrPrinter, Resources};
use super::layout::print_layout;
use super::names::ValueNames;
use super::numbers::print_hex;
use super::quoted::print_name;
use super::roles::{print_param_role, print_result_role};
use crate::ops::Op;
use crate::syntax::{Function, Inst, Module, Value};
use std::fmt::Write;

/// The longest signature that stays on one line, in characters.
const MAX_SIGNATURE: usize = 120;

/// Options of printing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrintOptions {
    /// Whether each instruction is followed by the scopes it comes from, as a comment.
    pub locations: bool,
}

impl Default for PrintOptions {
    /// With locations.
    fn default() -> Self {
        Self { locations: true }
    }
}

/// Prints a module with locations.
pub fn print(module: &Module) -> String {
    print_with(module, PrintOptions::default())
}

/// Prints a module.
pub fn print_with(module: &Module, options: PrintOptions) -> String {
    let (version, name, phase) = (super::VERSION, print_name(&module.name), module.phase);
    let causal = if module.bidirectional { ", causal = false" } else { "" };
    let layout = module.layout.as_deref().map(print_layout).unwrap_or_default();
    let mut out = format!("halite.ir {version}\nmodule @{name} {{phase = {phase}{causal}{layout}}}\n");
    let mut resources = Resources::default();
    for function in &module.functions {
        out.push('\n');
        lines(module, function, options, &mut resources).write(&mut out);
    }
    write_resources(&mut out, &resources);
    out
}

/// Prints one function of a module and the large constants it uses.
pub fn print_function(module: &Module, function: &Function, options: PrintOptions) -> String {
    let (mut out, mut resources) = (String::new(), Resources::default());
    lines(module, function, options, &mut resources).write(&mut out);
    write_resources(&mut out, &resources);
    out
}

/// Prints one instruction of a function of a module on a line, without where it comes from; large constants by a number.
pub fn print_inst(module: &Module, function: &Function, names: &ValueNames, inst: &Inst) -> String {
    inst_line(module, function, names, inst, &mut Resources::default()).trim_start().to_owned()
}

fn write_resources(out: &mut String, resources: &Resources) {
    for (index, tensor) in resources.iter().enumerate() {
        let blank = if index == 0 { "\n" } else { "" };
        writeln!(out, "{blank}resource @r{index} = \"{}\"", print_hex(tensor.bytes()))
            .expect("a string takes any text");
    }
}

/// The lines of a printed function, without the closing brace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FunctionLines {
    /// The signature, which may hold several lines.
    pub(crate) signature: String,
    /// One line for each instruction.
    pub(crate) insts: Vec<String>,
    /// The `return` line.
    pub(crate) result: String,
}

impl FunctionLines {
    fn write(&self, out: &mut String) {
        for line in std::iter::once(&self.signature).chain(&self.insts).chain([&self.result]) {
            out.push_str(line);
            out.push('\n');
        }
        out.push_str("}\n");
    }
}

/// The lines of a function with locations, for messages. Broken functions print as well.
pub(crate) fn function_lines(module: &Module, function: &Function) -> FunctionLines {
    lines(module, function, PrintOptions::default(), &mut Resources::default())
}

fn lines(module: &Module, function: &Function, options: PrintOptions, resources: &mut Resources) -> FunctionLines {
    let names = ValueNames::new(function);
    let insts = function.insts.iter().map(|inst| {
        let mut line = inst_line(module, function, &names, inst, resources);
        let path = if options.locations && module.locs.contains(inst.loc) {
            module.locs.path(inst.loc)
        } else {
            String::new()
        };
        if !path.is_empty() {
            write!(line, "     // {}", path.escape_debug()).expect("a string takes any text");
        }
        line
    });
    let insts = insts.collect();
    let values: Vec<_> = function.results.iter().map(|result| result.value).collect();
    let mut result = "  return".to_owned();
    if !values.is_empty() {
        result.push(' ');
        names.write_all(&mut result, &values);
    }
    FunctionLines { signature: signature(function, &names), insts, result }
}

fn signature(function: &Function, names: &ValueNames) -> String {
    let params = function.params.iter().map(|param| {
        let mut text = String::new();
        names.write(&mut text, param.value);
        write_type(&mut text, ": ", function, param.value);
        text + &print_param_role(&param.role)
    });
    let results = function.results.iter().map(|result| {
        let mut text = if result.name.is_empty() { String::new() } else { print_name(&result.name) };
        write_type(&mut text, if result.name.is_empty() { "" } else { ": " }, function, result.value);
        text + &print_result_role(&result.role)
    });
    let (params, results): (Vec<_>, Vec<_>) = (params.collect(), results.collect());
    let start = format!("func @{}", print_name(&function.name));
    let flags = [(function.noinline, "noinline "), (function.rounds, "rounds ")];
    let flags: String = flags.into_iter().filter_map(|(is_set, word)| is_set.then_some(word)).collect();
    let task = function.task.map(|task| format!("{task} ")).unwrap_or_default();
    let open = format!("{flags}{task}{{");
    let line = format!("{start}({}) -> ({}) {open}", params.join(", "), results.join(", "));
    if line.chars().count() <= MAX_SIGNATURE {
        return line;
    }
    let end = format!(") -> ({}) {open}", results.join(", "));
    let end = if end.chars().count() <= MAX_SIGNATURE { end } else { format!(") -> ({}) {open}", wrapped(&results)) };
    format!("{start}({}{end}", wrapped(&params))
}

fn wrapped(items: &[String]) -> String {
    let lines: String = items.iter().map(|item| format!("  {item},\n")).collect();
    format!("\n{lines}")
}

fn inst_line(
    module: &Module,
    function: &Function,
    names: &ValueNames,
    inst: &Inst,
    resources: &mut Resources,
) -> String {
    let mut line = String::from("  ");
    names.write_all(&mut line, &inst.results);
    if !inst.results.is_empty() {
        line.push_str(" = ");
    }
    line.push_str(inst.op.name());
    let mut attrs = AttrPrinter::new(&module.functions, resources);
    inst.op.clone().def_mut().attrs(&mut attrs);
    if !attrs.literal.is_empty() {
        line.push(' ');
        line.push_str(&attrs.literal);
    }
    if !inst.args.is_empty() {
        line.push_str(if attrs.literal.is_empty() { " " } else { ", " });
        write_operands(&mut line, names, inst);
    }
    if let Some(rounding) = &inst.rounding {
        attrs.field("rounding", &rounding.to_string());
    }
    if !attrs.fields.is_empty() {
        write!(line, " {{{}}}", attrs.fields).expect("a string takes any text");
    }
    for (position, &result) in inst.results.iter().enumerate() {
        write_type(&mut line, if position == 0 { " : " } else { ", " }, function, result);
    }
    line
}

/// Appends the operands of an instruction, the optional ones of a composite by name.
fn write_operands(out: &mut String, names: &ValueNames, inst: &Inst) {
    let Op::Composite(composite) = &inst.op else { return names.write_all(out, &inst.args) };
    let (positional, optional) = inst.args.split_at(inst.args.len().saturating_sub(composite.given.count()));
    names.write_all(out, positional);
    for (at, (name, &value)) in composite.given.names().zip(optional).enumerate() {
        out.push_str(if at == 0 && positional.is_empty() { "" } else { ", " });
        write!(out, "{name} = ").expect("a string takes any text");
        names.write(out, value);
    }
}

/// Appends `before` and the type of a value; `?` when the value does not exist.
fn write_type(out: &mut String, before: &str, function: &Function, value: Value) {
    out.push_str(before);
    match function.values.get(value.index()) {
        Some(data) => write!(out, "{}", data.ty).expect("a string takes any text"),
        None => out.push('?'),
    }
}
