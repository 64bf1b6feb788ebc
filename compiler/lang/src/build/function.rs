//! Functions: what calls share.

use super::frame::{Frame, Handle};
use super::identity::Identity;
use super::{Caller, ModelBuilder, Tensor};
use crate::ops::{Callee, name_of_op, param};
use halite_ir::{TensorType, Value as Id};
use halite_support::{Diagnostic, Name, codes};
use std::panic::Location;

impl ModelBuilder<'_> {
    /// Calls a function that `body` writes, given the arguments as it sees them; the results are those of the body. What the
    /// body declares is named below the scope of the call, and so are the scopes of its operations.
    ///
    /// The body is run for each call. Calls share a function where their bodies are alike: of one name, with the same
    /// operations, types and attributes, and weights of the same names below the scope of the call; how weights start may
    /// differ. Bodies that differ make functions `name`, `name.1` and so on. As in a model text, a function that is called from
    /// one place is written there, and so is one of less than 16 operations wherever it is called.
    ///
    /// What the body reads of a function around it becomes a further argument. A tensor that the body makes is known in the body
    /// alone: what is needed elsewhere is returned.
    ///
    /// ```
    /// # use halite_lang::build::{Init, ModelBuilder};
    /// # use halite_tensor::DType;
    /// # let registry = halite_ir::Registry::builtin();
    /// # let m = ModelBuilder::new("m", &registry);
    /// let mut x = m.batch("x", DType::F32, [4, 6]);
    /// for layer in 0..3 {
    ///     [x] = m.scope(format_args!("layers.{layer}"), || {
    ///         m.function("block", [x], |[x]| {
    ///             let weight = m.param("weight", [6, 6], Init::Normal { std: 0.02 });
    ///             [(0..10).fold(x, |x, _| x + x.matmul(weight).tanh())]
    ///         })
    ///     });
    /// }
    /// let module = m.finish(x.sum_all(), m.scalar(4.0)).expect("no mistakes").module;
    /// let functions: Vec<_> = module.functions.iter().map(|function| &*function.name).collect();
    /// assert_eq!(functions, ["block", "main"]);
    /// let params: Vec<_> = module.entry().unwrap().params.iter().map(|param| &*param.name).collect();
    /// assert_eq!(params, ["x", "layers.0.weight", "layers.1.weight", "layers.2.weight"]);
    /// ```
    ///
    /// A mistake: a name that an op has or that is none; a batch, an output, a setting or the end of the model in the body; a
    /// tensor of a body, used after that has returned.
    #[track_caller]
    pub fn function<'b, const N: usize, const M: usize>(
        &'b self,
        name: &str,
        args: [Tensor<'b>; N],
        body: impl FnOnce([Tensor<'b>; N]) -> [Tensor<'b>; M],
    ) -> [Tensor<'b>; M] {
        let caller = Location::caller();
        self.check_function_name(name, caller);
        let given = args.map(|arg| self.tensor(arg, caller));
        // Where an argument is wrong, the body is run in place, to find what else is.
        let whole: Option<Vec<Id>> = given.into_iter().collect();
        let Some(given) = whole else { return body(given.map(|value| Tensor::maybe(self, value))) };
        let results = body(self.begin_function(name, &given, caller));
        let results: Option<Vec<Id>> = results.map(|result| self.tensor(result, caller)).into_iter().collect();
        let frame = self.state.borrow_mut().end_function();
        let called = frame.zip(results).and_then(|(frame, results)| self.call_function(frame, given, &results, caller));
        let mut called = called.into_iter().flatten();
        std::array::from_fn(|_| Tensor::maybe(self, called.next()))
    }

    fn check_function_name(&self, name: &str, caller: Caller) {
        self.state.borrow_mut().check_name(name, caller);
        let is_entry = || (name == "main").then(|| Diagnostic::error(codes::DUPLICATE, "`main` is defined twice"));
        if let Some(error) = name_of_op(name, self.registry).or_else(is_entry) {
            self.report(error.help("choose another name"), caller);
        }
    }

    /// Begins a function, and gives its parameters for these arguments.
    fn begin_function<'b, const N: usize>(&'b self, name: &str, args: &[Id], caller: Caller) -> [Tensor<'b>; N] {
        let mut state = self.state.borrow_mut();
        let signature: Vec<_> = args.iter().map(|&arg| described(&state.frame, arg)).collect();
        state.begin_function(name.into(), caller);
        drop(state);
        let params = self.run(caller, |ops| {
            Ok(signature.into_iter().map(|(name, ty)| param(&mut ops.b, &name, ty)).collect::<Vec<_>>())
        });
        let mut params = params.into_iter().flatten();
        std::array::from_fn(|_| Tensor::maybe(self, params.next()))
    }

    /// Calls a function whose body was run: a known one where there is one that is alike.
    fn call_function(&self, frame: Frame, args: Vec<Id>, results: &[Id], caller: Caller) -> Option<Vec<Id>> {
        let mut others = Vec::new();
        for (&handle, &param) in &frame.captures {
            others.push((param, self.read(handle, caller)?));
        }
        for weight in &frame.weights {
            others.push((weight.value, self.declare(weight.weight.clone(), weight.at)?));
        }
        let state = self.state.borrow();
        let identity = Identity::new(&frame, results, &state.module.locs);
        let known = state.functions.get(&identity).cloned();
        drop(state);
        let (callee, values) = self.run(caller, |ops| {
            let callee = known.unwrap_or_else(|| Callee::new(&mut ops.b, frame.draft, results));
            let values = callee.call(&mut ops.b, args, others)?;
            Ok((callee, values.to_vec()))
        })?;
        self.state.borrow_mut().functions.entry(identity).or_insert(callee);
        Some(values)
    }

    /// The value that a tensor is in the function being written; `None` when it is poisoned, or wrong and reported.
    pub(super) fn tensor(&self, tensor: Tensor<'_>, caller: Caller) -> Option<Id> {
        if !tensor.belongs_to(self) {
            let error = Diagnostic::error(codes::KIND, "this tensor is one of another model");
            self.report(error.help("use tensors of the builder that made them"), caller);
            return None;
        }
        self.read(tensor.handle()?, caller)
    }

    /// The same of a handle. What is of a function around this one becomes a parameter.
    fn read(&self, handle: Handle, caller: Caller) -> Option<Id> {
        let state = self.state.borrow();
        if let Some(value) = state.frame.value(handle) {
            return Some(value);
        }
        let outside = state.frame(handle).map(|frame| described(frame, handle.value));
        drop(state);
        let Some((name, ty)) = outside else {
            self.state.borrow_mut().report_returned(handle, caller);
            return None;
        };
        let value = self.run(caller, |ops| Ok(param(&mut ops.b, &name, ty)))?;
        self.state.borrow_mut().frame.captures.insert(handle, value);
        Some(value)
    }
}

/// The name that a parameter for a value has, unless that is taken, and its type.
fn described(frame: &Frame, value: Id) -> (Name, TensorType) {
    let data = &frame.draft.function().values[value.index()];
    (data.hint.clone().unwrap_or_else(|| "x".into()), data.ty.clone())
}
