//! Reading modules: lines in order, each bad one reported.

use super::function::read_function;
use super::layout::read_layout;
use super::lines::{Line, lines};
use super::numbers::parse_hex;
use super::reader::Reader;
use super::syntax::{AttrText, Chunk, Field, Rule, fields, sigil_name};
use crate::registry::Registry;
use crate::syntax::{Module, Phase};
use halite_support::{Diagnostic, Diagnostics, FileId, Name, Result, codes};
use std::borrow::Cow;
use std::sync::Arc;

/// Reads a module from text. Locations of instructions are their places in `file`.
///
/// # Errors
/// Every bad line, in order. What depends on a value of a bad line is not reported again.
pub fn parse(text: &str, file: FileId, registry: &Registry) -> std::result::Result<Module, Diagnostics> {
    let lines = lines(text, file);
    let mut reader = Reader::new(registry);
    reader.read_resources(&lines);
    reader.read_lines(&lines);
    if !reader.diagnostics.is_empty() {
        reader.diagnostics.sort_by_key(|diagnostic| diagnostic.primary().map(|label| label.span));
        return Err(reader.diagnostics);
    }
    Ok(reader.module)
}

impl<'t> Reader<'_, 't> {
    fn read_resources(&mut self, lines: &[Line<'t>]) {
        for line in lines.iter().filter(|line| line.rule == Rule::resource) {
            let outcome = self.read_resource(&line.chunk);
            self.check(outcome, line.chunk.span());
        }
    }

    fn read_resource(&mut self, chunk: &Chunk<'t>) -> Result<()> {
        let mut bytes = None;
        let mut name = Cow::Borrowed("");
        for pair in chunk.parse(Rule::resource)? {
            match pair.as_rule() {
                Rule::global => name = sigil_name(&pair),
                Rule::string => bytes = parse_hex(pair.as_str().trim_matches('"')),
                _ => {}
            }
        }
        let bad = bytes.is_none();
        if self.resources.insert(name.clone(), bytes).is_some() {
            return Err(Diagnostic::error(codes::DUPLICATE, format!("resource `@{name}` is defined twice")));
        }
        if bad {
            let message = format!("resource `@{name}` is not written in pairs of hexadecimal digits");
            return Err(Diagnostic::error(codes::SYNTAX, message));
        }
        Ok(())
    }

    fn read_lines(&mut self, lines: &[Line<'t>]) {
        let mut rest = lines;
        while let Some((line, after)) = rest.split_first() {
            if self.is_full() {
                return;
            }
            rest = after;
            let first = rest.len() + 1 == lines.len();
            let span = line.chunk.span();
            match line.rule {
                Rule::resource => {}
                Rule::header => {
                    let outcome = if first { read_header(&line.chunk) } else { Err(misplaced("the version", "first")) };
                    if self.check(outcome, span).is_none() && first {
                        return;
                    }
                }
                Rule::module => {
                    let second = rest.len() + 2 == lines.len() && lines[0].rule == Rule::header;
                    let outcome = if first || second {
                        self.read_module(&line.chunk)
                    } else {
                        Err(misplaced("the module line", "before all functions"))
                    };
                    self.check(outcome, span);
                }
                Rule::signature => rest = self.read_function_lines(line, rest),
                _ => {
                    let message = "expected `func @name(..) -> (..) {`, found something else outside of a function";
                    self.report(Diagnostic::error(codes::SYNTAX, message), span);
                    rest = &rest[rest.iter().position(|line| line.rule == Rule::signature).unwrap_or(rest.len())..];
                }
            }
        }
    }

    /// Reads the function that a signature starts and returns the lines after it.
    fn read_function_lines<'l>(&mut self, signature: &Line<'t>, rest: &'l [Line<'t>]) -> &'l [Line<'t>] {
        let ends = |line: &Line<'_>| !matches!(line.rule, Rule::instruction | Rule::return_line);
        let (body, after) = rest.split_at(rest.iter().position(ends).unwrap_or(rest.len()));
        read_function(self, &signature.chunk, body);
        if let Some((close, after)) = after.split_first().filter(|(line, _)| line.rule == Rule::close) {
            let outcome = close.chunk.parse(Rule::close).map(|_| ());
            self.check(outcome, close.chunk.span());
            return after;
        }
        let error = Diagnostic::error(codes::SYNTAX, "a function is not closed");
        self.report(error.help("add a line `}` after `return`"), signature.chunk.span());
        after
    }

    fn read_module(&mut self, chunk: &Chunk<'t>) -> Result<()> {
        for pair in chunk.parse(Rule::module)? {
            match pair.as_rule() {
                Rule::global => self.module.name = Name::from(&*sigil_name(&pair)),
                Rule::attrs => {
                    let mut layout = None;
                    for field in fields(chunk, pair)? {
                        if read_layout(&field, &mut layout)? {
                            continue;
                        }
                        match (field.name, &field.value) {
                            ("causal", Some(AttrText::Element("true"))) => self.module.bidirectional = false,
                            ("causal", Some(AttrText::Element("false"))) => self.module.bidirectional = true,
                            _ => self.module.phase = read_phase(&field)?,
                        }
                    }
                    self.module.layout = layout.map(Arc::new);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn read_phase(field: &Field<'_>) -> Result<Phase> {
    let phase = match (field.name, &field.value) {
        ("phase", Some(AttrText::Word(word))) => Phase::ALL.into_iter().find(|phase| phase.name() == *word),
        _ => None,
    };
    let phases = Phase::ALL.map(|phase| format!("`{phase}`"));
    let unknown = || {
        Diagnostic::error(codes::PHASE, format!("`{}` is no phase of a module", field.text))
            .at(field.span, "")
            .help(format!("write `phase = ` and one of {}", phases.join(", ")))
    };
    phase.ok_or_else(unknown)
}

fn misplaced(what: &str, place: &str) -> Diagnostic {
    Diagnostic::error(codes::SYNTAX, format!("{what} stands {place}"))
}

fn read_header(chunk: &Chunk<'_>) -> Result<()> {
    let mut pairs = chunk.parse(Rule::header)?;
    let version = pairs.find(|pair| pair.as_rule() == Rule::number).map_or("", |pair| pair.as_str());
    if version.parse() == Ok(super::VERSION) {
        return Ok(());
    }
    let message = format!("IR text of version {version} cannot be read; this build reads version {}", super::VERSION);
    Err(Diagnostic::error(codes::VERSION, message).help("write the text again with this version of Halite"))
}
