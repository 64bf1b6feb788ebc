//! The law of causality, on [`arithmetic_masks`](halite_tests::arithmetic_masks): the analysis against runs of the reference
//! interpreter in `f64` and `f32` with later tokens changed. `HALITE_ARITHMETIC_MASKS` says how many models to try.

use halite_analysis::{Verdict, Witness, causality};
use halite_ir::{Interpreter, ParamRole, Registry, SampleArg};
use halite_tensor::{DType, HostTensor};
use halite_test_kit::numeric::{drawn, uniform};
use halite_tests::arithmetic_masks::{ArithmeticModel, arithmetic_model};
use halite_tests::parallel::for_each;

/// The number of weights and tokens that every model is tried on.
const TRIALS: u64 = 3;

/// The most weights and tokens that a witness is tried on, until it shows.
const WITNESS_TRIALS: u64 = 16;

fn count() -> u64 {
    let variable = std::env::var("HALITE_ARITHMETIC_MASKS").ok();
    variable.map_or(200, |text| text.parse().expect("`HALITE_ARITHMETIC_MASKS` is a whole number"))
}

/// The effect on logits of changing later tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Seen {
    /// They change in some bit.
    changes: bool,
    /// Some are not finite.
    overflows: bool,
}

/// Changes each token but the first, and looks at the bits of what is before it.
fn seen(model: &ArithmeticModel, registry: &Registry) -> Seen {
    let mut seen = Seen::default();
    let entry = model.module.entry().expect("a model has an entry");
    let run = |inputs: Vec<HostTensor>| {
        let results = Interpreter::of(&model.module, registry).run(entry, inputs);
        results.unwrap_or_else(|error| panic!("{error}")).swap_remove(0).f64s()
    };
    for trial in 0..TRIALS {
        let inputs = inputs(model, trial);
        let before = run(inputs.clone());
        seen.overflows |= before.iter().any(|logit| !logit.is_finite());
        for position in 1..model.seq {
            let mut changed = inputs.clone();
            changed[0] = with_other_token(&inputs[0], position, model.vocab);
            let after = run(changed);
            let earlier = before.iter().zip(&after).take(position * model.vocab);
            seen.changes |= earlier.into_iter().any(|(before, after)| bits(*before) != bits(*after));
        }
    }
    seen
}

/// Whether some logit at the position of a witness changes with its token.
fn shows(model: &ArithmeticModel, witness: Witness, registry: &Registry) -> bool {
    let entry = model.module.entry().expect("a model has an entry");
    let run = |inputs: Vec<HostTensor>| {
        let results = Interpreter::of(&model.module, registry).run(entry, inputs);
        results.unwrap_or_else(|error| panic!("{error}")).swap_remove(0).f64s()
    };
    let [position, token] = [witness.position, witness.token].map(|at| usize::try_from(at).expect("a position"));
    (0..WITNESS_TRIALS).any(|trial| {
        let inputs = inputs(model, trial);
        let mut changed = inputs.clone();
        changed[0] = with_other_token(&inputs[0], token, model.vocab);
        let (before, after) = (run(inputs), run(changed));
        let row = position * model.vocab..(position + 1) * model.vocab;
        before[row.clone()].iter().zip(&after[row]).any(|(before, after)| bits(*before) != bits(*after))
    })
}

/// The bits of a number, those of a zero without its sign and of any NaN the same.
fn bits(number: f64) -> u64 {
    if number.is_nan() { f64::NAN.to_bits() } else { (number + 0.0).to_bits() }
}

/// Tokens and weights.
fn inputs(model: &ArithmeticModel, trial: u64) -> Vec<HostTensor> {
    let entry = model.module.entry().expect("a model has an entry");
    let params = entry.params.iter().zip(1..).map(|(param, at)| {
        let (ty, seed) = (entry.ty(param.value), 1000 * trial + at);
        match param.role {
            ParamRole::Batch => {
                drawn(SampleArg::whole(DType::S32, ty.shape().clone(), 0, model.vocab as i64 - 1), seed)
            }
            _ => uniform(ty.dtype(), ty.shape().clone(), -1.0, 1.0, seed),
        }
    });
    params.collect()
}

