//! Facts about values at call sites, and the callees that a function asks for when it is rewritten.

use super::wants::Demand;
use halite_ir::{Builder, FuncId, Op};
use halite_support::Result;
use halite_tensor::DType;

/// The type in which readers without a demand of their own see a float value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum ReadAs {
    /// This type.
    Type(DType),
    /// The type of whatever it meets: a literal. `exact` when the recipe's operand type represents it.
    Literal { exact: bool },
}

/// Facts about a value where it comes from: the type it was made in, the type it is read as, and its readers, there and in all
/// functions that it is handed to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Fact {
    pub(super) made: DType,
    pub(super) read_as: ReadAs,
    pub(super) readers: Demand,
}

/// The context that a callee is rewritten for.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Context {
    pub(super) callee: FuncId,
    /// The facts about the operands.
    pub(super) args: Vec<Fact>,
    /// The readers of the results.
    pub(super) results: Vec<Demand>,
    /// The scope of the call, where exceptions name scopes.
    pub(super) scope: String,
}

/// A callee as it is for one context.
#[derive(Clone)]
pub(super) struct CastFunction {
    pub(super) id: FuncId,
    /// The facts about its results.
    pub(super) results: Vec<Fact>,
}

/// A source of callees.
pub(super) trait Callees {
    /// A callee for a context, made while its caller is.
    fn callee(&mut self, b: &mut Builder<'_>, context: Context) -> Result<CastFunction>;

    /// Renumbers the function that an op names, which stays as it is otherwise.
    fn renumber(&self, op: &mut Op) -> Result<()>;
}
