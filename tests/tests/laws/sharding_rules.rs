//! The dimension factors of ops of programs of others are those of Shardy, or finer; what differs has its reason.
//!
//! `sharding_rules.txt` has a paragraph for each function of Shardy's test of its registry of sharding rules: the name of the function, an op
//! of that form, and the rule that Shardy gives such an op, both in short. Where our map says something else, what it says follows, and why. `sharding_rules_refused.txt` has the ops that are not taken.

use halite_ir::dims::{FactorKind, FactorMap};
use halite_lift::{Lifted, lift};
use halite_support::SourceFile;
use std::fmt::Write;

const RULES: &str = include_str!("sharding_rules.txt");
const REFUSED: &str = include_str!("sharding_rules_refused.txt");

/// The functions in Shardy's test.
const FUNCTIONS: usize = 123;

/// The effect of a factor on a sharding along it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// Parts of the operands give parts of the results.
    Apart,
    /// Parts of the operands give terms of the results.
    Terms,
    /// All of it is needed.
    Whole,
}

/// A rule: the kinds and sizes of factors, and those that index each dimension of each operand and result.
#[derive(Default)]
struct Rule {
    factors: Vec<(Kind, usize)>,
    operands: Vec<Vec<Vec<usize>>>,
    results: Vec<Vec<Vec<usize>>>,
}

impl Rule {
    /// The rule that a map is.
    fn of(map: &FactorMap) -> Self {
        let tensors = |all: &[Vec<halite_ir::dims::DimFactors>]| {
            let dims = |dims: &Vec<halite_ir::dims::DimFactors>| {
                dims.iter().map(|factors| factors.iter().map(|factor| factor.index()).collect()).collect()
            };
            all.iter().map(dims).collect()
        };
        let (operands, results): (Vec<Vec<Vec<usize>>>, _) = (tensors(&map.operands), tensors(&map.results));
        let kind = |(at, factor): (usize, &halite_ir::dims::Factor)| {
            let is_read = operands.iter().flatten().flatten().any(|&own| own == at);
            let kind = match factor.kind {
                FactorKind::Parallel => Kind::Apart,
                FactorKind::Contracted(Some(_)) => Kind::Terms,
                FactorKind::Indexed => {
                    if is_read {
                        Kind::Terms
                    } else {
                        Kind::Apart
                    }
                }
                FactorKind::Contracted(None) | FactorKind::Mixed => Kind::Whole,
            };
            (kind, factor.size)
        };
        let factors = map.factors.iter().enumerate().map(kind).collect();
        Self { factors, operands, results }
    }

    /// The rule in short: letters in the order of the text, `*` for what is needed whole, `~` in front of what moves, `1` for a dimension
    /// that nothing shards, and behind it the sizes of factors and those along which terms are. Scalars, which nothing
    /// shards, are left out.
    fn in_short(&self) -> String {
        let (mut text, mut named) = (String::new(), Vec::new());
        for (between, tensors) in [("", &self.operands), ("-> ", &self.results)] {
            text += between;
            for tensor in tensors.iter().filter(|tensor| !tensor.is_empty()) {
                let dims: Vec<String> = tensor.iter().map(|dim| self.dim(dim, &mut named)).collect();
                write!(text, "[{}] ", dims.join(" ")).expect("writing to a string succeeds");
            }
        }
        text.truncate(text.trim_end().len());
        let letter = |at: usize| char::from(b'a' + at as u8);
        for (at, &factor) in named.iter().enumerate() {
            let terms = if self.factors[factor].0 == Kind::Terms { " in terms" } else { "" };
            let between = if at == 0 { ": " } else { ", " };
            write!(text, "{between}{}={}{terms}", letter(at), self.factors[factor].1).expect("writing succeeds");
        }
        text
    }

