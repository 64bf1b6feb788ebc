//! Whole words: what random bits and rounding by dither are made of.

use crate::bench::Bench;
use crate::check::{Case, Check, Probe, Told, Within};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};

/// Words at the edges of what `f32` holds and of what a word holds; all pairs of them are operands.
const EDGES: [i128; 24] = [
    0,
    1,
    2,
    3,
    255,
    256,
    4095,
    65_535,
    65_536,
    65_537,
    0xff_ffff,
    0x100_0000,
    0x100_0001,
    0x1ff_ffff,
    0x5555_5555,
    0x7fff_fffe,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0x9e37_79b9,
    0xaaaa_aaab,
    0xdead_beef,
    0xffff_fffe,
    0xffff_ffff,
];

/// Elements of a program: all pairs.
const PAIRS: usize = EDGES.len() * EDGES.len();

/// A question: what is computed of `x` and `y`, whole words, of which `s` is as many bits as a word can be shifted.
struct Question {
    label: &'static str,
    facts: &'static [&'static str],
    /// Lines of IR that give `%r`.
    body: &'static str,
    result: &'static str,
}

/// The questions. Sums and products of whole words are separate from those that dither makes, which stay below 2^24.
const QUESTIONS: &[Question] = &[
    Question { label: "and", facts: &[], body: "%r = and %x, %y : u32[N]", result: "u32" },
    Question { label: "or", facts: &[], body: "%r = or %x, %y : u32[N]", result: "u32" },
    Question { label: "xor", facts: &[], body: "%r = xor %x, %y : u32[N]", result: "u32" },
    Question { label: "not", facts: &[], body: "%r = not %x : u32[N]", result: "u32" },
    Question {
        label: "shift-left",
        facts: &["opcodes/shift-left"],
        body: "%r = shift_left %x, %s : u32[N]",
        result: "u32",
    },
    Question {
        label: "shift-right-logical",
        facts: &[],
        body: "%r = shift_right_logical %x, %s : u32[N]",
        result: "u32",
    },
    Question {
        label: "sums below 2^24",
        facts: &["integers/below-2^24"],
        body: "%a = and %x, %low : u32[N]\n  %b = and %y, %low : u32[N]\n  %r = add %a, %b : u32[N]",
        result: "u32",
    },
    Question {
        label: "products below 2^24",
        facts: &["integers/below-2^24"],
        body: "%a = and %x, %low : u32[N]\n  %b = and %y, %byte : u32[N]\n  %r = multiply %a, %b : u32[N]",
        result: "u32",
    },
    Question {
        label: "sums of whole words",
        facts: &["rules/integer-words"],
        body: "%r = add %x, %y : u32[N]",
        result: "u32",
    },
    Question {
        label: "differences of whole words",
        facts: &["rules/integer-words"],
        body: "%r = subtract %x, %y : u32[N]",
        result: "u32",
    },
    Question {
        label: "products of whole words",
        facts: &["rules/integer-words"],
        body: "%r = multiply %x, %y : u32[N]",
        result: "u32",
    },
    Question {
        label: "products of whole signed words",
        facts: &["rules/signed-words"],
        body: "%a = bitcast_convert %x : s32[N]\n  %b = bitcast_convert %y : s32[N]\n  %r = multiply %a, %b : s32[N]",
        result: "s32",
    },
    Question {
        label: "quotients by a number that is no power of two",
        facts: &["rules/integer-division"],
        body: "%a = and %x, %low : u32[N]\n  %r = divide %a, %byte : u32[N]",
        result: "u32",
    },
    Question {
        label: "words that are compared",
        facts: &[],
        body: "%r = compare %x, %y {direction = LT} : pred[N]",
        result: "pred",
    },
    Question {
        label: "words as the bits of floats",
        facts: &[],
        body: "%f = bitcast_convert %x : f32[N]\n  %r = bitcast_convert %f : u32[N]",
        result: "u32",
    },
];

/// The words by which weights are rounded, as an update makes them: for a stream, for two dimensions, for each element, and the rounding.
const DITHER: &str = "
module @dither {phase = cast}

func @main(%keys: u32[8], %step: s32[], %x: f32[16,24]) -> (u32[8], u32[16,24], bf16[16,24]) {
  %words = stream_words %keys, %step : u32[8]
  %slice = slice %words {start = [3], limit = [4], stride = [1]} : u32[1]
  %word = reshape %slice : u32[]
  %rows = coordinate_words %step {dim = 0, size = 16} : u32[16]
  %columns = coordinate_words %step {dim = 1, size = 24} : u32[24]
  %bits = random_bits %word, %rows, %columns : u32[16,24]
  %y = stochastic_convert %x, %bits {dtype = bf16} : bf16[16,24]
  return %words, %bits, %y
}
";

pub(super) struct Integers;

