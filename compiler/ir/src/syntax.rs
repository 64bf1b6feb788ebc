//! The data of the IR: modules, functions, instructions. No logic beyond look-ups.

use crate::dim_names::DimName;
use crate::effect::Effect;
use crate::layer::Layer;
use crate::layout::Layout;
use crate::loc::{LocId, LocTable};
use crate::ops::Op;
use crate::stage_task::StageTask;
use crate::ty::TensorType;
use halite_support::{Name, Names, entity};
use halite_tensor::{Content, Init, Packing, StateSpec};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

entity!(
    /// A value of a function: a parameter or a result of an instruction.
    Value,
    "%"
);
entity!(
    /// A function of a module. Callees come before callers; the entry is the last one.
    FuncId,
    "@"
);

/// A few values in order, such as the arguments or the results of an instruction.
pub type Values = SmallVec<[Value; 4]>;

/// The stage of a module in compilation. Phases only move forward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Phase {
    /// As elaborated from a model: forward only.
    #[default]
    Built,
    /// Gradients are part of the entry.
    Differentiated,
    /// Element types follow the precision recipe.
    Cast,
    /// The optimizer is present and the state is closed: every state input has its replacement among the results.
    Step,
    /// Only what the target takes: no composite, no unrealized rounding; no read of a donated buffer after its
    /// replacement is computed.
    Legal,
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Phase; 5] = [Phase::Built, Phase::Differentiated, Phase::Cast, Phase::Step, Phase::Legal];

    /// The word in IR text.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Built => "built",
            Phase::Differentiated => "differentiated",
            Phase::Cast => "cast",
            Phase::Step => "step",
            Phase::Legal => "legal",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A compilation unit.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its name, which the HLO module has too.
    pub name: Name,
    /// Its stage in compilation.
    pub phase: Phase,
    /// Whether the model declares that positions read later ones, as those of an encoder do: it is not held to causality.
    pub bidirectional: bool,
    /// Its functions, callees first, the entry last.
    pub functions: Vec<Function>,
    /// The ranks that run it and what they hold, once it is the program of one of several.
    pub layout: Option<Arc<Layout>>,
    /// The locations of its instructions.
    pub locs: LocTable,
}

impl Module {
    /// An empty module in phase `built`.
    pub fn new(name: impl Into<Name>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The function behind a handle.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    /// The function with this name.
    pub fn find(&self, name: &str) -> Option<FuncId> {
        self.functions.iter().position(|function| &*function.name == name).map(FuncId::new)
    }

    /// The names of its functions: who adds many keeps them.
    pub fn names(&self) -> Names {
        self.functions.iter().map(|function| function.name.clone()).collect()
    }

    /// `wanted`, or `wanted.1`, `wanted.2` and so on when it is taken.
    pub fn unused_name(&self, wanted: &str) -> Name {
        self.names().unused(wanted)
    }

    /// The entry: the last function.
    pub fn entry(&self) -> Option<&Function> {
        self.functions.last()
    }

    /// Number of instructions in all functions.
    pub fn num_insts(&self) -> usize {
        self.functions.iter().map(|function| function.insts.len()).sum()
    }
}

/// A function: parameters, instructions in order of execution, results.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Its name, unique in the module.
    pub name: Name,
    /// Values that it is given, in the order of arguments.
    pub params: Vec<Param>,
    /// Its instructions; every argument is defined earlier.
    pub insts: Vec<Inst>,
    /// Its results.
    pub results: Vec<FuncResult>,
    /// Its values, in the order of their definitions.
    pub values: Vec<ValueData>,
    /// Whether calls of it stay calls, also in HLO.
    pub noinline: bool,
    /// Whether it returns its first parameter, rounded at random to a narrower type by bits made of the others. The verifier holds its
    /// instructions to that; its name does not matter.
    pub rounds: bool,
    /// The task that it is of a pipeline; `None` for a function that is no program of a stage.
    pub task: Option<StageTask>,
    /// The joined effects of its instructions, which a call of it has. They are stored, so that no pass follows calls to find them.
    pub(crate) effect: Effect,
}

impl Function {
    /// The type of a value.
    pub fn ty(&self, value: Value) -> &TensorType {
        &self.values[value.index()].ty
    }

