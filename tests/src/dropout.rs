//! An independent model of what `key-dropout` makes.

use halite_ir::{EvalCx, Function, Inst, Interpreter, Module, Op, ParamRole, Registry, TensorType};
use halite_recipe::Recipe;
use halite_tensor::rounding::{random_bits, stream_key};
use halite_tensor::{Content, DType, HostTensor, Indices};
use halite_test_kit::{InputKind, seeded_inputs};
use std::collections::BTreeMap;

/// Completed updates that are tried.
const STEPS: [u32; 3] = [0, 1, 70_000];

/// Checks that `after` does what `before` says with each dropout drawing from the stream of its name, at some numbers of completed
/// updates and micro-batches. Both are run by the interpreter, and results are equal to the bit.
///
/// # Errors
/// Naming the result that differs.
pub(crate) fn check_dropout(
    before: &Module,
    after: &Module,
    recipe: &Recipe,
    registry: &Registry,
) -> Result<(), String> {
    let (old, new) = before.entry().zip(after.entry()).ok_or("there is no entry")?;
    let micro_batches = recipe.sizes().map_err(|error| error.to_string())?.accumulate as u32;
    for (step, micro) in STEPS.into_iter().flat_map(|step| (0..micro_batches).map(move |micro| (step, micro))) {
        let number = |number: u32| HostTensor::from_ints(DType::S32, [], [i128::from(number)]);
        let inputs = seeded_inputs(old, InputKind::Plain, 5);
        let draw = (step + 1) * micro_batches.next_power_of_two() + micro;
        let mut model = Model { module: before, registry, seed: recipe.train.seed, draw, drawn: BTreeMap::new() };
        let expected = model.run(old, inputs.clone(), "")?;
        let added = new.params[old.params.len()..].iter().map(|param| match &param.role {
            ParamRole::State(spec) if &*spec.kind == "step" => Ok(number(step)),
            ParamRole::Known(Content::MicroBatch) => Ok(number(micro)),
            ParamRole::Known(Content::Keys(keys)) => Ok(keys.tensor()),
            _ => Err(format!("`{}` is added", param.name)),
        });
        let added = added.collect::<Result<Vec<_>, _>>()?;
        let inputs = inputs.into_iter().chain(added).collect();
        let found = Interpreter::of(after, registry).run(new, inputs).map_err(|error| error.to_string())?;
        for ((result, expected), found) in old.results.iter().zip(&expected).zip(&found) {
            if expected != found {
                let place = format!("result `{}` after {step} updates, micro-batch {micro}", result.name);
                return Err(format!("{place}: {found:?}, expected {expected:?}"));
            }
        }
    }
    Ok(())
}

/// A module that is run instruction by instruction.
struct Model<'m> {
    module: &'m Module,
    registry: &'m Registry,
    seed: u64,
    draw: u32,
    /// The number of dropouts that ran under each path.
    drawn: BTreeMap<String, usize>,
}

impl Model<'_> {
    /// The results of a function that is called under a path.
    fn run(&mut self, function: &Function, inputs: Vec<HostTensor>, path: &str) -> Result<Vec<HostTensor>, String> {
        let mut values: Vec<Option<HostTensor>> = vec![None; function.values.len()];
        for (param, input) in function.params.iter().zip(inputs) {
            values[param.value.index()] = Some(input);
        }
        let get = |values: &[Option<HostTensor>], at: usize| values[at].clone().ok_or("a value is not defined");
        for inst in &function.insts {
            let args = inst.args.iter().map(|arg| get(&values, arg.index())).collect::<Result<Vec<HostTensor>, _>>()?;
            for (result, value) in inst.results.iter().zip(self.inst(function, inst, args, path)?) {
                values[result.index()] = Some(value);
            }
        }
        Ok(function.results.iter().map(|result| get(&values, result.value.index())).collect::<Result<_, _>>()?)
    }

    fn inst(
        &mut self,
        function: &Function,
        inst: &Inst,
        args: Vec<HostTensor>,
        path: &str,
    ) -> Result<Vec<HostTensor>, String> {
        let scope = self.module.locs.scope(inst.loc);
        let path = [path, &scope].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
        match &inst.op {
            Op::Call(call) => self.run(self.module.function(call.callee), args, &path),
            Op::Composite(composite) if &*composite.name == "dropout" => {
                let rate = composite.attrs.get(&halite_ir::composites::dropout::RATE).map_err(|e| e.to_string())?;
                Ok(vec![self.dropped(&args[0], rate, &path)])
            }
            op => {
                let types: Vec<TensorType> = inst.results.iter().map(|&result| function.ty(result).clone()).collect();
                let cx = EvalCx { functions: &self.module.functions, registry: self.registry, results: &types };
                op.def().eval(&cx, &args.iter().collect::<Vec<_>>()).map_err(|error| error.to_string())
            }
        }
    }

    fn dropped(&mut self, x: &HostTensor, rate: f64, path: &str) -> HostTensor {
        let number = self.drawn.entry(path.to_owned()).or_default();
        let colon = if path.is_empty() { "" } else { ":" };
        let key = stream_key(self.seed, &format!("{path}{colon}dropout.{number}"));
        *number += 1;
        let scale = f64::from((1.0 / (1.0 - rate)) as f32);
        let element = |(index, value): (halite_tensor::Dims, f64)| {
            let coordinates: Vec<u32> = index.iter().map(|&at| at as u32).collect();
            let bits = random_bits(key, self.draw, &coordinates);
            if f64::from(bits >> 8) / f64::from(1 << 24) < rate { 0.0 } else { value * scale }
        };
        let values = Indices::new(x.shape()).zip(x.f64s()).map(element);
        HostTensor::from_f64s(x.dtype(), x.shape().clone(), values)
    }
}
