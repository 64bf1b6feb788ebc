//! Whether a pass keeps the relation it declares.

use crate::inputs::{InputKind, SPECIALS, seeded_inputs};
use crate::packed::stored_as;
use crate::within_recipe::check_within_recipe;
use halite_ir::{Function, Interpreter, Module, Registry, TensorType};
use halite_passes::Relation;
use halite_support::Diagnostic;
use halite_tensor::{
    HostTensor,
    compare::{Difference, difference},
};

/// The operands that functions are tried on: kind and seed.
const TRIALS: [(InputKind, u64); 4] = [
    (InputKind::Plain, 1),
    (InputKind::Plain, 2),
    (InputKind::Special, 3),
    (InputKind::Pairs { ahead: 0, from: 0 }, 4),
];

/// Functions of so many instructions and elements of operands at most are tried on all pairs of special values.
const SMALL: (usize, usize) = (40, 256);

/// The operands that a function is tried on.
fn trials(function: &Function) -> Vec<(InputKind, u64)> {
    let elements = function.param_types().iter().map(|ty| ty.shape().num_elements()).sum::<usize>();
    let least = function.param_types().iter().map(|ty| ty.shape().num_elements().max(1)).min().unwrap_or(SPECIALS);
    let is_small = function.insts.len() <= SMALL.0 && elements <= SMALL.1;
    let froms = (0..SPECIALS).step_by(least.min(SPECIALS));
    let pairs = froms.flat_map(|from| (0..SPECIALS).map(move |ahead| (InputKind::Pairs { ahead, from }, 4)));
    TRIALS.into_iter().chain(pairs.filter(|_| is_small)).collect()
}

/// Runs every function that both modules have, and call alike, on seeded operands, others on each rank, and compares the results as the
/// relation says.
/// [`Relation::Defines`] is not checked here: see [`Oracle`](crate::Oracle).
///
/// # Errors
/// Naming the function, the operands and the first result that differs.
pub fn check_relation(relation: Relation, before: &Module, after: &Module, registry: &Registry) -> Result<(), String> {
    let (tolerance, extends) = match relation {
        Relation::Identical => (Tolerance::Bits, false),
        Relation::Ulp(count) | Relation::Mapped(count) => (Tolerance::Ulps(f64::from(count)), false),
        Relation::Extends => (Tolerance::Bits, true),
        Relation::WithinRecipe => return check_within_recipe(before, after, registry),
        Relation::Defines => return Ok(()),
    };
    for old in &before.functions {
        let Some(new) = after.find(&old.name).map(|id| after.function(id)) else { continue };
        if !is_comparable(before, old, new) {
            continue;
        }
        for (kind, seed) in trials(old) {
            let ranks = before.layout.as_ref().map_or(1, |layout| layout.mesh.num_ranks() as u64);
            let inputs: Vec<_> = (0..ranks).map(|rank| seeded_inputs(old, kind, seed + (rank << 32))).collect();
            let at = |message: String| format!("`@{}` on {kind:?} operands {inputs:?}: {message}", old.name);
            let was = run(before, old, inputs.clone(), registry).map_err(|error| at(format!("before: {error}")))?;
            let stored = inputs.iter().map(|inputs| stored_as(old, new, inputs.clone()));
            let stored = stored.collect::<Result<Vec<_>, _>>().map_err(at)?;
            let is = run(after, new, stored, registry).map_err(|error| at(format!("after: {error}")))?;
            for (mut is, was) in is.into_iter().zip(&was) {
                if extends {
                    is.truncate(was.len());
                }
                agree(&is, was, tolerance).map_err(at)?;
            }
        }
    }
    Ok(())
}

/// Whether a function means alone what it meant: what callers hand over and read otherwise is between them and their callee.
pub(crate) fn is_comparable(before: &Module, old: &Function, new: &Function) -> bool {
    let is_entry = before.entry().is_some_and(|entry| entry.name == old.name);
    is_entry || signature(old) == signature(new)
}

fn signature(function: &Function) -> (Vec<(&str, &TensorType)>, Vec<TensorType>) {
    let params = function.params.iter().map(|param| (&*param.name, function.ty(param.value)));
    (params.collect(), function.result_types())
}

/// Runs a function on each rank, from `inputs[rank][parameter]` to `results[rank][result]`.
fn run(
    module: &Module,
    function: &Function,
    inputs: Vec<Vec<HostTensor>>,
    registry: &Registry,
) -> Result<Vec<Vec<HostTensor>>, Diagnostic> {
    Interpreter::of(module, registry).run_ranks(function, inputs)
}

/// The tolerance of results against expected ones.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tolerance {
    /// Bit for bit, except that a NaN equals any NaN.
    Bits,
    /// Floats norm-wise within so many units of roundoff; zeros of both signs are equal even with 0. CPU XLA is held to
    /// this: its own simplifier takes `x + 0` for `x`. Other element types bit for bit.
    Ulps(f64),
}

