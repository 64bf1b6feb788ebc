//! Tables and words of recipes, each declared once: its Rust type, its serde traits and its schema.

use crate::schema::{Field, Item, Kind};
use crate::{ConfigValue, TargetName};
use halite_schedule::ScheduleKind;
use halite_tensor::DType;
use indexmap::IndexMap;

/// Declares a table of a recipe: a struct with `serde`'s traits and the keys that it has, as `KEYS`,
/// each with its documentation.
///
/// A key without a default must be there. What a key takes follows from its type; `as` says it where the type allows more,
/// such as a number of any size. A last field after `..` holds all other entries of the table; a table without one has no others.
/// A table of which every key has a default has a `Default`. The crate that declares one depends on `serde`.
///
/// ```
/// use halite_recipe::schema::Kind;
///
/// halite_recipe::table! {
///     /// Settings of a runtime.
///     #[derive(PartialEq, Debug)]
///     pub struct Runtime {
///         /// The size of its queue.
///         pub queue: u32 as Kind::DEGREE = 4,
///         /// Whether it writes a log.
///         pub log: bool = false,
///     }
/// }
/// assert_eq!(halite_recipe::schema::names(Runtime::KEYS), ["queue", "log"]);
/// assert_eq!(toml::from_str::<Runtime>("log = true").unwrap(), Runtime { queue: 4, log: true });
/// ```
#[macro_export]
macro_rules! table {
    ($(#[$($on:tt)*])* $vis:vis struct $name:ident {
        $($(#[$($key_on:tt)*])* $key_vis:vis $key:ident: $ty:ty $(as $kind:path)? = $default:expr,)*
        $(.. $(#[$($rest_on:tt)*])* $rest_vis:vis $rest:ident: $rest_ty:ty,)?
    }) => {
        $crate::table! {
            @declare $(#[$($on)*])* $vis struct $name {
                $($(#[$($key_on)*])* $key_vis $key: $ty $(as $kind)? = $default,)*
                $(.. $(#[$($rest_on)*])* $rest_vis $rest: $rest_ty,)?
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $default,)* $($rest: Default::default(),)? }
            }
        }
    };
    ($(#[$($on:tt)*])* $vis:vis struct $name:ident { $($body:tt)* }) => {
        $crate::table! { @declare $(#[$($on)*])* $vis struct $name { $($body)* } }
    };
    (@declare $(#[$($on:tt)*])* $vis:vis struct $name:ident {
        $($(#[$($key_on:tt)*])* $key_vis:vis $key:ident: $ty:ty $(as $kind:path)? $(= $default:expr)?,)*
        $(.. $(#[$($rest_on:tt)*])* $rest_vis:vis $rest:ident: $rest_ty:ty,)?
    }) => {
        $(#[$($on)*])*
        #[derive(::serde::Serialize)]
        $vis struct $name {
            $($(#[$($key_on)*])* $key_vis $key: $ty,)*
            $($(#[$($rest_on)*])* #[serde(flatten)] $rest_vis $rest: $rest_ty,)?
        }

        impl $name {
            /// The schema of the table's keys.
            $vis const KEYS: &'static [$crate::schema::Key] = &[$($crate::schema::Key {
                name: $crate::schema::plain(stringify!($key)),
                kind: $crate::table!(@kind $ty $(, $kind)?),
                doc: $crate::doc!($(#[$($key_on)*])*),
                meanings: $crate::table!(@meanings $ty $(, $kind)?),
                required: $crate::table!(@required $($default)?),
                choice: None,
                default: || $crate::table!(@value $ty $(, $default)?),
            },)*];
        }

        impl $crate::schema::Field for $name {
            const KIND: $crate::schema::Kind =
                $crate::schema::Kind::Table(::std::borrow::Cow::Borrowed($name::KEYS));
        }

        impl $crate::schema::Item for $name {
            const LIST: $crate::schema::Kind =
                $crate::schema::Kind::Tables(::std::borrow::Cow::Borrowed($name::KEYS));
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::std::result::Result<Self, D::Error> {
                #[derive(::serde::Deserialize)]
                struct Stated {
                    $($key: Option<$ty>,)*
                    #[serde(flatten)]
                    others: $crate::schema::Others,
                }
                #[allow(unused_mut, reason = "a table with a field for other entries takes them out")]
                let mut stated = Stated::deserialize(deserializer)?;
                let table = Self {
                    $($key: match stated.$key {
                        Some(value) => value,
                        None => $crate::table!(@absent $key $($default)?),
                    },)*
                    $($rest: ::std::mem::take(&mut stated.others).into_iter().collect(),)?
                };
                match stated.others.keys().next() {
                    Some(key) => Err(::serde::de::Error::unknown_field(key, &[$(stringify!($key)),*])),
                    None => Ok(table),
                }
            }
        }
    };
    (@kind $ty:ty) => { <$ty as $crate::schema::Field>::KIND };
    (@kind $ty:ty, $kind:path) => { $kind };
    (@meanings $ty:ty) => { <$ty as $crate::schema::Field>::MEANINGS };
    (@meanings $ty:ty, $kind:path) => { &[] };
    (@required) => { true };
    (@required $default:expr) => { false };
    (@value $ty:ty) => { None };
    (@value $ty:ty, $default:expr) => {{
        let value: $ty = $default;
        $crate::schema::value(value)
    }};
    (@absent $key:ident) => { return Err(::serde::de::Error::missing_field(stringify!($key))) };
    (@absent $key:ident $default:expr) => { $default };
}

/// Declares an enum whose variants are words of recipes, with `ALL` variants, `WORDS` in the same order and the `name` of each.
///
/// ```
/// halite_recipe::words! {
///     /// How narrowing rounds.
///     pub enum Rounding {
///         /// To nearest.
///         Nearest = "rne",
///         /// Stochastically.
///         Stochastic = "sr",
///     }
/// }
/// assert_eq!(Rounding::WORDS, ["rne", "sr"]);
/// assert_eq!(Rounding::ALL.map(Rounding::name), ["rne", "sr"]);
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$($on:tt)*])* $vis:vis enum $name:ident { $($(#[$($word_on:tt)*])* $variant:ident = $word:literal,)* }) => {
        $(#[$($on)*])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $name {
            $($(#[$($word_on)*])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: [$name; Self::WORDS.len()] = [$($name::$variant),*];

            /// Their words in recipes.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The meaning of each of them, in the same order.
            pub const MEANINGS: &'static [&'static str] = &[$($crate::doc!($(#[$($word_on)*])*)),*];

            /// The word in recipes.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }
        }

        impl $crate::schema::Field for $name {
            const KIND: $crate::schema::Kind = $crate::schema::Kind::Word($name::WORDS);
            const MEANINGS: &'static [&'static str] = $name::MEANINGS;
        }

        impl $crate::schema::Item for $name {
            const LIST: $crate::schema::Kind = $crate::schema::Kind::Words($name::WORDS);
            const MEANINGS: &'static [&'static str] = $name::MEANINGS;
        }
    };
}

macro_rules! fields {
    ($($ty:ty: $kind:expr;)*) => {$(
        impl Field for $ty {
            const KIND: Kind = $kind;
        }
    )*};
}

fields! {
    bool: Kind::Bool;
    u32: Kind::COUNT;
    u64: Kind::Whole(0, i64::MAX);
    String: Kind::Text;
    DType: Kind::Word(&["bf16", "f16", "f32", "f64"]);
    TargetName: Kind::Target;
    IndexMap<String, ConfigValue>: Kind::Config;
    IndexMap<String, String>: Kind::Variables;
}

impl Field for ScheduleKind {
    const KIND: Kind = Kind::Word(ScheduleKind::WORDS);
    const MEANINGS: &'static [&'static str] = ScheduleKind::MEANINGS;
}

impl<T: Field> Field for Option<T> {
    const KIND: Kind = T::KIND;
    const MEANINGS: &'static [&'static str] = T::MEANINGS;
}

impl<T: Item> Field for Vec<T> {
    const KIND: Kind = T::LIST;
    const MEANINGS: &'static [&'static str] = T::MEANINGS;
}

impl Item for String {
    const LIST: Kind = Kind::Texts;
}

#[cfg(test)]
mod tests {
    use crate::ModelChoice;
    use crate::schema::{Field, Kind};

    table! {
        #[derive(PartialEq, Debug)]
        struct Sizes {
            r#final: u32 as Kind::DEGREE = 2,
            ..
            others: toml::Table,
        }
    }

    #[test]
    fn tables_refuse_what_they_do_not_have_and_lack_what_they_need() {
        let wrong = |text| serde_json::from_str::<ModelChoice>(text).unwrap_err().to_string();
        assert!(wrong("{\"name\": \"llama\", \"confg\": {}}").starts_with("unknown field `confg`"));
        assert!(wrong("{}").starts_with("missing field `name`"));
        assert_eq!(ModelChoice::KEYS.iter().map(|key| key.required).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn other_entries_are_kept_where_a_table_has_a_field_for_them() {
        let table: Sizes = toml::from_str("a = 1\nfinal = 3\n").unwrap();
        assert_eq!((table.r#final, table.others["a"].as_integer()), (3, Some(1)));
        assert_eq!(toml::to_string(&table).unwrap(), "final = 3\na = 1\n");
        assert_eq!(Sizes::default(), Sizes { r#final: 2, others: toml::Table::new() });
        assert_eq!(Sizes::KEYS[0].name, "final");
        assert!(matches!(Sizes::KIND, Kind::Table(_)));
    }
}
