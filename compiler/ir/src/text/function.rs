//! Reading one function.

use super::attrs::{AttrReader, missing_type, to_attr};
use super::inst::{InstText, ValueRef, read_cast, read_inst, value_refs};
use super::lines::Line;
use super::literal::Literal;
use super::names::hint_of;
use super::reader::{Known, PRIMITIVES, Reader};
use super::roles::{parse_param_role, parse_result_role};
use super::syntax::{AttrText, Chunk, Field, Rule, fields, parse_type, sigil_name};
use crate::attrs::Attrs;
use crate::build::Builder;
use crate::composite::Composite;
use crate::layout::Layout;
use crate::loc::LocKind;
use crate::ops::Op;
use crate::stage_task::StageTask;
use crate::syntax::{ParamRole, ResultRole, Value, Values};
use crate::ty::TensorType;
use halite_support::nearest::nearest;
use halite_support::{Diagnostic, Name, Result, Span, codes};
use pest::iterators::Pair;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A stated parameter.
struct ParamText<'t> {
    name: Cow<'t, str>,
    span: Span,
    ty: TensorType,
    role: ParamRole,
}

/// A stated result.
struct ResultText {
    name: String,
    ty: TensorType,
    role: ResultRole,
    span: Span,
}

/// The values of a function by name; `None` when the line that defines one is bad.
type Scope<'t> = FxHashMap<Cow<'t, str>, (Option<Value>, Span)>;

/// Reads a function and adds it to the module; one with errors is only known by name.
pub(super) fn read_function<'t>(reader: &mut Reader<'_, 't>, signature: &Chunk<'t>, body: &[Line<'t>]) {
    let errors = reader.num_errors();
    let outcome = signature.parse(Rule::signature);
    let header = reader.check(outcome, signature.span()).map(|pairs| read_signature(reader, signature, pairs));
    let mut module = std::mem::take(&mut reader.module);
    let (name, span) = header.as_ref().map_or((None, signature.span()), |header| (header.name.clone(), header.span));
    let mut function = FunctionReader {
        lenient: header.as_ref().is_none_or(|header| header.incomplete),
        b: Builder::new(&mut module, reader.registry, name.clone().unwrap_or_default()),
        scope: Scope::default(),
        reader,
    };
    let results = header.map(|header| {
        function.define_params(header.params);
        function.b.set_noinline(header.noinline);
        function.b.set_rounds(header.rounds);
        function.b.set_task(header.task);
        header.results
    });
    function.read_body(body, results.as_deref(), span);
    let FunctionReader { b, .. } = function;
    let id = if reader.num_errors() == errors { Some(b.finish()) } else { None };
    reader.module = module;
    let Some(name) = name else { return };
    match reader.functions.get(&name) {
        Some(known) => {
            let message = format!("function `@{name}` is defined twice");
            let error =
                Diagnostic::error(codes::DUPLICATE, message).at(span, "").also(known.span, "first defined here");
            reader.report(error, span);
        }
        None => {
            reader.functions.insert(name, Known { id, span });
        }
    }
}

/// A signature; `incomplete` when a part of it is bad.
struct Header<'t> {
    name: Option<Name>,
    span: Span,
    params: Vec<ParamText<'t>>,
    results: Vec<ResultText>,
    noinline: bool,
    rounds: bool,
    task: Option<StageTask>,
    incomplete: bool,
}

