//! Programs that are models.

use crate::model::{Taken, taken};
use crate::signature::{InputRole, Output, OutputRole, Signature};
use crate::stacks::Stack;
use crate::{float, roles};
use halite_hlo::CheckedHlo;
use halite_hlo::graph::Graph;
use halite_hlo::proto::{HloModuleProto, ShapeProto};
use halite_lang::Elaborated;
use halite_support::{Diagnostic, Diagnostics, Name, Result, codes};
use halite_tensor::DType;
use indexmap::IndexSet;

/// A program of one device that is the forward of a model.
#[derive(Clone, Debug)]
pub struct Program {
    name: Name,
    hlo: CheckedHlo,
    signature: Signature,
    /// The element type of its weights.
    float: DType,
    /// The model that it is in that type.
    taken: Taken,
}

impl Program {
    /// A program under a name, with the roles of its parameters and results.
    ///
    /// # Errors
    /// Every role that does not fit: of another number of values, of a name that is taken, a weight that has no floats or others than the
    /// rest, a batch without dimensions, no objective, one that is no scalar. Where they fit, every instruction that the IR has no op
    /// for, with its line, and every weight that the objective does not depend on.
    pub fn new(name: impl Into<Name>, hlo: CheckedHlo, signature: Signature) -> std::result::Result<Self, Diagnostics> {
        let (inputs, outputs) = shapes(hlo.graph())?;
        let name = name.into();
        let mut mistakes = Diagnostics::new();
        mistakes.extend(name.check("model", "_").err());
        let of_inputs = signature.inputs.iter().map(|input| Name::from(input.name.as_str()).check("parameter", "_."));
        let of_outputs = signature.outputs.iter().map(|output| Name::from(output.name.as_str()).check("result", "_."));
        mistakes.extend(of_inputs.chain(of_outputs).filter_map(Result::err));
        mistakes.extend(counted("parameters", inputs.len(), signature.inputs.len()));
        mistakes.extend(counted("results", outputs.len(), signature.outputs.len()));
        mistakes.extend(named_twice("parameters", signature.inputs.iter().map(|input| input.name.as_str())));
        mistakes.extend(named_twice("results", signature.outputs.iter().map(|output| output.name.as_str())));
        let mut float: Option<(DType, &str)> = None;
        for (input, shape) in signature.inputs.iter().zip(&inputs) {
            let found = shape.dtype();
            match (input.role, found) {
                (InputRole::Batch, Some(_)) if !shape.dimensions.is_empty() => {}
                (InputRole::Batch, _) => mistakes.push(no_batch(&input.name)),
                (_, Some(dtype)) if dtype.is_float() => {
                    let (first, name) = *float.get_or_insert((dtype, &input.name));
                    if dtype != first {
                        mistakes.push(mixed((name, first), (&input.name, dtype)));
                    }
                }
                (_, found) => mistakes.push(no_floats(&input.name, found)),
            }
        }
        if !signature.inputs.iter().any(|input| input.role == InputRole::Batch) {
            let error =
                Diagnostic::error(codes::CONTRACT, "the program takes no batch: all its parameters are weights");
            mistakes.push(error.help("say which parameters are the data of a step"));
        }
        mistakes.extend(objective(&signature.outputs, &outputs));
        let Some((float, _)) = float.filter(|_| mistakes.is_empty()) else {
            if mistakes.is_empty() {
                let error =
                    Diagnostic::error(codes::CONTRACT, "the program takes no weights, so that nothing can be trained");
                mistakes.push(error.help("give the weights as parameters of the program, not as constants in it"));
            }
            return Err(mistakes);
        };
        let taken = taken(&name, &hlo, &signature)?;
        Ok(Self { name, hlo, signature, float, taken })
    }

    /// A program under a name, with the roles that are written into it.
    ///
    /// # Errors
    /// When none are, or they cannot be read, and as [`new`](Self::new).
    pub fn read(name: impl Into<Name>, hlo: CheckedHlo) -> std::result::Result<Self, Diagnostics> {
        let signature = roles::read(hlo.graph())?;
        Self::new(name, hlo, signature)
    }