    /// The instruction that defines a value; `None` for parameters.
    pub fn def(&self, value: Value) -> Option<&Inst> {
        match self.values[value.index()].def {
            Def::Param(_) => None,
            Def::Inst(index, _) => Some(&self.insts[index as usize]),
        }
    }

    /// The names of its parameters.
    pub fn param_names(&self) -> Names {
        self.params.iter().map(|param| param.name.clone()).collect()
    }

    /// Types of the parameters.
    pub fn param_types(&self) -> Vec<TensorType> {
        self.params.iter().map(|param| self.ty(param.value).clone()).collect()
    }

    /// Types of the results.
    pub fn result_types(&self) -> Vec<TensorType> {
        self.results.iter().map(|result| self.ty(result.value).clone()).collect()
    }

    /// Whether it is another function in all but its name.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { name: _, params, insts, results, values, noinline, rounds, task, effect } = self;
        let flags = (noinline, rounds, task) == (&other.noinline, &other.rounds, &other.task);
        let body = (params, insts, results, values) == (&other.params, &other.insts, &other.results, &other.values);
        flags && *effect == other.effect && body
    }
}

/// Type, definition and name of one value.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueData {
    /// Element type and static shape.
    pub ty: TensorType,
    /// Its definition.
    pub def: Def,
    /// A name to print it under, if it has one.
    pub hint: Option<Name>,
}

/// The definition of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Def {
    /// By the parameter at this position.
    Param(u32),
    /// By the instruction at this position, as this result of it.
    Inst(u32, u16),
}

/// An op applied to earlier values.
#[derive(Clone, PartialEq, Debug)]
pub struct Inst {
    /// Its operation.
    pub op: Op,
    /// Its operands.
    pub args: Values,
    /// Its results.
    pub results: Values,
    /// Its rounding, when its results are narrower than the type it computes in.
    pub rounding: Option<Rounding>,
    /// Its location.
    pub loc: LocId,
}

impl Inst {
    /// Whether it rounds by random bits, so that nothing may stand for it.
    pub fn rounds_at_random(&self) -> bool {
        matches!(self.rounding, Some(Rounding::Stochastic(_) | Rounding::Switched))
    }

    /// The stream by which it rounds, if there is one.
    pub fn stream(&self) -> Option<&Name> {
        if let Some(Rounding::Stochastic(stream)) = &self.rounding { Some(stream) } else { None }
    }
}

/// The rounding of a result to a type narrower than the one it is computed in.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rounding {
    /// To the nearest value, ties to the one with an even significand.
    #[default]
    Nearest,
    /// To one of the two neighbours, each with a probability that makes the result right on average. The name is that of
    /// the stream of random bits: equal streams round alike.
    Stochastic(Name),
    /// The same by the hardware's own bits, where a switch of the process has it round so; elsewhere, to nearest.
    Switched,
}

impl fmt::Display for Rounding {
    /// `rne`, `sr("stream")` or `sr`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rounding::Nearest => f.write_str("rne"),
            Rounding::Stochastic(stream) => write!(f, "sr({})", crate::text::print_string(stream)),
            Rounding::Switched => f.write_str("sr"),
        }
    }
}

/// A parameter of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// The value it defines.
    pub value: Value,
    /// Its name, unique in the function.
    pub name: Name,
    /// Its role.
    pub role: ParamRole,
}

impl Param {
    /// The names of the tensors of the model that it stores: those of the parts of a packed weight, or its own.
    pub fn originals(&self) -> impl Iterator<Item = &str> {
        let parts = self.packing().map_or(&[][..], |packing| &packing.parts);
        let own = parts.is_empty().then_some(&*self.name);
        own.into_iter().chain(parts.iter().map(|part| &*part.name))
    }

    /// The packing of a weight that stores several tensors of the model.
    pub fn packing(&self) -> Option<&Arc<Packing>> {
        self.weight()?.packing.as_ref()
    }

    /// The facts about a weight, if it is one.
    pub fn weight(&self) -> Option<&WeightInfo> {
        if let ParamRole::Weight(info) = &self.role { Some(info) } else { None }
    }
}

