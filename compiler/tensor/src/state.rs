//! State between training steps: its kinds and its initialization. IR, manifests and the code that fills buffers share the words.
//!
//! Kinds are open: whoever adds a piece of state to a training step names its kind, and says by a [`StateSpec`] all that
//! others need to store, start, shard or convert it.

use crate::init::Init;
use halite_support::{Diagnostic, Name, Result, codes};

/// The kind of the state that counts completed updates, `s32[]`.
pub const STEP: &str = "step";

/// The kind of the state that counts updates, those included that were skipped, `s32[]`.
pub const ATTEMPTS: &str = "attempts";

/// Words that are no kinds: what buffers hold that are no state, and elements of tensors in IR text.
const RESERVED: [&str; 6] = ["batch", "weight", "inf", "nan", "true", "false"];

/// One piece of training state besides the weights.
#[derive(Clone, PartialEq, Debug)]
pub struct StateSpec {
    /// Its kind: an identifier, such as `m`, that whoever adds the state chooses.
    pub kind: Name,
    /// The weight it belongs to, whose shape and packing it has; `None` for what all share.
    pub of: Option<Name>,
    /// Its initialization.
    pub init: Init,
    /// Whether it only passes between the modules of one update, so that a saved state leaves it out and loading one starts it anew.
    /// Between updates it holds its initial value, or what the next update does not read: the first micro-batch starts sums.
    pub transient: bool,
    /// Whether it sums up the micro-batches of an update, between the modules that make one. Ranks then hold terms of it along the axes
    /// that divide the batch. What does is transient.
    pub sum: bool,
    /// The part of a pipeline that adds a sum up; `None` where the model is not cut.
    pub part: Option<usize>,
}

impl StateSpec {
    /// State of a kind that starts at zero and that all weights share.
    pub fn new(kind: impl Into<Name>) -> Self {
        Self { kind: kind.into(), of: None, init: Init::Zeros, transient: false, sum: false, part: None }
    }

    /// The same, of one weight.
    #[must_use]
    pub fn of(self, weight: impl Into<Name>) -> Self {
        Self { of: Some(weight.into()), ..self }
    }

    /// The same, with another start.
    #[must_use]
    pub fn init(self, init: Init) -> Self {
        Self { init, ..self }
    }

    /// The same, passed between the modules of one update.
    #[must_use]
    pub fn transient(self) -> Self {
        Self { transient: true, ..self }
    }

    /// The same, a sum over the micro-batches of an update.
    #[must_use]
    pub fn sum(self) -> Self {
        Self { transient: true, sum: true, ..self }
    }

    /// The same, a sum that a part of a pipeline adds up.
    #[must_use]
    pub fn in_part(self, part: Option<usize>) -> Self {
        Self { part, ..self }
    }

    /// The name of its parameter: `<kind>.<weight>`, or `<kind>`.
    pub fn param_name(&self) -> Name {
        match &self.of {
            Some(weight) => format!("{}.{weight}", self.kind).into(),
            None => self.kind.clone(),
        }
    }

    /// Checks that there can be such state.
    ///
    /// # Errors
    /// When the kind is no identifier or a word that means something else, the state starts as a weight and belongs to none, it
    /// is transient and starts as something that a saved state would have to keep, or it is a sum and starts as anything but zero.
    pub fn check(&self) -> Result<()> {
        let Self { kind, of, init, transient, sum, part } = self;
        kind.check("state", "_")?;
        if RESERVED.contains(&&**kind) {
            let message = format!("state cannot be of the kind `{kind}`, which means something else");
            return Err(Diagnostic::error(codes::NAME, message).help("name the kind otherwise"));
        }
        if *init == Init::Weight && of.is_none() {
            let message = format!("state of the kind `{kind}` starts as a weight and belongs to none");
            return Err(Diagnostic::error(codes::ATTRIBUTE, message)
                .help("say which by `of`, or give it another start, such as `zeros`"));
        }
        if *transient && (*init == Init::Weight || init.is_random()) {
            let message = format!("transient state of the kind `{kind}` does not start from a constant");
            return Err(Diagnostic::error(codes::ATTRIBUTE, message)
                .note("a saved state leaves it out, so that nothing but its description says how it starts anew")
                .help("start it from `zeros`, `ones` or a constant, or do not make it transient"));
        }
        if *sum && (*init != Init::Zeros || !transient) {
            let message = format!("state of the kind `{kind}` is a sum, and not transient state from zero");
            return Err(Diagnostic::error(codes::ATTRIBUTE, message)
                .note("it sums up the micro-batches of one update")
                .help("make it transient and start it from `zeros`, or do not call it a sum"));
        }
        if part.is_some() && !sum {
            let message = format!("state of the kind `{kind}` is no sum, and said to be one of a part of the model");
            return Err(Diagnostic::error(codes::ATTRIBUTE, message).help("leave out `part`"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Init, StateSpec};

    #[test]
    fn parameters_are_named_after_kind_and_weight() {
        assert_eq!(StateSpec::new("m").of("model.w").param_name(), "m.model.w");
        assert_eq!(StateSpec::new("step").param_name(), "step");
    }

    #[test]
    fn state_that_cannot_be_is_refused() {
        let message = |spec: StateSpec| spec.check().unwrap_err().message().to_owned();
        assert_eq!(StateSpec::new("ema_2").of("w").init(Init::Weight).check(), Ok(()));
        assert_eq!(StateSpec::new("sum").of("w").init(Init::Constant(1.0)).transient().check(), Ok(()));
        assert_eq!(StateSpec::new("accum").of("w").sum().check(), Ok(()));
        assert!(
            message(StateSpec::new("accum").sum().init(Init::Ones))
                .ends_with("is a sum, and not transient state from zero")
        );
        for kind in ["", "m.x", "2nd", "a b"] {
            assert_eq!(message(StateSpec::new(kind)), format!("a state cannot be named `{kind}`"));
        }
        for kind in ["batch", "weight", "nan"] {
            assert!(message(StateSpec::new(kind)).starts_with("state cannot be of the kind"), "{kind}");
        }
        let ema = StateSpec::new("ema").init(Init::Weight);
        assert_eq!(message(ema.clone()), "state of the kind `ema` starts as a weight and belongs to none");
        for init in [Init::Weight, Init::Normal { std: 1.0 }] {
            let spec = ema.clone().of("w").init(init).transient();
            assert_eq!(message(spec), "transient state of the kind `ema` does not start from a constant");
        }
    }
}