fn with_other_token(tokens: &HostTensor, position: usize, vocab: usize) -> HostTensor {
    let other = |(index, token)| if index == position { (token + 1) % vocab as i128 } else { token };
    HostTensor::from_ints(DType::S32, tokens.shape().clone(), tokens.ints().into_iter().enumerate().map(other))
}

/// The outcome for one model in one type.
struct Outcome {
    seed: u64,
    float: DType,
    verdict: Verdict,
    seen: Seen,
    /// Whether the witness of a leak shows in `f64`.
    is_shown: bool,
    /// The effect in the same model in `f64`.
    exact: Seen,
    is_arithmetic: bool,
    story: String,
}

fn outcomes_of(seed: u64, registry: &Registry) -> [Outcome; 2] {
    let models = [DType::F64, DType::F32].map(|float| arithmetic_model(seed, float, registry));
    let shown = models.each_ref().map(|model| seen(model, registry));
    let [exact, _] = shown;
    let outcome = |float: DType, model: &ArithmeticModel, seen: Seen| {
        let verdict = causality(&model.module, registry).unwrap_or_else(|error| panic!("seed {seed}: {error}")).outputs;
        let is_shown = match &verdict {
            Verdict::Leaks(finding) => finding.witness.is_some_and(|witness| shows(&models[0], witness, registry)),
            _ => true,
        };
        let story = model.story.join(", ");
        Outcome { seed, float, verdict, seen, is_shown, exact, is_arithmetic: model.is_arithmetic, story }
    };
    [outcome(DType::F64, &models[0], shown[0]), outcome(DType::F32, &models[1], shown[1])]
}

/// All models, in the order of their seeds.
fn outcomes(count: u64, registry: &Registry) -> Vec<Outcome> {
    for_each(&Vec::from_iter(0..count), |&seed| outcomes_of(seed, registry)).into_iter().flatten().collect()
}

impl Outcome {
    /// Whether the verdict says what is not so.
    fn is_wrong(&self) -> bool {
        match &self.verdict {
            Verdict::Proven(_) => self.seen.changes,
            // What rounding hides is read all the same.
            Verdict::Leaks(_) => !self.is_shown,
            Verdict::Unknown(_) => false,
            Verdict::NotApplicable(_) => true,
        }
    }

    fn told(&self) -> String {
        let Outcome { seed, float, verdict, seen, story, .. } = self;
        format!("seed {seed} in `{float}`: {verdict}\n    {seen:?}: {story}")
    }
}

#[test]
fn arithmetic_masks_are_judged_as_they_behave() {
    let count = count();
    let outcomes = outcomes(count, &Registry::builtin());
    let share = |which: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| which(outcome)).count();
    let all = outcomes.len();
    let looks_ahead = |outcome: &Outcome| outcome.seen.changes || outcome.exact.changes;
    let is_unknown = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Unknown(_));
    let (leaks, arithmetic) = (share(&looks_ahead), share(&|outcome| outcome.is_arithmetic));
    let causal = all - leaks;
    let doubted = share(&|outcome| is_unknown(outcome) && !looks_ahead(outcome));
    let missed = share(&|outcome| is_unknown(outcome) && looks_ahead(outcome));
    let tell = |which: &dyn Fn(&Outcome) -> bool| {
        let told: Vec<String> = outcomes.iter().filter(|outcome| which(outcome)).map(Outcome::told).collect();
        told.join("\n")
    };
    println!("{all}: {leaks} look ahead ({missed} of them unknown), {causal} are causal ({doubted} of them unknown)");
    println!("{arithmetic} use maximum, minimum, floor or %");
    println!("unknown:\n{}", tell(&is_unknown));
    assert!(leaks * 10 >= all * 4, "{leaks} of {all} look ahead");
    assert!(arithmetic * 4 >= all, "{arithmetic} of {all} use maximum, minimum, floor or %");
    assert!(share(&Outcome::is_wrong) == 0, "{} wrong:\n{}", share(&Outcome::is_wrong), tell(&Outcome::is_wrong));
    assert!(doubted * 10 <= causal, "{doubted} of {causal} causal models are unknown");
}
