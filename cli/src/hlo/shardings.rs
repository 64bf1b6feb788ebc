//! Shardings that a file states.

use crate::context::Result;
use halite_ir::{Function, TensorType};
use halite_lift::Claims;
use halite_support::nearest::nearest;
use halite_support::{Diagnostic, Diagnostics, codes, files};
use halite_tensor::{DimShard, Mesh, Sharding};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The text of a file of shardings.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Text {
    parameters: BTreeMap<String, Held>,
    results: BTreeMap<String, Vec<Axes>>,
}

/// The content of a parameter on a rank: the number of the rank, or its shard of a tensor.
#[derive(Deserialize)]
#[serde(untagged)]
enum Held {
    Number(Number),
    Shards(Vec<Axes>),
}

/// The number of the rank.
#[derive(Deserialize)]
enum Number {
    #[serde(rename = "rank")]
    OfRank,
}

/// The mesh axes that shard a dimension.
#[derive(Deserialize)]
#[serde(untagged)]
enum Axes {
    None(()),
    One(String),
    Several(Vec<String>),
}

impl Axes {
    /// The names, the major one first.
    fn names(&self) -> &[String] {
        match self {
            Axes::None(()) => &[],
            Axes::One(name) => std::slice::from_ref(name),
            Axes::Several(names) => names,
        }
    }
}

/// The shardings that a file states of parameters and results.
pub(super) struct Stated {
    text: Text,
    /// The names of the axes, also of those of one rank.
    axes: Vec<String>,
    file: String,
}

impl Stated {
    pub(super) fn read(file: &Path, axes: Vec<String>) -> Result<Self> {
        let name = file.display().to_string();
        let bytes = files::read(file)?;
        let text = serde_json::from_slice(&bytes).map_err(|error| {
            let help = r#"write such as `{"parameters": {"x": ["data", null]}, "results": {"0": ["data"]}}`"#;
            Diagnostic::error(codes::SYNTAX, format!("`{name}` states no shardings: {error}")).help(help)
        })?;
        Ok(Self { text, axes, file: name })
    }

    /// The claims of the HLO, each replaced by the one that the file states.
    ///
    /// # Errors
    /// Names that are none, and dimensions that cannot be sharded so.
    pub(super) fn over(&self, mut claims: Claims, entry: &Function, mesh: &Mesh) -> Result<Claims> {
        let (params, results) = (entry.param_types(), entry.result_types());
        let names: Vec<&str> = entry.params.iter().map(|param| &*param.name).collect();
        let mut mistakes = Diagnostics::new();
        for (key, held) in &self.text.parameters {
            let placed = self.position("parameter", key, &names, params.len()).and_then(|at| {
                match held {
                    Held::Number(Number::OfRank) => claims.ranks.push(at),
                    Held::Shards(axes) => claims.params[at] = self.sharding(key, axes, &params[at], mesh)?,
                }
                Ok(())
            });
            mistakes.extend(placed.err());
        }
        for (key, axes) in &self.text.results {
            let placed = self.position("result", key, &[], results.len()).and_then(|at| {
                claims.results[at] = self.sharding(key, axes, &results[at], mesh)?;
                Ok(())
            });
            mistakes.extend(placed.err());
        }
        if mistakes.is_empty() { Ok(claims) } else { Err(mistakes) }
    }

    fn error(&self, message: String) -> Diagnostic {
        Diagnostic::error(codes::INPUT, message).context(format!("`{}`", self.file))
    }

    /// The position, of `count`, that a name or a number refers to.
    fn position(&self, side: &str, key: &str, names: &[&str], count: usize) -> std::result::Result<usize, Diagnostic> {
        let named = names.iter().position(|name| *name == key);
        let numbered = || key.parse().ok().filter(|&at| at < count);
        named.or_else(numbered).ok_or_else(|| {
            let error = self.error(format!("the program has no {side} `{key}`"));
            match nearest(key, names.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None if names.is_empty() => error.help(format!("its {count} {side}s have the numbers from 0")),
                None => error.help(format!("its {side}s are {}", names.join(", "))),
            }
        })
    }

    fn sharding(
        &self,
        key: &str,
        axes: &[Axes],
        local: &TensorType,
        mesh: &Mesh,
    ) -> std::result::Result<Sharding, Diagnostic> {
        if axes.len() != local.rank() {
            let message = format!("`{key}` is stated with {} dimensions, and is `{local}` on a rank", axes.len());
            return Err(self.error(message).help("state an axis, a list of axes or `null` for each dimension"));
        }
        let mut sharding = Sharding::replicated(local.rank());
        for (dim, own) in axes.iter().enumerate() {
            let mut stride = local.shape()[dim];
            for name in own.names().iter().rev() {
                self.require_axis(name)?;
                let sub_axes: Vec<_> = mesh.sub_axes_of(name).collect();
                for &sub_axis in sub_axes.iter().rev() {
                    if sharding.find(sub_axis).is_some() {
                        let message = format!("`{key}` is sharded along `{name}` twice");
                        return Err(self.error(message).help("name each axis for one dimension"));
                    }
                    let size = mesh.sub_axes()[sub_axis].size;
                    sharding = sharding.with(dim, DimShard { sub_axis, size, stride });
                    stride = stride.saturating_mul(size);
                }
            }
        }
        Ok(sharding)
    }

    fn require_axis(&self, name: &str) -> std::result::Result<(), Diagnostic> {
        if self.axes.iter().any(|axis| axis == name) {
            return Ok(());
        }
        let help = format!("the axes of `--mesh` are {}", self.axes.join(", "));
        Err(self.error(format!("`{name}` is no axis of the mesh")).help(help))
    }
}