    fn dim(&self, factors: &[usize], named: &mut Vec<usize>) -> String {
        let mut text = String::new();
        for &factor in factors.iter().filter(|&&factor| self.factors[factor].1 != 1) {
            if self.factors[factor].0 == Kind::Whole {
                text.push('*');
                continue;
            }
            let at = named.iter().position(|&own| own == factor).unwrap_or_else(|| {
                named.push(factor);
                named.len() - 1
            });
            text.push(char::from(b'a' + at as u8));
        }
        if text.is_empty() { "1".to_owned() } else { text }
    }
}

/// A program of one op that is written in short: `stablehlo.dot(8x4xf32, 4xf32) -> 8xf32 {attributes} by add f32`. An operand
/// `zero f32` is a constant. Regions combine, or compare, two values of each type that is listed.
fn program(op: &str) -> String {
    let (op, regions) = op.split_once(" by ").unwrap_or((op, ""));
    let (op, attributes) = op.split_once(" {").map_or((op, ""), |(op, list)| (op, list.trim_end_matches('}')));
    let (name, types) = op.split_once('(').expect("it has operands");
    let (operands, results) = types.split_once(") -> ").expect("it has results");
    let (parameters, zeros): (Vec<_>, Vec<_>) =
        operands.split(", ").enumerate().partition(|(_, operand)| !operand.starts_with("zero "));
    let constant = |(at, zero): &(usize, &str)| {
        let ty = zero.trim_start_matches("zero ");
        let element = if ty.starts_with(['f', 'b']) { "0.0" } else { "0" };
        format!("%p{at} = stablehlo.constant dense<{element}> : tensor<{ty}>\n")
    };
    let zeros: String = zeros.iter().map(constant).collect();
    let parameters: Vec<String> = parameters.iter().map(|(at, ty)| format!("%p{at}: tensor<{ty}>")).collect();
    let types = |list: &str| {
        list.split(", ").map(|ty| format!("tensor<{}>", ty.trim_start_matches("zero "))).collect::<Vec<_>>()
    };
    let (operands, results) = (types(operands), types(results));
    let arguments: Vec<String> = (0..operands.len()).map(|at| format!("%p{at}")).collect();
    let returned: Vec<String> = (0..results.len()).map(|at| format!("%y#{at}")).collect();
    let regions: Vec<String> = regions.split("; ").filter(|region| !region.is_empty()).map(region).collect();
    let regions = if regions.is_empty() { String::new() } else { format!(" ({})", regions.join(", ")) };
    format!(
        "func.func @main({}) -> ({results}) {{\n{zeros}%y:{} = \"{name}\"({}) <{{{attributes}}}>{regions} : ({}) -> ({results})\nreturn {} : {results}\n}}",
        parameters.join(", "),
        returned.len(),
        arguments.join(", "),
        operands.join(", "),
        returned.join(", "),
        results = results.join(", "),
    )
}

/// A region: `add f32, add s32`.
fn region(each: &str) -> String {
    let each: Vec<(&str, &str)> = each.split(", ").filter_map(|one| one.split_once(' ')).collect();
    let named = |side: char| {
        each.iter().enumerate().map(move |(at, (_, ty))| format!("%{side}{at}: tensor<{ty}>")).collect::<Vec<_>>()
    };
    let mut text = format!("{{\n^bb0({}):\n", [named('l'), named('r')].concat().join(", "));
    let mut given = Vec::new();
    for (at, (op, ty)) in each.iter().enumerate() {
        let (op, result) = match *op {
            "greater" => ("compare GT,", "i1"),
            "not_less" => ("compare GE,", "i1"),
            op => (op, *ty),
        };
        writeln!(text, "%c{at} = stablehlo.{op} %l{at}, %r{at} : (tensor<{ty}>, tensor<{ty}>) -> tensor<{result}>")
            .expect("writing to a string succeeds");
        given.push(format!("tensor<{result}>"));
    }
    let values: Vec<String> = (0..each.len()).map(|at| format!("%c{at}")).collect();
    text + &format!("stablehlo.return {} : {}\n}}", values.join(", "), given.join(", "))
}

