//! The ranks that run a program together.

use crate::{Divides, MeshAxis, Parallel, Recipe};
use halite_support::nearest::list;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{Mesh, SubAxisId};

impl Recipe {
    /// The ranks that run a program together. Stages of a pipeline are programs of their own, each on such a mesh.
    ///
    /// # Errors
    /// When the [sizes](Self::sizes) disagree, an axis is missing in the order of ranks or there twice, or there are too many ranks.
    pub fn mesh(&self) -> Result<Mesh> {
        self.sizes()?;
        let parallel = self.parallel.clone().unwrap_or_default();
        check_order(&parallel)?;
        let axes = parallel.order.iter().map(|&axis| (axis.name(), parallel.degree(axis) as usize));
        Mesh::new(axes).map_err(|error| {
            let keys = MeshAxis::ALL.map(MeshAxis::key);
            let keys = list(&keys.each_ref().map(String::as_str));
            error.key("parallel").help(format!("choose smaller {keys}: ranks are counted in 31 bits"))
        })
    }
}

/// The sub-axes of a mesh along which ranks divide this.
pub fn sub_axes_that_divide(mesh: &Mesh, what: Divides) -> impl Iterator<Item = SubAxisId> {
    MeshAxis::that_divide(what).flat_map(|axis| mesh.sub_axes_of(axis.name()))
}

/// The number of ranks of a mesh that take different sequences.
pub fn batch_ranks(mesh: &Mesh) -> usize {
    MeshAxis::that_divide(Divides::Batch).map(|axis| mesh.size(axis.name())).product()
}

/// No axis stands in the order of ranks twice, and each that has several.
fn check_order(parallel: &Parallel) -> Result<()> {
    let order = &parallel.order;
    let wrong = |message: String, key: String| {
        let all = MeshAxis::ALL.map(|axis| format!("{:?}", axis.name())).join(", ");
        let help = format!("write each axis once, the major one first: `order = [{all}]`");
        Err(Diagnostic::error(codes::RECIPE_CLASH, message).key(key).help(help))
    };
    if let Some(at) = (0..order.len()).find(|&at| order[..at].contains(&order[at])) {
        return wrong(format!("`parallel.order` has `{}` twice", order[at].name()), format!("parallel.order.{at}"));
    }
    match MeshAxis::ALL.into_iter().find(|&axis| parallel.degree(axis) > 1 && !order.contains(&axis)) {
        Some(missing) => wrong(format!("`parallel.order` lacks `{}`", missing.name()), "parallel.order".to_owned()),
        None => Ok(()),
    }
}