fn read_signature<'t>(
    reader: &mut Reader<'_, 't>,
    chunk: &Chunk<'t>,
    pairs: impl Iterator<Item = Pair<'t, Rule>>,
) -> Header<'t> {
    let errors = reader.num_errors();
    let (params, results) = (Vec::new(), Vec::new());
    let (name, span) = (None, chunk.span());
    let (noinline, rounds, task, incomplete) = (false, false, None, false);
    let mut header = Header { name, span, params, results, noinline, rounds, task, incomplete };
    for pair in pairs {
        match pair.as_rule() {
            Rule::global => {
                header.span = chunk.span_of(&pair);
                header.name = Some(Name::from(&*sigil_name(&pair)));
            }
            Rule::params => {
                for param in pair.into_inner().filter(|part| part.as_rule() == Rule::param) {
                    let outcome = read_param(chunk, reader.module.layout.as_deref(), param);
                    header.params.extend(reader.check(outcome, chunk.span()));
                }
            }
            Rule::results => {
                for result in pair.into_inner().filter(|part| part.as_rule() == Rule::result) {
                    let outcome = read_result(chunk, result);
                    header.results.extend(reader.check(outcome, chunk.span()));
                }
            }
            Rule::noinline => header.noinline = true,
            Rule::rounds => header.rounds = true,
            Rule::task => {
                let outcome = read_task(chunk, pair);
                header.task = reader.check(outcome, chunk.span());
            }
            _ => {}
        }
    }
    header.incomplete = reader.num_errors() > errors;
    header
}

/// Reads the task of a function.
fn read_task(chunk: &Chunk<'_>, task: Pair<'_, Rule>) -> Result<StageTask> {
    let (span, text) = (chunk.span_of(&task), task.as_str());
    let (mut word, mut numbers) = (String::new(), Vec::new());
    for pair in task.into_inner() {
        match pair.as_rule() {
            Rule::word => pair.as_str().clone_into(&mut word),
            Rule::size => numbers.extend(pair.as_str().parse::<usize>().ok()),
            _ => {}
        }
    }
    StageTask::read(&word, &numbers).ok_or_else(|| {
        let error = Diagnostic::error(codes::ATTRIBUTE, format!("`{text}` is no task of a stage")).at(span, "");
        error.help(
            "write `forward(part)`, `backward(part)`, `backward_input(part)`, `backward_weights(part)` or `update(stage, round)`",
        )
    })
}

/// Reads a parameter. What it stores, and where that lies, is said of the whole that ranks share.
fn read_param<'t>(chunk: &Chunk<'t>, layout: Option<&Layout>, param: Pair<'t, Rule>) -> Result<ParamText<'t>> {
    let span = chunk.span_of(&param);
    let (mut name, mut ty, mut role) = (Cow::Borrowed(""), None, ParamRole::Argument);
    for pair in param.into_inner() {
        match pair.as_rule() {
            Rule::value => name = sigil_name(&pair),
            Rule::ty => ty = Some(parse_type(chunk, &pair)?),
            Rule::attrs => {
                let sharding = layout.and_then(|layout| layout.shardings.get(&*name));
                let whole = ty.as_ref().map(|ty| Layout::whole(sharding, ty));
                role = parse_param_role(&fields(chunk, pair)?, whole.as_ref().map_or(&[], |ty| ty.shape()))?;
            }
            _ => {}
        }
    }
    let ty = ty.ok_or_else(|| missing_type(&name, span))?;
    Ok(ParamText { name, span, ty, role })
}

fn read_result(chunk: &Chunk<'_>, result: Pair<'_, Rule>) -> Result<ResultText> {
    let span = chunk.start + result.as_span().start()..chunk.start + result.as_span().end();
    let span = Span::new(chunk.file, span.start, span.end);
    let (mut name, mut ty, mut role) = (String::new(), None, ResultRole::Value);
    for pair in result.into_inner() {
        match pair.as_rule() {
            Rule::result_name => name = super::quoted::parse_name(pair.as_str()).into_owned(),
            Rule::ty => ty = Some(parse_type(chunk, &pair)?),
            Rule::attrs => role = parse_result_role(&fields(chunk, pair)?)?,
            _ => {}
        }
    }
    let ty = ty.ok_or_else(|| missing_type(&name, span))?;
    Ok(ResultText { name, ty, role, span })
}

/// The names before `=` of a line that does not follow the grammar.
fn guess_results<'t>(chunk: &Chunk<'t>) -> Vec<(Cow<'t, str>, Span)> {
    let left = chunk.text.split_once('=').map_or("", |(left, _)| left);
    let names = left.split(',').filter_map(|name| name.trim().strip_prefix('%'));
    names.map(|name| (super::quoted::parse_name(name), chunk.span())).collect()
}

