//! Modules and inputs made from an op's samples, for tests.

use crate::build::Builder;
use crate::op::{Sample, SampleArg, SampleValues};
use crate::registry::Registry;
use crate::syntax::{Module, ParamRole};
use halite_support::Result;
use halite_tensor::HostTensor;

/// A module whose entry `@main` applies the sample's op to its parameters `x0`, `x1` .. and returns every result.
///
/// # Errors
/// When the sample is ill-typed.
pub fn sample_module(sample: &Sample, registry: &Registry) -> Result<Module> {
    let mut module = Module::new("sample");
    let mut b = Builder::new(&mut module, registry, "main");
    let param = |(index, arg): (usize, &SampleArg)| b.param(format!("x{index}"), arg.ty.clone(), ParamRole::Argument);
    let args: Vec<_> = sample.args.iter().enumerate().map(param).collect();
    for result in b.emit_all(sample.op.clone(), &args)? {
        b.result(result);
    }
    b.finish();
    Ok(module)
}

/// The sample's operands on each rank: `inputs[rank][operand]`, the same for the same seed. Listed values are equal on
/// all ranks, others differ.
pub fn sample_inputs(sample: &Sample, seed: u64) -> Vec<Vec<HostTensor>> {
    let mut random = Random(seed);
    let rank = |_| sample.args.iter().map(|arg| sample_input(arg, &mut random)).collect();
    (0..sample.ranks).map(rank).collect()
}

fn sample_input(arg: &SampleArg, random: &mut Random) -> HostTensor {
    let (dtype, shape) = (arg.ty.dtype(), arg.ty.shape().clone());
    let count = shape.num_elements();
    match &arg.values {
        SampleValues::Uniform(low, high) => {
            HostTensor::from_f64s(dtype, shape, (0..count).map(|_| low + (high - low) * random.unit()))
        }
        SampleValues::Whole(low, high) => {
            HostTensor::from_ints(dtype, shape, (0..count).map(|_| random.whole(i128::from(*low), i128::from(*high))))
        }
        SampleValues::Listed(values) => HostTensor::from_f64s(dtype, shape, values.iter().copied().cycle().take(count)),
    }
}

/// SplitMix64 of Steele, Lea and Flood (2014): a counter behind a bit mixer.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// Uniform in `[0, 1)`.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in `low..=high`, up to a bias below 2^-32 for small ranges.
    fn whole(&mut self, low: i128, high: i128) -> i128 {
        low + i128::from(self.next()) % (high - low + 1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halite_tensor::DType;

    #[test]
    fn inputs_follow_the_seed_and_the_bounds() {
        let args = [SampleArg::uniform(DType::F32, [64], 0.5, 2.0), SampleArg::whole(DType::S32, [64], -3, 3)];
        let sample = Sample::new("bounds", crate::ops::Add, args).ranks(2);
        let inputs = sample_inputs(&sample, 1);
        assert_eq!(inputs, sample_inputs(&sample, 1));
        assert_ne!(inputs, sample_inputs(&sample, 2));
        assert_ne!(inputs[0], inputs[1]);
        assert!(inputs[0][0].f64s().iter().all(|x| (0.5..=2.0).contains(x)));
        let whole = inputs[1][1].ints();
        assert_eq!((whole.iter().min(), whole.iter().max()), (Some(&-3), Some(&3)));
    }
}
