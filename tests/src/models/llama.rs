//! Llama 2 and 3.

use super::attention::{causal_softmax, dropout};
use halite::model::{Elaborated, Init, ModelBuilder, Tensor};
use halite_support::Diagnostics;
use halite_tensor::DType;

/// The sizes of `models/llama.hal` and `models/llama3.hal`, whose configuration describes them.
#[derive(Clone, Copy, Debug)]
pub struct Llama {
    /// Tokens.
    pub vocab: usize,
    /// Width of the residual stream.
    pub hidden: usize,
    /// Blocks.
    pub layers: usize,
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and values.
    pub kv_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Width between the projections of a block's second half.
    pub ffn: usize,
    /// Positions.
    pub seq: usize,
    /// Sequences.
    pub batch: usize,
    /// Attributes of `rope`.
    pub rope: &'static [(&'static str, f64)],
    /// Whether the output projection is the embedding table.
    pub tied: bool,
    /// The number that `rms_norm` adds to the mean square.
    pub eps: f64,
    /// Standard deviation of initial weights.
    pub init_std: f64,
    /// Rate of dropout of probabilities.
    pub attention_dropout: f64,
}

impl Llama {
    /// The model of the preset `tiny`.
    pub const TINY: Self = Self {
        vocab: 256,
        hidden: 64,
        layers: 2,
        heads: 4,
        kv_heads: 2,
        head_dim: 16,
        ffn: 176,
        seq: 64,
        batch: 8,
        rope: &[("theta", 10000.0)],
        tied: false,
        eps: 1e-5,
        init_std: 0.021,
        attention_dropout: 0.0,
    };

    /// Makes the model of these sizes in Rust.
    ///
    /// # Errors
    /// Every mistake of the sizes.
    pub fn build(&self, m: &ModelBuilder) -> Result<Elaborated, Diagnostics> {
        m.setting("vocab", self.vocab);
        m.setting("batch", self.batch);
        let tokens = m.batch("tokens", DType::S32, [self.batch, self.seq + 1]);
        let ids = tokens.slice((.., ..self.seq));
        let (x, table) = m.scope("model", || self.backbone(m, ids));
        let logits = if self.tied {
            m.call("linear", [x, table]).one()
        } else {
            self.project(m, "lm_head", x, self.vocab, self.init_std)
        };
        m.output("logits", logits);
        let [loss, count] = m.call("cross_entropy", [logits, tokens.slice((.., 1..))]).results();
        m.finish(loss, count)
    }

    fn residual_std(&self) -> f64 {
        self.init_std / (2.0 * self.layers as f64).sqrt()
    }

    fn embed<'b>(&self, m: &'b ModelBuilder, ids: Tensor<'b>) -> (Tensor<'b>, Tensor<'b>) {
        let weight = m.param("weight", [self.vocab, self.hidden], Init::Normal { std: self.init_std });
        (m.call("embedding", [ids, weight]).one(), weight)
    }

    fn project<'b>(&self, m: &'b ModelBuilder, name: &str, x: Tensor<'b>, width: usize, std: f64) -> Tensor<'b> {
        m.scope(name, || {
            let weight = m.param("weight", [width, x.dim(-1)], Init::Normal { std });
            m.call("linear", [x, weight]).one()
        })
    }

    fn norm<'b>(&self, m: &'b ModelBuilder, name: &str, x: Tensor<'b>) -> Tensor<'b> {
        m.scope(name, || {
            let weight = m.param("weight", [self.hidden], Init::Ones);
            m.call("rms_norm", [x, weight]).named("eps", self.eps).one()
        })
    }

    fn rotate<'b>(&self, m: &'b ModelBuilder, x: Tensor<'b>) -> Tensor<'b> {
        self.rope.iter().fold(m.call("rope", [x]), |call, &(name, value)| call.named(name, value)).one()
    }

    fn attention<'b>(&self, m: &'b ModelBuilder, x: Tensor<'b>) -> Tensor<'b> {
        let (std, width, kv) = (self.init_std, self.heads * self.head_dim, self.kv_heads * self.head_dim);
        let q = self.project(m, "q_proj", x, width, std);
        let k = self.project(m, "k_proj", x, kv, std);
        let v = self.project(m, "v_proj", x, kv, std);
        let split = |x: Tensor<'b>, heads| x.reshape([self.batch, self.seq, heads, self.head_dim]);
        let q = self.rotate(m, split(q, self.heads));
        let k = self.rotate(m, split(k, self.kv_heads));
        let qkv = [q, k, split(v, self.kv_heads)];
        let o = if self.attention_dropout == 0.0 { m.call("causal_attention", qkv).one() } else { self.attend(m, qkv) };
        let o = o.reshape([self.batch, self.seq, width]).named("o");
        self.project(m, "o_proj", o, self.hidden, self.residual_std())
    }

    /// The queries of heads that share a key head are rows of one matrix.
    fn attend<'b>(&self, m: &'b ModelBuilder, [q, k, v]: [Tensor<'b>; 3]) -> Tensor<'b> {
        let rows = self.heads / self.kv_heads * self.seq;
        let q = q.transpose([0, 2, 1, 3]).reshape([self.batch, self.kv_heads, rows, self.head_dim]).named("q");
        let scores = q.matmul(k.transpose([0, 2, 3, 1])).reshape([self.batch, self.heads, self.seq, self.seq]);
        let p = causal_softmax(m, scores / (self.head_dim as f64).sqrt());
        let p = dropout(m, p, self.attention_dropout).reshape([self.batch, self.kv_heads, rows, self.seq]);
        let o = p.matmul(v.transpose([0, 2, 1, 3])).reshape([self.batch, self.heads, self.seq, self.head_dim]);
        o.transpose([0, 2, 1, 3])
    }

    fn mlp<'b>(&self, m: &'b ModelBuilder, x: Tensor<'b>) -> Tensor<'b> {
        let gate = self.project(m, "gate_proj", x, self.ffn, self.init_std);
        let up = self.project(m, "up_proj", x, self.ffn, self.init_std);
        self.project(m, "down_proj", gate.silu() * up, self.hidden, self.residual_std())
    }

    fn block<'b>(&self, m: &'b ModelBuilder, x: Tensor<'b>) -> Tensor<'b> {
        let normed = self.norm(m, "input_layernorm", x);
        let x = (x + m.scope("self_attn", || self.attention(m, normed))).named("x");
        let normed = self.norm(m, "post_attention_layernorm", x);
        x + m.scope("mlp", || self.mlp(m, normed))
    }

    /// The final hidden states and the embedding table.
    fn backbone<'b>(&self, m: &'b ModelBuilder, ids: Tensor<'b>) -> (Tensor<'b>, Tensor<'b>) {
        let (mut x, table) = m.scope("embed_tokens", || self.embed(m, ids));
        for layer in 0..self.layers {
            [x] = m.scope(format_args!("layers.{layer}"), || m.function("block", [x], |[x]| [self.block(m, x)]));
        }
        (self.norm(m, "norm", x), table)
    }
}
