//! Tensors on the ranks of a mesh.

use halite_runtime::{Buffer, DeviceBuffer, Executor, Input, RuntimeError};
use halite_support::Result;
use halite_tensor::{AtomId, DType, HostTensor, Mesh, Shape, Sharding};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// How a tensor lies on the ranks of a mesh; rank `r` is device `r` of the executor.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Placement {
    mesh: Arc<Mesh>,
    /// `None` where each rank has the whole.
    sharding: Option<Sharding>,
    /// Sizes of the whole.
    shape: Shape,
}

/// A tensor on the devices of an executor: of each rank the buffer with its part.
#[derive(Debug)]
pub(super) struct Placed {
    placement: Arc<Placement>,
    /// As many as the mesh has ranks, at least one.
    parts: Vec<Buffer>,
}

impl Placement {
    /// Of a tensor of these sizes, which the sharding fits.
    pub(super) fn new(mesh: &Arc<Mesh>, shape: &[usize], sharding: Option<&Sharding>) -> Arc<Self> {
        let sharding = sharding.filter(|sharding| !sharding.is_replicated()).cloned();
        Arc::new(Self { mesh: Arc::clone(mesh), sharding, shape: shape.into() })
    }

    /// Copies a tensor to the devices, each of which gets its part.
    ///
    /// # Errors
    /// When the tensor is of other sizes, or the executor cannot hold it.
    pub(super) fn upload(self: &Arc<Self>, executor: &dyn Executor, whole: &HostTensor) -> Result<Placed> {
        let part = |rank| -> Result<Buffer> {
            let part = match &self.sharding {
                None => Cow::Borrowed(whole),
                Some(sharding) => Cow::Owned(sharding.shard(&self.mesh, whole, rank)?),
            };
            Ok(executor.upload(&part, rank)?)
        };
        self.hold((0..self.mesh.num_ranks()).map(part).collect::<Result<_>>()?)
    }

    /// The tensor whose parts these are, that of each rank in order.
    ///
    /// # Errors
    /// When they are not as many as there are ranks.
    pub(super) fn hold(self: &Arc<Self>, parts: Vec<Buffer>) -> Result<Placed> {
        let (found, ranks) = (parts.len(), self.mesh.num_ranks());
        if found == ranks {
            return Ok(Placed { placement: Arc::clone(self), parts });
        }
        let reason = format!("the back end gives an output of {found} replicas, the program was run for {ranks}");
        Err(RuntimeError::Unsupported(reason).into())
    }
}

impl Placed {
    /// What each rank has.
    pub(super) fn parts(&self) -> &[Buffer] {
        &self.parts
    }

    /// What the first rank has.
    pub(super) fn first(&self) -> &dyn DeviceBuffer {
        self.parts[0].as_ref()
    }

    /// Whether it is of this element type and lies so.
    pub(super) fn is(&self, dtype: DType, placement: &Placement) -> bool {
        self.first().spec().dtype == dtype && *self.placement == *placement
    }

    /// Copies the whole to the host. Where several ranks have the same, the first one is believed.
    ///
    /// # Errors
    /// When a copy fails.
    pub(super) fn download(&self) -> Result<HostTensor> {
        let Placement { mesh, sharding, shape } = &*self.placement;
        let Some(sharding) = sharding else { return Ok(self.first().download()?) };
        let parts = self.parts.iter().map(|part| Ok(part.download()?)).collect::<Result<Vec<_>>>()?;
        sharding.assemble(mesh, shape, &parts)
    }

    /// The ranks that have other bytes than the first of those that should have the same.
    ///
    /// # Errors
    /// When a copy to the host fails.
    pub(super) fn differing(&self) -> Result<Vec<usize>> {
        let Placement { mesh, sharding, .. } = &*self.placement;
        let is_shared = |atom: &AtomId| sharding.as_ref().is_none_or(|sharding| sharding.find(*atom).is_none());
        let shared: Vec<AtomId> = (0..mesh.atoms().len()).filter(is_shared).collect();
        let mut differing = Vec::new();
        for group in mesh.groups(&shared).lists() {
            let [first, others @ ..] = &group[..] else { continue };
            if others.is_empty() {
                continue;
            }
            let expected = self.parts[*first].download()?;
            for &rank in others {
                if self.parts[rank].download()? != expected {
                    differing.push(rank);
                }
            }
        }
        differing.sort_unstable();
        Ok(differing)
    }
}

impl fmt::Display for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.first().spec().dtype, self.placement.shape)?;
        match self.parts.len() {
            1 => Ok(()),
            ranks => write!(f, " on {ranks} ranks"),
        }
    }
}

/// One input of a call on all ranks: a tensor that is lent, or one that is given away.
pub(super) enum Argument<'a> {
    /// The tensor stays as it is.
    Keep(&'a Placed),
    /// The call may take its memory; the tensor is gone.
    Donate(Placed),
}

impl<'a> Argument<'a> {
    /// What each rank gets.
    pub(super) fn into_inputs(self) -> Vec<Input<'a>> {
        match self {
            Self::Keep(placed) => placed.parts.iter().map(|part| Input::Keep(part.as_ref())).collect(),
            Self::Donate(placed) => placed.parts.into_iter().map(Input::Donate).collect(),
        }
    }
}
