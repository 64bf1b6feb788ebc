//! Making modules with every type inferred and checked.
//!
//! A [`ModuleBuilder`] collects finished computations; a [`ComputationBuilder`] borrows it while one computation is made.
//! A computation is numbered when it is finished, so whatever it calls comes before it. The computation finished last is
//! the entry.
//!
//! ```
//! use halite_hlo::{ArrayType, ModuleBuilder, ReduceKind};
//! use halite_tensor::DType;
//!
//! let mut module = ModuleBuilder::new("example");
//! let mut entry = module.computation("main");
//! let x = entry.parameter("x", ArrayType::new(DType::F32, [4, 8]))?;
//! let zero = entry.constant_scalar(DType::F32, 0.0)?;
//! let sum = entry.reduce(ReduceKind::Add, x, zero, &[1])?;
//! let root = entry.root_tuple(&[sum])?;
//! entry.finish(root)?;
//! let module = module.finish()?;
//! assert_eq!(module.computations.len(), 2);
//! # Ok::<(), halite_support::Diagnostic>(())
//! ```

mod collective;
mod computation;
mod elementwise;
mod indexing;
mod movement;
mod structure;
mod token;
mod windows;

pub use collective::{CollectiveForm, GroupField};
pub use computation::{ComputationBuilder, Id, identifier};
pub(crate) use elementwise::comparison_type;
pub use indexing::IndexFacts;
pub use structure::CustomCall;
pub use token::Streams;

use crate::infer;
use crate::opcode::{Comparison, ReduceKind};
use crate::proto::{
    AliasEntryProto, HloComputationProto, HloInputOutputAliasProto, HloModuleProto, ReplicaGroup, SharedList,
};
use crate::types::{ArrayType, Type};
use halite_support::{Diagnostic, Result, codes, entity};
use halite_tensor::DType;
use std::collections::{BTreeMap, BTreeSet};

entity!(
    /// A finished computation of the module under construction.
    ComputationId,
    "computation"
);

/// Parameter and result types of a computation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Parameters in order.
    pub parameters: Vec<ArrayType>,
    /// Result.
    pub result: Type,
}

/// The alias kind "must alias" of the schema.
const MUST_ALIAS: i32 = 2;

/// A module under construction.
#[derive(Debug)]
pub struct ModuleBuilder {
    name: String,
    computations: Vec<HloComputationProto>,
    signatures: Vec<Signature>,
    /// Names of computations, finished or not.
    names: BTreeSet<String>,
    combiners: BTreeMap<(Option<ReduceKind>, DType), ComputationId>,
    selectors: BTreeMap<(Comparison, DType), ComputationId>,
    next_instruction: i64,
    aliases: Vec<(usize, usize)>,
    collectives: CollectiveForm,
    /// The groups of ranks of collectives so far, listed and as messages.
    groups: Vec<(Vec<Vec<usize>>, SharedList<ReplicaGroup>)>,
    /// The last channel.
    channels: i64,
}

