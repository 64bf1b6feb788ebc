//! The ranks that run a program together.

use crate::{Divides, MeshAxis, Recipe};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::Mesh;

impl Recipe {
    /// The ranks that run a program together. Stages of a pipeline are programs of their own, each on such a mesh.
    ///
    /// # Errors
    /// When the [sizes](Self::sizes) disagree, an axis is not in the order of ranks once, or there are too many ranks.
    pub fn mesh(&self) -> Result<Mesh> {
        self.sizes()?;
        let parallel = self.parallel.clone().unwrap_or_default();
        check_order(&parallel.order)?;
        let axes = parallel.order.iter().map(|&axis| (axis.name(), parallel.degree(axis) as usize));
        Mesh::new(axes).map_err(|error| {
            let keys = MeshAxis::ALL.map(|axis| format!("`{}`", axis.key())).join(" and ");
            error.key("parallel").help(format!("choose smaller {keys}: ranks are counted in 31 bits"))
        })
    }
}

/// How many ranks of a mesh take different sequences.
pub fn batch_ranks(mesh: &Mesh) -> usize {
    MeshAxis::that_divide(Divides::Batch).map(|axis| mesh.size(axis.name())).product()
}

/// Each axis stands in the order of ranks once.
fn check_order(order: &[MeshAxis]) -> Result<()> {
    let wrong = |message: String, key: String| {
        let all = MeshAxis::ALL.map(|axis| format!("{:?}", axis.name())).join(", ");
        let help = format!("write each axis once, the major one first: `order = [{all}]`");
        Err(Diagnostic::error(codes::RECIPE_CLASH, message).key(key).help(help))
    };
    if let Some(at) = (0..order.len()).find(|&at| order[..at].contains(&order[at])) {
        return wrong(format!("`parallel.order` has `{}` twice", order[at].name()), format!("parallel.order.{at}"));
    }
    match MeshAxis::ALL.into_iter().find(|axis| !order.contains(axis)) {
        Some(missing) => wrong(format!("`parallel.order` lacks `{}`", missing.name()), "parallel.order".to_owned()),
        None => Ok(()),
    }
}
