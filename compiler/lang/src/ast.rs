//! The syntax tree of a model. Data only.

use halite_support::{Name, Span};
use indexmap::{IndexMap, IndexSet};

/// A name with its place.
#[derive(Clone, Debug)]
pub(crate) struct Ident {
    pub(crate) name: Name,
    pub(crate) span: Span,
}

/// `model name { .. }` or `library name { .. }`, after what it uses.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) uses: Vec<Use>,
    pub(crate) is_library: bool,
    pub(crate) name: Ident,
    pub(crate) items: Vec<Item>,
}

/// `use library: names`
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) library: LibraryRef,
    pub(crate) names: Vec<Ident>,
}

/// The library that a `use` names, with the place of its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LibraryRef {
    /// Its name.
    pub name: LibraryName,
    /// The place of the name in the text.
    pub span: Span,
}

/// The name of a library in a `use`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LibraryName {
    /// `blocks`: one that comes with the compiler.
    BuiltIn(Name),
    /// `"shared/layers.hal"`: a file, by its path from the folder of the text that uses it.
    File(Name),
}

/// An item of a model or library.
#[derive(Debug)]
pub(crate) enum Item {
    Config(Vec<Binding>),
    Require(Require),
    Let(Binding),
    Function(Function),
    Causal(Causal),
}

/// `causal = true` or `false`
#[derive(Debug)]
pub(crate) struct Causal {
    pub(crate) holds: bool,
    pub(crate) span: Span,
}

/// `name = value`: a config key with its default, or a `let`.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) name: Ident,
    pub(crate) value: Expr,
}

/// `require condition, "message"`
#[derive(Debug)]
pub(crate) struct Require {
    pub(crate) condition: Expr,
    pub(crate) message: Name,
}

/// `fn name(arguments) { body return results }`
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Ident,
    pub(crate) arguments: Vec<Argument>,
    /// The positions of the arguments by name, of equal names the first.
    pub(crate) positions: IndexMap<Name, usize>,
    pub(crate) body: Vec<Statement>,
    pub(crate) results: Vec<Expr>,
    /// Of the `return`.
    pub(crate) returns: Span,
}

impl Function {
    /// The position of the argument of this name.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }
}

/// `name: type = default`; in `main`, `name: type = causal if condition`.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) ty: Option<Type>,
    pub(crate) default: Option<Expr>,
    /// Without it the argument is always there.
    pub(crate) presence: Option<Expr>,
}

/// `s32[batch, seq]`
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) dtype: Ident,
    pub(crate) shape: Expr,
}

#[derive(Debug)]
pub(crate) enum Statement {
    Assign(Assign),
    Param(Param),
    For(For),
    If(If),
    Output(Vec<Ident>),
    Metric(Metric),
    Loss(AddedLoss),
}

/// `metric name = sum, over = count`
#[derive(Debug)]
pub(crate) struct Metric {
    pub(crate) name: Ident,
    pub(crate) sum: Expr,
    pub(crate) over: Option<Expr>,
}

/// `loss name = value, weight = number`
#[derive(Debug)]
pub(crate) struct AddedLoss {
    pub(crate) name: Ident,
    pub(crate) value: Expr,
    pub(crate) weight: Option<Expr>,
}

/// `a, b = value`
#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) targets: Vec<Ident>,
    pub(crate) value: Expr,
}

/// `param name: [shape] = init(arguments)`
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: Ident,
    pub(crate) shape: Expr,
    pub(crate) init: Ident,
    pub(crate) init_arguments: Vec<Expr>,
    /// Whether it is a parameter and no `buffer`.
    pub(crate) is_trained: bool,
}

/// `for variable in from..to { body }`, or `in list`.
#[derive(Debug)]
pub(crate) struct For {
    pub(crate) variable: Ident,
    pub(crate) over: Over,
    pub(crate) body: Vec<Statement>,
}

/// The values that a loop runs over.
#[derive(Debug)]
pub(crate) enum Over {
    /// `from..to`
    Range(Expr, Expr),
    /// The items of a list.
    List(Expr),
}

/// `if condition { body } else if .. { .. } else { otherwise }`: only one of the bodies is run.
#[derive(Debug)]
pub(crate) struct If {
    /// Each condition with its body.
    pub(crate) arms: Vec<(Expr, Vec<Statement>)>,
    pub(crate) otherwise: Vec<Statement>,
    /// The names that each of the bodies defines: they are there after it.
    pub(crate) defined: IndexSet<Name>,
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
    /// Levels of the tree below and including this one.
    pub(crate) depth: usize,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Int(i64),
    Real(f64),
    Bool(bool),
    Text(Name),
    Name(Name),
    List(Vec<Expr>),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Index(Box<Expr>, Vec<Subscript>),
    Choice(Box<Choice>),
    Match(Box<Match>),
    Call(Call),
}

