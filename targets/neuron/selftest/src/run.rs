//! Runs prepared checks and writes the report.

use crate::check::{Case, Needs, Probe};
use crate::checks::CHECKS;
use crate::compare::mismatch;
use crate::compile::{Trouble, compile};
use crate::execute::{Executor, Ordered, Results};
use crate::fact::Fact;
use crate::job::Ready;
use crate::place::{Limits, Place, Runtime};
use crate::prepare::{Asked, Prepared};
use crate::report::{CheckReport, FactReport, Failure, Outcome, Report, STATED, Verdict};
use halite_neuron::neuronx::Compiler;
use halite_neuron::settings;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// How many parts of programs a check may ask for when wholes are refused.
const MOST_PARTS: usize = 64;

/// Receives progress while checks are made.
pub trait Observer {
    /// A check begins, the first of so many.
    fn begins(&self, _name: &str, _at: usize, _of: usize) {}
    /// A check does this now.
    fn does(&self, _name: &str, _what: &str) {}
    /// A check is done.
    fn done(&self, _report: &CheckReport) {}
}

/// For each key of a fact, whether all answers were as expected, and the checks that gave them.
type Answers = BTreeMap<String, (bool, Vec<&'static str>)>;

/// One run of all checks.
struct Run<'a> {
    place: &'a Place,
    limits: &'a Limits<'a>,
    observer: &'a dyn Observer,
    prepared: &'a Prepared,
    /// The flags of all programs. Those that the compiler refuses are taken out.
    flags: Vec<String>,
    environment: Vec<(String, String)>,
    ready: Result<Ready, String>,
    started: usize,
    answers: Answers,
}

impl Prepared {
    /// Asks a compiler and a runtime everything.
    pub fn run(&self, place: &Place, limits: &Limits<'_>, observer: &dyn Observer) -> Report {
        let environment: Vec<_> = settings::environment(&self.bench.recipe).into_iter().collect();
        let mut run = Run {
            place,
            limits,
            observer,
            prepared: self,
            flags: settings::flags(&self.bench.recipe),
            environment,
            ready: Err(String::new()),
            started: 0,
            answers: Answers::new(),
        };
        run.ready = run.ask();
        let mut report = run.heading();
        for (at, asked) in self.checks.iter().enumerate() {
            observer.begins(asked.check.name(), at + 1, self.checks.len());
            let check = run.check(asked);
            observer.done(&check);
            report.checks.push(check);
        }
        report.facts = self.facts.iter().map(|fact| run.fact(fact)).chain(run.other_facts()).collect();
        report
    }
}

