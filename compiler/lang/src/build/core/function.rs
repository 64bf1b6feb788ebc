//! Functions, which calls share.

use super::frame::{Frame, Owner};
use super::identity::Identity;
use super::{Core, Handle};
use crate::build::Caller;
use crate::ops::{Callee, name_of_op};
use halite_ir::{TensorType, Value as Id};
use halite_support::{Diagnostic, Name, codes};

/// A call of a function whose body is being run.
#[derive(Debug)]
#[must_use = "a body ends with `end_function` or `abandon_function`"]
pub struct Body {
    owner: Owner,
    /// The call that was begun; `None` where an argument is wrong: the body is run in place, to find what else is.
    begun: Option<Begun>,
}

#[derive(Debug)]
struct Begun {
    /// The number of the function.
    frame: usize,
    args: Vec<Id>,
}

impl Core {
    /// Begins a call of a function, and gives its parameters for these arguments. What follows is its body, until
    /// [`end_function`](Self::end_function) or, where it cannot be finished, [`abandon_function`](Self::abandon_function).
    pub fn begin_function(
        &mut self,
        name: &str,
        args: &[Option<Handle>],
        caller: &Caller,
    ) -> (Body, Vec<Option<Handle>>) {
        self.check_function_name(name, caller);
        let owner = self.state.owner;
        let given: Vec<Option<Id>> = args.iter().map(|&arg| self.tensor(arg, caller)).collect();
        let Some(args) = given.iter().copied().collect::<Option<Vec<Id>>>() else {
            let given = given.into_iter().map(|value| self.handle(value)).collect();
            return (Body { owner, begun: None }, given);
        };
        let signature: Vec<_> = args.iter().map(|&arg| described(&self.state.frame, arg)).collect();
        let frame = self.state.begin_function(name.into(), caller);
        let params = self.run(caller, |ops| {
            Ok(signature.into_iter().map(|(name, ty)| ops.b.argument(&name, ty)).collect::<Vec<_>>())
        });
        let params = params.map(|params| params.into_iter().map(|param| Some(self.state.handle(param))).collect());
        let params = params.unwrap_or_else(|| vec![None; args.len()]);
        (Body { owner, begun: Some(Begun { frame, args }) }, params)
    }

    /// Ends the body of a function with its results, and gives those of the call. It is a mistake when the body was abandoned by
    /// that of a function around it.
    pub fn end_function(&mut self, body: Body, results: &[Option<Handle>], caller: &Caller) -> Vec<Option<Handle>> {
        let is_own = body.owner == self.state.owner;
        let Some(Begun { frame, args }) = body.begun.filter(|_| is_own) else { return results.to_vec() };
        let poison = vec![None; results.len()];
        if !self.state.return_to(frame) {
            let error = Diagnostic::error(codes::CONTRACT, "the function around this one has returned before it");
            self.report(error.help("run the body of a function to its end before that around it ends"), caller);
            return poison;
        }
        let results: Vec<Option<Id>> = results.iter().map(|&result| self.tensor(result, caller)).collect();
        let Some(frame) = self.state.end_function() else { return poison };
        let Some(results) = results.into_iter().collect::<Option<Vec<Id>>>() else { return poison };
        match self.call_function(frame, args, &results, caller) {
            Some(values) => values.into_iter().map(|value| Some(self.state.handle(value))).collect(),
            None => poison,
        }
    }

    /// Ends the body of a function that cannot be finished. There is no call; tensors of the body can no longer be used.
    pub fn abandon_function(&mut self, body: Body) {
        let is_own = body.owner == self.state.owner;
        if body.begun.is_some_and(|begun| is_own && self.state.return_to(begun.frame)) {
            self.state.end_function();
        }
    }

    fn check_function_name(&mut self, name: &str, caller: &Caller) {
        self.state.check_name(name, caller);
        let is_entry = || (name == "main").then(|| Diagnostic::error(codes::DUPLICATE, "`main` is defined twice"));
        if let Some(error) = name_of_op(name, &self.registry).or_else(is_entry) {
            self.report(error.help("choose another name"), caller);
        }
    }

    /// Calls a function whose body was run: a known one where there is one that is alike.
    fn call_function(&mut self, frame: Frame, args: Vec<Id>, results: &[Id], caller: &Caller) -> Option<Vec<Id>> {
        let mut others = Vec::new();
        for (&handle, &param) in &frame.captures {
            others.push((param, self.read(handle, caller)?));
        }
        for weight in &frame.weights {
            others.push((weight.value, self.declare(weight.weight.clone(), &weight.at)?));
        }
        let identity = Identity::new(&frame, results, &self.state.module.locs);
        let known = self.state.functions.get(&identity).cloned();
        let (callee, values) = self.run(caller, |ops| {
            let callee = known.unwrap_or_else(|| Callee::new(&mut ops.b, frame.draft, results));
            let values = callee.call(&mut ops.b, args, others)?;
            Ok((callee, values.to_vec()))
        })?;
        self.state.functions.entry(identity).or_insert(callee);
        Some(values)
    }

    /// The value that a tensor is in the function being written; `None` when it is poisoned, or wrong and reported.
    pub(super) fn tensor(&mut self, tensor: Option<Handle>, caller: &Caller) -> Option<Id> {
        self.read(tensor?, caller)
    }

    /// The same of a handle. What is of a function around this one becomes a parameter.
    fn read(&mut self, handle: Handle, caller: &Caller) -> Option<Id> {
        let Some(frame) = self.state.frame(handle) else {
            self.state.report_outside(handle, caller);
            return None;
        };
        if let Some(value) = self.state.frame.value(handle) {
            return Some(value);
        }
        let (name, ty) = described(frame, handle.value);
        let value = self.run(caller, |ops| Ok(ops.b.argument(&name, ty)))?;
        self.state.frame.captures.insert(handle, value);
        Some(value)
    }
}

/// The name that a parameter for a value has, unless that is taken, and its type.
fn described(frame: &Frame, value: Id) -> (Name, TensorType) {
    let data = &frame.draft.function().values[value.index()];
    (data.hint.clone().unwrap_or_else(|| "x".into()), data.ty.clone())
}
