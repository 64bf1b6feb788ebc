//! Expressions, by precedence.

use super::{Cx, Pair, Parts, Rule};
use crate::ast::{Arm, BinaryOp, Call, Choice, Comparison, Expr, ExprKind, Given, Match, Range, ScopePart, Subscript};
use halite_support::{Diagnostic, Name, Result, Span, codes};
use pest::pratt_parser::{Assoc, Op, PrattParser};
use std::sync::LazyLock;

/// The most levels of an expression. Code that walks the tree recurses as deep.
const MAX_DEPTH: usize = 100;

static PRECEDENCE: LazyLock<PrattParser<Rule>> = LazyLock::new(|| {
    let infix = |rule| Op::infix(rule, Assoc::Left);
    PrattParser::new()
        .op(infix(Rule::word_or))
        .op(infix(Rule::word_and))
        .op(Op::prefix(Rule::word_not))
        .op(infix(Rule::compare))
        .op(infix(Rule::add) | infix(Rule::subtract))
        .op(infix(Rule::multiply) | infix(Rule::divide) | infix(Rule::remainder) | infix(Rule::matmul))
        .op(Op::prefix(Rule::negate))
        .op(Op::infix(Rule::power, Assoc::Right))
});

/// The text between quotes.
pub(super) fn quoted(text: Pair<'_>) -> Name {
    Parts::of(text).next().as_str().into()
}

impl Cx {
    pub(super) fn expr(self, pair: Pair<'_>) -> Result<Expr> {
        PRECEDENCE
            .map_primary(|operand| self.operand(operand))
            .map_prefix(|op, part| {
                let part = part?;
                let span = self.span(&op).to(part.span);
                let part = Box::new(part);
                let negate = op.as_rule() == Rule::negate;
                self.node(if negate { ExprKind::Negate(part) } else { ExprKind::Not(part) }, span)
            })
            .map_infix(|left, op, right| {
                let (left, right) = (left?, right?);
                let span = left.span.to(right.span);
                self.node(ExprKind::Binary(binary_op(&op), Box::new(left), Box::new(right)), span)
            })
            .parse(pair.into_inner())
    }

    pub(super) fn list(self, pair: Pair<'_>) -> Result<Expr> {
        let span = self.span(&pair);
        let items = Parts::of(pair).rest().map(|item| self.expr(item)).collect::<Result<_>>()?;
        self.node(ExprKind::List(items), span)
    }

    fn node(self, kind: ExprKind, span: Span) -> Result<Expr> {
        let mut below = 0;
        kind.for_each_part(|part| below = below.max(part.depth));
        if below < MAX_DEPTH {
            return Ok(Expr { kind, span, depth: below + 1 });
        }
        Err(Diagnostic::error(codes::LIMIT, format!("an expression has more than {MAX_DEPTH} levels"))
            .at(span, "here")
            .help("give parts of it names"))
    }

    fn operand(self, pair: Pair<'_>) -> Result<Expr> {
        let start = self.span(&pair);
        let mut parts = Parts::of(pair);
        let mut base = self.primary(parts.next())?;
        while let Some(index) = parts.next_if(Rule::index) {
            let span = Span { end: self.span(&index).end, ..start };
            let subscripts =
                Parts::of(index).rest().map(|subscript| self.subscript(subscript)).collect::<Result<_>>()?;
            base = self.node(ExprKind::Index(Box::new(base), subscripts), span)?;
        }
        Ok(base)
    }

    fn primary(self, pair: Pair<'_>) -> Result<Expr> {
        let (span, text) = (self.span(&pair), pair.as_str());
        let span = Span { end: self.end(&pair), ..span };
        let kind = match pair.as_rule() {
            Rule::expr => return self.expr(pair),
            Rule::list => return self.list(pair),
            Rule::int => ExprKind::Int(text.parse().map_err(|_| {
                Diagnostic::error(codes::ARITHMETIC, format!("`{text}` does not fit in 64 bits")).at(span, "here")
            })?),
            Rule::real => ExprKind::Real(text.parse().expect("the grammar admits only numbers")),
            Rule::truth => ExprKind::Bool(text == "true"),
            Rule::text => ExprKind::Text(quoted(pair)),
            Rule::name => ExprKind::Name(text.into()),
            Rule::choice => ExprKind::Choice(Box::new(self.choice(pair)?)),
            Rule::selection => ExprKind::Match(Box::new(self.selection(pair)?)),
            _ => ExprKind::Call(self.call(pair)?),
        };
        self.node(kind, span)
    }

