//! The ranks that run a program together.

use crate::{MeshAxis, Recipe};
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::Mesh;

impl Recipe {
    /// The ranks that run a program together. Stages of a pipeline are programs of their own, each on such a mesh.
    ///
    /// # Errors
    /// When the [sizes](Self::sizes) disagree, an axis is not in the order of ranks once, or there are too many ranks.
    pub fn mesh(&self) -> Result<Mesh> {
        let data = self.sizes()?.data;
        let (order, tensor) = match &self.parallel {
            Some(parallel) => (parallel.order.as_slice(), parallel.tensor.into()),
            None => (&MeshAxis::ALL[..], 1),
        };
        check_order(order)?;
        let size = |axis| match axis {
            MeshAxis::Data => data,
            MeshAxis::Tensor => tensor,
        };
        let axes = order.iter().map(|&axis| (axis.name(), usize::try_from(size(axis)).unwrap_or(usize::MAX)));
        Mesh::new(axes).map_err(|error| {
            error
                .key("parallel")
                .help("choose smaller `parallel.data` and `parallel.tensor`: ranks are counted in 31 bits")
        })
    }
}

/// Each axis stands in the order of ranks once.
fn check_order(order: &[MeshAxis]) -> Result<()> {
    let wrong = |message: String, key: String| {
        let help = "write each axis once, the major one first: `order = [\"data\", \"tensor\"]`";
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
