//! Functions, which calls share.

use super::core::Handle;
use super::{ModelBuilder, Tensor};
use std::panic::Location;

impl ModelBuilder {
    /// Calls a function that `body` writes, given the arguments as it sees them; the results are those of the body. What the
    /// body declares is named below the scope of the call, and so are the scopes of its operations.
    ///
    /// The body is run for each call. Calls share a function where their bodies are alike: of one name, with the same
    /// operations, types and attributes, and weights of the same names below the scope of the call; how weights start may
    /// differ. Bodies that differ make functions `name`, `name.1` and so on. As in a model text, a function that is called from
    /// one place is written there, and so is one of less than 16 operations wherever it is called.
    ///
    /// A tensor of a function around it that the body reads becomes a further argument. A tensor that the body makes is known in the
    /// body alone: return those that are needed elsewhere.
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
        let caller = Location::caller().into();
        let args = args.map(Tensor::handle);
        let (call, params) = self.core.borrow_mut().begin_function(name, &args, &caller);
        let results = body(self.tensors(params)).map(Tensor::handle);
        let results = self.core.borrow_mut().end_function(call, &results, &caller);
        self.tensors(results)
    }

    /// The tensors of as many handles.
    fn tensors<const N: usize>(&self, handles: Vec<Option<Handle>>) -> [Tensor<'_>; N] {
        let mut handles = handles.into_iter();
        std::array::from_fn(|_| Tensor::new(self, handles.next().flatten()))
    }
}
