//! The inventory of built-in composites: one `mod` line and one list line each.

use crate::attr::Attr;
use crate::attrs::Attrs;
use crate::composite::{Composite, CompositeDef};
use std::sync::Arc;

mod add_any;
pub mod causal_attention;
mod causal_mask;
mod coordinate_words;
mod cross_entropy;
mod cumsum;
pub mod dropout;
mod embedding;
mod erfc;
pub mod gelu;
mod hash;
mod keyed_dropout;
mod layer_norm;
pub mod linear;
mod log_softmax;
mod parts;
mod random_bits;
mod relu;
pub mod rms_norm;
mod rope;
pub mod shares;
mod silu;
pub mod softmax;
mod softplus;
pub mod sort_pairs;
mod stochastic_convert;
mod stop_gradient;
mod stream_words;
mod swiglu;
mod tied_copies;
pub mod top_k;
mod transfer;
mod unpack;

pub use add_any::AddAny;
pub use causal_attention::CausalAttention;
pub use causal_mask::CausalMask;
pub use cross_entropy::CrossEntropy;
pub use embedding::Embedding;
pub use layer_norm::LayerNorm;
pub use linear::Linear;
pub use rms_norm::RmsNorm;
pub use rope::Rope;
pub use softmax::Softmax;
pub use top_k::TopK;
pub use transfer::Transfer;

/// Every built-in composite, in order.
pub(crate) fn all() -> Vec<Arc<dyn CompositeDef>> {
    vec![
        Arc::new(add_any::AddAny),
        Arc::new(causal_attention::CausalAttention),
        Arc::new(causal_attention::CausalAttentionGrad),
        Arc::new(causal_mask::CausalMask),
        Arc::new(coordinate_words::CoordinateWords),
        Arc::new(cross_entropy::CrossEntropy),
        Arc::new(cross_entropy::CrossEntropyGrad),
        Arc::new(cumsum::Cumsum),
        Arc::new(dropout::Dropout),
        Arc::new(embedding::Embedding),
        Arc::new(erfc::Erfc),
        Arc::new(gelu::Gelu),
        Arc::new(gelu::GeluGrad),
        Arc::new(keyed_dropout::KeyedDropout),
        Arc::new(layer_norm::LayerNorm),
        Arc::new(layer_norm::LayerNormGrad),
        Arc::new(linear::Linear),
        Arc::new(log_softmax::LogSoftmax),
        Arc::new(log_softmax::LogSoftmaxGrad),
        Arc::new(random_bits::RandomBits),
        Arc::new(relu::Relu),
        Arc::new(relu::ReluGrad),
        Arc::new(rms_norm::RmsNorm),
        Arc::new(rms_norm::RmsNormGrad),
        Arc::new(rope::Rope),
        Arc::new(silu::Silu),
        Arc::new(silu::SiluGrad),
        Arc::new(softmax::Softmax),
        Arc::new(softmax::SoftmaxGrad),
        Arc::new(softplus::Softplus),
        Arc::new(sort_pairs::SortPairs),
        Arc::new(stochastic_convert::StochasticConvert),
        Arc::new(stop_gradient::StopGradient),
        Arc::new(stream_words::StreamWords),
        Arc::new(swiglu::Swiglu),
        Arc::new(swiglu::SwigluGrad),
        Arc::new(tied_copies::TiedCopies),
        Arc::new(top_k::TopK),
        Arc::new(transfer::Transfer),
        Arc::new(unpack::Unpack),
    ]
}

/// An instruction of a composite, for samples and gradient rules.
fn op(def: &dyn CompositeDef, attrs: &[(&str, Attr)]) -> Composite {
    let attrs = Attrs::with_defaults(def.name(), &def.schema(), attrs);
    Composite::of(def, attrs.expect("samples and rules follow the schema"))
}