struct FunctionReader<'a, 'b, 'r, 't> {
    reader: &'a mut Reader<'r, 't>,
    b: Builder<'b>,
    scope: Scope<'t>,
    /// Whether unknown values are taken for those of a bad line.
    lenient: bool,
}

impl<'t> FunctionReader<'_, '_, '_, 't> {
    fn define(&mut self, name: Cow<'t, str>, value: Option<Value>, span: Span) {
        if let Some((_, first)) = self.scope.get(&name) {
            let error = Diagnostic::error(codes::DUPLICATE, format!("value `%{name}` is defined twice"));
            self.reader.report(error.at(span, "").also(*first, "first defined here"), span);
            return;
        }
        self.scope.insert(name, (value, span));
    }

    fn define_params(&mut self, params: Vec<ParamText<'t>>) {
        for param in params {
            let value = self.b.param(&*param.name, param.ty, param.role);
            self.define(param.name, Some(value), param.span);
        }
    }

    fn read_body(&mut self, body: &[Line<'t>], results: Option<&[ResultText]>, span: Span) {
        let mut returned = false;
        for line in body {
            if self.reader.is_full() {
                return;
            }
            if returned {
                let error = Diagnostic::error(codes::SYNTAX, "nothing may follow `return`, expected `}`");
                return self.reader.report(error, line.chunk.span());
            }
            if line.rule == Rule::return_line {
                returned = true;
                let outcome = self.read_return(&line.chunk, results);
                self.reader.check(outcome, line.chunk.span());
            } else {
                self.read_line(&line.chunk);
            }
        }
        if !returned {
            let error = Diagnostic::error(codes::SYNTAX, "a function has no `return`");
            self.reader.report(error.help("end it with `return` and the values of its results"), span);
        }
    }

    fn read_return(&mut self, chunk: &Chunk<'t>, results: Option<&[ResultText]>) -> Result<()> {
        let values = chunk.parse(Rule::return_line)?.find(|pair| pair.as_rule() == Rule::values);
        let refs = values.map(|pair| value_refs(chunk, pair)).unwrap_or_default();
        let values = self.resolve(refs.iter())?;
        let (Some(values), Some(results), false) = (values, results, self.lenient) else { return Ok(()) };
        if values.len() != results.len() {
            let (found, expected) = (values.len(), results.len());
            let message = format!("the signature states {expected} results, found {found} in `return`");
            return Err(Diagnostic::error(codes::ARITY, message));
        }
        for ((value, result), (_, text, span)) in values.into_iter().zip(results).zip(&refs) {
            let ty = self.b.ty(value);
            if *ty != result.ty {
                let message = format!("`%{text}` is `{ty}`, but the signature states `{}`", result.ty);
                let error = Diagnostic::error(codes::TYPE_MISMATCH, message).at(*span, "");
                return Err(error.also(result.span, "stated here"));
            }
            self.b.named_result(value, result.name.as_str(), result.role.clone());
        }
        Ok(())
    }

    fn read_line(&mut self, chunk: &Chunk<'t>) {
        let outcome = read_inst(chunk);
        let Some(inst) = self.reader.check(outcome, chunk.span()) else {
            for (name, span) in guess_results(chunk) {
                self.scope.entry(name).or_insert((None, span));
            }
            return;
        };
        let outcome = self.emit(chunk, &inst);
        let values = self.reader.check(outcome, chunk.span()).flatten();
        for (position, (name, text, span)) in inst.results.into_iter().enumerate() {
            let value = values.as_ref().and_then(|values| values.get(position).copied());
            if let (Some(value), Some(hint)) = (value, hint_of(text)) {
                self.b.name_value(value, &*hint);
            }
            self.define(name, value, span);
        }
    }

    /// Emits an instruction; `None` when it depends on a bad line.
    fn emit(&mut self, chunk: &Chunk<'t>, inst: &InstText<'t>) -> Result<Option<Vec<Value>>> {
        let args = self.resolve(inst.args.iter())?;
        let named = self.resolve(inst.named.iter().map(|(.., value)| value))?;
        let Some(op) = self.read_op(chunk.span(), inst)? else { return Ok(None) };
        let (Some(args), Some(named)) = (args, named) else { return Ok(None) };
        let outer = self.b.enter(LocKind::Source(chunk.span()));
        let values = self.apply(op, inst, &args, &named);
        self.b.set_loc(outer);
        let values = values?;
        self.check_types(chunk.span(), inst, &values)?;
        self.read_rounding(inst)?;
        Ok(Some(values.to_vec()))
    }

    /// Applies an op to operands by position and, if it is a composite, by name.
    fn apply(&mut self, op: Op, inst: &InstText<'t>, args: &[Value], named: &[Value]) -> Result<Values> {
        let names = || inst.named.iter().map(|&(name, ..)| name);
        let Op::Composite(composite) = op else {
            let Some((name, span, _)) = inst.named.first() else { return self.b.emit_all(op, args) };
            let message = format!("`{}` takes its operands by position, found `{name} = `", inst.op);
            return Err(Diagnostic::error(codes::ARITY, message).at(*span, "").help("write the value alone"));
        };
        self.reader.registry.composite(inst.op)?.operands().check_form(inst.op, args.len(), names())?;
        let named: Vec<_> = names().zip(named.iter().copied()).collect();
        self.b.apply(composite, args, &named)
    }

    /// Sets the rounding of the instruction just emitted.
    fn read_rounding(&mut self, inst: &InstText<'t>) -> Result<()> {
        let Some((rounding, span)) = &inst.rounding else { return Ok(()) };
        if self.b.function().insts.last().is_none_or(|last| last.rounding.is_none()) {
            let message = format!("`{}` does not round here: no result is narrower than what it computes in", inst.op);
            return Err(Diagnostic::error(codes::ROUNDING, message).at(*span, ""));
        }
        self.b.round_last(rounding.clone());
        Ok(())
    }

    fn check_types(&self, span: Span, inst: &InstText<'t>, values: &[Value]) -> Result<()> {
        let inferred: Vec<_> = values.iter().map(|&value| self.b.ty(value).to_string()).collect();
        let write = inferred.join(", ");
        if inst.results.len() != values.len() {
            let (op, expected, found) = (inst.op, values.len(), inst.results.len());
            let message = format!("`{op}` has {expected} results, found {found} names before `=`");
            return Err(Diagnostic::error(codes::ARITY, message));
        }
        let Some(types_span) = inst.types_span else {
            let missing = format!("end the line with `: {write}`");
            return if values.is_empty() { Ok(()) } else { Err(missing_type(inst.op, span).help(missing)) };
        };
        let equal = |(&value, ty): (&Value, &TensorType)| self.b.ty(value) == ty;
        if inst.types.len() == values.len() && values.iter().zip(&inst.types).all(equal) {
            return Ok(());
        }
        let stated: Vec<_> = inst.types.iter().map(ToString::to_string).collect();
        let message = format!("`{}` gives `{write}`, but `{}` is stated", inst.op, stated.join(", "));
        Err(Diagnostic::error(codes::TYPE_MISMATCH, message).at(types_span, "").help(format!("write `: {write}`")))
    }

    /// The values behind names; `None` when one is of a bad line.
    fn resolve<'r>(&mut self, refs: impl ExactSizeIterator<Item = &'r ValueRef<'t>>) -> Result<Option<Vec<Value>>>
    where
        't: 'r,
    {
        let mut values = Some(Vec::with_capacity(refs.len()));
        for (name, _, span) in refs {
            match self.scope.get(name) {
                Some((Some(value), _)) => values.iter_mut().for_each(|values| values.push(*value)),
                Some((None, _)) => values = None,
                None if self.lenient => values = None,
                None => {
                    let error = Diagnostic::error(codes::UNDEFINED_VALUE, format!("value `%{name}` is not defined"));
                    let mut known: Vec<&str> = self.scope.keys().map(|name| &**name).collect();
                    known.sort_unstable();
                    let help = match nearest(name, known) {
                        Some(near) => format!("a value with a similar name is `%{near}`"),
                        None => "every value is defined on an earlier line".to_owned(),
                    };
                    return Err(error.at(*span, "").help(help));
                }
            }
        }
        Ok(values)
    }

    /// The op of an instruction; `None` when it depends on something bad.
    fn read_op(&self, span: Span, inst: &InstText<'t>) -> Result<Option<Op>> {
        if inst.fields.iter().any(|field| self.names_bad_function(field)) {
            return Ok(None);
        }
        if let Some(op) = PRIMITIVES.get(inst.op) {
            return self.read_primitive(span, inst, op.clone());
        }
        let Ok(def) = self.reader.registry.composite(inst.op) else { return Err(self.unknown_op(inst.op)) };
        let mut given = Vec::with_capacity(inst.fields.len());
        let mut compute = None;
        for field in &inst.fields {
            let attr = to_attr(field, &self.reader.functions)?;
            if field.name == "compute" { compute = Some((attr, field)) } else { given.push((field.name, attr)) }
        }
        if inst.literal.is_some() {
            return Err(Diagnostic::error(codes::SYNTAX, format!("`{}` takes no elements", inst.op)));
        }
        let mut attrs = Attrs::with_defaults(inst.op, &def.schema(), &given)?;
        if let Some((attr, field)) = compute {
            attrs = attrs.with_cast(read_cast(&attr, field, inst)?);
        }
        Ok(Some(Composite::of(&**def, attrs).into()))
    }

    fn names_bad_function(&self, field: &Field<'t>) -> bool {
        let Some(AttrText::Func(name)) = &field.value else { return false };
        self.reader.functions.get(name.as_str()).is_some_and(|known| known.id.is_none())
    }

    fn read_primitive(&self, span: Span, inst: &InstText<'t>, mut op: Op) -> Result<Option<Op>> {
        let literal = match &inst.literal {
            None => None,
            Some(pair) => match self.read_literal(pair)? {
                None => return Ok(None),
                literal => literal,
            },
        };
        self.read_attrs(span, inst, literal, &mut op)?;
        Ok(Some(op))
    }

    fn read_attrs(&self, span: Span, inst: &InstText<'t>, literal: Option<Literal<'_>>, op: &mut Op) -> Result<()> {
        let mut attrs = AttrReader {
            op: inst.op,
            span,
            fields: inst.fields.clone(),
            literal,
            types: &inst.types,
            functions: &self.reader.functions,
            known: Vec::new(),
            error: None,
        };
        op.def_mut().attrs(&mut attrs);
        attrs.finish()
    }

    /// The elements after an op's name; `None` when they are a resource with wrong bytes.
    fn read_literal(&self, pair: &Pair<'t, Rule>) -> Result<Option<Literal<'_>>> {
        let text = pair.as_str();
        Ok(match pair.as_rule() {
            Rule::global => return self.reader.resource(&sigil_name(pair)),
            Rule::elements => {
                let elements = pair.clone().into_inner().filter(|part| part.as_rule() == Rule::element);
                Some(Literal::Listed(elements.map(|element| element.as_str()).collect()))
            }
            _ => Some(Literal::Splat(text)),
        })
    }

    fn unknown_op(&self, name: &str) -> Diagnostic {
        let mut known: Vec<&str> = PRIMITIVES.keys().map(String::as_str).collect();
        known.extend(self.reader.registry.composites().map(|def| def.name()));
        known.sort_unstable();
        let error = Diagnostic::error(codes::UNKNOWN_OP, format!("no op or composite is named `{name}`"));
        match nearest(name, known) {
            Some(near) => error.help(format!("an op with a similar name is `{near}`")),
            None => error.help("the op reference lists all ops"),
        }
    }
}
