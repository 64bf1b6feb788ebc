//! Graphviz text: one box for each instruction, one frame for each scope.

use super::{Dependencies, Node};
use crate::loc::LocKind;
use crate::syntax::{Function, Module};
use indexmap::IndexMap;
use petgraph::visit::EdgeRef;
use std::borrow::Cow;
use std::fmt::{Display, Write};

/// Every function of a module, each in a frame of its own, in Graphviz's language.
pub fn dot(module: &Module) -> String {
    let mut out = Dot::new(&module.name);
    for (index, function) in module.functions.iter().enumerate() {
        out.line(format_args!("subgraph cluster_{index} {{"));
        out.line(format_args!("label={}; style=bold;", quoted(&format!("@{}", function.name))));
        out.function(module, function, &format!("f{index}_"));
        out.close();
    }
    out.finish()
}

/// One function in Graphviz's language.
pub fn dot_function(module: &Module, function: &Function) -> String {
    let mut out = Dot::new(&function.name);
    out.function(module, function, "");
    out.finish()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// A scope of a function: its instructions and the scopes in it. Scope 0 is the function.
#[derive(Default)]
struct Scope {
    path: String,
    insts: Vec<usize>,
    children: Vec<usize>,
}

/// The scopes of a function, parents first.
fn scopes(module: &Module, function: &Function) -> Vec<Scope> {
    let mut scopes = vec![Scope::default()];
    let mut known: IndexMap<(usize, Cow<'_, str>), usize> = IndexMap::new();
    for (at, inst) in function.insts.iter().enumerate() {
        let names: Vec<_> = module.locs.named(inst.loc).filter_map(LocKind::scope).collect();
        let mut scope = 0;
        for name in names.into_iter().rev() {
            let next = scopes.len();
            let child = *known.entry((scope, name.clone())).or_insert(next);
            if child == next {
                let parent = &scopes[scope].path;
                let path = if parent.is_empty() { name.into_owned() } else { format!("{parent}.{name}") };
                scopes.push(Scope { path, ..Scope::default() });
                scopes[scope].children.push(child);
            }
            scope = child;
        }
        scopes[scope].insts.push(at);
    }
    scopes
}

struct Dot {
    out: String,
    depth: usize,
}

impl Dot {
    fn new(name: &str) -> Self {
        let mut dot = Self { out: String::new(), depth: 0 };
        dot.line(format_args!("digraph {} {{", quoted(name)));
        dot.line(format_args!("node [shape=box, fontname=monospace, fontsize=10];"));
        dot
    }

    /// Writes a line; what follows one that ends in `{` is indented.
    fn line(&mut self, text: impl Display) {
        let indent = 2 * self.depth;
        let start = self.out.len();
        writeln!(self.out, "{:indent$}{text}", "").expect("a string takes any text");
        self.depth += usize::from(self.out[start..].ends_with("{\n"));
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn finish(mut self) -> String {
        self.close();
        self.out
    }

    fn function(&mut self, module: &Module, function: &Function, prefix: &str) {
        for (at, param) in function.params.iter().enumerate() {
            let label = quoted(&format!("{}\n{}", param.name, function.ty(param.value)));
            self.line(format_args!("{prefix}p{at} [label={label}, shape=ellipse];"));
        }
        self.scopes(&scopes(module, function), function, prefix);
        for (at, result) in function.results.iter().enumerate() {
            let name = if result.name.is_empty() { format!("result {at}") } else { result.name.to_string() };
            let label = quoted(&format!("{name}\n{}", function.ty(result.value)));
            self.line(format_args!("{prefix}r{at} [label={label}, shape=ellipse, style=bold];"));
        }
        let view = Dependencies::new(function);
        let node = |index| match view.graph()[index] {
            Node::Param(at) => format!("p{at}"),
            Node::Inst(at) => format!("i{at}"),
            Node::Result(at) => format!("r{at}"),
        };
        for edge in view.graph().edge_references() {
            self.line(format_args!("{prefix}{} -> {prefix}{};", node(edge.source()), node(edge.target())));
        }
    }

    /// Writes all scopes, each inside its parent, without recursion.
    fn scopes(&mut self, scopes: &[Scope], function: &Function, prefix: &str) {
        let mut open = vec![(0, 0)];
        self.insts(&scopes[0], function, prefix);
        while let Some((scope, next)) = open.last_mut() {
            let Some(&child) = scopes[*scope].children.get(*next) else {
                open.pop();
                if !open.is_empty() {
                    self.close();
                }
                continue;
            };
            *next += 1;
            open.push((child, 0));
            self.line(format_args!("subgraph cluster_{prefix}s{child} {{"));
            self.line(format_args!("label={};", quoted(&scopes[child].path)));
            self.insts(&scopes[child], function, prefix);
        }
    }

    fn insts(&mut self, scope: &Scope, function: &Function, prefix: &str) {
        for &at in &scope.insts {
            let inst = &function.insts[at];
            let types: Vec<_> = inst.results.iter().map(|&result| function.ty(result).to_string()).collect();
            let label = quoted(&format!("{}\n{}", inst.op.name(), types.join(", ")));
            self.line(format_args!("{prefix}i{at} [label={label}];"));
        }
    }
}