/// An infix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    /// `or`, on truth values or the bits of integers.
    Or,
    /// `and`, on truth values or the bits of integers.
    And,
    /// A comparison, which gives truth values.
    Compare(Comparison),
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `**`, the power.
    Power,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `@`, the product of matrices.
    Matmul,
}

/// An infix operator that gives truth values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

/// `if condition { yes } else if .. { .. } else { no }`: only one of them is run.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Each condition with its value.
    pub(crate) arms: Vec<(Expr, Expr)>,
    pub(crate) no: Expr,
}

/// `match subject { "a", "b" => value, else => otherwise }`: only one of the values is run.
#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) subject: Expr,
    pub(crate) arms: Vec<Arm>,
    pub(crate) otherwise: Option<Expr>,
}

/// `"a", "b" => value`
#[derive(Debug)]
pub(crate) struct Arm {
    /// Numbers, words or truth values as they are written.
    pub(crate) patterns: Vec<Expr>,
    pub(crate) value: Expr,
}

/// `3` or `1:` or `::2` between brackets.
#[derive(Debug)]
pub(crate) enum Subscript {
    At(Expr),
    Range(Box<Range>),
}

/// `from:to:step`
#[derive(Debug)]
pub(crate) struct Range {
    pub(crate) from: Option<Expr>,
    pub(crate) to: Option<Expr>,
    pub(crate) step: Option<Expr>,
}

/// `function(given) as scope`
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) function: Ident,
    pub(crate) given: Vec<Given>,
    pub(crate) scope: Vec<ScopePart>,
}

/// An argument of a call: `value` or `name = value`.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) name: Option<Ident>,
    pub(crate) value: Expr,
}

/// A part of `layers.{i}`, dots included.
#[derive(Debug)]
pub(crate) enum ScopePart {
    Text(Name),
    Hole(Expr),
}

impl If {
    pub(crate) fn new(arms: Vec<(Expr, Vec<Statement>)>, otherwise: Vec<Statement>) -> Self {
        let mut bodies = arms.iter().map(|(_, body)| body).chain([&otherwise]).map(|body| defined(body));
        let mut common = bodies.next().unwrap_or_default();
        bodies.for_each(|names| common.retain(|name| names.contains(name)));
        let defined = common.into_iter().cloned().collect();
        Self { arms, otherwise, defined }
    }
}

/// The names that statements define for those after them.
fn defined(statements: &[Statement]) -> IndexSet<&Name> {
    let mut names = IndexSet::new();
    for statement in statements {
        match statement {
            Statement::Assign(assign) => names.extend(assign.targets.iter().map(|target| &target.name)),
            Statement::Param(param) => _ = names.insert(&param.name.name),
            Statement::If(branch) => names.extend(&branch.defined),
            Statement::For(_) | Statement::Output(_) | Statement::Metric(_) | Statement::Loss(_) => {}
        }
    }
    names
}

impl Expr {
    /// The word that it is, in quotes.
    pub(crate) fn word(&self) -> Option<&str> {
        if let ExprKind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// Whether it is the word `causal`, which declares what an argument of `main` holds.
    pub(crate) fn is_causal(&self) -> bool {
        matches!(&self.kind, ExprKind::Name(name) if &**name == "causal")
    }
}

impl ExprKind {
    /// Calls `visit` with each direct part, in source order.
    pub(crate) fn for_each_part<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        match self {
            ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Bool(_) | ExprKind::Text(_) | ExprKind::Name(_) => {}
            ExprKind::List(items) => items.iter().for_each(visit),
            ExprKind::Negate(part) | ExprKind::Not(part) => visit(part),
            ExprKind::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            ExprKind::Index(base, subscripts) => {
                visit(base);
                for subscript in subscripts {
                    match subscript {
                        Subscript::At(at) => visit(at),
                        Subscript::Range(range) => {
                            let Range { from, to, step } = &**range;
                            from.iter().chain(to).chain(step).for_each(&mut visit);
                        }
                    }
                }
            }
            ExprKind::Choice(choice) => {
                for (condition, value) in &choice.arms {
                    visit(condition);
                    visit(value);
                }
                visit(&choice.no);
            }
            ExprKind::Match(choice) => {
                visit(&choice.subject);
                choice.arms.iter().for_each(|arm| visit(&arm.value));
                choice.otherwise.iter().for_each(visit);
            }
            ExprKind::Call(call) => {
                call.given.iter().for_each(|given| visit(&given.value));
                for part in &call.scope {
                    if let ScopePart::Hole(hole) = part {
                        visit(hole);
                    }
                }
            }
        }
    }
}