impl Check for Integers {
    fn name(&self) -> &'static str {
        "integers"
    }

    fn about(&self) -> &'static str {
        "words of 32 bits, bit by bit: shifts, sums, products, and the dither that is made of them"
    }

    fn meaning(&self) -> &'static str {
        "Random bits, and with them rounding by dither and dropout, depend on what is wrong here where it is below 2^24; whole-word sums and products are used by no program of Halite."
    }

    fn told(&self) -> Vec<Told> {
        let words = |rule: &str, of: &str| {
            Told::new(
                &format!("rules/{rule}"),
                &format!("sums and products of whole {of} words are exact, though the engines compute in `f32`"),
                &format!(
                    "rules.toml: `{rule}` goes, and random bits may be hashed with whole products, in fewer instructions"
                ),
                &format!("rules.toml: `{rule}` becomes an error, and what it says becomes `observed`"),
            )
        };
        vec![
            Told::opcode("shift-left"),
            words("integer-words", "unsigned"),
            words("signed-words", "signed"),
            Told::new(
                "rules/integer-division",
                "quotients of whole numbers by 255 are exact",
                "rules.toml: `integer-division` goes where other divisors are exact, too",
                "rules.toml: what `integer-division` says was seen again; programs compare with multiples instead",
            ),
            Told::new(
                "integers/below-2^24",
                "sums and products that stay below 2^24 are exact",
                "`check_exact_integers` stays the bound of what dither may compute",
                "rounding by dither has no meaning on this target: only `precision.sr.by = \"switch\"` is offered",
            ),
            Told::new(
                "integers/dither",
                "the random bits of an update are those of the interpreter, bit by bit",
                "runs with rounding by dither are reproducible elsewhere",
                "`precision.sr.by = \"dither\"` is refused for this target until the op at fault is written otherwise",
            ),
        ]
    }

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        Ok(vec![words(bench)?, dither(bench)?])
    }
}

/// All questions in one program.
fn words(bench: &Bench) -> Result<Case> {
    let size = PAIRS.to_string();
    let results: Vec<String> = QUESTIONS.iter().map(|question| format!("{}[{size}]", question.result)).collect();
    let mut body = String::new();
    let mut returned = Vec::new();
    for (at, question) in QUESTIONS.iter().enumerate() {
        let own = question.body.replace("[N]", &format!("[{size}]"));
        let own = ["%r", "%a", "%b", "%f"].iter().fold(own, |text, name| {
            text.replace(&format!("{name} "), &format!("{name}{at} "))
                .replace(&format!("{name},"), &format!("{name}{at},"))
        });
        body += &format!("  {own}\n");
        returned.push(format!("%r{at}"));
    }
    let text = format!(
        "module @words {{phase = built}}\n\nfunc @main(%x: u32[{size}], %y: u32[{size}], %s: u32[{size}], %low: u32[{size}], %byte: u32[{size}]) -> ({}) {{\n{body}  return {}\n}}\n",
        results.join(", "),
        returned.join(", "),
    );
    let program = bench.program_of("integers", &text)?;
    let pairs = || EDGES.iter().flat_map(|&x| EDGES.iter().map(move |&y| (x, y)));
    let tensor = |values: Vec<i128>| HostTensor::from_ints(DType::U32, [PAIRS], values);
    let all = [
        tensor(pairs().map(|(x, _)| x).collect()),
        tensor(pairs().map(|(_, y)| y).collect()),
        tensor(pairs().map(|(_, y)| y % 32).collect()),
        tensor(vec![0xffff; PAIRS]),
        tensor(vec![0xff; PAIRS]),
    ];
    let runs = vec![vec![program.inputs(&all)]];
    let mut case = Case::of(bench, "integers", program, runs)?;
    case.probes = QUESTIONS
        .iter()
        .enumerate()
        .map(|(at, question)| Probe {
            label: question.label.to_owned(),
            facts: question.facts.iter().map(|&fact| fact.to_owned()).collect(),
            inputs: 0..3,
            outputs: at..at + 1,
            within: Within::Exact,
        })
        .collect();
    Ok(case)
}

fn dither(bench: &Bench) -> Result<Case> {
    let program = bench.program_of("dither", DITHER)?;
    let keys = HostTensor::from_ints(DType::U32, [8], EDGES[EDGES.len() - 8..].iter().copied());
    let x = (0..16 * 24).map(|at| f64::from(at) * 1.37e-3 - 0.2);
    let run = |step: i128| {
        let step = HostTensor::from_ints(DType::S32, [], [step]);
        vec![program.inputs(&[keys.clone(), step, HostTensor::from_f64s(DType::F32, [16, 24], x.clone())])]
    };
    let runs = [0, 1, 299, 0x123_4567].map(run).to_vec();
    let mut case = Case::of(bench, "dither", program, runs)?;
    let labels = ["words of streams", "random bits of elements", "weights rounded by dither"];
    for (at, label) in labels.into_iter().enumerate() {
        let facts = vec!["integers/dither".to_owned()];
        case.probes.push(Probe {
            label: label.into(),
            facts,
            inputs: 1..2,
            outputs: at..at + 1,
            within: Within::Exact,
        });
    }
    Ok(case)
}
