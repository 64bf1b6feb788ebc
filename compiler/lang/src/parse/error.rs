//! Syntax errors of pest, in words of the language.

use super::Rule;
use halite_ir::MODEL_WORDS;
use halite_support::{Diagnostic, FileId, Span, codes};
use pest::error::{Error, ErrorVariant, InputLocation};

/// A diagnostic for a text that leaves the grammar.
pub(super) fn explain(file: FileId, text: &str, error: &Error<Rule>) -> Diagnostic {
    let start = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    let found = token_at(text, start);
    let span = Span::new(file, start, start + found.len());
    let shown = match found.chars().next() {
        None => "the end of the file".to_owned(),
        Some(c) if c.is_control() => "a character that cannot be seen".to_owned(),
        Some(_) => format!("`{found}`"),
    };
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => alternatives(positives),
        ErrorVariant::CustomError { message } => message.clone(),
    };
    let diagnostic = Diagnostic::error(codes::SYNTAX, format!("expected {expected}, found {shown}"));
    let diagnostic = diagnostic.at(span, format!("expected {expected}"));
    match advice(found, &expected) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Advice on the most frequent mistakes, by the token that was found and the tokens that were expected there.
fn advice(found: &str, expected: &str) -> Option<String> {
    let character = found.chars().next();
    if let Some(odd) = character.filter(|c| c.is_control() || !(c.is_ascii() || c.is_alphanumeric())) {
        return Some(format!("replace the character U+{:04X} by one of plain text", u32::from(odd)));
    }
    let begins_item = ["fn", "config", "require", "let"].contains(&found);
    Some(match found {
        "\"" if expected == describe(Rule::text) => "end the text with `\"` on the same line".to_owned(),
        "}" if expected.contains("`return`") => "end the function with `return` and its results".to_owned(),
        "," if expected.contains("`}`") => "keys of `config` and statements stand on lines of their own, or between `;`".to_owned(),
        "." if expected.contains("`return`") => {
            "names have no dots: functions are called by their names alone, as `linear(x, weight)` or those of `use blocks: project`".to_owned()
        }
        "" if expected.contains("`model`") => "begin the file with `model name {`".to_owned(),
        _ if begins_item && expected.contains("`}`") => format!("close what stands before `{found}` with `}}`"),
        "}" if expected == describe(Rule::EOI) => "remove it: nothing is open here".to_owned(),
        _ if MODEL_WORDS.contains(&found) => format!("choose another name: `{found}` is a word of the language"),
        _ => return None,
    })
}

/// The word, number or sign at a byte position.
fn token_at(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or("");
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
    let end = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
    &rest[..end]
}

/// `a, b or c`, without repetitions, in the order of a person's interest: expressions first, then words, then signs.
fn alternatives(rules: &[Rule]) -> String {
    let mut words: Vec<&str> = Vec::new();
    for &rule in rules {
        let word = describe(rule);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.contains(&"an expression") {
        words.retain(|&word| word != "a name");
    }
    match words.split_last() {
        None => "something else".to_owned(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

fn describe(rule: Rule) -> &'static str {
    match rule {
        Rule::file | Rule::header | Rule::model | Rule::word_model => "`model`",
        Rule::library | Rule::word_library => "`library`",
        Rule::used | Rule::word_use => "`use`",
        Rule::config | Rule::word_config => "`config`",
        Rule::require | Rule::word_require => "`require`",
        Rule::let_item | Rule::word_let => "`let`",
        Rule::function | Rule::word_fn => "`fn`",
        Rule::causal | Rule::word_causal => "`causal`",
        Rule::param | Rule::word_param => "`param`",
        Rule::buffer | Rule::word_buffer => "`buffer`",
        Rule::for_loop | Rule::word_for => "`for`",
        Rule::arm => "a word or number",
        Rule::otherwise => "`else`",
        Rule::arrow => "`=>`",
        Rule::branch | Rule::word_if => "`if`",
        Rule::output | Rule::word_output => "`output`",
        Rule::metric | Rule::word_metric => "`metric`",
        Rule::word_over => "`over`",
        Rule::added | Rule::word_loss => "`loss`",
        Rule::word_weight => "`weight`",
        Rule::returns | Rule::word_return => "`return`",
        Rule::word_in => "`in`",
        Rule::word_as => "`as`",
        Rule::word_else => "`else`",
        Rule::assign => "an assignment",
        Rule::argument => "an argument",
        Rule::presence => "`if`",
        Rule::ident | Rule::key | Rule::tail => "a name",
        Rule::ty => "a type like `s32[batch, seq]`",
        Rule::list => "a list",
        Rule::text | Rule::quoted => "a text in quotes",
        Rule::scope | Rule::scope_text | Rule::hole => "a scope name",
        Rule::dot => "`.`",
        Rule::colon | Rule::of => "`:`",
        Rule::equals => "`=`",
        Rule::comma => "`,`",
        Rule::until => "`..`",
        Rule::open => "`(`",
        Rule::close => "`)`",
        Rule::close_list => "`]`",
        Rule::open_block | Rule::block => "`{`",
        Rule::close_block => "`}`",
        Rule::index => "`[`",
        Rule::infix
        | Rule::word_or
        | Rule::word_and
        | Rule::compare
        | Rule::add
        | Rule::subtract
        | Rule::multiply
        | Rule::power
        | Rule::divide
        | Rule::remainder
        | Rule::matmul => "an operator",
        Rule::EOI | Rule::WHITESPACE | Rule::COMMENT => "the end of the file",
        _ => "an expression",
    }
}

#[cfg(test)]
mod tests {
    use halite_ir::MODEL_WORDS;

    #[test]
    fn the_grammar_reserves_the_words_that_no_composite_may_have() {
        let grammar = include_str!("../grammar.pest");
        let (_, keyword) = grammar.split_once("\nkeyword = _{").unwrap();
        let (keyword, _) = keyword.split_once('}').unwrap();
        let reserved: Vec<&str> = keyword.split('"').skip(1).step_by(2).collect();
        assert_eq!(reserved, MODEL_WORDS);
    }
}
