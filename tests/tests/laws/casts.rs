//! Simplification of changes of float type, tried on every number of the narrow types.
//!
//! RAF deletes any pair of casts that ends where it began, so that `f32 -> f16 -> f32` loses a rounding and changes
//! results. Here a pair may only become one convert when the first is exact.

use halite_ir::{Builder, Interpreter, LowerOptions, Module, Op, ParamRole, Registry, TensorType, Value, loses};
use halite_support::Result;
use halite_tensor::{DType, HostTensor};
use halite_test_kit::cases::FLOATS;
use halite_test_kit::numeric::Random;
use halite_test_kit::xla::{self, run_passes};
use halite_test_kit::{Tolerance, agree};

/// Bit patterns of a 16-bit type.
const PATTERNS: usize = 1 << 16;

/// Every `(from, via, to)`.
fn triples() -> impl Iterator<Item = [DType; 3]> {
    let pairs = |from: DType| FLOATS.into_iter().flat_map(move |via| FLOATS.map(|to| [from, via, to]));
    FLOATS.into_iter().flat_map(pairs)
}

/// Numbers of a type, [`PATTERNS`] at a time: all of the narrow types as far as the type has them, and of a wide type
/// random ones and such that lie half-way between two narrow ones.
fn numbers(dtype: DType) -> Vec<HostTensor> {
    let narrow = [DType::Bf16, DType::F16].map(all);
    let tensor = |values: Vec<f64>| HostTensor::from_f64s(dtype, [PATTERNS], values);
    if dtype.size() == 2 {
        return vec![all(dtype)];
    }
    let mut tensors: Vec<_> = narrow.iter().map(|values| tensor(values.f64s())).collect();
    for values in &narrow {
        let values = values.f64s();
        let next = values.iter().skip(1).chain(&values[..1]);
        tensors.push(tensor(values.iter().zip(next).map(|(a, b)| a / 2.0 + b / 2.0).collect()));
    }
    let mut random = Random::new(1);
    let bits = std::iter::repeat_with(move || f32::from_bits((random.bits() >> 32) as u32));
    tensors.push(tensor(bits.take(PATTERNS).map(f64::from).collect()));
    tensors
}

/// Every number of a 16-bit type.
fn all(dtype: DType) -> HostTensor {
    let bytes = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    HostTensor::from_bytes(dtype, [PATTERNS].into(), bytes).expect("two bytes for each pattern")
}

/// The pairs of converts of some triples, side by side; one parameter for each type.
fn module(triples: impl Iterator<Item = [DType; 3]>, registry: &Registry) -> Result<Module> {
    let mut module = Module::new("casts");
    let mut b = Builder::new(&mut module, registry, "main");
    let param = |dtype: DType| b.param(dtype.name(), TensorType::new(dtype, [PATTERNS]), ParamRole::Argument);
    let params: Vec<Value> = FLOATS.map(param).to_vec();
    for [from, via, to] in triples {
        let at = FLOATS.iter().position(|&dtype| dtype == from).expect("a type of the list");
        let first = b.emit(convert(via), &[params[at]])?;
        let second = b.emit(convert(to), &[first])?;
        b.result(second);
    }
    b.finish();
    Ok(module)
}

fn convert(dtype: DType) -> Op {
    halite_ir::ops::Convert { dtype }.into()
}

fn simplified(module: &Module, registry: &Registry) -> Result<Module> {
    let mut module = module.clone();
    run_passes("(simplify, dce)*", &mut module, registry)?;
    Ok(module)
}

/// Operands for the parameters: as many rounds as the wide types need.
fn rounds() -> Vec<Vec<HostTensor>> {
    let numbers = FLOATS.map(numbers);
    let most = numbers.iter().map(Vec::len).max().unwrap_or_default();
    (0..most).map(|round| numbers.iter().map(|tensors| tensors[round % tensors.len()].clone()).collect()).collect()
}

#[test]
fn pairs_become_one_exactly_when_the_first_convert_is_exact() -> Result<()> {
    let registry = Registry::builtin();
    for triple @ [from, via, _] in triples() {
        let after = simplified(&module(std::iter::once(triple), &registry)?, &registry)?;
        let entry = after.entry().expect("the module has an entry");
        let first_is_left = entry.insts.iter().any(|inst| {
            matches!(&inst.op, Op::Convert(convert) if convert.dtype == via) && entry.ty(inst.args[0]).dtype() == from
        });
        let both_are_one = entry.insts.len() <= 1;
        if loses(from, via) {
            assert!(first_is_left, "{triple:?}: a rounding is lost");
        } else {
            assert!(both_are_one, "{triple:?}: an exact pair stays");
        }
    }
    Ok(())
}

#[test]
fn simplified_converts_give_the_same_bits() -> Result<()> {
    let registry = Registry::builtin();
    let before = module(triples(), &registry)?;
    let after = simplified(&before, &registry)?;
    let run = |module: &Module, inputs: &[HostTensor]| {
        let entry = module.entry().expect("the module has an entry");
        Interpreter::of(module, &registry).run(entry, inputs.to_vec())
    };
    for inputs in rounds() {
        let (was, is) = (run(&before, &inputs)?, run(&after, &inputs)?);
        for ((triple, was), is) in triples().zip(was).zip(is) {
            agree(&[is], &[was], Tolerance::Bits).unwrap_or_else(|_| panic!("{triple:?} gives other bits"));
        }
    }
    Ok(())
}

/// XLA computes with subnormal numbers of `f32` as zeros on a CPU; so it may read them here.
fn flushed(value: f64) -> bool {
    value != 0.0 && value.abs() < f64::from(f32::MIN_POSITIVE)
}

#[test]
fn xla_agrees() -> Result<()> {
    let registry = Registry::builtin();
    let before = module(triples(), &registry)?;
    let after = simplified(&before, &registry)?;
    let inputs = rounds().swap_remove(0);
    let values: Vec<_> = inputs.iter().map(HostTensor::f64s).collect();
    let entry = before.entry().expect("the module has an entry");
    let expected = Interpreter::of(&before, &registry).run(entry, inputs.clone())?;
    for module in [&before, &after] {
        let found = xla::run(module, &registry, LowerOptions::default(), std::slice::from_ref(&inputs))?.swap_remove(0);
        for ((triple, found), expected) in triples().zip(found).zip(&expected) {
            let at = FLOATS.iter().position(|&dtype| dtype == triple[0]).expect("a type of the list");
            let (found, expected) = (found.f64s(), expected.f64s());
            for (x, (found, expected)) in values[at].iter().zip(found.iter().zip(&expected)) {
                let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
                assert!(same || flushed(*x), "{triple:?} takes {x:e} to {found:e}, the interpreter to {expected:e}");
            }
        }
    }
    Ok(())
}
