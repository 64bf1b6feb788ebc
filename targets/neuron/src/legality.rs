//! Whether a target takes a module: the rules of its table, applied to HLO that anyone made.
//!
//! A rule is data ([`tables`](crate::tables)): opcodes, a [`Condition`], level, remedy, source. Conditions are decided here, in one
//! file for each family of them. Rules about indices and integers rest on integer ranges that are propagated through the module
//! (`ranges`).

mod collectives;
mod combiners;
mod describe;
mod elements;
mod entry;
mod groups;
mod indices;
mod integers;
mod kernels;
mod loops;
mod presumed;
mod ranges;
mod windows;

use crate::tables::{CompilerVersion, Condition, Rule};
use crate::{Generation, Tables};
use elements::Elements;
use groups::{Lists, listed};
use halite_hlo::graph::Graph;
use halite_hlo::proto::HloInstructionProto;
use halite_target::Provenance;
pub use presumed::{Presumed, presumed};
use ranges::Ranges;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

/// The rules to hold a module to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// The generation whose rules hold.
    pub target: Generation,
    /// The version of its compiler.
    pub version: CompilerVersion,
    /// How many physical cores one logical core joins, on each of which a rank runs.
    pub logical_core: u32,
    /// The ops that `--implicit-integer-downcast` names, such as `dot` and `all_reduce`; `all` for all of them.
    pub downcasts: Vec<String>,
    /// Rules that the module may break, by name, if they can be allowed at all.
    pub allow: Vec<String>,
}

impl Profile {
    /// The rules of a target under the newest version of the compiler, none of them allowed to be broken, with logical
    /// cores of the default size and no integers cast down.
    pub fn new(target: Generation) -> Self {
        let tables = Tables::builtin();
        let sizes = tables.hardware(target).map_or(&[][..], |hardware| &hardware.logical_core_sizes);
        Self {
            target,
            version: tables.newest().clone(),
            logical_core: sizes.first().copied().unwrap_or(1),
            downcasts: Vec::new(),
            allow: Vec::new(),
        }
    }

    /// The rules in the order of their table.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        Tables::builtin().rules(self.target, &self.version)
    }
}

/// An instruction that breaks a rule.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Finding<'a> {
    /// The row of the table that is broken.
    pub rule: &'static Rule,
    /// The instruction; `None` for the module as a whole.
    pub instruction: Option<&'a HloInstructionProto>,
    /// The problem, in a sentence without capital and full stop.
    pub found: String,
    /// The compiler's code for it, without `NCC_`.
    pub code: Option<&'static str>,
    /// The source of the finding: that of the rule, or of the row of the table that the rule looks into.
    pub provenance: &'static Provenance,
    /// Whether the profile allows it.
    pub allowed: bool,
}

/// Everything in a module that breaks a rule: of its instructions in their order, then of the module as a whole. Meant
/// for modules that are sound ([`halite_hlo::check`]); of others it finds less.
///
/// Computations that only combine two values, such as those of reductions, are looked at through the instructions that
/// call them.
pub fn check<'a>(graph: &'a Graph, profile: &Profile) -> Vec<Finding<'a>> {
    let mut checker = Checker::new(graph, profile);
    checker.instructions();
    checker.module();
    checker.findings
}

/// A condition that holds, and the row of a table that says so when it is not the rule alone.
#[derive(Clone)]
struct Broken {
    found: String,
    code: Option<&'static str>,
    provenance: Option<&'static Provenance>,
}

impl From<String> for Broken {
    fn from(found: String) -> Self {
        Self { found, code: None, provenance: None }
    }
}

/// The rules about an opcode.
#[derive(Clone, Default)]
struct OpcodeRules {
    /// Rules about it and about every opcode.
    rules: Vec<&'static Rule>,
    /// Whether the table of taken opcodes or a rule names it.
    known: bool,
}

