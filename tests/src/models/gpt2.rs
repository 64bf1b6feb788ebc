//! GPT-2.

use super::attention::{causal_softmax, dropout};
use halite::model::{Elaborated, Init, ModelBuilder, Tensor};
use halite_support::Diagnostics;
use halite_tensor::DType;

/// The sizes of `models/gpt2.hal`, whose configuration describes them.
#[derive(Clone, Copy, Debug)]
pub struct Gpt2 {
    /// Tokens.
    pub vocab: usize,
    /// Width of the residual stream.
    pub hidden: usize,
    /// Blocks.
    pub layers: usize,
    /// Heads.
    pub heads: usize,
    /// Width between the projections of a block's second half.
    pub ffn: usize,
    /// Learned positions.
    pub positions: usize,
    /// Positions that are used.
    pub seq: usize,
    /// Sequences.
    pub batch: usize,
    /// The number that `layer_norm` adds to the variance.
    pub eps: f64,
    /// Standard deviation of initial weights.
    pub init_std: f64,
    /// Rate of dropout of probabilities.
    pub attn_dropout: f64,
    /// Rate of dropout of what sublayers add.
    pub resid_dropout: f64,
    /// Rate of dropout of embeddings.
    pub embd_dropout: f64,
}

impl Gpt2 {
    /// Makes the model of these sizes in Rust.
    ///
    /// # Errors
    /// Every mistake of the sizes.
    pub fn build(&self, m: &ModelBuilder) -> Result<Elaborated, Diagnostics> {
        m.setting("vocab", self.vocab);
        m.setting("batch", self.batch);
        let tokens = m.batch("tokens", DType::S32, [self.batch, self.seq + 1]);
        let ids = tokens.slice((.., ..self.seq));
        let (x, wte) = m.scope("transformer", || self.backbone(m, ids));
        let logits = m.call("linear", [x, wte]).one();
        m.output("logits", logits);
        let [loss, count] = m.call("cross_entropy", [logits, tokens.slice((.., 1..))]).results();
        m.finish(loss, count)
    }

    fn table<'b>(&self, m: &'b ModelBuilder, name: &str, rows: usize) -> Tensor<'b> {
        m.scope(name, || m.param("weight", [rows, self.hidden], Init::Normal { std: self.init_std }))
    }

    fn project<'b>(&self, m: &'b ModelBuilder, name: &str, x: Tensor<'b>, width: usize, std: f64) -> Tensor<'b> {
        m.scope(name, || {
            let weight = m.param("weight", [x.dim(-1), width], Init::Normal { std });
            let bias = m.param("bias", [width], Init::Zeros);
            x.matmul(weight) + bias
        })
    }

    fn norm<'b>(&self, m: &'b ModelBuilder, name: &str, x: Tensor<'b>) -> Tensor<'b> {
        m.scope(name, || {
            let weight = m.param("weight", [self.hidden], Init::Ones);
            let bias = m.param("bias", [self.hidden], Init::Zeros);
            m.call("layer_norm", [x, weight, bias]).named("eps", self.eps).one()
        })
    }

    fn residual_std(&self) -> f64 {
        self.init_std / (2.0 * self.layers as f64).sqrt()
    }

    fn attention<'b>(&self, m: &'b ModelBuilder, x: Tensor<'b>) -> Tensor<'b> {
        let parts = self.project(m, "c_attn", x, 3 * self.hidden, self.init_std).split::<3>(-1);
        let heads = |x: Tensor<'b>| x.reshape([self.batch, self.seq, self.heads, self.hidden / self.heads]);
        let o = if self.attn_dropout == 0.0 {
            m.call("causal_attention", parts.map(heads)).one()
        } else {
            self.attend(m, parts.map(heads))
        };
        let o = o.reshape([self.batch, self.seq, self.hidden]);
        dropout(m, self.project(m, "c_proj", o, self.hidden, self.residual_std()), self.resid_dropout)
    }

    /// Reshapes are those of heads that share a key head, of which there are none.
    fn attend<'b>(&self, m: &'b ModelBuilder, [q, k, v]: [Tensor<'b>; 3]) -> Tensor<'b> {
        let head_dim = self.hidden / self.heads;
        let q = q.transpose([0, 2, 1, 3]).reshape([self.batch, self.heads, self.seq, head_dim]).named("q");
        let scores = q.matmul(k.transpose([0, 2, 3, 1])).reshape([self.batch, self.heads, self.seq, self.seq]);
        let p = causal_softmax(m, scores / (head_dim as f64).sqrt());
        let p = dropout(m, p, self.attn_dropout).reshape([self.batch, self.heads, self.seq, self.seq]);
        let o = p.matmul(v.transpose([0, 2, 1, 3])).reshape([self.batch, self.heads, self.seq, head_dim]);
        o.transpose([0, 2, 1, 3])
    }

    fn mlp<'b>(&self, m: &'b ModelBuilder, x: Tensor<'b>) -> Tensor<'b> {
        let x = self.project(m, "c_fc", x, self.ffn, self.init_std).named("x");
        let x = m.call("gelu", [x]).named("tanh", true).one();
        dropout(m, self.project(m, "c_proj", x, self.hidden, self.residual_std()), self.resid_dropout)
    }

    fn block<'b>(&self, m: &'b ModelBuilder, x: Tensor<'b>) -> Tensor<'b> {
        let normed = self.norm(m, "ln_1", x);
        let x = (x + m.scope("attn", || self.attention(m, normed))).named("x");
        let normed = self.norm(m, "ln_2", x);
        x + m.scope("mlp", || self.mlp(m, normed))
    }

    /// The final hidden states and the embedding table.
    fn backbone<'b>(&self, m: &'b ModelBuilder, ids: Tensor<'b>) -> (Tensor<'b>, Tensor<'b>) {
        let (wte, wpe) = (self.table(m, "wte", self.vocab), self.table(m, "wpe", self.positions));
        let x = m.call("embedding", [ids, wte]).one() + wpe.slice((..self.seq,));
        let mut x = dropout(m, x, self.embd_dropout);
        for layer in 0..self.layers {
            [x] = m.scope(format_args!("h.{layer}"), || m.function("block", [x], |[x]| [self.block(m, x)]));
        }
        (self.norm(m, "ln_f", x), wte)
    }
}
