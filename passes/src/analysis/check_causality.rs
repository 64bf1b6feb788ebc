//! `check-causality`.

use crate::framework::example::golden;
use crate::framework::findings::Findings;
use crate::framework::pass::{Changed, Pass, PassCx, PassInfo, Relation};
use halite_analysis::{CausalityReport, Finding, Trial, Verdict, causality, of_loss, of_output};
use halite_ir::{Module, Param, ParamRole, Phase};
use halite_support::{Result, Severity};

/// Proves that outputs at each position depend only on tokens up to that position, and that the loss compares labels with
/// predictions that have not read them, see [`causality`](causality()). The module stays as it is.
///
/// A leak is what inputs show: a later token that changes an earlier value, in the module itself or, where the interpreter would take
/// too long, in the same model at smaller sizes. A value that cannot be followed is tried too, where tokens and weights are all that a
/// model is given. A leak is an error; a value that cannot be followed, and a leak that no input shows, is not. Before `legal` it is an
/// error of the model; in `legal` it is the fault of a pass, where the findings of the run hold an earlier proof. The report goes to
/// the findings of the run.
#[derive(Debug)]
pub(crate) struct CheckCausality;

impl Pass for CheckCausality {
    fn info(&self) -> PassInfo {
        PassInfo::new("check-causality", "prove that outputs depend on no later token", Relation::Identical)
            .required()
            .needs(Phase::Built..=Phase::Legal)
            .example(golden!("check_causality_leak" @ "main"))
    }

    fn run(&self, module: &mut Module, cx: &PassCx<'_>) -> Result<Changed> {
        // Tokens of a sequence may lie on several ranks: it is the whole program that was proven.
        if module.layout.is_some() {
            return Ok(Changed::No);
        }
        let report = judged(causality(module, cx.registry)?, module, cx);
        let earlier = cx.findings.and_then(Findings::report::<CausalityReport>);
        // The first of a run that says something. Given before a run, it says what was proven of the module that the run starts from.
        if let Some(findings) = cx.findings.filter(|_| earlier.as_ref().is_none_or(CausalityReport::is_empty)) {
            findings.keep(report.clone());
        }
        let was_proven = earlier.is_some_and(|earlier| matches!(earlier.outputs, Verdict::Proven(_)));
        match report.diagnostics().into_iter().find(|finding| finding.severity() >= Severity::Error) {
            Some(leak) if module.phase == Phase::Legal && was_proven => {
                Err(leak.into_bug("`check-causality`: a pass before it lets the future in"))
            }
            Some(leak) => Err(leak),
            None => Ok(Changed::No),
        }
    }
}

/// A report in which each leak is shown.
fn judged(report: CausalityReport, module: &Module, cx: &PassCx<'_>) -> CausalityReport {
    let CausalityReport { names, outputs, loss } = report;
    let outputs = shown(outputs, module, cx, |module, finding| of_output(module, cx.registry, &finding.output));
    let loss = shown(loss, module, cx, |module, _| of_loss(module, cx.registry));
    CausalityReport { names, outputs, loss }
}

fn shown(verdict: Verdict, module: &Module, cx: &PassCx<'_>, trial: impl Fn(&Module, &Finding) -> Trial) -> Verdict {
    let finding = match verdict {
        Verdict::Leaks(finding) => finding,
        // What is not followed may look ahead all the same.
        Verdict::Unknown(finding) if module.phase == Phase::Built && is_free(module) => {
            return match trial(module, &finding) {
                Trial::Shown(witness) => Verdict::Leaks(Finding { witness: Some(witness), ..finding }),
                Trial::NotShown | Trial::TooLarge => Verdict::Unknown(finding),
            };
        }
        verdict => return verdict,
    };
    let mut came = trial(module, &finding);
    if came == Trial::TooLarge && module.phase == Phase::Built {
        came = cx.smaller.and_then(|smaller| smaller.0()).map_or(came, |module| trial(&module, &finding));
    }
    match came {
        Trial::Shown(witness) => Verdict::Leaks(Finding { witness: Some(witness), ..finding }),
        Trial::NotShown => Verdict::Unknown(Finding { witness: None, why: NOT_SHOWN, ..finding }),
        Trial::TooLarge => Verdict::Unknown(Finding { witness: None, why: NOT_TRIED, ..finding }),
    }
}

/// Whether a module may be tried on any tokens and weights: none of its inputs may be a mask or positions, for which only some values
/// are meant.
fn is_free(module: &Module) -> bool {
    let Some(entry) = module.entry() else { return false };
    let mut fed = 0;
    let is_any = |param: &Param| match &param.role {
        ParamRole::Batch => {
            fed += 1;
            fed == 1
        }
        ParamRole::Weight(info) => !info.frozen,
        _ => false,
    };
    entry.params.iter().all(is_any)
}

/// Why a leak that the analysis sees is none: what it takes for read may be read for nothing.
const NOT_SHOWN: &str = "seems to read them, but no other token that was tried changes it";

const NOT_TRIED: &str = "seems to read them; the model is too large to be tried with other tokens";

#[cfg(test)]
mod tests {
    use super::*;
    use halite_ir::Registry;
    use halite_support::{FileId, Severity};

    fn run(phase: &str, op: &str, findings: &Findings) -> Result<Changed> {
        let text = format!(
            "halite.ir 1\nmodule @m {{phase = {phase}}}\nfunc @main(%tokens: s32[2,5] {{batch}}) -> \
             (logits: s32[2,5] {{probe}}) {{\n  %0 = {op} : s32[2,5]\n  return %0\n}}\n"
        );
        let registry = Registry::builtin();
        let mut module = halite_ir::text::parse(&text, FileId::of("m", &text), &registry).unwrap();
        CheckCausality.run(&mut module, &PassCx { findings: Some(findings), ..PassCx::new(&registry) })
    }

    #[test]
    fn a_leak_is_the_fault_of_a_pass_only_after_a_proof() {
        let (causal, leaking) = ("negate %tokens", "reverse %tokens {dims = [1]}");
        let severity = |phase, findings: &Findings| run(phase, leaking, findings).unwrap_err().severity();
        assert_eq!(severity("built", &Findings::default()), Severity::Error);
        assert_eq!(severity("legal", &Findings::default()), Severity::Error);
        let findings = Findings::default();
        run("built", causal, &findings).unwrap();
        assert_eq!(severity("legal", &findings), Severity::Bug);
    }
}
