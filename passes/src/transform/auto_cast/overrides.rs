//! Exceptions of a precision recipe, found by pattern.

use super::missed;
use super::types::Types;
use crate::framework::exception::Subject;
use crate::transform::slots::SlotTypes;
use halite_ir::paths::nested;
use halite_ir::{Follows, Inst, LocTable, Module, Param, Policy, Registry, engine, loses};
use halite_recipe::{Master, Precision, PrecisionOverride};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::DType;
use std::cell::RefCell;

/// The effect of an exception, at best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OverrideEffect {
    /// Its patterns match nothing.
    Missed,
    /// Its matches follow none of the types that it states.
    Idle,
    /// Later exceptions state the same for all its matches.
    Overruled,
    /// It changes something.
    Used,
}

/// The exceptions, each with its effect so far.
pub(super) struct Overrides<'a> {
    pub(super) precision: &'a Precision,
    fates: RefCell<Vec<OverrideEffect>>,
}

impl<'a> Overrides<'a> {
    pub(super) fn new(precision: &'a Precision) -> Self {
        Self { precision, fates: RefCell::new(vec![OverrideEffect::Missed; precision.overrides.len()]) }
    }

    /// Whether any of them names a scope.
    pub(super) fn name_scopes(&self) -> bool {
        self.precision.overrides.iter().any(|exception| exception.scope.is_some())
    }

    /// The types of an instruction. `outer` is the scope of the call of its function.
    ///
    /// # Errors
    /// When exceptions that overlap here would have it add up in less than it reads.
    pub(super) fn types(&self, inst: &Inst, policy: &Policy, locs: &LocTable, outer: &str) -> Result<Types> {
        let types = Types::of(self.precision);
        // Most recipes have no exception over instructions, and a scope costs a text.
        if self.precision.overrides.iter().all(|exception| exception.parameter.is_some()) {
            return Ok(types);
        }
        let fitting = self.fitting(Subject::Inst(inst.op.name(), &nested(outer, locs.scope(inst.loc))));
        let types = fitting.iter().fold(types, |types, &index| types.with(&self.precision.overrides[index]));
        self.note(&fitting, |exception| followed(exception, policy));
        if policy.accumulate == Some(Follows::Accumulate) && loses(types.operand, types.accumulate) {
            return Err(self.clash(inst, locs, &fitting, types));
        }
        Ok(types)
    }

    /// The type in which a weight is stored.
    ///
    /// # Errors
    /// When it packs tensors of several types.
    pub(super) fn weight(&self, param: &Param) -> Result<DType> {
        let slots = SlotTypes::of(self.precision, param)?;
        param.originals().for_each(|name| self.note_weight(name, slots));
        Ok(slots.weight)
    }

    fn note_weight(&self, name: &str, slots: SlotTypes) {
        let fitting = self.fitting(Subject::Parameter(name));
        self.note(&fitting, |exception| {
            let copied = |&master: &Master| master == Master::None || slots.master != Master::None;
            stated([
                ("weight", exception.weight.is_some()),
                ("master", exception.master.as_ref().is_some_and(copied)),
                ("moments", exception.moments.is_some()),
            ])
        });
    }

    /// Complains of the exceptions that change nothing.
    ///
    /// # Errors
    /// When there is such an exception; further ones are notes of the first.
    pub(super) fn check(&self, module: &Module, registry: &Registry) -> Result<()> {
        let fates = self.fates.borrow();
        let mut useless = fates.iter().copied().enumerate().filter(|(_, fate)| *fate != OverrideEffect::Used);
        let Some((index, fate)) = useless.next() else { return Ok(()) };
        let exception = &self.precision.overrides[index];
        let error = Diagnostic::error(codes::PATTERN, self.complaint(index, fate));
        let mut error = error.key(format!("precision.override.{index}"));
        if fate == OverrideEffect::Missed {
            error = missed::notes(exception, module, registry).into_iter().fold(error, Diagnostic::note);
        }
        for (index, fate) in useless {
            error = error.note(self.complaint(index, fate));
        }
        Err(error.help(match fate {
            OverrideEffect::Missed => "correct the pattern (`*` matches any text) or remove the override",
            OverrideEffect::Overruled => "put it behind those that state the same, the last one counts, or remove it",
            _ if exception.parameter.is_some() => "narrow `weight` for these parameters, or remove the override",
            _ => "state a type that they follow, match other instructions, or remove the override",
        }))
    }

