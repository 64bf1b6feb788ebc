//! The ranks that programs are made for.

use crate::Recipe;
use halite_support::Result;
use halite_tensor::Mesh;

impl Recipe {
    /// The [mesh](Self::mesh) whose ranks run a program together, where the target takes programs of several ranks and the layout is stated
    /// whole: `parallel.data` too, and no pipeline. A mesh of one rank otherwise: the layout is a plan then.
    ///
    /// # Errors
    /// As [`mesh`](Self::mesh).
    pub fn ranks(&self, takes_meshes: bool) -> Result<Mesh> {
        let stated = self.parallel.as_ref().is_some_and(|parallel| parallel.data.is_some() && parallel.pipeline == 1);
        if takes_meshes && stated { self.mesh() } else { Ok(Mesh::default()) }
    }
}
