//! Typed `u32` handles.

/// Declares typed `u32` indices: `entity!(/// A value. Value, "%");` makes a `Copy` handle that prints with the given prefix.
#[macro_export]
macro_rules! entity {
    ($(#[$meta:meta])* $name:ident, $prefix:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The handle for position `index`.
            ///
            /// # Panics
            /// When `index` does not fit in 32 bits: no module is that large.
            #[inline]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("an index fits in 32 bits"))
            }

            /// The position this handle stands for.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}
