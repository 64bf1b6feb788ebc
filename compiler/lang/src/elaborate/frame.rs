//! Calls of a model's functions, each written once for arguments of one kind.

use super::{Declaration, Elaborator, Eval, Global, Locals, Reported};
use crate::ast::{Call, Function};
use crate::ops::{Callee, Declared, Kind, Named, NamedSizes, Place, Report, Sizes, Value, Weight};
use crate::resolve::Callable;
use halite_ir::{Builder, Draft, TensorType, Value as Tensor};
use halite_support::{Name, Span};
use indexmap::IndexMap;
use std::rc::Rc;

/// A function being written: the entry, or one that is called.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// Whether it is not the entry.
    pub(super) is_called: bool,
    /// The number of calls of model functions that were under way when it was begun.
    calls: usize,
    /// The scopes around the current statement.
    pub(super) scopes: Vec<Name>,
    /// The weights declared so far, in order.
    pub(super) weights: Vec<Declared<Declaration>>,
    pub(super) outputs: Vec<(Name, Declaration, Option<Tensor>)>,
    /// The metrics and added losses that the entry reports beside its loss.
    pub(super) reports: Vec<Report>,
    /// The names outside of functions that it reads, with parameters in place of their tensors.
    captures: IndexMap<Global, Value>,
}

/// A function, and what its instructions depend on in its arguments.
pub(super) type Key = (Span, Vec<Kind>);

/// The same with the size factors of the arguments, on which the names of dimensions depend.
pub(super) type NamedKey = (Key, Vec<NamedSizes>);

/// A function as it was written; `Err` where something in it was reported.
pub(super) type Known = Eval<Rc<Written>>;

/// A function of the model, written for arguments of one kind; it returns the tensors among its results, then its outputs.
#[derive(Debug)]
pub(super) struct Written {
    callee: Callee,
    results: Vec<Value>,
    /// The size factors of the dimensions of the tensors among its results.
    sizes: Vec<Sizes>,
    /// The names outside of functions that it reads, with parameters in place of their tensors.
    captures: IndexMap<Global, Value>,
    weights: Vec<Declared<Declaration>>,
    /// Its outputs with their places; no tensor for one that is poisoned.
    outputs: Vec<(Name, Declaration, Option<Tensor>)>,
    /// Statements that it runs.
    statements: usize,
    /// Expressions that it evaluates.
    evaluations: usize,
}

impl Written {
    /// Calls it and returns its results and its outputs. `args` are the tensors among its arguments, `others` those that it captures
    /// and its weights, each with the parameter that it stands for.
    fn call(
        &self,
        b: &mut Builder<'_>,
        args: Vec<Tensor>,
        others: Vec<(Tensor, Tensor)>,
    ) -> halite_support::Result<(Vec<Value>, Vec<Option<Tensor>>)> {
        let mut tensors = self.callee.call(b, args, others)?.into_iter();
        let results =
            self.results.iter().map(|result| result.with_tensors(&mut || tensors.next())).collect::<Option<_>>();
        let outputs = self.outputs.iter().map(|(_, _, tensor)| tensor.and_then(|_| tensors.next())).collect();
        Ok((results.unwrap_or_default(), outputs))
    }
}

impl Elaborator<'_, '_> {
    /// A call of a function of the model. One that is given something wrong is run in place, to find what else is wrong.
    pub(super) fn call_function(
        &mut self,
        Callable { function, home, .. }: Callable<'_>,
        call: &Call,
        values: Vec<Eval<Value>>,
        span: Span,
    ) -> Eval<Vec<Value>> {
        self.within(home, |cx| cx.call_here(function, call, values, span))
    }

    fn call_here(
        &mut self,
        function: &Function,
        call: &Call,
        values: Vec<Eval<Value>>,
        span: Span,
    ) -> Eval<Vec<Value>> {
        let mut locals = self.bind(function, call, values);
        let args: Eval<Vec<Value>> = locals.values().cloned().collect();
        self.calls.push(span);
        let results = match args {
            Err(Reported) => self.body(function, &mut locals),
            Ok(args) => self.handed_to(function, &args, span),
        };
        self.calls.pop();
        results
    }

    fn handed_to(&mut self, function: &Function, args: &[Value], span: Span) -> Eval<Vec<Value>> {
        let counted = self.ops.hand(args, Place::whole(&span));
        self.check(counted)?;
        let written = self.written(function, args)?;
        self.place(&written, args, span)
    }

    /// The function for arguments of these kinds.
    fn written(&mut self, function: &Function, args: &[Value]) -> Known {
        let kinds = self.lists.kinds(args, &self.ops.b);
        let sizes = self.lists.sizes(args, &self.ops.sizes, &self.ops.b);
        let key = ((function.name.span, kinds), sizes);
        if let Some(known) = self.functions.get(&key) {
            return known.clone();
        }
        let written = self.write(function, args, &key.0);
        self.functions.insert(key, written.clone());
        written
    }

