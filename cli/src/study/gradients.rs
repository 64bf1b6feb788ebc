//! The gradients of one step under a recipe, without the update.

use halite::Session;
use halite::compile::CompileOptions;
use halite::pipelines;
use halite::source::Source;
use halite_bundle::ModuleRole;
use halite_bundle::tensors::Tensors;
use halite_ir::{Function, Param, ParamRole, ResultRole};
use halite_runtime::{Executable, Executor, Program, evaluate};
use halite_stablehlo::Form;
use halite_support::{Diagnostic, Diagnostics, Result};
use halite_tensor::HostTensor;
use indexmap::IndexMap;

/// The compiled gradients of a recipe.
pub(super) struct Gradients {
    entry: Function,
    executable: Box<dyn Executable>,
}

impl Gradients {
    /// Compiles them for one device.
    ///
    /// # Errors
    /// When the recipe does not compile or the executor fails.
    pub(super) fn compile(
        session: &Session,
        source: &Source,
        executor: &dyn Executor,
    ) -> std::result::Result<Self, Diagnostics> {
        let built = session.elaborate(source)?.module;
        let pipeline = session.passes.pipeline(&pipelines::gradients())?;
        let (role, options) = (ModuleRole::TRAIN_STEP, CompileOptions::default());
        let module = session.compile_role(&built, &source.recipe, &role, &pipeline, &options)?;
        let missing = || Diagnostic::bug("a compiled module without an entry");
        let entry = module.ir.functions.into_iter().next_back().ok_or_else(missing)?;
        let bytes = module.hlo.encode();
        let program = Program::new(&bytes, halite_runtime::CompileOptions::default())?
            .in_format(executor.format(), |_| {
                halite_stablehlo::print(&module.hlo, Form::Program { num_replicas: 1 })
            })?;
        let executable = executor.compile(&program)?;
        Ok(Self { entry, executable })
    }

    /// The gradients by parameter, at the weights of a state, which are rounded to the slots of this recipe.
    ///
    /// # Errors
    /// When state or batch lack a parameter or the executor fails.
    pub(super) fn at(&self, executor: &dyn Executor, state: &Tensors, batch: &Tensors) -> Result<Tensors> {
        let input = |param: &Param| {
            let ty = self.entry.ty(param.value);
            let given = match &param.role {
                ParamRole::Known(content) => return Ok(content.tensor(ty.shape(), 0)),
                ParamRole::Batch => batch.get(&*param.name),
                _ => state.get(&*param.name),
            };
            let given = given.ok_or_else(|| Diagnostic::bug(format!("state and batch lack `{}`", param.name)))?;
            Ok(in_dtype(given, ty.dtype()))
        };
        let inputs = self.entry.params.iter().map(input).collect::<Result<Vec<_>>>()?;
        let outputs = evaluate(executor, self.executable.as_ref(), &inputs)?;
        let named = self.entry.results.iter().zip(outputs).filter_map(|(result, output)| match &result.role {
            ResultRole::Gradient(name) => Some((name.to_string(), output)),
            _ => None,
        });
        Ok(named.collect())
    }

    /// The layers of the parameters, in the order of the model.
    pub(super) fn layers(&self) -> Vec<String> {
        let weights = self.entry.params.iter().filter(|param| matches!(param.role, ParamRole::Weight(_)));
        let layers: IndexMap<&str, ()> = weights.map(|param| (layer_of(&param.name), ())).collect();
        layers.into_keys().map(str::to_owned).collect()
    }
}

fn in_dtype(tensor: &HostTensor, dtype: halite_tensor::DType) -> HostTensor {
    if tensor.dtype() == dtype {
        return tensor.clone();
    }
    HostTensor::from_f64s(dtype, tensor.shape().clone(), tensor.f64s())
}

/// The layer of a parameter: its name up to the first number, or without its last part when there is none.
///
/// ```
/// use halite_cli::study::layer_of;
/// assert_eq!(layer_of("model.layers.3.mlp.up_proj.weight"), "model.layers.3");
/// assert_eq!(layer_of("lm_head.weight"), "lm_head");
/// ```
pub fn layer_of(parameter: &str) -> &str {
    let mut end = 0;
    for part in parameter.split('.') {
        end += part.len();
        if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            return &parameter[..end];
        }
        end += 1;
    }
    parameter.rsplit_once('.').map_or(parameter, |(scope, _)| scope)
}

/// Norm of the difference over norm of the truth, for each layer over all its parameters. Equal gradients have the error
/// 0, also where the truth is 0.
///
/// # Errors
/// A bug diagnostic when a gradient was not found.
pub(super) fn relative_errors(found: &Tensors, truth: &Tensors, layers: &[String]) -> Result<Vec<f64>> {
    let error = |layer: &String| {
        let (mut difference, mut size) = (0.0, 0.0);
        for (name, truth) in truth.iter().filter(|(name, _)| layer_of(name) == layer) {
            let missing = || Diagnostic::bug(format!("no gradient of `{name}`"));
            let found = found.get(name).ok_or_else(missing)?;
            for (found, truth) in found.f64s().into_iter().zip(truth.f64s()) {
                difference += (found - truth).powi(2);
                size += truth.powi(2);
            }
        }
        Ok(if difference == 0.0 { 0.0 } else { (difference / size).sqrt() })
    };
    layers.iter().map(error).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_tensor::DType;

    #[test]
    fn errors_are_relative_to_the_layer() {
        let tensors = |values: [[f64; 2]; 3]| -> Tensors {
            let names = ["h.0.a.weight", "h.0.b", "norm.weight"];
            let tensor = |values| HostTensor::from_f64s(DType::F64, [2], values);
            names.into_iter().zip(values).map(|(name, values)| (name.to_owned(), tensor(values))).collect()
        };
        let truth = tensors([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]]);
        let found = tensors([[3.0, 0.3], [0.4, 4.0], [0.0, 0.0]]);
        let layers = ["h.0".to_owned(), "norm".to_owned()];
        let errors = relative_errors(&found, &truth, &layers).unwrap();
        assert!((errors[0] - 0.1).abs() < 1e-12 && errors[1] == 0.0, "{errors:?}");
        let missing = relative_errors(&Tensors::default(), &truth, &layers).unwrap_err().to_string();
        assert!(missing.contains("no gradient of `h.0.a.weight`"), "{missing}");
    }
}