/// The op as one of the IR; the reason for which it is not taken otherwise.
fn taken(op: &str) -> Result<Lifted, String> {
    let text = program(op);
    let hlo = halite_stablehlo::read(&SourceFile::new("rule.mlir", &*text));
    let hlo =
        hlo.map_err(|faults| faults.iter().map(|fault| fault.message().to_owned()).collect::<Vec<_>>().join("; "))?;
    let lifted = lift(hlo.graph(), 2).map_err(|fault| fault.message().to_owned())?;
    match lifted.unfollowed.keys().next() {
        Some(unfollowed) => Err(format!("`{unfollowed}` is not followed")),
        None => Ok(lifted),
    }
}

/// Our rules of the ops that a program becomes, each with its name.
fn ours(lifted: &Lifted) -> Vec<(String, String)> {
    let entry = lifted.module.entry().expect("there is an entry");
    let rule = |inst: &halite_ir::Inst| {
        let args: Vec<_> = inst.args.iter().map(|&arg| entry.ty(arg)).collect();
        let types: Vec<_> = inst.results.iter().map(|&result| entry.ty(result).clone()).collect();
        (inst.op.name().to_owned(), Rule::of(&inst.op.def().dims(&args, &types)).in_short())
    };
    entry.insts.iter().map(rule).collect()
}

/// A paragraph of the table.
struct Row<'t> {
    names: Vec<&'t str>,
    op: &'t str,
    lines: Vec<(&'t str, &'t str)>,
}

fn rows(text: &str) -> Vec<Row<'_>> {
    text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()).map(row).collect()
}

fn row(paragraph: &str) -> Row<'_> {
    let mut lines = paragraph.lines();
    let names = lines.next().unwrap_or_default().split(", ").collect();
    let op = lines.next().unwrap_or_default();
    Row { names, op, lines: lines.filter_map(|line| line.split_once(": ")).collect() }
}

impl Row<'_> {
    fn line(&self, name: &str) -> Option<&str> {
        self.lines.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
    }
}

#[test]
fn factors_are_those_of_shardy_or_differ_with_a_reason() {
    let mut wrong = String::new();
    for row in rows(RULES) {
        let shardy = row.line("shardy").unwrap_or("no rule").to_owned();
        let (is_ours, expected) = match row.line("ours") {
            Some(own) => (true, own.to_owned()),
            None => (false, shardy.clone()),
        };
        let reasons = ["finer", "coarser", "alike"].iter().filter(|reason| row.line(reason).is_some()).count();
        let found = match taken(row.op) {
            Ok(lifted) => ours(&lifted),
            Err(fault) => vec![("refused".to_owned(), fault)],
        };
        let name = row.line("op").unwrap_or_default();
        let own = found.iter().find(|(own, _)| own == name || name.is_empty() && found.len() == 1);
        let is_right = own.is_some_and(|(_, rule)| *rule == expected);
        if !is_right || reasons != usize::from(is_ours) || is_ours && expected == shardy {
            writeln!(wrong, "{:?}\n  shardy   {shardy}\n  expected {expected}\n  found    {found:?}", row.names)
                .expect("it is written");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_is_not_taken_is_refused() {
    for row in rows(REFUSED) {
        let found = taken(row.op).map(|lifted| ours(&lifted));
        assert!(
            matches!(&found, Err(fault) if row.line("refused").is_some_and(|reason| fault.contains(reason))),
            "{:?}: {found:?}",
            row.names
        );
    }
}

#[test]
fn every_function_of_shardy_has_its_place() {
    let mut names: Vec<&str> = rows(RULES).into_iter().chain(rows(REFUSED)).flat_map(|row| row.names).collect();
    names.sort_unstable();
    assert!(names.is_sorted_by(|one, next| one < next), "a name stands twice: {names:?}");
    assert_eq!(names.len(), FUNCTIONS, "{names:?}");
}
