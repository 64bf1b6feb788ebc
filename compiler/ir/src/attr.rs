//! Attributes: the static arguments of instructions, in one form that prints, parses and documents them.

use crate::syntax::FuncId;
use crate::ty::TensorType;
use halite_support::Name;
use halite_tensor::{DType, Dims, Groups, HostTensor, Shape};
use smallvec::SmallVec;
use std::sync::Arc;

/// A real number compared by its bits, so that instructions can be hashed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Real(pub f64);

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl std::hash::Hash for Real {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Attr {
    /// `3`
    Int(i64),
    /// `1e-5`
    Real(Real),
    /// `true`
    Bool(bool),
    /// `f32`, `LT`
    Word(Name),
    /// `[0, 1]`
    Ints(SmallVec<[i64; 6]>),
    /// `[1] x [0]`: one list for each operand
    Pair(SmallVec<[i64; 6]>, SmallVec<[i64; 6]>),
    /// `[[0, 1], [2, 3]]`
    Groups(Groups),
    /// `@f`
    Func(FuncId),
    /// The elements of a constant
    Tensor(Arc<HostTensor>),
}

/// A place that holds an attribute: it can be read as an [`Attr`] and set from one.
pub trait AttrSlot {
    /// The current value.
    fn get(&self) -> Attr;

    /// Takes a new value.
    ///
    /// # Errors
    /// With what was expected, e.g. ``a list of integers``, when the kind or range is wrong.
    fn set(&mut self, attr: &Attr) -> Result<(), &'static str>;
}

/// The part of a result's type that an op takes as a static argument, so that text need not repeat it.
#[derive(Debug)]
pub enum ResultSlot<'a> {
    /// The element type.
    DType(&'a mut DType),
    /// The sizes of the dimensions.
    Shape(&'a mut Shape),
    /// Both.
    Type(&'a mut TensorType),
}

/// Sees every attribute of an op once, in print order.
pub trait AttrVisitor {
    /// An attribute printed as `name = value`.
    fn attr(&mut self, name: &str, slot: &mut dyn AttrSlot);

    /// An attribute that text leaves out where it is `implied`.
    fn refinement(&mut self, name: &str, slot: &mut dyn AttrSlot, implied: &Attr) {
        let _ = implied;
        self.attr(name, slot);
    }

    /// An attribute that is part of the type of result `index` and printed only there.
    fn result(&mut self, index: usize, slot: ResultSlot<'_>);
}

fn to_ints<T: Copy + TryInto<i64>>(list: &[T]) -> SmallVec<[i64; 6]> {
    list.iter().map(|&item| item.try_into().unwrap_or(i64::MAX)).collect()
}

fn to_dims(list: &[i64]) -> Result<Dims, &'static str> {
    list.iter().map(|&item| usize::try_from(item).map_err(|_| "integers that are not negative")).collect()
}

impl AttrSlot for Attr {
    fn get(&self) -> Attr {
        self.clone()
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        if std::mem::discriminant(self) != std::mem::discriminant(attr) {
            return Err("a value of the kind its schema names");
        }
        *self = attr.clone();
        Ok(())
    }
}

impl AttrSlot for i64 {
    fn get(&self) -> Attr {
        Attr::Int(*self)
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Int(value) = attr else { return Err("an integer") };
        *self = *value;
        Ok(())
    }
}

impl AttrSlot for usize {
    fn get(&self) -> Attr {
        Attr::Int(i64::try_from(*self).unwrap_or(i64::MAX))
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let expected = "an integer that is not negative";
        let Attr::Int(value) = attr else { return Err(expected) };
        *self = usize::try_from(*value).map_err(|_| expected)?;
        Ok(())
    }
}

impl AttrSlot for bool {
    fn get(&self) -> Attr {
        Attr::Bool(*self)
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Bool(value) = attr else { return Err("`true` or `false`") };
        *self = *value;
        Ok(())
    }
}

impl AttrSlot for Real {
    fn get(&self) -> Attr {
        Attr::Real(*self)
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        *self = match attr {
            Attr::Real(value) => *value,
            Attr::Int(value) => Real(*value as f64),
            _ => return Err("a number"),
        };
        Ok(())
    }
}

impl AttrSlot for DType {
    fn get(&self) -> Attr {
        Attr::Word(self.name().into())
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Word(word) = attr else { return Err("an element type") };
        *self = DType::parse(word).ok_or("an element type")?;
        Ok(())
    }
}

impl AttrSlot for Name {
    fn get(&self) -> Attr {
        Attr::Word(self.clone())
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Word(word) = attr else { return Err("a text") };
        *self = word.clone();
        Ok(())
    }
}

impl AttrSlot for Dims {
    fn get(&self) -> Attr {
        Attr::Ints(to_ints(self))
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Ints(list) = attr else { return Err("a list of integers") };
        *self = to_dims(list)?;
        Ok(())
    }
}

impl AttrSlot for Vec<i64> {
    fn get(&self) -> Attr {
        Attr::Ints(to_ints(self))
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Ints(list) = attr else { return Err("a list of integers") };
        *self = list.to_vec();
        Ok(())
    }
}

impl AttrSlot for Box<[i64]> {
    fn get(&self) -> Attr {
        Attr::Ints(to_ints(self))
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Ints(list) = attr else { return Err("a list of integers") };
        *self = list.to_vec().into();
        Ok(())
    }
}

impl AttrSlot for (Dims, Dims) {
    fn get(&self) -> Attr {
        Attr::Pair(to_ints(&self.0), to_ints(&self.1))
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Pair(left, right) = attr else { return Err("two lists of integers, `[..] x [..]`") };
        *self = (to_dims(left)?, to_dims(right)?);
        Ok(())
    }
}

impl AttrSlot for Box<[usize]> {
    fn get(&self) -> Attr {
        Attr::Ints(to_ints(self))
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Ints(list) = attr else { return Err("a list of integers") };
        *self = to_dims(list)?.into_vec().into();
        Ok(())
    }
}

impl AttrSlot for (Box<[usize]>, Box<[usize]>) {
    fn get(&self) -> Attr {
        Attr::Pair(to_ints(&self.0), to_ints(&self.1))
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Pair(left, right) = attr else { return Err("two lists of integers, `[..] x [..]`") };
        *self = (to_dims(left)?.into_vec().into(), to_dims(right)?.into_vec().into());
        Ok(())
    }
}

impl AttrSlot for Groups {
    fn get(&self) -> Attr {
        Attr::Groups(self.clone())
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        *self = match attr {
            Attr::Groups(groups) => groups.clone(),
            Attr::Ints(list) if list.is_empty() => Groups::default(),
            _ => return Err("a list of lists of integers"),
        };
        Ok(())
    }
}

impl AttrSlot for FuncId {
    fn get(&self) -> Attr {
        Attr::Func(*self)
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Func(id) = attr else { return Err("a function, `@name`") };
        *self = *id;
        Ok(())
    }
}

impl AttrSlot for Arc<HostTensor> {
    fn get(&self) -> Attr {
        Attr::Tensor(self.clone())
    }

    fn set(&mut self, attr: &Attr) -> Result<(), &'static str> {
        let Attr::Tensor(tensor) = attr else { return Err("the elements of a constant") };
        *self = tensor.clone();
        Ok(())
    }
}

/// Declares an enum whose variants are words in IR text and implements [`AttrSlot`] for it.
macro_rules! word_attr {
    ($(#[$meta:meta])* $name:ident, $expected:literal { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub enum $name { $($(#[$variant_meta])* $variant),* }

        impl $name {
            /// Every variant, in order.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// The word in IR text.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }

        impl crate::attr::AttrSlot for $name {
            fn get(&self) -> crate::attr::Attr {
                crate::attr::Attr::Word(self.word().into())
            }

            fn set(&mut self, attr: &crate::attr::Attr) -> ::core::result::Result<(), &'static str> {
                let crate::attr::Attr::Word(word) = attr else { return Err($expected) };
                *self = Self::ALL.iter().copied().find(|v| *word == v.word()).ok_or($expected)?;
                Ok(())
            }
        }
    };
}
pub(crate) use word_attr;