impl Run<'_> {
    /// Starts the runtime once, to see that it does.
    fn ask(&mut self) -> Result<Ready, String> {
        let runtime = self.place.runtime.as_ref().map_err(Clone::clone)?;
        let mut executor = self.executor(runtime);
        let ready = executor.ask();
        self.started = executor.started;
        ready
    }

    fn executor<'b>(&'b self, runtime: &'b Runtime) -> Executor<'b> {
        let Self { place, limits, ref environment, started, .. } = *self;
        Executor { place, runtime, limits, environment, started }
    }

    fn heading(&self) -> Report {
        let compiler = self.place.compiler.as_ref().map_or_else(Clone::clone, |found| found.version().to_owned());
        let (runtime, cores) = match &self.ready {
            Ok(ready) => (format!("{} {}", ready.platform, ready.version), ready.cores),
            Err(reason) => (reason.clone(), 0),
        };
        Report::new(self.prepared.bench.target.to_string(), compiler, runtime, cores)
    }

    /// Makes one check, whatever happens in it.
    fn check(&mut self, asked: &Asked) -> CheckReport {
        let start = Instant::now();
        let check = asked.check;
        let (name, about, meaning) = (check.name(), check.about(), None);
        let mut report = CheckReport {
            name,
            about,
            verdict: Verdict::Passed,
            seconds: 0.0,
            asked: 0,
            failures: Vec::new(),
            left_out: Vec::new(),
            meaning,
        };
        match (self.obstacle(check.needs()), &asked.cases) {
            (Some(reason), _) => report.verdict = Verdict::NotRun(reason),
            (None, Err(reason)) => report.failures.push(Failure::broken("its programs", reason)),
            (None, Ok(cases)) => {
                let cases = self.fitting(cases, &mut report);
                self.ask_all(asked, cases, &mut report);
            }
        }
        if !report.failures.is_empty() {
            (report.verdict, report.meaning) = (Verdict::Failed, Some(check.meaning()));
        } else if report.asked == 0 && report.verdict == Verdict::Passed {
            report.verdict = Verdict::NotRun("nothing of it could be asked".to_owned());
        }
        report.seconds = start.elapsed().as_secs_f64();
        report
    }

    /// Returns the reason why something that a check needs is not there.
    fn obstacle(&self, needs: Needs) -> Option<String> {
        if self.limits.interrupt.load(Ordering::Relaxed) {
            return Some("the self-test was stopped".to_owned());
        }
        let needs_compiler = needs == Needs::Compiler || !matches!(self.place.runtime, Ok(Runtime::Pjrt(_)));
        if needs_compiler && let Err(reason) = &self.place.compiler {
            return Some(reason.clone());
        }
        if needs == Needs::Compiler {
            return None;
        }
        let ready = match &self.ready {
            Err(reason) => return Some(reason.clone()),
            Ok(ready) => ready,
        };
        match needs {
            Needs::NeuronCores(_) if !ready.platform.eq_ignore_ascii_case("neuron") => {
                Some(format!("the platform `{}` has no streams of collectives", ready.platform))
            }
            Needs::Cores(least) | Needs::NeuronCores(least) if ready.cores < least => {
                Some(format!("it needs {least} cores, and there {}", are(ready.cores)))
            }
            Needs::Kernels if !ready.platform.eq_ignore_ascii_case("neuron") => {
                Some(format!("the platform `{}` has none of Neuron's kernels", ready.platform))
            }
            Needs::Plugin if !matches!(self.place.runtime, Ok(Runtime::Pjrt(_))) => {
                Some("it asks Neuron's PJRT plugin, and programs run through libnrt".to_owned())
            }
            Needs::Plugin if !ready.platform.eq_ignore_ascii_case("neuron") => {
                Some(format!("it asks Neuron's PJRT plugin, and the platform is `{}`", ready.platform))
            }
            _ => None,
        }
    }

    /// The cases for which there are cores; the report lists the others as left out.
    fn fitting(&self, cases: &[Case], report: &mut CheckReport) -> Vec<Case> {
        let cores = self.ready.as_ref().map_or(0, |ready| ready.cores);
        let (fitting, beyond): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| case.ranks() <= cores.max(1));
        for case in beyond {
            let reason = format!("what needs {} cores", case.ranks());
            if !report.left_out.contains(&reason) {
                report.left_out.push(reason);
            }
        }
        fitting.into_iter().cloned().collect()
    }

    fn ask_all(&mut self, asked: &Asked, cases: Vec<Case>, report: &mut CheckReport) {
        let mut parts = 0;
        let mut left = cases;
        while !left.is_empty() {
            let outcomes = self.outcomes(asked.check.name(), &left);
            let mut next = Vec::new();
            for (case, outcome) in left.iter().zip(outcomes) {
                match (outcome, &case.parts) {
                    (Ok(results), _) => self.judge(asked, case, &results, report),
                    (Err(_), Some(make)) if parts < MOST_PARTS => match make() {
                        Ok(smaller) => {
                            parts += smaller.len();
                            next.extend(smaller);
                        }
                        Err(error) => report.failures.push(Failure::broken(&case.name, error.message())),
                    },
                    (Err(trouble), _) => self.broken(asked, case, &trouble, report),
                }
            }
            left = next;
        }
    }

    /// Compiles and runs cases. Returns their results, or why there are none.
    fn outcomes(&mut self, name: &str, cases: &[Case]) -> Vec<Result<Results, Trouble>> {
        let all: Vec<&Case> = cases.iter().collect();
        let neffs = self.neffs(name, &all);
        let is_run = |case: &Case| !case.runs.is_empty();
        let mut ordered: Vec<Ordered<'_>> = Vec::new();
        for (case, neff) in cases.iter().zip(&neffs) {
            if let (true, Ok(neff)) = (is_run(case), neff) {
                ordered.push((case, neff.clone()));
            }
        }
        let results = self.execute(name, &ordered);
        let ran =
            |name: &String| ordered.iter().zip(&results).any(|((case, _), ran)| case.name == *name && ran.is_ok());
        let told: Vec<bool> = cases.iter().map(|case| case.again.as_ref().is_some_and(ran)).collect();
        let mut results = results.into_iter();
        let outcome = |((case, neff), is_refused): ((&Case, Result<_, Trouble>), bool)| match (neff, is_run(case)) {
            (Err(trouble), _) => Err(trouble),
            (Ok(_), false) => Ok(Vec::new()),
            (Ok(_), true) => {
                let result = results.next().unwrap_or_else(|| Err("it was not run".to_owned()));
                result.map_err(|reason| Trouble { reason, is_refused })
            }
        };
        cases.iter().zip(neffs).zip(told).map(outcome).collect()
    }

    /// The NEFF of each case, none where the runtime compiles by itself.
    fn neffs(&self, name: &str, cases: &[&Case]) -> Vec<Result<Option<PathBuf>, Trouble>> {
        let compiler: &Compiler = match (&self.place.runtime, &self.place.compiler) {
            (Ok(Runtime::Pjrt(_)), _) if cases.iter().all(|case| !case.runs.is_empty()) => {
                return cases.iter().map(|_| Ok(None)).collect();
            }
            (_, Err(reason)) => return cases.iter().map(|_| Err(Trouble::other(&**reason))).collect(),
            (_, Ok(compiler)) => compiler,
        };
        self.observer.does(name, &format!("compiling {} {}", cases.len(), plural(cases.len(), "program")));
        let target = (self.prepared.bench.target, &*self.flags);
        let neffs = compile(cases, target, (self.place, compiler), self.limits);
        neffs.into_iter().map(|neff| neff.map(Some)).collect()
    }

    fn execute(&mut self, name: &str, ordered: &[Ordered<'_>]) -> Vec<Result<Results, String>> {
        let Ok(runtime) = &self.place.runtime else { return Vec::new() };
        if ordered.is_empty() {
            return Vec::new();
        }
        self.observer.does(name, &format!("running {} {}", ordered.len(), plural(ordered.len(), "program")));
        let mut executor = self.executor(runtime);
        let results = executor.run(ordered);
        self.started = executor.started;
        results
    }

    fn judge(&mut self, asked: &Asked, case: &Case, results: &Results, report: &mut CheckReport) {
        for probe in &case.probes {
            report.asked += 1;
            let failure = mismatch(case, probe, results);
            self.answer(asked, probe, failure.is_none());
            report.failures.extend(failure);
        }
    }

    /// A case without results is a wrong answer of each of its probes.
    fn broken(&mut self, asked: &Asked, case: &Case, trouble: &Trouble, report: &mut CheckReport) {
        for probe in &case.probes {
            report.asked += 1;
            if trouble.is_refused {
                self.answer(asked, probe, false);
                self.flags.retain(|flag| !case.runs.is_empty() || !case.flags.contains(flag));
            }
            report.failures.push(Failure::broken(&probe.label, &trouble.reason));
        }
    }

    fn answer(&mut self, asked: &Asked, probe: &Probe, holds: bool) {
        for key in &probe.facts {
            let (all, by) = self.answers.entry(key.clone()).or_insert((true, Vec::new()));
            *all &= holds;
            if !by.contains(&asked.check.name()) {
                by.push(asked.check.name());
            }
        }
    }

    fn fact(&self, fact: &Fact) -> FactReport {
        self.line(&fact.key, fact.provenance.basis.name(), &fact.says)
    }

    /// Results for rows that are documented or observed, from the checks about them.
    fn other_facts(&self) -> Vec<FactReport> {
        let mut lines = Vec::new();
        for told in self.prepared.checks.iter().flat_map(|asked| &asked.told) {
            let is_known = self.prepared.facts.iter().any(|fact| fact.key == told.fact);
            let is_there = lines.iter().any(|line: &FactReport| line.key == told.fact);
            if !is_known && !is_there {
                lines.push(self.line(&told.fact, STATED, &told.presumed));
            }
        }
        lines
    }

    fn line(&self, key: &str, basis: &'static str, says: &str) -> FactReport {
        let told = self.prepared.checks.iter().flat_map(|asked| &asked.told).find(|told| told.fact == key);
        // Also checks that were not asked for.
        let would = CHECKS.iter().filter(|check| check.told().iter().any(|told| told.fact == key));
        let would: Vec<&'static str> = would.map(|check| check.name()).collect();
        let (outcome, checks) = match self.answers.get(key) {
            None => (Outcome::Open, would),
            Some((true, by)) => (Outcome::Confirmed, by.clone()),
            Some((false, by)) => (Outcome::Refuted, by.clone()),
        };
        let follows = told.and_then(|told| match outcome {
            Outcome::Open => None,
            Outcome::Confirmed => Some(told.confirmed.clone()),
            Outcome::Refuted => Some(told.refuted.clone()),
        });
        let presumed = told.map_or_else(|| says.to_owned(), |told| told.presumed.clone());
        FactReport { key: key.to_owned(), basis, presumed, outcome, checks, follows }
    }
}

fn plural(count: usize, thing: &str) -> String {
    if count == 1 { thing.to_owned() } else { format!("{thing}s") }
}

fn are(count: usize) -> String {
    if count == 1 { "is 1".to_owned() } else { format!("are {count}") }
}
