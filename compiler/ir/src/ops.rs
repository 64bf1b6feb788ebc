//! The inventory of primitives: one `mod` line and one list line each.

pub mod class;

mod add;
mod broadcast_in_dim;
mod compare;
mod concatenate;
mod constant;
mod convert;
mod divide;
mod dot_general;
mod exponential;
mod iota;
mod log;
mod logistic;
mod maximum;
mod minimum;
mod movement;
mod multiply;
mod negate;
mod pad;
mod power;
mod reduce;
mod reshape;
mod rsqrt;
mod scalar;
mod select;
mod slice;
mod special;
mod sqrt;
mod subtract;
mod tanh;
mod transpose;

pub use reduce::Reduction;

pub use compare::Direction;

use crate::composite::Composite;
use crate::op::OpDef;

macro_rules! ops {
    ($($module:ident :: $Op:ident),* $(,)?) => {
        $(pub use $module::$Op;)*

        /// What an instruction does: a primitive with its attributes, or a composite.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "each variant is documented at its struct")]
        pub enum Op {
            $($Op($Op),)*
            Composite(Composite),
        }

        impl Op {
            /// What the compiler knows about it.
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

        $(impl From<$Op> for Op {
            fn from(op: $Op) -> Self {
                Op::$Op(op)
            }
        })*
    };
}

ops! {
    add::Add,
    broadcast_in_dim::BroadcastInDim,
    compare::Compare,
    concatenate::Concatenate,
    constant::Constant,
    convert::Convert,
    divide::Divide,
    dot_general::DotGeneral,
    exponential::Exponential,
    iota::Iota,
    log::Log,
    logistic::Logistic,
    maximum::Maximum,
    minimum::Minimum,
    multiply::Multiply,
    negate::Negate,
    pad::Pad,
    power::Power,
    reduce::Reduce,
    reshape::Reshape,
    rsqrt::Rsqrt,
    select::Select,
    slice::Slice,
    sqrt::Sqrt,
    subtract::Subtract,
    tanh::Tanh,
    transpose::Transpose,
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

    /// The name in IR text.
    pub fn name(&self) -> &str {
        self.def().name()
    }
}