impl ModuleBuilder {
    /// An empty module.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            computations: Vec::new(),
            signatures: Vec::new(),
            names: BTreeSet::new(),
            combiners: BTreeMap::new(),
            selectors: BTreeMap::new(),
            next_instruction: 0,
            aliases: Vec::new(),
            collectives: CollectiveForm::default(),
            groups: Vec::new(),
            channels: 0,
        }
    }

    /// The same with collectives in this form.
    #[must_use]
    pub fn with_collectives(self, collectives: CollectiveForm) -> Self {
        Self { collectives, ..self }
    }

    /// A channel of its own where channels are wanted, else 0, which is none.
    fn next_channel(&mut self) -> i64 {
        self.channels += i64::from(self.collectives.channels);
        self.channels
    }

    /// Starts a computation. What XLA does not take in a name becomes `_`, and a name that is taken gets a suffix `.1`,
    /// `.2` and so on.
    pub fn computation(&mut self, name: impl AsRef<str>) -> ComputationBuilder<'_> {
        let base = identifier(name.as_ref());
        let numbered = (1..).map(|number| format!("{base}.{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let name = names.find(|name| !self.names.contains(name)).expect("there is always another number");
        self.names.insert(name.clone());
        ComputationBuilder::new(self, name)
    }

    /// Types of a finished computation; an error when `id` belongs to another module.
    pub fn signature(&self, id: ComputationId) -> Result<&Signature> {
        let unknown = || Diagnostic::error(codes::UNDEFINED_VALUE, format!("{id:?} is not in module `{}`", self.name));
        self.signatures.get(id.index()).ok_or_else(unknown)
    }

    /// The computation that combines two scalars, made once per kind and element type.
    pub fn scalar_reducer(&mut self, kind: ReduceKind, dtype: DType) -> Result<ComputationId> {
        infer::reduce_kind(kind, dtype)?;
        self.combiner(Some(kind), dtype)
    }

    /// The computation that takes the second of two scalars: the combiner of an assigning scatter.
    pub fn scalar_assigner(&mut self, dtype: DType) -> Result<ComputationId> {
        self.combiner(None, dtype)
    }

    /// The computation that compares two scalars.
    pub(crate) fn scalar_selector(&mut self, stays: Comparison, dtype: DType) -> Result<ComputationId> {
        if let Some(made) = self.selectors.get(&(stays, dtype)) {
            return Ok(*made);
        }
        let mut body = self.computation(format!("{}_{dtype}", stays.name().to_lowercase()));
        let lhs = body.parameter("lhs", ArrayType::scalar(dtype))?;
        let rhs = body.parameter("rhs", ArrayType::scalar(dtype))?;
        let root = body.compare(stays, lhs, rhs)?;
        let made = body.finish(root)?;
        self.selectors.insert((stays, dtype), made);
        Ok(made)
    }

    fn combiner(&mut self, kind: Option<ReduceKind>, dtype: DType) -> Result<ComputationId> {
        if let Some(made) = self.combiners.get(&(kind, dtype)) {
            return Ok(*made);
        }
        let mut body = self.computation(format!("{}_{dtype}", kind.map_or("assign", |kind| kind.op().name())));
        let lhs = body.parameter("lhs", ArrayType::scalar(dtype))?;
        let rhs = body.parameter("rhs", ArrayType::scalar(dtype))?;
        let root = match kind {
            Some(kind) => body.binary(kind.op(), lhs, rhs)?,
            None => body.copy(rhs)?,
        };
        let made = body.finish(root)?;
        self.combiners.insert((kind, dtype), made);
        Ok(made)
    }

    /// States that entry result `output` takes the buffer of entry parameter `parameter`. Checked by [`finish`](Self::finish).
    pub fn alias(&mut self, parameter: usize, output: usize) {
        self.aliases.push((parameter, output));
    }

    /// The module, its entry being the computation finished last.
    ///
    /// # Errors
    /// When there is no computation, the entry's result is no tuple, or an alias names something that is missing, already
    /// aliased or of another type.
    pub fn finish(self) -> Result<HloModuleProto> {
        let (Some(entry), Some(signature)) = (self.computations.last(), self.signatures.last()) else {
            return Err(Diagnostic::error(
                codes::UNDEFINED_VALUE,
                format!("module `{}` has no computation", self.name),
            ));
        };
        let input_output_alias = alias_entries(&self.aliases, signature)?;
        Ok(HloModuleProto {
            entry_computation_name: entry.name.clone(),
            entry_computation_id: entry.id,
            host_program_shape: entry.program_shape.clone(),
            input_output_alias,
            name: self.name,
            computations: self.computations,
            ..HloModuleProto::default()
        })
    }
}

fn alias_entries(aliases: &[(usize, usize)], entry: &Signature) -> Result<Option<HloInputOutputAliasProto>> {
    let Type::Tuple(results) = &entry.result else {
        return Err(Diagnostic::error(
            codes::TYPE_MISMATCH,
            format!("the entry returns `{}`, not a tuple", entry.result),
        ));
    };
    let (mut parameters, mut outputs) = (BTreeSet::new(), BTreeSet::new());
    for (parameter, output) in aliases {
        let fault = |what: &str| {
            Err(Diagnostic::error(
                codes::ATTRIBUTE,
                format!("the alias of parameter {parameter} and result {output} {what}"),
            ))
        };
        match (entry.parameters.get(*parameter), results.get(*output)) {
            (Some(from), Some(Type::Array(to))) if from == to => {}
            (Some(_), Some(_)) => return fault("joins different types"),
            _ => return fault("names something that does not exist"),
        }
        if !parameters.insert(parameter) || !outputs.insert(output) {
            return fault("repeats one of them");
        }
    }
    let entry_of = |(parameter, output): &(usize, usize)| AliasEntryProto {
        output_shape_index: vec![*output as i64],
        parameter_number: *parameter as i64,
        parameter_shape_index: Vec::new(),
        kind: MUST_ALIAS,
    };
    let entries: Vec<_> = aliases.iter().map(entry_of).collect();
    Ok((!entries.is_empty()).then_some(HloInputOutputAliasProto { entries }))
}