    /// The end of a pair without the space that an absent optional part leaves behind.
    fn end(self, pair: &Pair<'_>) -> u32 {
        let is_last = |part: &Pair<'_>| matches!(part.as_rule(), Rule::close | Rule::scope);
        let last = pair.clone().into_inner().filter(is_last).last().filter(|_| pair.as_rule() == Rule::call);
        self.span(last.as_ref().unwrap_or(pair)).end
    }

    fn subscript(self, pair: Pair<'_>) -> Result<Subscript> {
        let mut parts = Parts::of(pair);
        let part = |parts: &mut Parts<'_>| parts.next_if(Rule::expr).map(|part| self.expr(part)).transpose();
        let from = part(&mut parts)?;
        let colon = parts.next_if(Rule::colon);
        let to = part(&mut parts)?;
        parts.next_if(Rule::colon);
        let step = part(&mut parts)?;
        Ok(match (from, colon) {
            (Some(at), None) => Subscript::At(at),
            (from, _) => Subscript::Range(Box::new(Range { from, to, step })),
        })
    }

    fn choice(self, pair: Pair<'_>) -> Result<Choice> {
        let mut parts = Parts::of(pair);
        let mut arms = Vec::new();
        loop {
            let part = self.expr(parts.next())?;
            match parts.next_if(Rule::expr) {
                Some(value) => arms.push((part, self.expr(value)?)),
                None => return Ok(Choice { arms, no: part }),
            }
        }
    }

    fn selection(self, pair: Pair<'_>) -> Result<Match> {
        let mut parts = Parts::of(pair);
        let subject = self.expr(parts.next())?;
        let mut arms = Vec::new();
        while let Some(arm) = parts.next_if(Rule::arm) {
            arms.push(self.arm(arm)?);
        }
        let otherwise = parts.next_if(Rule::otherwise).map(|otherwise| self.expr(Parts::of(otherwise).next()));
        Ok(Match { subject, arms, otherwise: otherwise.transpose()? })
    }

    fn arm(self, pair: Pair<'_>) -> Result<Arm> {
        let mut parts = Parts::of(pair);
        let mut patterns = Vec::new();
        loop {
            let part = parts.next();
            match part.as_rule() {
                Rule::expr => return Ok(Arm { patterns, value: self.expr(part)? }),
                _ => patterns.push(self.primary(part)?),
            }
        }
    }

    fn call(self, pair: Pair<'_>) -> Result<Call> {
        let mut parts = Parts::of(pair);
        let function = self.ident(parts.next());
        let (mut given, mut scope) = (Vec::new(), Vec::new());
        for part in parts.rest() {
            if part.as_rule() == Rule::scope {
                scope = part.into_inner().map(|part| self.scope_part(part)).collect::<Result<_>>()?;
            } else {
                given.push(self.given(part)?);
            }
        }
        Ok(Call { function, given, scope })
    }

    fn given(self, pair: Pair<'_>) -> Result<Given> {
        let mut parts = Parts::of(pair);
        let name = parts.next_if(Rule::ident).map(|name| self.ident(name));
        Ok(Given { name, value: self.expr(parts.next())? })
    }

    fn scope_part(self, pair: Pair<'_>) -> Result<ScopePart> {
        if pair.as_rule() == Rule::hole {
            return Ok(ScopePart::Hole(self.expr(Parts::of(pair).next())?));
        }
        Ok(ScopePart::Text(pair.as_str().into()))
    }
}

fn binary_op(op: &Pair<'_>) -> BinaryOp {
    match op.as_rule() {
        Rule::word_or => BinaryOp::Or,
        Rule::word_and => BinaryOp::And,
        Rule::add => BinaryOp::Add,
        Rule::subtract => BinaryOp::Subtract,
        Rule::multiply => BinaryOp::Multiply,
        Rule::power => BinaryOp::Power,
        Rule::divide => BinaryOp::Divide,
        Rule::remainder => BinaryOp::Remainder,
        Rule::matmul => BinaryOp::Matmul,
        _ => BinaryOp::Compare(match op.as_str() {
            "==" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessEqual,
            ">" => Comparison::Greater,
            _ => Comparison::GreaterEqual,
        }),
    }
}