    fn write(&mut self, function: &Function, args: &[Value], key: &Key) -> Known {
        let tensors = tensors_of(args);
        let types: Vec<TensorType> = tensors.iter().map(|&tensor| self.ops.b.ty(tensor).clone()).collect();
        let known: Vec<Sizes> = tensors.iter().map(|&tensor| self.ops.sizes.of(tensor)).collect();
        let outer = self.ops.b.swap(Draft::new(function.name.name.clone()));
        let frame =
            std::mem::replace(&mut self.frame, Frame { is_called: true, calls: self.calls.len(), ..Frame::default() });
        let outer_sizes = std::mem::take(&mut self.ops.sizes);
        let (statements, evaluations) = (self.ops.statements, self.evaluations);

        let mut types = types.into_iter();
        let params = function.arguments.iter().zip(args).map(|(argument, arg)| {
            let name = argument.name.name.clone();
            let value = arg.as_params(&name, &mut types, &mut self.ops.b).ok_or(Reported);
            (name, value)
        });
        let mut locals: Locals = params.collect();
        let params: Vec<Value> = locals.values().flatten().cloned().collect();
        self.ops.sizes.know_all(&params, &known);
        let results = self.body(function, &mut locals);

        let frame = std::mem::replace(&mut self.frame, frame);
        let inner_sizes = std::mem::replace(&mut self.ops.sizes, outer_sizes);
        let draft = self.ops.b.swap(outer);
        let results = results?;
        let mut tensors = tensors_of(&results);
        let sizes = tensors.iter().map(|&tensor| inner_sizes.of(tensor)).collect();
        tensors.extend(frame.outputs.iter().filter_map(|(_, _, tensor)| *tensor));
        let known = self.callees.get(key).cloned();
        let callee = known.unwrap_or_else(|| Callee::new(&mut self.ops.b, draft, &tensors));
        self.callees.insert(key.clone(), callee.clone());
        let written = Written {
            callee,
            results,
            sizes,
            captures: frame.captures,
            weights: frame.weights,
            outputs: frame.outputs,
            statements: self.ops.statements - statements,
            evaluations: self.evaluations - evaluations,
        };
        (self.ops.statements, self.evaluations) = (statements, evaluations);
        Ok(Rc::new(written))
    }

    /// Calls a function, once its weights are declared where it is called.
    fn place(&mut self, written: &Written, args: &[Value], span: Span) -> Eval<Vec<Value>> {
        self.evaluations += written.evaluations;
        self.ops.statements += written.statements.saturating_sub(1);
        self.step(span)?;
        let mut others = Vec::new();
        for (global, params) in &written.captures {
            let value = self.captured(global).ok_or(Reported)??;
            pair(params, &value, &mut others);
        }
        for weight in &written.weights {
            let at = weight.at.from(span);
            let value = self.weight(weight.weight.clone(), at)?;
            others.push((weight.value, value));
        }
        let called = written.call(&mut self.ops.b, tensors_of(args), others);
        let (results, shown) = self.check(called)?;
        self.ops.sizes.know_all(&results, &written.sizes);
        for ((name, at, _), tensor) in written.outputs.iter().zip(shown) {
            self.show(name, at.from(span), tensor);
        }
        Ok(results)
    }

    /// A declaration at this place in the function being written.
    pub(super) fn declaration(&self, span: Span) -> Declaration {
        Declaration { span, call: self.calls[self.frame.calls..].last().copied() }
    }

    /// Declares a weight below the current scopes.
    pub(super) fn weight(&mut self, weight: Weight, at: Declaration) -> Eval<Tensor> {
        let scopes = self.frame.scopes.iter().chain([&weight.name]);
        let name: Name = scopes.map(|part| &**part).collect::<Vec<_>>().join(".").into();
        if !self.frame.is_called {
            self.claim(&name, Named::Weight, at)?;
        }
        let weight = Weight { name, ..weight };
        let value = self.ops.weight(&weight, !self.frame.is_called);
        self.frame.weights.push(Declared { weight, at, value });
        Ok(value)
    }

    /// Shows a tensor under a name.
    pub(super) fn show(&mut self, name: &Name, at: Declaration, tensor: Option<Tensor>) {
        if self.frame.is_called || self.claim(name, Named::Output, at).is_ok() {
            self.frame.outputs.push((name.clone(), at, tensor));
        }
    }

    /// The value of a name outside of functions, as the function being written has it.
    pub(super) fn global(&mut self, name: &Name) -> Option<Eval<Value>> {
        self.captured(&(self.here, name.clone()))
    }

    fn captured(&mut self, global: &Global) -> Option<Eval<Value>> {
        let (home, name) = global;
        let value = self.globals.get(*home)?.get(name)?.clone();
        let Ok(value) = value else { return Some(value) };
        if tensors_of(std::slice::from_ref(&value)).is_empty() || !self.frame.is_called {
            return Some(Ok(value));
        }
        if let Some(known) = self.frame.captures.get(global) {
            return Some(Ok(known.clone()));
        }
        let types = self.global_types.get(global).cloned().unwrap_or_default();
        let param = value.as_params(name, &mut types.into_iter(), &mut self.ops.b).ok_or(Reported);
        if let Ok(param) = &param {
            self.frame.captures.insert(global.clone(), param.clone());
        }
        Some(param)
    }
}

impl Declaration {
    /// The same of a function called at `span`, if that is what ran the declaration.
    fn from(self, span: Span) -> Self {
        Self { call: self.call.or(Some(span)), ..self }
    }
}

/// The tensors in values, in order.
fn tensors_of(values: &[Value]) -> Vec<Tensor> {
    let mut tensors = Vec::new();
    values.iter().for_each(|value| value.tensors(&mut tensors));
    tensors
}

fn pair(params: &Value, values: &Value, into: &mut Vec<(Tensor, Tensor)>) {
    let [params, values] = [params, values].map(|value| tensors_of(std::slice::from_ref(value)));
    into.extend(params.into_iter().zip(values));
}
