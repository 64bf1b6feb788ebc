//! Computations as functions, and as the regions of what combines two values.

use crate::channels::Channels;
use crate::form::Form;
use crate::location::Locations;
use crate::op::{Meaning, Op, Value};
use crate::ops;
use crate::quoted::value;
use crate::site::{Site, arrays};
use crate::symbols::Symbols;
use crate::types;
use crate::write;
use halite_hlo::graph::Graph;
use halite_hlo::{ArrayType, origin};
use halite_support::{Diagnostic, Result, codes};

/// The attributes of an argument or result of a function, besides its type.
pub(crate) type Attributes = Vec<String>;

/// The most instructions of a computation that combines two values. It is written out at each of its uses, which would otherwise make long
/// texts of short modules.
const COMBINING: usize = 64;

/// A module on its way to text.
pub(crate) struct Writer<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) form: Form<'a>,
    pub(crate) symbols: Symbols,
    pub(crate) channels: Channels,
    pub(crate) locations: Locations,
    pub(crate) out: String,
    /// The values of each instruction so far.
    values: Vec<Vec<Value>>,
}

/// The place in which a computation is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Function,
    /// Within an operation, where no other such operation may stand, so that nothing nests further.
    Region,
}

impl Place {
    fn indent(self) -> &'static str {
        if self == Self::Function { "    " } else { "      " }
    }

    /// The operation that ends it.
    fn terminator(self) -> &'static str {
        if self == Self::Function { "func.return" } else { "stablehlo.return" }
    }
}

impl<'a> Writer<'a> {
    pub(crate) fn new(graph: &'a Graph, form: Form<'a>) -> Self {
        Self {
            graph,
            form,
            symbols: Symbols::new(graph, form),
            channels: Channels::new(graph, form),
            locations: Locations::default(),
            out: String::new(),
            values: vec![Vec::new(); graph.len()],
        }
    }

    /// Writes a computation as a function, with the attributes of its arguments and results.
    pub(crate) fn function(
        &mut self,
        number: usize,
        visibility: &str,
        (inputs, outputs): (&[Attributes], &[Attributes]),
    ) -> Result<()> {
        let name = self.symbols.of(number).unwrap_or_default().to_owned();
        let (arguments, results) = (self.arguments(number, inputs)?, self.results(number, outputs)?);
        self.push(&format!("  func.func {visibility} {name}({arguments}) -> ({results}) {{\n"));
        self.body(number, Place::Function)?;
        let location = self.locations.of(None);
        self.push(&format!("  }}{location}\n"));
        Ok(())
    }

    fn arguments(&mut self, number: usize, inputs: &[Attributes]) -> Result<String> {
        let parameters = self.parameters(number)?;
        let argument = |(position, at): (usize, usize)| {
            let frontend = write::frontend(self.graph.inst(at).frontend_attributes.as_deref());
            let attributes = inputs.get(position).into_iter().flatten().cloned().chain(frontend);
            let location = self.locations.named(self.parameter_name(number, position));
            format!("{}{}{location}", self.argument(at), braced(attributes.collect()))
        };
        Ok(lines(&parameters.into_iter().enumerate().map(argument).collect::<Vec<_>>()))
    }

    /// The types of results, on lines of their own where something is said of them.
    fn results(&self, number: usize, outputs: &[Attributes]) -> Result<String> {
        let root = self.graph.root(number).and_then(|root| self.graph.shape(root));
        let types = arrays(root.ok_or_else(|| no_root(self.graph, number))?)?;
        let result = |(position, ty): (usize, &ArrayType)| {
            types::tensor(ty) + &braced(outputs.get(position).into_iter().flatten().cloned().collect())
        };
        let results: Vec<String> = types.iter().enumerate().map(result).collect();
        Ok(if outputs.is_empty() { results.join(", ") } else { lines(&results) })
    }

