//! One line of IR text as the grammar sees it, before names are resolved.

use super::quoted::parse_name;
use crate::dim_names::{DimName, SizeFactor};
use crate::ty::TensorType;
use halite_support::{Diagnostic, FileId, Name, Result, Span, codes};
use halite_tensor::{DType, Groups, Shape};
use pest::Parser;
use pest::error::{Error, ErrorVariant, InputLocation};
use pest::iterators::Pair;
use std::borrow::Cow;

#[allow(missing_docs, unreachable_pub, reason = "the grammar file documents its rules")]
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "text/grammar.pest"]
    pub struct Grammar;
}

pub(super) use grammar::Rule;

/// A piece of text with its place in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'t> {
    pub(super) file: FileId,
    /// Where the piece starts in it, in bytes.
    pub(super) start: usize,
    pub(super) text: &'t str,
}

impl<'t> Chunk<'t> {
    /// Where the whole piece is.
    pub(super) fn span(&self) -> Span {
        Span::new(self.file, self.start, self.start + self.text.len())
    }

    /// Where a part of it is.
    pub(super) fn span_of(&self, pair: &Pair<'t, Rule>) -> Span {
        let span = pair.as_span();
        Span::new(self.file, self.start + span.start(), self.start + span.end())
    }

    /// Its parts by one rule of the grammar, without punctuation at the top level.
    ///
    /// # Errors
    /// The expected and the found token, at that place.
    pub(super) fn parse(&self, rule: Rule) -> Result<impl Iterator<Item = Pair<'t, Rule>> + use<'t>> {
        let mut pairs = grammar::Grammar::parse(rule, self.text).map_err(|error| self.syntax_error(&error))?;
        Ok(pairs.next().into_iter().flat_map(Pair::into_inner))
    }

    fn syntax_error(&self, error: &Error<Rule>) -> Diagnostic {
        let at = match error.location {
            InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
        };
        let rest = self.text.get(at..).unwrap_or_default();
        let found = token(rest);
        let span = Span::new(self.file, self.start + at, self.start + at + found.len());
        let found = if found.is_empty() { "the end of the line".to_owned() } else { format!("`{found}`") };
        let mut expected = Vec::new();
        if let ErrorVariant::ParsingError { positives, .. } = &error.variant {
            let (ends, words): (Vec<_>, Vec<_>) = positives.iter().partition(|&&rule| rule == Rule::EOI);
            for word in words.into_iter().chain(ends).map(describe) {
                if !expected.contains(&word) {
                    expected.push(word);
                }
            }
        }
        let message = format!("expected {}, found {found}", one_of(&expected));
        Diagnostic::error(codes::SYNTAX, message).at(span, "")
    }
}

/// The first token of a text, for messages.
fn token(text: &str) -> &str {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let sigil = text.chars().next().filter(|c| matches!(c, '%' | '@' | '"')).map_or(0, char::len_utf8);
    let name: usize = text[sigil..].chars().take(32).take_while(|&c| is_name(c)).map(char::len_utf8).sum();
    let end = if sigil + name > 0 { sigil + name } else { text.chars().next().map_or(0, char::len_utf8) };
    &text[..end]
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn one_of(words: &[&str]) -> String {
    match words {
        [] => "something else".to_owned(),
        [word] => (*word).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn describe(rule: Rule) -> &'static str {
    match rule {
        Rule::EOI => "the end of the line",
        Rule::open_paren | Rule::params | Rule::results => "`(`",
        Rule::close_paren => "`)`",
        Rule::open_brace => "`{`",
        Rule::close_brace => "`}`",
        Rule::open_bracket => "`[`",
        Rule::close_bracket => "`]`",
        Rule::comma => "`,`",
        Rule::colon => "`:`",
        Rule::equals => "`=`",
        Rule::arrow => "`->`",
        Rule::times => "`x`",
        Rule::reads => "`<=`",
        Rule::order => "an order such as `T(1,0)`",
        Rule::star => "`*`",
        Rule::param | Rule::value | Rule::values | Rule::named | Rule::operand => "a value such as `%x`",
        Rule::global => "a name such as `@f`",
        Rule::ty | Rule::types => "a type such as `f32[4,8]`",
        Rule::result | Rule::result_name => "a result such as `loss: f32[]`",
        Rule::word => "a word",
        Rule::string => "a text in quotes",
        Rule::number => "a number",
        Rule::element | Rule::elements | Rule::literal | Rule::special => "elements such as `1.0` or `[1.0, 2.0]`",
        Rule::attrs => "attributes in `{..}`",
        Rule::attr => "an attribute such as `name = value`",
        Rule::attr_value | Rule::applied | Rule::pair => "the value of an attribute",
        Rule::list | Rule::groups | Rule::iota => "a list of integers",
        Rule::parts | Rule::part => "a list of tensors such as `\"q.weight\"[4,8]`",
        Rule::texts => "a list of texts in quotes",
        Rule::count => "a number of copies",
        Rule::padding => "a number of rows",
        Rule::dims | Rule::dim | Rule::factor => "a list of sizes such as `[heads(12) * head_dim(64)]`",
        Rule::size => "a size",
        Rule::header => "`halite.ir 1`",
        Rule::module => "`module @name`",
        Rule::resource => "`resource @name = \"..\"`",
        Rule::signature => "`func @name(..) -> (..) {`",
        Rule::instruction => "an instruction",
        Rule::return_line => "`return`",
        Rule::close => "`}`",
        _ => "something else",
    }
}

/// A name after its sigil, without quotes.
pub(super) fn sigil_name<'t>(pair: &Pair<'t, Rule>) -> Cow<'t, str> {
    parse_name(&pair.as_str()[1..])
}

