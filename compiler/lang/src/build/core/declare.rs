//! Declarations of a model: batches, parameters, outputs, configuration.

use super::value::not_finite;
use super::{Core, Handle};
use crate::build::{Argument, Caller, Init};
use crate::ops::{Declared, Named, Part, Place, Sizes, Weight, mask_role, stated};
use halite_ir::{ParamRole, TensorType, Value as Id};
use halite_recipe::ConfigValue;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{DType, Shape};

impl Core {
    /// Data of one step, fed by the host.
    pub fn batch(&mut self, name: &str, dtype: DType, shape: Argument, caller: &Caller) -> Option<Handle> {
        self.input(name, dtype, shape, |_| Ok(ParamRole::Batch), caller)
    }

    /// A batch that is declared to be the causal mask.
    pub fn causal_mask(&mut self, name: &str, shape: Argument, caller: &Caller) -> Option<Handle> {
        let role = |ty: &TensorType| mask_role(name, ty, Place::whole(&()));
        self.input(name, DType::Pred, shape, role, caller)
    }

    fn input(
        &mut self,
        name: &str,
        dtype: DType,
        shape: Argument,
        role: impl FnOnce(&TensorType) -> Result<ParamRole>,
        caller: &Caller,
    ) -> Option<Handle> {
        if !self.state.check_entry(&format!("batch {name}"), "declare batches before functions", caller) {
            return None;
        }
        if let Some(first) = self.state.frame.weights.first() {
            let message = format!("batch `{name}` is declared after parameter `{}`", first.weight.name);
            self.report(Diagnostic::error(codes::CONTRACT, message).help("declare batches first"), caller);
        }
        let is_new = self.state.claim(name, &name.into(), Named::Batch, caller);
        let (shape, _) = self.shape(shape, caller).filter(|_| is_new)?;
        let ty = TensorType::new(stated(self.float, dtype), shape);
        let value = self.run(caller, |ops| Ok(ops.b.param(name, ty.clone(), role(&ty)?)))?;
        self.state.batches.insert(name.into(), value);
        Some(self.state.handle(value))
    }

    /// A parameter, in the element type of weights.
    pub fn param(&mut self, name: &str, shape: Argument, init: Init, caller: &Caller) -> Option<Handle> {
        self.weight(name, shape, (init, true), caller)
    }

    /// A weight that is not trained.
    pub fn buffer(&mut self, name: &str, shape: Argument, init: Init, caller: &Caller) -> Option<Handle> {
        self.weight(name, shape, (init, false), caller)
    }

    fn weight(
        &mut self,
        name: &str,
        shape: Argument,
        (init, is_trained): (Init, bool),
        caller: &Caller,
    ) -> Option<Handle> {
        let full = self.state.full_name(name);
        let is_new = self.state.claim(name, &full, Named::Weight, caller);
        let shape = self.shape(shape, caller);
        let init = self.check_init(init, caller);
        let ((shape, sizes), init) = shape.zip(init).filter(|_| is_new)?;
        let ty = TensorType::new(self.float, shape);
        let value = self.declare(Weight { name: name.into(), ty, sizes, init, is_trained }, caller)?;
        Some(self.state.handle(value))
    }

    /// Declares a weight below the scopes of the function being written.
    pub(super) fn declare(&mut self, weight: Weight, at: &Caller) -> Option<Id> {
        let (name, is_entry) = (self.state.own_name(&weight.name), self.state.is_entry());
        let weight = Weight { name, ..weight };
        let value = self.run(at, |ops| Ok(ops.weight(&weight, is_entry)))?;
        self.state.frame.weights.push(Declared { weight, at: at.clone(), value });
        Some(value)
    }

    fn check_init(&mut self, init: Init, caller: &Caller) -> Option<Init> {
        let error = |message: String, help| Diagnostic::error(codes::KIND, message).help(help);
        let error = match init.fault() {
            _ if init == Init::Weight => {
                let message = "a weight starts as a weight, which only state can".to_owned();
                error(message, "give it a start of its own, e.g. zeros".to_owned())
            }
            Some((expected, found)) => {
                error(format!("expected {expected}, found `{found}`"), format!("write {expected} here"))
            }
            None => return Some(init),
        };
        self.report(error, caller);
        None
    }

    /// Shows a tensor under a name.
    pub fn output(&mut self, name: &str, tensor: Option<Handle>, caller: &Caller) {
        let is_main = self.state.check_entry(&format!("output {name}"), "return it to `main` instead", caller);
        if is_main && self.state.claim(name, &name.into(), Named::Output, caller) {
            let value = self.tensor(tensor, caller);
            self.state.outputs.insert(name.into(), value);
        }
    }

    /// Notes a setting of the model.
    pub fn setting(&mut self, key: &str, value: ConfigValue, caller: &Caller) {
        self.state.check_entry(&format!("setting {key}"), "set it before the function", caller);
        self.state.check_name(key, caller);
        if let ConfigValue::Real(real) = value
            && !real.is_finite()
        {
            self.report(not_finite(real).help("set a finite number"), caller);
        }
        if self.state.config.insert(key.to_owned(), value).is_some() {
            self.report(Diagnostic::error(codes::DUPLICATE, format!("`{key}` is defined twice")), caller);
        }
    }

    /// A shape, with what its sizes are products of.
    fn shape(&mut self, shape: Argument, caller: &Caller) -> Option<(Shape, Sizes)> {
        self.operate(caller, [shape], |ops, [shape]| {
            Ok((ops.shape_of(&shape, Place::new(&(), Part::Given(0)))?, shape.sizes()))
        })
    }
}
