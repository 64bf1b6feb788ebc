//! The ranks that programs are made for.

use crate::Recipe;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::Mesh;

impl Recipe {
    /// The [mesh](Self::mesh) whose ranks run a program together, for a target that takes programs of several ranks or does not.
    ///
    /// # Errors
    /// As [`mesh`](Self::mesh); when there are several ranks and the target takes programs of one.
    pub fn ranks(&self, takes_meshes: bool) -> Result<Mesh> {
        let mesh = self.mesh()?;
        if mesh.num_ranks() == 1 || takes_meshes {
            return Ok(mesh);
        }
        let message = format!("the layout has {} ranks, and `{}` takes programs of one", mesh.num_ranks(), self.target);
        Err(Diagnostic::error(codes::NOT_SUPPORTED, message)
            .key("parallel")
            .help("remove `[parallel]`, or compile for a target that has ranks"))
    }
}