    fn site(&self, at: usize) -> Site<'_> {
        let Self { graph, form, values, symbols, channels, .. } = self;
        Site { graph, form: *form, at, values, symbols, channels }
    }

    /// The parameters in their order, each made a value.
    fn parameters(&mut self, number: usize) -> Result<Vec<usize>> {
        let graph = self.graph;
        let parameters = graph.parameters(&graph.computations()[number]);
        for &at in &parameters {
            let site = self.site(at);
            site.require_plain()?;
            let [ty] = <[_; 1]>::try_from(site.results()?).map_err(|_| site.fault("it is a tuple"))?;
            self.values[at] = vec![Value { name: value(&graph.inst(at).name, at), ty }];
        }
        Ok(parameters)
    }

    /// `%x.0: tensor<2xf32>` of a parameter.
    fn argument(&self, at: usize) -> String {
        let argument = |value: &Value| format!("{}: {}", value.name, types::tensor(&value.ty));
        self.values[at].iter().map(argument).collect()
    }

    /// The name that the program gives a parameter.
    fn parameter_name(&self, number: usize, position: usize) -> &'a str {
        let shape = self.graph.module().computations[number].program_shape.as_ref();
        shape.and_then(|shape| shape.parameter_names.get(position)).map_or("", String::as_str)
    }

    /// Writes the instructions of a computation, then what it returns.
    fn body(&mut self, number: usize, place: Place) -> Result<()> {
        let graph = self.graph;
        for at in graph.computations()[number].range() {
            self.values[at] = match ops::meaning(&self.site(at))? {
                Meaning::Values(values) => values,
                Meaning::Ops(ops) => self.operations(at, &ops, place)?,
            };
        }
        let root = graph.root(number).ok_or_else(|| no_root(graph, number))?;
        let location = self.locations.of(origin(graph.inst(root), graph.module()).as_ref());
        let results = &self.values[root];
        let text = format!("\"{}\"({})", place.terminator(), write::names(results));
        let text = text + &write::signature(results, &[]);
        self.push(&format!("{}{text}{location}\n", place.indent()));
        Ok(())
    }

    /// Writes what an instruction became; the values of its results.
    fn operations(&mut self, at: usize, ops: &[Op], place: Place) -> Result<Vec<Value>> {
        let name = value(&self.graph.inst(at).name, at);
        let mut values = Vec::new();
        for (position, op) in ops.iter().enumerate() {
            let name = if ops.len() == 1 { name.clone() } else { format!("{name}_{position}") };
            self.operation(at, op, &name, place)?;
            values.extend(write::results(op, &name));
        }
        Ok(values)
    }

    fn operation(&mut self, at: usize, op: &Op, name: &str, place: Place) -> Result<()> {
        let inst = self.graph.inst(at);
        self.push(&format!("{}{}", place.indent(), write::head(op, name)));
        for (number, &region) in op.regions.iter().enumerate() {
            self.push(if number == 0 { " (" } else { ", " });
            self.region(at, region, place)?;
        }
        if !op.regions.is_empty() {
            self.push(")");
        }
        let frontend = write::frontend(inst.frontend_attributes.as_deref());
        let location = self.locations.of(origin(inst, self.graph.module()).as_ref());
        let signature = write::signature(&op.operands, &op.results);
        self.push(&format!("{}{signature}{location}\n", braced(frontend.into_iter().collect())));
        Ok(())
    }

    /// Writes a computation of two values as a region of an operation.
    fn region(&mut self, at: usize, combiner: usize, place: Place) -> Result<()> {
        if place == Place::Region {
            return Err(self.site(at).fault("it stands in what combines two values"));
        }
        if self.graph.computations()[combiner].range().len() > COMBINING {
            return Err(self.site(at).fault(&format!("it combines by more than {COMBINING} instructions")));
        }
        let parameters = self.parameters(combiner)?;
        let location = self.locations.of(None);
        let arguments: Vec<_> = parameters.iter().map(|&at| self.argument(at) + &location).collect();
        self.push(&format!("{{\n    ^bb0({}):\n", arguments.join(", ")));
        self.body(combiner, Place::Region)?;
        self.push(&format!("{}}}", Place::Function.indent()));
        Ok(())
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }
}

/// Arguments or results, each on a line of its own: their attributes are long.
fn lines(items: &[String]) -> String {
    items.iter().map(|item| format!("\n      {item}")).collect::<Vec<_>>().join(",")
}

/// ` {a, b}`; nothing where there is nothing.
fn braced(attributes: Attributes) -> String {
    if attributes.is_empty() { String::new() } else { format!(" {{{}}}", attributes.join(", ")) }
}

fn no_root(graph: &Graph, number: usize) -> Diagnostic {
    let name = &graph.module().computations[number].name;
    Diagnostic::error(codes::UNDEFINED_VALUE, format!("the computation `{name}` returns nothing that it has"))
}