    /// Its roles as frontend attributes of a module, keys with their texts, for [`read`](Self::read).
    pub fn roles(&self) -> [(&'static str, String); 3] {
        roles::written(&self.signature)
    }

    /// Its HLO, with its roles in it.
    pub fn described(&self) -> HloModuleProto {
        let mut module = self.hlo.graph().module().clone();
        let roles = self.roles().map(|(key, text)| (key.to_owned(), text));
        module.frontend_attributes.get_or_insert_default().map.extend(roles);
        module
    }

    /// The roles of its parameters and results.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Its weights that are several of the model: those of the layers of a loop, which it keeps in one array.
    pub fn stacks(&self) -> &[Stack] {
        &self.taken.stacks
    }

    /// The model that it is, with `float` in the place of the element type of its weights.
    ///
    /// # Errors
    /// When it depends on the bytes of its numbers.
    pub fn elaborated(&self, float: DType) -> std::result::Result<Elaborated, Diagnostics> {
        if float == self.float {
            return Ok(Elaborated::new(self.taken.module.clone()));
        }
        let hlo = float::replaced(&self.hlo, (self.float, float))?;
        Ok(Elaborated::new(taken(&self.name, &hlo, &self.signature)?.module))
    }
}

/// The shapes of the parameters of the entry and of its results, each an array.
fn shapes(graph: &Graph) -> Result<(Vec<&ShapeProto>, Vec<&ShapeProto>)> {
    let broken = |message: String| {
        Diagnostic::error(codes::FOREIGN, message).help("export a function whose arguments and results are arrays")
    };
    let entry = graph.entry().ok_or_else(|| broken("the program has no entry".into()))?;
    let inputs: Option<Vec<&ShapeProto>> = graph.parameters(entry).iter().map(|&at| graph.shape(at)).collect();
    let inputs = inputs.ok_or_else(|| broken("a parameter of the program has no shape".into()))?;
    if let Some(tuple) = inputs.iter().position(|shape| shape.is_tuple()) {
        return Err(broken(format!("parameter {tuple} of the program is a tuple")));
    }
    let root =
        entry.root.and_then(|root| graph.shape(root)).ok_or_else(|| broken("the program has no result".into()))?;
    let outputs: Vec<&ShapeProto> =
        if root.is_tuple() { root.tuple_shapes.iter().map(|part| &**part).collect() } else { vec![root] };
    if let Some(tuple) = outputs.iter().position(|shape| shape.is_tuple()) {
        return Err(broken(format!("result {tuple} of the program is a tuple")));
    }
    Ok((inputs, outputs))
}

fn counted(what: &str, found: usize, given: usize) -> Option<Diagnostic> {
    let message = format!("the program has {found} {what}, roles are given of {given}");
    (found != given)
        .then(|| Diagnostic::error(codes::CONTRACT, message).help("give a role for each, in the order of the program"))
}

fn named_twice<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Option<Diagnostic> {
    let mut seen = IndexSet::new();
    let twice = names.into_iter().find(|name| !seen.insert(*name))?;
    let error = Diagnostic::error(codes::CONTRACT, format!("two {what} of the program are called `{twice}`"));
    Some(error.help("give each a name of its own"))
}

fn no_batch(name: &str) -> Diagnostic {
    let error = Diagnostic::error(codes::CONTRACT, format!("the batch `{name}` of the program is a single number"));
    error.help("give it a first dimension of what a batch has many of, or make it a constant of the program")
}

fn no_floats(name: &str, found: Option<DType>) -> Diagnostic {
    let found = found.map_or_else(|| "of a type that is not known".to_owned(), |dtype| format!("`{dtype}`"));
    let error =
        Diagnostic::error(codes::CONTRACT, format!("the weight `{name}` of the program is {found}, not of floats"));
    error.help("make it a constant of the program, or a batch")
}

fn mixed((first, dtype): (&str, DType), (name, other): (&str, DType)) -> Diagnostic {
    let message = format!("the weight `{name}` of the program is `{other}`, `{first}` is `{dtype}`");
    Diagnostic::error(codes::CONTRACT, message).help(
        "export the program with weights of one element type; the recipe says what is stored and computed in which",
    )
}

/// The mistakes in the objective and its count.
fn objective(outputs: &[Output], shapes: &[&ShapeProto]) -> Diagnostics {
    let mut mistakes = Diagnostics::new();
    for role in [OutputRole::Loss, OutputRole::Count] {
        let word = if role == OutputRole::Loss { "objective" } else { "count" };
        let those: Vec<usize> = (0..outputs.len()).filter(|&at| outputs[at].role == role).collect();
        match (those.as_slice(), role) {
            ([at], _) => {
                let Some(shape) = shapes.get(*at) else { continue };
                let fits = shape.dimensions.is_empty()
                    && shape
                        .dtype()
                        .is_some_and(|dtype| dtype.is_float() || (role == OutputRole::Count && dtype.is_int()));
                if !fits {
                    let message = format!("the {word} that the program returns is no scalar number");
                    mistakes.push(
                        Diagnostic::error(codes::CONTRACT, message)
                            .help("return a sum over the batch, without dimensions"),
                    );
                }
            }
            ([], OutputRole::Count) => {}
            (found, _) => {
                let message = format!("the program returns {} results as its {word}", found.len());
                mistakes.push(Diagnostic::error(codes::CONTRACT, message).help("name the one that is to be minimized"));
            }
        }
    }
    mistakes
}