/// The value of an attribute as written.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum AttrText<'t> {
    /// A number or truth value.
    Element(&'t str),
    /// A bare word.
    Word(&'t str),
    /// A text in quotes, without them.
    Text(String),
    /// `[0, 1]`
    Ints(Vec<i64>),
    /// `[1] x [0]`
    Pair(Vec<i64>, Vec<i64>),
    /// `[[0, 1], [2]]` or `[2,4]<=[8]`; `None` where these are no groups.
    Groups(Option<Groups>),
    /// `["q"[4,8], "k"[2,8] x 2, "v"[8,2] transposed]`
    Parts(Vec<PartText>),
    /// `["layers.0.w", "layers.1.w"]`
    Texts(Vec<String>),
    /// `[3 * heads(12), hidden(768)]`
    Dims(Vec<DimName>),
    /// `@f`
    Func(String),
    /// `normal(0.02)` or `sr("w")`
    Applied(&'t str, &'t str),
}

/// One of the tensors that a parameter stores, as written.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct PartText {
    pub(super) name: String,
    pub(super) sizes: Vec<i64>,
    /// The number after `x`.
    pub(super) copies: Option<usize>,
    /// The number after `+`.
    pub(super) padding: Option<usize>,
    /// A word at the end.
    pub(super) word: Option<String>,
}

/// One attribute as written; without a value it is a flag.
#[derive(Clone, Debug)]
pub(super) struct Field<'t> {
    pub(super) name: &'t str,
    /// The value after `=`.
    pub(super) value: Option<AttrText<'t>>,
    /// The whole text of the attribute.
    pub(super) text: &'t str,
    /// Its place.
    pub(super) span: Span,
}

/// Reads `{name = value, ..}`.
///
/// # Errors
/// When an integer does not fit in 64 bits.
pub(super) fn fields<'t>(chunk: &Chunk<'t>, attrs: Pair<'t, Rule>) -> Result<Vec<Field<'t>>> {
    attrs.into_inner().filter(|pair| pair.as_rule() == Rule::attr).map(|attr| field(chunk, attr)).collect()
}

fn field<'t>(chunk: &Chunk<'t>, attr: Pair<'t, Rule>) -> Result<Field<'t>> {
    let mut field = Field { name: "", value: None, text: attr.as_str(), span: chunk.span_of(&attr) };
    for pair in attr.into_inner() {
        match pair.as_rule() {
            Rule::word => field.name = pair.as_str(),
            Rule::attr_value => {
                let too_big =
                    || Diagnostic::error(codes::SYNTAX, "an integer does not fit in 64 bits").at(field.span, "");
                field.value = Some(attr_text(pair).ok_or_else(too_big)?);
            }
            _ => {}
        }
    }
    Ok(field)
}

