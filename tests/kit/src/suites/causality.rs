//! `causality`.

use super::Suite;
use crate::document::Anchor;
use crate::inputs::{InputKind, seeded_inputs};
use crate::kit::{Case, Outcome};
use halite::Session;
use halite_analysis::{Finding, Verdict, causality};
use halite_ir::{Function, Interpreter, Module, ParamRole, ResultRole};
use halite_support::Span;
use halite_tensor::{DType, HostTensor};

/// The number of inputs that a proof is tried on, and the most that are tried until a leak shows: a leak by rounding shows rarely.
const TRIES: (u64, u64) = (4, 64);

/// The verdict of the causality analysis on each function with a probe or a loss, as the entry of a module, with the line of a
/// finding. The interpreter confirms that on probes: where causality is proven, changing later tokens changes no bit before them; where
/// it is not kept, some change shows.
#[derive(Debug)]
pub(super) struct Causality;

impl Suite for Causality {
    fn name(&self) -> &str {
        "causality"
    }

    fn run(&self, case: &Case, session: &Session) -> Result<Outcome, String> {
        let module = case.module(session)?;
        case.execute(&module, session)?;
        let mut blocks = Vec::new();
        for (index, function) in module.functions.iter().enumerate() {
            let has = |role: &ResultRole| function.results.iter().any(|result| result.role == *role);
            if !has(&ResultRole::Probe) && !has(&ResultRole::Loss) {
                continue;
            }
            let part = Module { functions: module.functions[..=index].to_vec(), ..module.clone() };
            let report = causality(&part, &session.registry).map_err(|error| case.show(&error))?;
            if has(&ResultRole::Loss) {
                let told = format!("output {}\nloss {}", told(case, &report.outputs), told(case, &report.loss));
                blocks.push((Anchor::Function(function.name.to_string()), told));
                continue;
            }
            let verdict = &report.outputs;
            let tries = if matches!(verdict, Verdict::Leaks(_)) { TRIES.1 } else { TRIES.0 };
            let shows = |shown, seed| Ok::<_, String>(shown || changes_show(case, session, &part, function, seed)?);
            match (verdict, (0..tries).try_fold(false, shows)?) {
                (Verdict::Proven(_), true) => return Err(format!("`@{}` is proven, but leaks", function.name)),
                (Verdict::Leaks(_), false) => return Err(format!("`@{}` leaks, but no change shows", function.name)),
                _ => {}
            }
            blocks.push((Anchor::Function(function.name.to_string()), told(case, verdict)));
        }
        Ok(Outcome::new(blocks))
    }
}

/// Whether changing all tokens from some position on changes results before it.
fn changes_show(
    case: &Case,
    session: &Session,
    module: &Module,
    function: &Function,
    seed: u64,
) -> Result<bool, String> {
    let inputs = seeded_inputs(function, InputKind::Plain, seed);
    let run = |inputs: Vec<HostTensor>| {
        let results = Interpreter::of(module, &session.registry).run(function, inputs);
        results.map(|results| results[0].clone()).map_err(|error| case.show(&error))
    };
    let expected = run(inputs.clone())?;
    let length = expected.shape().get(1).copied().unwrap_or(0);
    for first in 1..length {
        let mut changed = inputs.clone();
        for (input, param) in changed.iter_mut().zip(&function.params) {
            if param.role == ParamRole::Batch && input.dtype() == DType::S32 {
                *input = changed_from(input, first);
            }
        }
        if before(&run(changed)?, first) != before(&expected, first) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Other tokens from a position on.
fn changed_from(tokens: &HostTensor, first: usize) -> HostTensor {
    let length = tokens.shape()[1];
    let change = |(at, token): (usize, i128)| if at % length < first { token } else { (token + 1) % 4 };
    HostTensor::from_ints(tokens.dtype(), tokens.shape().clone(), tokens.ints().into_iter().enumerate().map(change))
}

/// The bits of what stands before a position, zeros without their sign: that of a sum of nothing but zeros depends on what
/// they were products of.
fn before(tensor: &HostTensor, end: usize) -> Vec<u64> {
    let row: usize = tensor.shape()[2..].iter().product();
    let bits: Vec<u64> = tensor.f64s().into_iter().map(|value| (value + 0.0).to_bits()).collect();
    let sequences = bits.chunks_exact(row * tensor.shape()[1]);
    sequences.flat_map(|sequence| sequence[..row * end].to_vec()).collect()
}

/// The verdict, and the line that it is about.
fn told(case: &Case, verdict: &Verdict) -> String {
    let (Verdict::Leaks(Finding { span, .. }) | Verdict::Unknown(Finding { span, .. })) = verdict else {
        return verdict.to_string();
    };
    let line = |span: Span| {
        let line = case.sources.position(span).and_then(|at| case.text.lines().nth(at.line - 1));
        line.unwrap_or_default().trim().to_owned()
    };
    format!("{verdict}\n  {}", span.map_or("nowhere".to_owned(), line))
}