/// The name of a rule, and the number of a list of groups.
type RuleOn = (&'static str, usize);

struct Checker<'a, 'p> {
    graph: &'a Graph,
    profile: &'p Profile,
    elements: Elements,
    /// The rules of each opcode of the module, by its number.
    opcodes: Vec<OpcodeRules>,
    ranges: OnceCell<Ranges>,
    /// Outcomes of rules about groups, so that the groups of thousands of ranks are checked once for all instructions that have them.
    of_groups: RefCell<FxHashMap<RuleOn, Option<Broken>>>,
    lists: RefCell<Lists<'a>>,
    findings: Vec<Finding<'a>>,
}

impl<'a, 'p> Checker<'a, 'p> {
    fn new(graph: &'a Graph, profile: &'p Profile) -> Self {
        Self {
            opcodes: graph.opcodes().iter().map(|opcode| opcode_rules(opcode, profile)).collect(),
            graph,
            profile,
            elements: Elements::new(profile),
            ranges: OnceCell::new(),
            of_groups: RefCell::default(),
            lists: RefCell::default(),
            findings: Vec::new(),
        }
    }

    fn instructions(&mut self) {
        let mut broken = Vec::new();
        for at in 0..self.graph.len() {
            if self.graph.is_combiner(at) {
                continue;
            }
            let opcode = &self.opcodes[self.graph.opcode_number(at)];
            for &rule in &opcode.rules {
                let found = match &rule.breaks {
                    Condition::UnlistedOpcode if opcode.known => None,
                    Condition::UnlistedOpcode => Some(format!("the op `{}`", self.graph.opcode(at)).into()),
                    _ => self.breaks(rule, at),
                };
                broken.extend(found.map(|found| (rule, found)));
            }
            for (rule, found) in broken.drain(..) {
                self.add(rule, Some(at), found);
            }
        }
    }

    fn module(&mut self) {
        for rule in self.profile.rules().filter(|rule| rule.opcodes.iter().any(|opcode| opcode == MODULE)) {
            for (at, found) in self.module_breaks(&rule.breaks) {
                self.add(rule, at, found.into());
            }
        }
    }

    fn add(&mut self, rule: &'static Rule, at: Option<usize>, broken: Broken) {
        self.findings.push(Finding {
            rule,
            instruction: at.map(|at| self.graph.inst(at)),
            found: broken.found,
            code: broken.code.or(rule.code.as_deref()),
            provenance: broken.provenance.unwrap_or(&rule.provenance),
            allowed: rule.waivable && self.profile.allow.contains(&rule.id),
        });
    }

    fn ranges(&self) -> &Ranges {
        self.ranges.get_or_init(|| Ranges::new(self.graph))
    }

    /// Whether an instruction breaks a rule about its opcode or about every one.
    fn breaks(&self, rule: &'static Rule, at: usize) -> Option<Broken> {
        let found = match &rule.breaks {
            Condition::Always => Some(format!("the op `{}`", self.graph.opcode(at))),
            Condition::ElementUse(wanted) => return self.element_use(at, *wanted),
            Condition::ElementType(refused) => self.element_type(at, refused),
            Condition::DynamicDimension => self.dynamic_dimension(at),
            Condition::Operands { at_most } => self.operands(at, *at_most),
            Condition::Combiner { taken, of } => self.combiner(at, taken, *of),
            Condition::VariableInit => self.variable_init(at),
            Condition::Comparator { taken } => self.comparator(at, taken),
            Condition::UnprovenIndex => self.unproven_index(at),
            Condition::IndexedWindow => self.indexed_window(at),
            Condition::UnprovenInteger { of } => self.unproven_integer(at, of),
            Condition::UnnamedDowncast { of } => self.unnamed_downcast(at, of),
            Condition::InexactDivision => self.inexact_division(at),
            Condition::WideConstant => self.wide_constant(at),
            Condition::UnknownTripCount => self.unknown_trip_count(at),
            Condition::Window(form) => windows::has_form(self.graph.inst(at), *form),
            Condition::Algorithm => self.algorithm(at),
            Condition::UnknownKernel => self.unknown_kernel(at),
            Condition::UnlistedKernel => return self.unlisted_kernel(at),
            Condition::KernelSchema => return self.kernel_schema(at),
            Condition::TupleOperand => self.tuple_operand(at),
            Condition::ImplicitGroups => self.implicit_groups(at),
            Condition::GroupRanks | Condition::GroupSize | Condition::GroupPlacement => {
                return self.groups_break(rule, at);
            }
            Condition::GroupField => self.group_field(at),
            Condition::Channel => self.channel(at),
            Condition::GatheredBytes => self.gathered_bytes(at),
            Condition::OpenRing => self.open_ring(at),
            Condition::UnlistedOpcode
            | Condition::Layout
            | Condition::ResultType(_)
            | Condition::UnusedParameter
            | Condition::Passthrough
            | Condition::AliasedRead
            | Condition::GroupLists
            | Condition::Order => None,
        };
        found.map(Broken::from)
    }

    /// The same of a rule about groups.
    fn groups_break(&self, rule: &'static Rule, at: usize) -> Option<Broken> {
        let find = || match &rule.breaks {
            Condition::GroupRanks => self.group_ranks(at).map(Broken::from),
            Condition::GroupSize => self.group_size(at),
            _ => self.group_placement(at).map(Broken::from),
        };
        let Some(listed) = listed(self.graph.inst(at)) else { return find() };
        let number = self.lists.borrow_mut().number(Cow::Borrowed(listed));
        self.of_groups.borrow_mut().entry((&rule.id, number)).or_insert_with(find).clone()
    }
}

/// The rules of an opcode in the order of the table.
fn opcode_rules(opcode: &str, profile: &Profile) -> OpcodeRules {
    let names = |rule: &Rule, name: &str| rule.opcodes.iter().any(|opcode| opcode == name);
    let rules: Vec<_> = profile.rules().filter(|rule| names(rule, opcode) || names(rule, EVERY)).collect();
    let taken = Tables::builtin().opcodes.iter().filter(|row| row.targets.contains(&profile.target));
    let is_taken = taken.flat_map(|row| &row.opcodes).any(|taken| taken == opcode);
    OpcodeRules { known: is_taken || rules.iter().any(|rule| names(rule, opcode)), rules }
}

/// Stands for every opcode in a rule.
const EVERY: &str = "*";
/// Stands for the module as a whole in a rule.
const MODULE: &str = "module";
