//! Whether mixed precision kept the meaning of a module: the relation [`WithinRecipe`](halite_passes::Relation).

use crate::inputs::{InputKind, seeded_inputs};
use crate::tolerances::ROUNDINGS;
use crate::xla::run_passes;
use halite_ir::{Def, Function, Inst, Interpreter, Module, Param, ParamRole, Registry, TensorType, Value};
use halite_tensor::compare::difference;
use halite_tensor::{Content, DType, HostTensor};

/// Seeds of the operands that functions are tried on.
const SEEDS: [u64; 3] = [1, 2, 3];

/// Runs every function that both modules have and compares the results.
///
/// The operands are those that the new function takes: weights may have become narrower. The old function gets the same
/// numbers in its own types, and what it computes is the truth. A result that `n` rounding instructions lead to may be off,
/// norm-wise, by [`ROUNDINGS`]` * sqrt(n)` units of roundoff of the narrowest type among them: their errors are
/// independent. A result without any, as under `fp32` and `fp64`, must be the same bit for bit; so a sensitive op that
/// computes narrow without an instruction that says so is found at once.
///
/// # Errors
/// Naming the function, the operands and the first result that differs.
pub fn check_within_recipe(before: &Module, after: &Module, registry: &Registry) -> Result<(), String> {
    // Composites round inside.
    let mut expanded = after.clone();
    run_passes("expand-composites", &mut expanded, registry).map_err(|error| error.to_string())?;
    for old in &before.functions {
        let Some(new) = expanded.find(&old.name) else { continue };
        let new = expanded.function(new);
        let roundings: Vec<_> = new.results.iter().map(|result| Roundings::to(&expanded, new, result.value)).collect();
        for seed in SEEDS {
            let taken = inputs(old, new, seed);
            let wide = taken.iter().zip(old.param_types()).map(|(input, ty)| convert(input, ty.dtype())).collect();
            let at = |message: String| format!("`@{}` on {taken:?}: {message}", old.name);
            let was =
                Interpreter::of(before, registry).run(old, wide).map_err(|error| at(format!("before: {error}")))?;
            let is = Interpreter::of(&expanded, registry).run(new, taken.clone());
            let is = is.map_err(|error| at(format!("after: {error}")))?;
            close(&is, &was, &roundings).map_err(at)?;
        }
    }
    Ok(())
}

/// Seeded operands of the old function, rounded to the types of the new one, which may be given keys of random bits beside them. Floats are between -0.5 and 0.5, as weights
/// and normalized activations are, so that exponentials do not magnify errors.
fn inputs(old: &Function, new: &Function, seed: u64) -> Vec<HostTensor> {
    let tame = |(input, ty): (&HostTensor, &TensorType)| {
        if !ty.dtype().is_float() {
            return input.clone();
        }
        HostTensor::from_f64s(ty.dtype(), ty.shape().clone(), input.f64s().into_iter().map(|value| value / 4.0))
    };
    let keys = |param: &Param| {
        if let ParamRole::Known(Content::Keys(keys)) = &param.role { Some(keys.tensor()) } else { None }
    };
    let added = new.params.iter().skip(old.params.len()).filter_map(keys);
    seeded_inputs(old, InputKind::Plain, seed).iter().zip(&new.param_types()).map(tame).chain(added).collect()
}

fn convert(tensor: &HostTensor, dtype: DType) -> HostTensor {
    if tensor.dtype() == dtype {
        return tensor.clone();
    }
    HostTensor::from_f64s(dtype, tensor.shape().clone(), tensor.f64s())
}

fn close(found: &[HostTensor], expected: &[HostTensor], roundings: &[Roundings]) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{} results, expected {}", found.len(), expected.len()));
    }
    for (index, ((found, expected), roundings)) in found.iter().zip(expected).zip(roundings).enumerate() {
        let comparable = found.shape() == expected.shape() && found.dtype().is_float() == expected.dtype().is_float();
        let apart = comparable.then(|| difference(found, expected));
        let allowed = if found.dtype().is_float() { roundings.allowed() } else { 0.0 };
        if apart.is_none_or(|apart| apart.relative() > allowed) {
            let off = apart.map_or(f64::INFINITY, |apart| apart.relative());
            let message = format!("result {index} is {found:?}, expected {expected:?}: off by {off:e}");
            return Err(format!("{message}, allowed are {allowed:e} after {roundings:?}"));
        }
    }
    Ok(())
}