/// Checks results against expected ones: element types, shapes and elements.
///
/// # Errors
/// Naming the first result that differs.
pub fn agree(found: &[HostTensor], expected: &[HostTensor], tolerance: Tolerance) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{} results, expected {}", found.len(), expected.len()));
    }
    for (position, (found, expected)) in found.iter().zip(expected).enumerate() {
        if found.dtype() != expected.dtype() || found.shape() != expected.shape() {
            return Err(format!("result {position} is {found:?}, expected {expected:?}"));
        }
        if !(same_bits(found, expected) || near(found, expected, tolerance)) {
            return Err(format!("result {position}, {expected:?}, {}", apart(found, expected)));
        }
    }
    Ok(())
}

/// Describes the difference of a result from the expected one, in words.
fn apart(found: &HostTensor, expected: &HostTensor) -> String {
    let Difference { max_abs, scale, at, .. } = difference(found, expected);
    let (found, wanted) = (found.f64s()[at], expected.f64s()[at]);
    let ulps = max_abs / (expected.dtype().unit_roundoff() * scale);
    format!("has {found:e} for {wanted:e} at element {at}, {ulps:.1} units of roundoff of its largest element away")
}

fn same_bits(a: &HostTensor, b: &HostTensor) -> bool {
    let bits_or_nan = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    a == b || (a.dtype().is_float() && a.f64s().iter().zip(&b.f64s()).all(bits_or_nan))
}

fn near(a: &HostTensor, b: &HostTensor, tolerance: Tolerance) -> bool {
    let Tolerance::Ulps(ulps) = tolerance else { return false };
    let difference = difference(a, b);
    a.dtype().is_float() && difference.max_abs <= ulps * a.dtype().unit_roundoff() * difference.scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_tensor::DType;

    #[test]
    fn bits_count_unless_there_is_a_tolerance() {
        let tensor = |values: [f64; 2]| vec![HostTensor::from_f64s(DType::F64, [2], values)];
        assert!(agree(&tensor([f64::NAN, 0.0]), &tensor([-f64::NAN, 0.0]), Tolerance::Bits).is_ok());
        assert!(agree(&tensor([0.0, 1.0]), &tensor([-0.0, 1.0]), Tolerance::Bits).is_err());
        assert!(agree(&tensor([0.0, 1.0]), &tensor([-0.0, 1.0]), Tolerance::Ulps(0.0)).is_ok());
        assert!(agree(&tensor([1.0, 2.0]), &tensor([1.0 + f64::EPSILON, 2.0]), Tolerance::Ulps(0.0)).is_err());
        assert!(agree(&tensor([1.0, 2.0]), &tensor([1.0 + f64::EPSILON, 2.0]), Tolerance::Ulps(2.0)).is_ok());
    }

    fn module(text: &str) -> Module {
        halite_ir::text::parse(text, halite_support::FileId::of("test.ir", text), &Registry::builtin()).unwrap()
    }

    /// `-(x - y)` is -0.0 where `y - x` is 0.0: where they are equal.
    #[test]
    fn pairs_of_operands_tell_wrong_rewrites() {
        let text =
            |body: &str| module(&format!("func @f(%x: f32[4], %y: f32[4]) -> (f32[4]) {{\n{body}\n  return %z\n}}"));
        let check = |before: &str, after: &str| {
            check_relation(Relation::Identical, &text(before), &text(after), &Registry::builtin())
        };
        let turned = "  %z = subtract %y, %x : f32[4]";
        assert!(check("  %d = subtract %x, %y : f32[4]\n  %z = negate %d : f32[4]", turned).is_err());
        let product = "  %z = multiply %x, %y : f32[4]";
        assert!(check("  %z = multiply %y, %x : f32[4]", product).is_ok());
        // Wrong for a zero beside an infinity alone.
        let guarded = "  %c = constant 0.0 : f32[4]\n  %e = compare %x, %c {direction = EQ} : pred[4]\n  \
                       %p = multiply %x, %y : f32[4]\n  %z = select %e, %x, %p : f32[4]";
        assert!(check(guarded, product).is_err());
    }

    #[test]
    fn special_operands_tell_wrong_rewrites() {
        let before = "func @f(%x: f32[8]) -> (f32[8]) {\n  %c = constant CONST : f32[8]\n  %y = OP %x, %c : f32[8]\n  return %y\n}";
        let after = module("func @f(%x: f32[8]) -> (f32[8]) {\n  return %x\n}");
        let check = |op, number| {
            let before = module(&before.replace("OP", op).replace("CONST", number));
            check_relation(Relation::Identical, &before, &after, &Registry::builtin())
        };
        assert!(check("add", "-0.0").is_ok() && check("divide", "1.0").is_ok());
        assert!(check("add", "0.0").is_err() && check("subtract", "-0.0").is_err());
        assert!(check("maximum", "-3.4028235e38").is_err() && check("multiply", "1.0000001").is_err());
    }
}