fn attr_text(value: Pair<'_, Rule>) -> Option<AttrText<'_>> {
    let pair = value.into_inner().next()?;
    let text = pair.as_str();
    let rule = pair.as_rule();
    let is_part = |rule| {
        matches!(
            rule,
            Rule::list
                | Rule::order
                | Rule::word
                | Rule::element
                | Rule::arguments
                | Rule::string
                | Rule::part
                | Rule::dim
        )
    };
    let mut parts = pair.into_inner().filter(|part| is_part(part.as_rule()));
    Some(match rule {
        Rule::pair => AttrText::Pair(ints(parts.next()?.as_str())?, ints(parts.next()?.as_str())?),
        Rule::groups => AttrText::Groups(groups(parts)),
        Rule::iota => AttrText::Groups(iota(parts)),
        Rule::parts => AttrText::Parts(parts.map(part_text).collect::<Option<_>>()?),
        Rule::texts => AttrText::Texts(parts.map(|part| parse_name(part.as_str()).into_owned()).collect()),
        Rule::list => AttrText::Ints(ints(text)?),
        Rule::dims => AttrText::Dims(parts.map(dim_name).collect::<Option<_>>()?),
        Rule::global => AttrText::Func(parse_name(&text[1..]).into_owned()),
        Rule::applied => AttrText::Applied(parts.next()?.as_str(), parts.next()?.as_str()),
        Rule::word => AttrText::Word(text),
        Rule::string => AttrText::Text(parse_name(text).into_owned()),
        _ => AttrText::Element(text),
    })
}

/// One entry of a list of tensors; `None` when a number is out of range.
fn part_text(part: Pair<'_, Rule>) -> Option<PartText> {
    let mut text = PartText { name: String::new(), sizes: Vec::new(), copies: None, padding: None, word: None };
    for pair in part.into_inner() {
        let own = pair.as_str();
        match pair.as_rule() {
            Rule::string => text.name = parse_name(own).into_owned(),
            Rule::list => text.sizes = ints(own)?,
            Rule::count => text.copies = Some(own.parse().ok()?),
            Rule::padding => text.padding = Some(own.parse().ok()?),
            Rule::word => text.word = Some(own.to_owned()),
            _ => {}
        }
    }
    Some(text)
}

/// Reads the name of one dimension; `None` when a number is out of range.
fn dim_name(dim: Pair<'_, Rule>) -> Option<DimName> {
    dim.into_inner().filter(|part| part.as_rule() == Rule::factor).map(size_factor).collect()
}

fn size_factor(factor: Pair<'_, Rule>) -> Option<SizeFactor> {
    let mut read = SizeFactor::unnamed(0);
    for part in factor.into_inner() {
        match part.as_rule() {
            Rule::word | Rule::string => read.name = Some(Name::from(&*parse_name(part.as_str()))),
            Rule::size => read.size = part.as_str().parse().ok()?,
            _ => {}
        }
    }
    Some(read)
}

/// The entries of `[1, 2]`; `None` when one is out of range.
/// Groups that are listed; `None` where a rank is no rank.
fn groups<'t>(lists: impl Iterator<Item = Pair<'t, Rule>>) -> Option<Groups> {
    let lists: Option<Vec<Vec<usize>>> = lists.map(|list| ranks(list.as_str())).collect();
    lists.map(Groups::from)
}

/// Groups that are written as XLA does.
fn iota<'t>(mut lists: impl Iterator<Item = Pair<'t, Rule>>) -> Option<Groups> {
    let (tile, dims) = (ranks(lists.next()?.as_str())?, ranks(lists.next()?.as_str())?);
    let order = lists.next().map_or_else(|| Some((0..dims.len()).collect()), |order| ranks(order.as_str()))?;
    let &[groups, size] = &tile[..] else { return None };
    Groups::iota(groups, size, &dims, &order)
}

fn ranks(list: &str) -> Option<Vec<usize>> {
    ints(list)?.into_iter().map(|rank| rank.try_into().ok()).collect()
}

fn ints(list: &str) -> Option<Vec<i64>> {
    let inner = list.trim_start_matches('T').trim_matches(['[', ']', '(', ')']).trim();
    if inner.is_empty() { Some(Vec::new()) } else { inner.split(',').map(|int| int.trim().parse().ok()).collect() }
}

/// Tensors with more elements than this are refused, so that no size computed from a type overflows.
pub(super) const MAX_ELEMENTS: usize = 1 << 44;

/// Tensors of more dimensions are refused: ops compare dimensions with each other. NumPy has the same limit.
const MAX_RANK: usize = 64;

/// Reads a type such as `f32[4,8]`.
///
/// # Errors
/// On an unknown element type or a size that no machine holds.
pub(super) fn parse_type(chunk: &Chunk<'_>, pair: &Pair<'_, Rule>) -> Result<TensorType> {
    let text = pair.as_str();
    let span = Span::new(chunk.file, chunk.start + pair.as_span().start(), chunk.start + pair.as_span().end());
    let (name, sizes) = text.split_once('[').unwrap_or((text, ""));
    let dtype = DType::parse(name).ok_or_else(|| unknown_dtype(name, span))?;
    let sizes = sizes.trim_end_matches(']').trim();
    let too_big =
        || Diagnostic::error(codes::SHAPE, format!("a tensor of type `{text}` has too many elements")).at(span, "");
    let mut shape = Vec::new();
    let mut elements = 1usize;
    for size in sizes.split(',').filter(|_| !sizes.is_empty()) {
        let size: usize = size.trim().parse().map_err(|_| too_big())?;
        elements =
            elements.checked_mul(size.max(1)).filter(|&elements| elements <= MAX_ELEMENTS).ok_or_else(too_big)?;
        shape.push(size);
    }
    if shape.len() > MAX_RANK {
        let message = format!("a tensor of {} dimensions, at most {MAX_RANK} are possible", shape.len());
        return Err(Diagnostic::error(codes::SHAPE, message).at(span, ""));
    }
    Ok(TensorType::new(dtype, Shape::from(shape.as_slice())))
}

fn unknown_dtype(name: &str, span: Span) -> Diagnostic {
    let known: Vec<_> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    Diagnostic::error(codes::SYNTAX, format!("no element type is named `{name}`"))
        .at(span, "")
        .help(format!("element types are {}", one_of(&known)))
}
