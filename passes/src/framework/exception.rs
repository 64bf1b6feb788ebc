//! Whom an exception of a precision recipe is for.

use crate::framework::pattern::matches_pattern;
use halite_recipe::PrecisionOverride;

/// The subject that the patterns of an exception are matched against.
#[derive(Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// An instruction, by op and scope.
    Inst(&'a str, &'a str),
    /// A parameter, by name.
    Parameter(&'a str),
}

impl Subject<'_> {
    /// Whether all patterns of an exception match.
    pub(crate) fn fits(self, exception: &PrecisionOverride) -> bool {
        let fits = |pattern: &Option<String>, text: &str| pattern.as_ref().is_none_or(|p| matches_pattern(p, text));
        match self {
            Subject::Inst(op, scope) => {
                exception.parameter.is_none() && fits(&exception.op, op) && fits(&exception.scope, scope)
            }
            Subject::Parameter(name) => exception.parameter.is_some() && fits(&exception.parameter, name),
        }
    }
}
