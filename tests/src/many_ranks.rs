//! Steps on more ranks than are run: layouts of 16 ranks and more, with heads and key heads as many as ranks, fewer and more.

use crate::covering::{Shows, covering};
use crate::meshes::{Loaded, Ranks, STEP, settings};
use halite_ir::Module;

/// Models with sizes of their own, and the names of their sizes that follow from those of [`Case`].
const FAMILIES: [(&str, bool, &[&str]); 7] = [
    ("tiny", true, &["layers=1", "vocab=256", "ffn=1024", "seq=64"]),
    ("llama3.hal", true, &["layers=1", "vocab=256", "ffn=1024", "seq=64"]),
    ("qwen2.hal", true, &["layers=1", "vocab=256", "ffn=1024", "seq=64", "tied=true"]),
    ("mistral.hal", true, &["layers=1", "vocab=256", "ffn=1024", "seq=64", "window=4"]),
    ("gpt2.hal", false, &["layers=1", "vocab=256", "positions=64", "seq=64"]),
    ("bert.hal", false, &["layers=1", "vocab=256", "positions=64", "seq=64", "typed=true", "padded=true"]),
    ("../tests/data/mixtral.hal", true, &["layers=1", "vocab=256", "ffn=256", "experts=4", "seq=64"]),
];

/// Ranks along `data` and `tensor`.
const MESHES: [(usize, usize); 16] = [
    (16, 1),
    (8, 2),
    (4, 4),
    (2, 8),
    (1, 16),
    (32, 1),
    (8, 4),
    (4, 8),
    (2, 16),
    (16, 4),
    (8, 8),
    (4, 16),
    (2, 32),
    (64, 8),
    (32, 16),
    (256, 8),
];

/// A model in a layout.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The position of the family.
    family: usize,
    ranks: Ranks,
    heads: usize,
    kv_heads: usize,
}

impl Case {
    /// Every family on every mesh, with `sequence` and `zero` where these say something, and every choice of heads and key heads: a quarter as
    /// many as ranks along `tensor`, as many, and twice as many; and one key head.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (family, (data, tensor)) in (0..FAMILIES.len()).flat_map(|family| MESHES.map(|mesh| (family, mesh))) {
            for sequence in [false, true].into_iter().take(tensor.min(2)) {
                for zero in [0, 1, 3].into_iter().take(if data > 1 { 3 } else { 1 }) {
                    let ranks = Ranks::of(data, tensor, sequence, zero, 1);
                    let of = |(heads, kv_heads)| Self { family, ranks, heads, kv_heads };
                    all.extend(Self::heads(tensor, FAMILIES[family].1).into_iter().map(of));
                }
            }
        }
        all
    }

    /// Heads and key heads for so many ranks, which are the same in a family that has no key heads.
    fn heads(tensor: usize, grouped: bool) -> Vec<(usize, usize)> {
        let mut sizes = [1, tensor.div_ceil(4), tensor, 2 * tensor].to_vec();
        sizes.dedup();
        let least = tensor.div_ceil(4);
        let heads = sizes.iter().filter(|&&heads| heads >= least);
        let pairs = heads.flat_map(|&heads| sizes.iter().map(move |&kv_heads| (heads, kv_heads)));
        pairs.filter(|&(heads, kv)| if grouped { kv <= heads } else { kv == heads }).collect()
    }

    /// Cases, `most` or so, in which each family, mesh, choice of heads, `sequence` and `zero` meet each other as far as there is room, and each
    /// mesh meets each of the last three.
    pub fn covering(most: usize) -> Vec<Self> {
        let all = Self::all();
        let shows = |case: &Self| {
            let [family, mesh, heads, sequence, zero] = case.choices();
            let must = [heads, sequence, zero].map(|choice| (family, choice)).to_vec();
            Shows { must, may: [heads, sequence, zero, family].map(|choice| (mesh, choice)).to_vec() }
        };
        covering(&all.iter().map(shows).collect::<Vec<_>>(), most).into_iter().map(|at| all[at]).collect()
    }

    /// Cases of which something was not proven once: so many readings were left, or places for the digits of one, that some were given up.
    pub fn of_many_readings() -> [Self; 4] {
        let of = |family, data, zero| Self { family, ranks: Ranks::of(data, 8, false, zero, 1), heads: 8, kv_heads: 2 };
        [of(2, 256, 3), of(6, 8, 1), of(6, 64, 0), of(6, 256, 1)]
    }

    fn choices(&self) -> [(&'static str, usize); 5] {
        let Ranks { data, tensor, sequence, zero, .. } = self.ranks;
        let heads = self.heads * 4 / tensor * 1000 + self.kv_heads * 4 / tensor;
        [
            ("family", self.family),
            ("mesh", data * 1000 + tensor),
            ("heads", heads),
            ("sequence", usize::from(sequence)),
            ("zero", zero),
        ]
    }

    /// The step of one rank in mixed precision.
    ///
    /// # Panics
    /// When it does not compile.
    pub fn local(&self) -> Module {
        let (model, grouped, sizes) = FAMILIES[self.family];
        let mut own = settings(self.ranks, "mixed");
        own.extend([format!("heads={}", self.heads), format!("hidden={}", 4 * self.heads.max(self.ranks.tensor))]);
        own.extend(grouped.then(|| format!("kv_heads={}", self.kv_heads)));
        let loaded = Loaded::new((model, sizes), &own);
        loaded.after(loaded.made(STEP), "partition")
    }
}
