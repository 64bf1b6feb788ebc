//! Checks: their programs, the expected results, and the facts that they confirm or refute.

use crate::bench::Bench;
use crate::program::Program;
use halite_support::Result;
use halite_tensor::HostTensor;
use std::ops::Range;
use std::sync::Arc;

/// A question to the compiler and the device.
pub trait Check: Sync {
    /// The name on the command line and in reports.
    fn name(&self) -> &'static str;

    /// Its subject, a clause without capital and full stop.
    fn about(&self) -> &'static str;

    /// Its requirements.
    fn needs(&self) -> Needs {
        Needs::Device
    }

    /// The meaning of a failure for programs of Halite, a sentence.
    fn meaning(&self) -> &'static str;

    /// The facts of the tables that its probes name, and what follows from each answer.
    fn told(&self) -> Vec<Told>;

    /// The programs. `bench` says for which target, and has everything that makes programs.
    ///
    /// # Errors
    /// When a program cannot be made, which is a bug of ours.
    fn cases(&self, bench: &Bench) -> Result<Vec<Case>>;
}

/// The requirements of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// A compiler alone.
    Compiler,
    /// A core, and a compiler where the runtime does not bring one.
    Device,
    /// As many cores as this at least.
    Cores(usize),
    /// As many cores of Neuron as this at least.
    NeuronCores(usize),
    /// A core, and a compiler that knows Neuron's kernels.
    Kernels,
    /// Neuron's PJRT plugin.
    Plugin,
}

/// The consequences of a fact, as a check states them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// The key of the fact, as in [`Fact::key`](crate::Fact::key).
    pub fact: String,
    /// The presumption, in the words of the check.
    pub presumed: String,
    /// The change in Halite if it holds.
    pub confirmed: String,
    /// The change in Halite if it does not.
    pub refuted: String,
}

impl Told {
    /// The fact that the compiler takes an opcode, with the meaning that HLO gives it.
    pub fn opcode(opcode: &str) -> Self {
        Self {
            fact: format!("opcodes/{opcode}"),
            presumed: format!("the compiler takes `{opcode}`, and it means what HLO says"),
            confirmed: format!("opcodes.toml: the row of `{opcode}` becomes `observed`, and compiles stop naming it"),
            refuted: format!(
                "rules.toml gets a rule that refuses `{opcode}`, and lowering writes it with ops that are taken"
            ),
        }
    }

    /// A fact with all consequences stated.
    pub fn new(fact: &str, presumed: &str, confirmed: &str, refuted: &str) -> Self {
        let [fact, presumed, confirmed, refuted] = [fact, presumed, confirmed, refuted].map(str::to_owned);
        Self { fact, presumed, confirmed, refuted }
    }
}

/// One program of a check, or one compile.
#[derive(Clone)]
pub struct Case {
    /// The name, unique among the cases of all checks; it names files.
    pub name: String,
    /// The program.
    pub program: Program,
    /// The flags of the compiler beside those of all programs.
    pub flags: Vec<String>,
    /// Whether the compiler gets these flags alone.
    pub is_bare: bool,
    /// Variables of the process beside those of all programs, which they override.
    pub environment: Vec<(String, String)>,
    /// The case whose program is run once more, in processes that start after those of that case ended. Where that case has results
    /// and this one has none, the facts of this one are refuted.
    pub again: Option<String>,
    /// The inputs of each run: `runs[run][rank][input]`. Outputs that replace an input are carried to the next run, and the input
    /// given here is used by the first run only. A case without runs is only compiled.
    pub runs: Vec<Vec<Vec<HostTensor>>>,
    /// The expected results of each run: `expected[run][rank][output]`.
    pub expected: Vec<Vec<Vec<HostTensor>>>,
    /// The parts of the results that are compared.
    pub probes: Vec<Probe>,
    /// The same as smaller cases, where it can be cut. They are tried when the whole cannot be compiled or run.
    pub parts: Option<Parts>,
}

/// Makes the parts of a case.
pub type Parts = Arc<dyn Fn() -> Result<Vec<Case>> + Send + Sync>;

/// A part of the results of a case.
#[derive(Clone)]
pub struct Probe {
    /// A label, such as ``multiply of `u32` ``.
    pub label: String,
    /// The keys of the facts that it confirms or refutes.
    pub facts: Vec<String>,
    /// The inputs that it depends on.
    pub inputs: Range<usize>,
    /// The outputs that it compares.
    pub outputs: Range<usize>,
    /// The tolerance.
    pub within: Within,
}

/// The tolerance of a comparison with expected results.
#[derive(Clone)]
pub enum Within {
    /// The same bits; any NaN is as good as another.
    Exact,
    /// So many units of roundoff, norm-wise.
    Units(f64),
    /// So much of the largest element, for each run.
    OfRun(Arc<[f64]>),
    /// A property instead of expected results: the function returns the fault of an output, if it has one.
    Holds(fn(&HostTensor) -> Option<String>),
}

impl Case {
    /// A case of one run, with the interpreter's results as the expected ones.
    ///
    /// # Errors
    /// When the interpreter refuses the inputs.
    pub(crate) fn of(bench: &Bench, name: &str, program: Program, runs: Vec<Vec<Vec<HostTensor>>>) -> Result<Self> {
        let mut case = Self { runs, ..Self::without_runs(name, program) };
        case.expected = case.interpreted(bench)?;
        Ok(case)
    }

    /// A case that is only compiled.
    pub(crate) fn without_runs(name: &str, program: Program) -> Self {
        Self {
            name: name.to_owned(),
            program,
            flags: Vec::new(),
            is_bare: false,
            environment: Vec::new(),
            again: None,
            runs: Vec::new(),
            expected: Vec::new(),
            probes: Vec::new(),
            parts: None,
        }
    }

    /// The interpreter's results, run after run: outputs that replace an input go into the next run.
    fn interpreted(&self, bench: &Bench) -> Result<Vec<Vec<Vec<HostTensor>>>> {
        let mut carried: Vec<Vec<(usize, HostTensor)>> = Vec::new();
        let mut all = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            let mut inputs = run.clone();
            for (inputs, carried) in inputs.iter_mut().zip(carried.drain(..)) {
                for (at, tensor) in carried {
                    inputs[at] = tensor;
                }
            }
            let results = bench.interpret(&self.program, &inputs)?;
            let replaced = |results: &Vec<HostTensor>| {
                let pairs = results.iter().zip(&self.program.aliases);
                pairs.filter_map(|(tensor, alias)| Some(((*alias)?, tensor.clone()))).collect()
            };
            carried = results.iter().map(replaced).collect();
            all.push(results);
        }
        Ok(all)
    }

    /// The ranks that run it together.
    pub(crate) fn ranks(&self) -> usize {
        self.runs.first().map_or(1, Vec::len)
    }

    /// Adds a probe of all inputs and outputs.
    pub(crate) fn probing(mut self, label: impl Into<String>, facts: Vec<String>, within: Within) -> Self {
        let (inputs, outputs) = (0..self.program.names.0.len(), 0..self.program.names.1.len());
        self.probes.push(Probe { label: label.into(), facts, inputs, outputs, within });
        self
    }
}
