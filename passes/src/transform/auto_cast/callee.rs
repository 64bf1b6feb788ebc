//! What is known where a function is called, and what a function that is rewritten asks of those it calls.

use super::wants::Demand;
use halite_ir::{Builder, FuncId, Op};
use halite_support::Result;
use halite_tensor::DType;

/// What readers without a demand of their own see of a float value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum ReadAs {
    /// This type.
    Type(DType),
    /// The type of whatever it meets: a literal. `exact` when the recipe's operand type represents it.
    Literal { exact: bool },
}

/// What is known of a value where it comes from: the type it was made in, how it is seen, and who reads it, there and in all that
/// it is handed to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Fact {
    pub(super) made: DType,
    pub(super) read_as: ReadAs,
    pub(super) readers: Demand,
}

/// What a callee is rewritten for.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Context {
    pub(super) callee: FuncId,
    /// What is known of the operands.
    pub(super) args: Vec<Fact>,
    /// Who reads the results.
    pub(super) results: Vec<Demand>,
    /// The scope of the call, where exceptions name scopes.
    pub(super) scope: String,
}

/// A callee as it is for one context.
#[derive(Clone)]
pub(super) struct CastFunction {
    pub(super) id: FuncId,
    /// What is known of its results.
    pub(super) results: Vec<Fact>,
}

/// Where callees come from.
pub(super) trait Callees {
    /// A callee for a context, made while its caller is.
    fn callee(&mut self, b: &mut Builder<'_>, context: Context) -> Result<CastFunction>;

    /// Has an op that names a function which stays as it is name it by its new number.
    fn renumber(&self, op: &mut Op) -> Result<()>;
}
