//! Documentation of ops and composites.

/// The documentation of an op or a composite. [`described!`](crate::described!) makes it of documentation comments.
pub trait Described {
    /// Its meaning, as [`doc!`](halite_support::doc!) gives it.
    fn about(&self) -> &'static str;

    /// Name and documentation of each of its fields, in order: the attributes of an op.
    fn fields(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// Declares the struct of an op or a composite, whose documentation is its text in a reference.
///
/// ```
/// use halite_ir::Described;
///
/// halite_ir::described! {
///     /// `x * x`.
///     #[derive(Debug)]
///     struct Square;
/// }
/// assert_eq!(halite_support::doc::paragraphs(Square.about()), "`x * x`.");
/// ```
#[macro_export]
macro_rules! described {
    ($(#[$($on:tt)*])* $vis:vis struct $name:ident;) => {
        $(#[$($on)*])*
        $vis struct $name;

        impl $crate::Described for $name {
            fn about(&self) -> &'static str {
                $crate::doc!($(#[$($on)*])*)
            }
        }
    };
    ($(#[$($on:tt)*])* $vis:vis struct $name:ident {
        $($(#[$($field_on:tt)*])* $field_vis:vis $field:ident: $ty:ty,)*
    }) => {
        $(#[$($on)*])*
        $vis struct $name {
            $($(#[$($field_on)*])* $field_vis $field: $ty,)*
        }

        impl $crate::Described for $name {
            fn about(&self) -> &'static str {
                $crate::doc!($(#[$($on)*])*)
            }

            fn fields(&self) -> &'static [(&'static str, &'static str)] {
                &[$((stringify!($field), $crate::doc!($(#[$($field_on)*])*))),*]
            }
        }
    };
}