    fn fitting(&self, subject: Subject<'_>) -> Vec<usize> {
        let all = self.precision.overrides.iter().enumerate();
        all.filter(|(_, exception)| subject.fits(exception)).map(|(index, _)| index).collect()
    }

    /// Notes what exceptions do to one instruction or weight, `keys` being those that matter to it. Later ones win.
    fn note(&self, fitting: &[usize], keys: impl Fn(&PrecisionOverride) -> Vec<&'static str>) {
        let mut fates = self.fates.borrow_mut();
        let mut settled = Vec::new();
        for &index in fitting.iter().rev() {
            let keys = keys(&self.precision.overrides[index]);
            let fate = match keys.as_slice() {
                [] => OverrideEffect::Idle,
                keys if keys.iter().all(|key| settled.contains(key)) => OverrideEffect::Overruled,
                _ => OverrideEffect::Used,
            };
            fates[index] = fates[index].max(fate);
            settled.extend(keys);
        }
    }

    fn complaint(&self, index: usize, fate: OverrideEffect) -> String {
        let exception = &self.precision.overrides[index];
        let patterns = [("op", &exception.op), ("scope", &exception.scope), ("parameter", &exception.parameter)];
        let text = |(key, pattern): (_, &Option<String>)| Some(format!("{key} = \"{}\"", pattern.as_ref()?));
        let patterns: Vec<_> = patterns.into_iter().filter_map(text).collect();
        let of_parameters = exception.parameter.is_some();
        let what = match fate {
            OverrideEffect::Missed if of_parameters => "matches no parameter",
            OverrideEffect::Missed => "matches no instruction",
            OverrideEffect::Overruled => "has no effect: later ones state the same types for all it matches",
            _ if of_parameters => "has no effect: no weight it matches is narrower than its master",
            _ => "has no effect: no instruction it matches follows a type it states",
        };
        format!("precision override {} ({}) {what}", index + 1, patterns.join(", "))
    }

    fn clash(&self, inst: &Inst, locs: &LocTable, fitting: &[usize], types: Types) -> Diagnostic {
        let last = |states: fn(&PrecisionOverride) -> bool| {
            fitting.iter().copied().rfind(|&index| states(&self.precision.overrides[index]))
        };
        let says = |index: Option<usize>, key: &str| match index {
            Some(index) => format!("precision override {}", index + 1),
            None => format!("`precision.{key}`"),
        };
        let Types { operand, accumulate, .. } = types;
        let (reads, adds) = (last(|e| e.operand.is_some()), last(|e| e.accumulate.is_some()));
        let message = format!(
            "sums in `{accumulate}` ({}) do not hold operands in `{operand}` ({})",
            says(adds, "accumulate"),
            says(reads, "operand")
        );
        let (index, key) = match (adds, reads) {
            (Some(index), _) => (index, "accumulate"),
            (None, index) => (index.unwrap_or_default(), "operand"),
        };
        let help = format!(
            "keep their patterns apart, or set `accumulate = \"{}\"` in the last override that matches both",
            engine(operand)
        );
        Diagnostic::error(codes::RECIPE_CLASH, message)
            .or_at(locs.span(inst.loc), format!("both hold for this `{}`", inst.op.name()))
            .key(format!("precision.override.{index}.{key}"))
            .help(help)
    }
}

/// The keys that an exception states and instructions of this policy follow.
fn followed(exception: &PrecisionOverride, policy: &Policy) -> Vec<&'static str> {
    let follows = |key: Follows| {
        let of_values = [policy.operand, policy.compute].into_iter().chain(policy.accumulate);
        of_values.chain(policy.results.iter().copied()).any(|own| own == key)
    };
    // An exception's `operand` reaches element-wise ops too.
    let operand = follows(Follows::Operand) || follows(Follows::Widest);
    stated([
        ("operand", exception.operand.is_some() && operand),
        ("accumulate", exception.accumulate.is_some() && follows(Follows::Accumulate)),
        ("sensitive", exception.sensitive.is_some() && follows(Follows::Sensitive)),
        ("gradient", exception.gradient.is_some() && follows(Follows::Gradient)),
        ("reduce", exception.reduce.is_some() && follows(Follows::Reduce)),
    ])
}

fn stated<const N: usize>(keys: [(&'static str, bool); N]) -> Vec<&'static str> {
    keys.into_iter().filter(|(_, stated)| *stated).map(|(key, _)| key).collect()
}