/// The role of a parameter.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum ParamRole {
    /// An argument like any other.
    #[default]
    Argument,
    /// Data of one step, fed by the host.
    Batch,
    /// Data of one step of which the host feeds the one value that is declared.
    Known(Content),
    /// A parameter of the model.
    Weight(WeightInfo),
    /// State that a step replaces and that is not a weight.
    State(StateSpec),
}

impl ParamRole {
    /// The weight that a piece of state belongs to.
    pub fn weight_of(&self) -> Option<&str> {
        if let ParamRole::State(spec) = self { spec.of.as_deref() } else { None }
    }
}

/// Facts about one weight, from the recipe and the model.
#[derive(Clone, PartialEq, Debug)]
pub struct WeightInfo {
    /// Its initialization.
    pub init: Init,
    /// Its weight decay, stamped by `bind-recipe`; `None` when it is frozen.
    pub decay: Option<f64>,
    /// The group of the optimizer that it is in, stamped by `bind-recipe`.
    pub group: Option<Name>,
    /// Whether no update changes it, stamped by `bind-recipe`.
    pub frozen: bool,
    /// The dimension that products with it keep, stamped by `bind-recipe` where its update rule asks: 0 in `[out, in]`.
    pub output: usize,
    /// The tensors of the model that it stores, when these are several; they start alike, each from samples of its own.
    pub packing: Option<Arc<Packing>>,
    /// The model's names of its dimensions, one for each; `None` where none has a name, and where it stores several tensors.
    pub dims: Option<Arc<[DimName]>>,
    /// The layer of the model that it is in; the outermost, where layers have layers.
    pub layer: Option<Layer>,
    /// The first part of a pipeline that reads it, stamped by `place-stages`.
    pub part: Option<usize>,
    /// The axis of the mesh that shards each dimension, or `""`, where nothing but its readers say so; stamped by `place-weights`.
    pub place: Option<Arc<[Name]>>,
}

impl WeightInfo {
    /// A weight with this initialization and nothing else stated.
    pub fn new(init: Init) -> Self {
        Self {
            init,
            decay: None,
            group: None,
            frozen: false,
            output: 0,
            packing: None,
            dims: None,
            layer: None,
            part: None,
            place: None,
        }
    }
}

/// The metric that is the norm of the gradient of the mean, before clipping.
pub const GRAD_NORM: &str = "grad_norm";

/// The results of a training step that are not state, by name and in order: the mean loss, the norm of the gradient before
/// clipping, the learning rate, and how many elements the loss is the mean of.
pub const METRICS: [&str; 4] = ["loss", GRAD_NORM, "learning_rate", "count"];

/// The metric that is the scale of the loss in an update, where that changes from update to update.
pub const LOSS_SCALE: &str = "loss_scale";

/// A result of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct FuncResult {
    /// The parameter or result of an instruction that is returned.
    pub value: Value,
    /// Its name; empty when it has none.
    pub name: Name,
    /// Its role.
    pub role: ResultRole,
}

/// The role of a result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ResultRole {
    /// A result like any other.
    #[default]
    Value,
    /// The objective: a sum over the elements of the batch, differentiated by auto-diff.
    Loss,
    /// The number of elements that the objective sums over.
    Count,
    /// A sum over the elements of the batch that is reported, e.g. of right answers.
    Sum,
    /// The divisor of the sum of this name, itself a sum over the elements of the batch.
    Over(Name),
    /// A value the model shows, e.g. `logits`.
    Probe,
    /// The gradient of the objective by the parameter of this name.
    Gradient(Name),
    /// The factor by which the gradient by the parameter of this name is to be multiplied, a scalar of floats.
    Scale(Name),
    /// Whether the update is to be made, `pred[]`.
    Finite,
    /// A value of a forward that its backward reads.
    Residual,
    /// The replacement of the parameter of this name.
    State(Name),
    /// A scalar reported to the user.
    Metric,
}

impl ResultRole {
    /// Whether it is added up over the micro-batches and the ranks of an update: the objective, the sums that a model reports, and
    /// their divisors.
    pub fn is_sum(&self) -> bool {
        matches!(self, Self::Loss | Self::Count | Self::Sum | Self::Over(_))
    }
}