/// The rounding instructions on the way to a value.
#[derive(Clone, Copy, Debug, Default)]
struct Roundings {
    count: usize,
    /// The largest of their units of roundoff.
    unit: f64,
}

impl Roundings {
    fn to(module: &Module, function: &Function, value: Value) -> Self {
        let mut on_the_way = vec![false; function.insts.len()];
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if let Def::Inst(index, _) = function.values[value.index()].def
                && !std::mem::replace(&mut on_the_way[index as usize], true)
            {
                open.extend(&function.insts[index as usize].args);
            }
        }
        let insts = function.insts.iter().zip(on_the_way).filter_map(|(inst, is)| is.then_some(inst));
        insts.fold(Self::default(), |sum, inst| sum.plus(Self::of(module, function, inst)))
    }

    fn of(module: &Module, function: &Function, inst: &Inst) -> Self {
        if let Some(callee) = inst.op.callee() {
            let callee = module.function(callee);
            let insts = callee.insts.iter();
            return insts.fold(Self::default(), |sum, inst| sum.plus(Self::of(module, callee, inst)));
        }
        let dtypes = inst.results.iter().map(|&result| function.ty(result).dtype()).filter(|dtype| dtype.is_float());
        let unit = dtypes.map(DType::unit_roundoff).fold(0.0, f64::max);
        if inst.rounding.is_some() { Self { count: 1, unit } } else { Self::default() }
    }

    fn plus(self, other: Self) -> Self {
        Self { count: self.count + other.count, unit: self.unit.max(other.unit) }
    }

    fn allowed(self) -> f64 {
        ROUNDINGS * (self.count as f64).sqrt() * self.unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(text: &str) -> Module {
        halite_ir::text::parse(text, halite_support::FileId::of("test.ir", text), &Registry::builtin()).unwrap()
    }

    /// A product and a softmax, beside each other.
    const MODEL: &str = "\
        func @f(%x: f32[4,64], %y: f32[4,64]) -> (f32[4,4], f32[4,64]) {
          %a = dot_general %x, %y {batch = [] x [], contract = [1] x [1], accumulate = f32} : f32[4,4]
          %scale = constant 8.0 : f32[4,4]
          %b = multiply %a, %scale : f32[4,4]
          %large = constant 128.0 : f32[4,64]
          %c = add %x, %large : f32[4,64]
          %d = softmax %c : f32[4,64]
          return %b, %d
        }";

    /// Checks the model with some of its text replaced against itself.
    fn check(replaced: &[(&str, &str)]) -> Result<(), String> {
        let after = replaced.iter().fold(MODEL.to_owned(), |text, (old, new)| text.replace(old, new));
        assert!(replaced.is_empty() || after != MODEL);
        check_within_recipe(&module(MODEL), &module(&after), &Registry::builtin())
    }

    const NARROW_PRODUCT: (&str, &str) = (
        "%a = dot_general %x, %y",
        "%0 = convert %x : bf16[4,64]\n%1 = convert %y : bf16[4,64]\n%a = dot_general %0, %1",
    );

    #[test]
    fn roundings_pass() {
        check(&[]).unwrap();
        check(&[NARROW_PRODUCT]).unwrap();
    }

    #[test]
    fn a_dropped_scale_is_seen() {
        let error = check(&[NARROW_PRODUCT, ("%scale = constant 8.0", "%scale = constant 7.5")]).unwrap_err();
        assert!(error.contains("result 0"), "{error}");
    }

    /// Numbers around 128 lose to a narrow operand what no rounding of a result explains.
    #[test]
    fn a_narrow_softmax_is_seen() {
        let stated = "%n = convert %c : bf16[4,64]\n%s = softmax %n : bf16[4,64]\n%d = convert %s : f32[4,64]";
        let error = check(&[("%d = softmax %c : f32[4,64]", stated)]).unwrap_err();
        assert!(error.contains("result 1"), "{error}");
    }

    #[test]
    fn without_roundings_every_bit_counts() {
        let error = check(&[("128.0", "128.00001")]).unwrap_err();
        assert!(error.contains("allowed are 0e0"), "{error}");
    }
}
