//! The kinds of schedules, a file each.

mod gpipe;
mod interleaved;
mod one_forward_one_backward;
mod zero_bubble;

use crate::Kind;
use serde::{Deserialize, Serialize};

/// The kinds, a row each: its word and its file.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident = $word:literal, $file:ident;)*) => {
        /// The kinds of schedules.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        pub enum ScheduleKind {
            $($(#[doc = $doc])* #[serde(rename = $word)] $kind,)*
        }

        impl ScheduleKind {
            /// All of them.
            pub const ALL: [Self; Self::WORDS.len()] = [$(Self::$kind),*];

            /// Their words.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The meaning of each word, in the same order.
            pub const MEANINGS: &'static [&'static str] = &[$(concat!($($doc, "\n"),*)),*];

            /// Its word.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $word,)* }
            }

            /// The kind itself.
            pub fn kind(self) -> &'static dyn Kind {
                match self { $(Self::$kind => &$file::$kind,)* }
            }
        }
    };
}

kinds! {
    /// A stage runs a backward as soon as it can, and keeps the residuals of no more micro-batches than there are stages from it on.
    OneForwardOneBackward = "1f1b", one_forward_one_backward;
    /// The same with several chunks of the model on each stage: less waiting, more transfers and residuals.
    Interleaved = "interleaved", interleaved;
    /// All forwards, then all backwards: residuals of all micro-batches are kept.
    Gpipe = "gpipe", gpipe;
    /// `1f1b` with the backward in two: gradients by weights are made while a stage would wait.
    ZeroBubble = "zero-bubble", zero_bubble;
}
