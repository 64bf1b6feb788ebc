//! Rounding by the switch of the runtime.

use crate::bench::Bench;
use crate::check::{Case, Check, Told, Within};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// The variables of the switch.
const SWITCH: &str = "NEURON_RT_STOCHASTIC_ROUNDING_EN";
const SEED: &str = "NEURON_RT_STOCHASTIC_ROUNDING_SEED";

/// How many numbers are rounded.
const COUNT: usize = 4096;

/// The number that is rounded: a quarter of the way from 1 to the number of `bf16` after it, which is 1 + 2^-7.
const QUARTER: f64 = 1.0 + 1.0 / 512.0;

/// Standard deviations that the share of numbers that are rounded up may be off: one right device in 1.7 million is further off.
const DEVIATIONS: f64 = 5.0;

const PROGRAM: &str = "
module @rounding {phase = built}

func @main(%x: f32[4096]) -> (bf16[4096]) {
  %y = convert %x : bf16[4096]
  return %y
}
";

pub(super) struct Rounding;

impl Check for Rounding {
    fn name(&self) -> &'static str {
        "rounding-switch"
    }

    fn about(&self) -> &'static str {
        "rounding to nearest even without the switch of the runtime, at random with it"
    }

    fn meaning(&self) -> &'static str {
        "Weights of `bf16` without master weights do not learn as recipes say; `precision.sr.by = \"dither\"` rounds in the program."
    }

    fn told(&self) -> Vec<Told> {
        vec![
            Told::new(
                "environment/NEURON_RT_STOCHASTIC_ROUNDING_EN",
                "with it at 1, a conversion from `f32` to `bf16` rounds up as often as the number is far up",
                "`precision.sr.by = \"switch\"` stays offered",
                "`precision.sr.by = \"switch\"` is refused for this target, and its default becomes `dither`",
            ),
            Told::new(
                "runtime/nearest-even",
                "with it at 0, a conversion from `f32` to `bf16` rounds to nearest even",
                "the precision audit says what programs do",
                "every precision with narrow types gets a warning: their rounding is not the one of IEEE 754",
            ),
        ]
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        Ok(vec![nearest(bench)?, random(bench)?])
    }
}

/// Ties, and numbers on both sides of them, with the switch off.
fn nearest(bench: &Bench) -> Result<Case> {
    let program = bench.program_of("rounding-off", PROGRAM)?;
    let value = |at: usize| (1.0 + at as f64 / 1024.0) * if at.is_multiple_of(2) { 1.0 } else { -1.0 };
    let inputs = vec![HostTensor::from_f64s(DType::F32, [COUNT], (0..COUNT).map(value))];
    let mut case = Case::of(bench, "rounding-off", program, vec![vec![inputs]])?;
    case.environment = vec![(SWITCH.into(), "0".into())];
    Ok(case.probing("`f32` to `bf16`, switch off", vec!["runtime/nearest-even".into()], Within::Exact))
}

fn random(bench: &Bench) -> Result<Case> {
    let program = bench.program_of("rounding-on", PROGRAM)?;
    let inputs = vec![HostTensor::from_f64s(DType::F32, [COUNT], [QUARTER].into_iter().cycle().take(COUNT))];
    let mut case = Case::of(bench, "rounding-on", program, vec![vec![inputs]])?;
    case.environment = vec![(SWITCH.into(), "1".into()), (SEED.into(), "7".into())];
    let facts = vec![format!("environment/{SWITCH}")];
    Ok(case.probing("`f32` to `bf16`, switch on", facts, Within::Holds(fault)))
}

/// Returns the fault of rounded numbers that were a quarter of the way up before.
fn fault(rounded: &HostTensor) -> Option<String> {
    let values = rounded.f64s();
    let above = 1.0 + 1.0 / 128.0;
    if let Some(other) = values.iter().find(|&&value| value != 1.0 && value != above) {
        return Some(format!("{QUARTER} became {other}, which is none of its neighbours 1 and {above}"));
    }
    let up = values.iter().filter(|&&value| value == above).count();
    let share = up as f64 / values.len().max(1) as f64;
    let deviation = (0.25 * 0.75 / values.len().max(1) as f64).sqrt();
    let is_off = (share - 0.25).abs() > DEVIATIONS * deviation;
    is_off.then(|| match up {
        0 => {
            format!("none of {} numbers a quarter of the way up was rounded up: the switch has no effect", values.len())
        }
        _ => format!("{up} of {} numbers a quarter of the way up were rounded up, where a quarter is", values.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_is_right_and_nothing_else() {
        let with = |up: usize| {
            let value = |at: usize| if at < up { 1.0 + 1.0 / 128.0 } else { 1.0 };
            fault(&HostTensor::from_f64s(DType::Bf16, [COUNT], (0..COUNT).map(value)))
        };
        assert_eq!((with(1024), with(1024 + 138), with(1024 - 138)), (None, None, None));
        assert!(with(0).unwrap().contains("no effect"));
        assert!(with(1024 + 139).is_some() && with(1024 - 139).is_some() && with(COUNT).is_some());
        assert!(fault(&HostTensor::from_f64s(DType::Bf16, [1], [1.5])).unwrap().contains("neighbours"));
    }
}
