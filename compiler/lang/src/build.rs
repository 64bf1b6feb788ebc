//! Models written in Rust.
//!
//! A [`ModelBuilder`] makes what [`elaborate`](crate::elaborate) makes of a text: the same names, the same checks, the
//! same instructions. A [`Tensor`] is a copyable handle with operators and methods; every builtin and every composite of
//! the registry can be called by name.
//!
//! ```
//! use halite_ir::Registry;
//! use halite_lang::build::ModelBuilder;
//! use halite_tensor::{DType, Init};
//!
//! let registry = Registry::builtin();
//! let (batch, seq, vocab, hidden) = (2, 8, 16, 4);
//! let m = ModelBuilder::new("bigram", &registry);
//! let tokens = m.batch("tokens", DType::S32, [batch, seq + 1]);
//! let x = m.scope("embed", || {
//!     let weight = m.param("weight", [vocab, hidden], Init::Normal { std: 0.02 });
//!     m.call("embedding", [tokens.slice((.., ..seq)), weight]).one()
//! });
//! let logits = m.scope("head", || {
//!     let weight = m.param("weight", [vocab, hidden], Init::Normal { std: 0.02 });
//!     m.call("linear", [x.tanh() * 2.0, weight]).one()
//! });
//! m.output("logits", logits);
//! let [loss, count] = m.call("cross_entropy", [logits, tokens.slice((.., 1..))]).results();
//! let model = m.finish(loss, count).expect("no mistakes");
//! let names: Vec<_> = model.module.entry().unwrap().params.iter().map(|param| param.name.to_string()).collect();
//! assert_eq!(names, ["tokens", "embed.weight", "head.weight"]);
//! ```
//!
//! Layers that are alike are calls of one [`function`](ModelBuilder::function). Builders in other languages are made of the
//! same [`core`].
//!
//! A mistake never panics. It is recorded with the place of the call, its result is poisoned, what depends on that is
//! skipped in silence, and [`finish`](ModelBuilder::finish) returns all mistakes of the run:
//!
//! ```
//! # use halite_ir::Registry;
//! # use halite_lang::build::ModelBuilder;
//! # use halite_tensor::DType;
//! # let registry = Registry::builtin();
//! let m = ModelBuilder::new("wrong", &registry);
//! let x = m.batch("x", DType::F32, [4, 6]);
//! let y = x.reshape([5, -1]);
//! let z = m.call("sofmax", [x]).one();
//! let mistakes = m.finish((y + z).sum_all(), m.scalar(1.0)).unwrap_err();
//! let texts: Vec<_> = mistakes.iter().map(|mistake| mistake.message()).collect();
//! assert_eq!(texts[0], "no size in place of -1 makes [5, -1] hold the 24 elements of `f32[4,6]`");
//! assert_eq!(texts[1], "no function or op is named `sofmax`");
//! assert_eq!(mistakes[1].help_text(), Some("did you mean `softmax`?"));
//! ```

mod argument;
mod builder;
mod call;
mod caller;
pub mod core;
mod declare;
mod function;
mod methods;
mod operators;
mod subscript;
mod tensor;

pub use crate::ast::{BinaryOp, Comparison};
pub use argument::Argument;
pub use builder::ModelBuilder;
pub use call::Call;
pub use caller::Caller;
pub use halite_ir::SizeFactor;
pub use halite_tensor::Init;
pub use subscript::{Subscript, Subscripts};
pub use tensor::Tensor;
