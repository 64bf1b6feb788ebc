//! The model language: from the text of a `.hal` file and values for its configuration to a
//! [`Module`](halite_ir::Module).
//!
//! Three steps. *Parse* makes a syntax tree. *Resolve* checks what needs no values: names, signatures, recursion, use.
//! *Elaborate* runs the model on its configuration: numbers are computed, `for` unrolls, each op becomes an instruction
//! with the scope and the source span it came from. Resolve and elaborate report all mistakes of a run; what depends on
//! a mistake is skipped in silence, so that one mistake makes one diagnostic.
//!
//! ```text
//! model tiny {
//!   config { vocab = 256; hidden = 64; seq = 32; batch = 1; init_std = 0.02 }
//!   fn project(x, width) {
//!     param weight: [width, dim(x, -1)] = normal(init_std)    // `lm_head.weight`, stored [out, in]
//!     return linear(x, weight)
//!   }
//!   fn main(tokens: s32[batch, seq + 1]) {
//!     ..
//!     logits = project(x, vocab) as lm_head
//!     output logits
//!     loss, count = cross_entropy(logits, tokens[:, 1:])
//!     return loss, count
//!   }
//! }
//! ```
//!
//! Parts that one configuration has and another lacks are chosen by `if condition { value } else { value }`, by
//! `match act { "gelu" => gelu(x), "silu", "swish" => silu(x) }`, or by `if condition { statements } else { statements }`. Conditions
//! are known while the model runs; the side that is not chosen does not run, so that its parameters do not exist. Names that all sides
//! of such statements define are there after them.
//!
//! Functions are values: `fn twice(f, x) { return f(f(x)) }` takes one of the model or an op by its name. Lists are joined by `+` and
//! run over by `for x in list { .. }`. Names inside of functions hide those outside.
//!
//! Two tensors are repeated to one shape as in NumPy: shapes are aligned at their last dimensions, and what is missing or of size 1 is
//! repeated. Subscripts are positions, ranges `from:to:step`, and one tensor of positions: `table[ids]`.
//!
//! Weights know the factors of the sizes of their dimensions, by the names of `config` keys and of `let`s outside functions: that of
//! `param weight: [heads * head_dim, dim(x, -1)]` says `heads`, `head_dim` and whatever `x` was made with. Names travel with whole
//! numbers and with the dimensions of tensors, through calls too. A product keeps those of its factors, any other result has none
//! until a `let` outside functions names it. Recipes say by them which dimensions are sharded.
//!
//! Functions that models share stand in libraries, `library name { .. }`. A text uses those that it lists: `use blocks: norm`, before
//! `model` or `library`. Functions see what stands in their own text, and what that uses.
//!
//! A model is held to causality: its outputs at a position, and the loss there, depend on no later token. One that reads in both
//! directions, as an encoder does, says `causal = false` beside its functions:
//!
//! ```text
//! model bert {
//!   causal = false
//!   config { .. }
//!   ..
//! }
//! ```
//!
//! The arguments of `main` are what the host feeds at each step. One of them may be declared to be the causal mask:
//! `fn main(tokens: s32[batch, seq + 1], mask: pred[seq, seq] = causal)`. Leading dimensions repeat the mask. The
//! compiler then counts on it, and running the program on any other mask is refused.
//!
//! An argument of `main` may be there under a condition of the configuration:
//! `fn main(tokens: s32[batch, seq + 1], segments: s32[batch, seq + 1] if packed)`. Where the condition does not hold the program has
//! no such input. The name may then be handed to functions and returned by them, so that these need no second form; anything else
//! made of it is a mistake, unless it stands in a branch of an `if` that is not chosen.

mod ast;
pub mod build;
mod elaborate;
mod ops;
mod options;
mod parse;
pub mod reference;
mod resolve;
mod suggest;
mod texts;
mod type_word;

pub use ast::{LibraryName, LibraryRef};
pub use elaborate::{Elaborated, elaborate, elaborate_texts};
pub use ops::is_needed;
pub use options::{KnownLibrary, Options, Override};
pub use texts::Texts;
