//! The inventory of primitives: one `mod` line and one list line each.

pub(crate) mod class;

mod abs;
mod add;
mod all_gather;
mod all_reduce;
mod all_to_all;
mod and;
mod arg_max;
mod atan2;
mod bitcast_convert;
mod broadcast_in_dim;
mod call;
mod call_with_gradient;
mod cbrt;
mod ceil;
mod clamp;
mod collective_permute;
mod compare;
mod concatenate;
mod constant;
mod convert;
mod convolution;
mod cosine;
mod count_leading_zeros;
mod divide;
mod dot_general;
mod dynamic_slice;
mod dynamic_update_slice;
mod elementwise;
mod erf;
mod exponential;
mod exponential_minus_one;
mod floor;
mod gather;
pub(crate) mod indices;
mod iota;
mod is_finite;
mod kernel_call;
mod log;
mod log_plus_one;
mod logistic;
mod maximum;
mod minimum;
pub(crate) mod movement;
mod multiply;
mod negate;
mod not;
mod optimization_barrier;
mod or;
mod pad;
mod popcnt;
mod power;
mod ranks;
mod reduce;
mod reduce_scatter;
mod reduce_window;
mod remainder;
mod replica_id;
mod reshape;
mod reverse;
mod rng_bit_generator;
mod round_nearest_afz;
mod round_nearest_even;
mod rsqrt;
mod scalar;
mod scatter;
mod select;
mod select_and_scatter;
mod shift_left;
mod shift_right_arithmetic;
mod shift_right_logical;
mod sign;
mod sine;
mod slice;
mod sliding;
mod special;
mod sqrt;
mod starts;
mod subtract;
mod take;
mod take_along_axis;
mod take_along_axis_grad;
mod take_grad;
mod tan;
mod tanh;
mod transpose;
mod windows_at;
mod xor;

pub use crate::reduction::Reduction;
pub use halite_tensor::Groups;

pub use compare::Direction;
pub use rng_bit_generator::Generator;
pub use scatter::Combine;

use crate::composite::Composite;
use crate::op::OpDef;
use crate::op::sealed::Sealed;
use halite_hlo::Opcode;

macro_rules! ops {
    ($($module:ident :: $Op:ident),* $(,)?) => {
        $(pub use $module::$Op;)*

        /// The operation of an instruction: a primitive with its attributes, or a composite.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "each variant is documented at its struct")]
        pub enum Op {
            $($Op($Op),)*
            Composite(Composite),
        }

        impl Op {
            /// Its definition: everything the compiler knows about it.
            pub fn def(&self) -> &dyn OpDef {
                match self {
                    $(Op::$Op(op) => op,)*
                    Op::Composite(op) => op,
                }
            }

            /// The same, to set attributes.
            pub fn def_mut(&mut self) -> &mut dyn OpDef {
                match self {
                    $(Op::$Op(op) => op,)*
                    Op::Composite(op) => op,
                }
            }

            /// Every primitive with default attributes, in list order.
            pub fn primitives() -> Vec<Op> {
                vec![$(Op::$Op($Op::default()),)*]
            }
        }

        $(impl Sealed for $Op {})*
        impl Sealed for Composite {}

        $(impl From<$Op> for Op {
            fn from(op: $Op) -> Self {
                Op::$Op(op)
            }
        })*
    };
}

ops! {
    abs::Abs,
    add::Add,
    all_gather::AllGather,
    all_reduce::AllReduce,
    all_to_all::AllToAll,
    and::And,
    arg_max::ArgMax,
    atan2::Atan2,
    bitcast_convert::BitcastConvert,
    broadcast_in_dim::BroadcastInDim,
    call::Call,
    call_with_gradient::CallWithGradient,
    cbrt::Cbrt,
    ceil::Ceil,
    clamp::Clamp,
    collective_permute::CollectivePermute,
    compare::Compare,
    concatenate::Concatenate,
    constant::Constant,
    convert::Convert,
    convolution::Convolution,
    cosine::Cosine,
    count_leading_zeros::CountLeadingZeros,
    divide::Divide,
    dot_general::DotGeneral,
    dynamic_slice::DynamicSlice,
    dynamic_update_slice::DynamicUpdateSlice,
    erf::Erf,
    exponential::Exponential,
    exponential_minus_one::ExponentialMinusOne,
    floor::Floor,
    gather::Gather,
    iota::Iota,
    is_finite::IsFinite,
    kernel_call::KernelCall,
    log::Log,
    log_plus_one::LogPlusOne,
    logistic::Logistic,
    maximum::Maximum,
    minimum::Minimum,
    multiply::Multiply,
    negate::Negate,
    not::Not,
    optimization_barrier::OptimizationBarrier,
    or::Or,
    pad::Pad,
    popcnt::Popcnt,
    power::Power,
    reduce::Reduce,
    reduce_scatter::ReduceScatter,
    reduce_window::ReduceWindow,
    remainder::Remainder,
    replica_id::ReplicaId,
    reshape::Reshape,
    reverse::Reverse,
    rng_bit_generator::RngBitGenerator,
    round_nearest_afz::RoundNearestAfz,
    round_nearest_even::RoundNearestEven,
    rsqrt::Rsqrt,
    scatter::Scatter,
    select::Select,
    select_and_scatter::SelectAndScatter,
    shift_left::ShiftLeft,
    shift_right_arithmetic::ShiftRightArithmetic,
    shift_right_logical::ShiftRightLogical,
    sign::Sign,
    sine::Sine,
    slice::Slice,
    sqrt::Sqrt,
    subtract::Subtract,
    take::Take,
    take_along_axis::TakeAlongAxis,
    take_along_axis_grad::TakeAlongAxisGrad,
    take_grad::TakeGrad,
    tan::Tan,
    tanh::Tanh,
    transpose::Transpose,
    xor::Xor,
}

impl From<Composite> for Op {
    fn from(op: Composite) -> Self {
        Op::Composite(op)
    }
}

impl Op {
    /// The primitive of this name with default attributes.
    pub fn primitive(name: &str) -> Option<Op> {
        Self::primitives().into_iter().find(|op| op.def().name() == name)
    }

    /// The primitive that is the HLO instruction of this opcode.
    pub fn of_opcode(opcode: Opcode) -> Option<Op> {
        Self::primitives().into_iter().find(|op| op.def().opcode() == Some(opcode))
    }

    /// The name in IR text.
    pub fn name(&self) -> &str {
        self.def().name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pass copies instructions. An op with more lists than a product keeps some of them boxed.
    #[test]
    fn no_op_is_larger_than_a_product() {
        assert_eq!(size_of::<Op>(), size_of::<DotGeneral>());
    }
}
