//! Tensors on the ranks of a mesh.

use halite_bundle::Manifest;
use halite_runtime::{Buffer, DeviceBuffer, Executor, Input, RuntimeError};
use halite_support::{Diagnostic, Result};
use halite_tensor::{DType, HostTensor, Mesh, Shape, Sharding, SubAxisId};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The ranks of the mesh of a stage, and those of them that run here, each on a device of the executor, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ranks {
    mesh: Arc<Mesh>,
    here: Range<usize>,
    /// The device of the first of them.
    first: usize,
}

impl Ranks {
    /// The ranks of a stage that an executor runs: one, where each is a process of its own, or else all. The devices of a stage follow those
    /// of the stage before it.
    pub(super) fn of(executor: &dyn Executor, mesh: &Mesh, stage: usize) -> Self {
        let ranks = mesh.num_ranks();
        let (here, first) = match executor.rank() {
            Some((rank, _)) => (rank % ranks..rank % ranks + 1, 0),
            None => (0..ranks, stage * ranks),
        };
        Self { mesh: Arc::new(mesh.clone()), here, first }
    }

    /// The stages of a manifest that an executor runs: one, where each rank is a process of its own, or else all.
    pub(super) fn stages(executor: &dyn Executor, manifest: &Manifest) -> Range<usize> {
        match executor.rank() {
            Some((rank, _)) => {
                let stage = (rank / manifest.mesh.num_ranks()).min(manifest.num_stages() - 1);
                stage..stage + 1
            }
            None => 0..manifest.num_stages(),
        }
    }

    /// All ranks of the mesh, here or not.
    pub(super) fn num_ranks(&self) -> usize {
        self.mesh.num_ranks()
    }

    /// The device of the rank at this place among those that run here.
    pub(super) fn device(&self, at: usize) -> usize {
        self.first + at
    }

    /// Whether all of them run here.
    fn are_all_here(&self) -> bool {
        self.here.len() == self.mesh.num_ranks()
    }
}

/// The placement of a tensor on the ranks of a mesh.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Placement {
    ranks: Ranks,
    /// `None` where the tensor is replicated.
    sharding: Option<Sharding>,
    /// Sizes of the whole tensor.
    shape: Shape,
}

/// A tensor on the devices of an executor: for each rank that runs here, the buffer with its shard.
#[derive(Debug)]
pub(super) struct Placed {
    placement: Arc<Placement>,
    /// The shards of the ranks that run here, at least one.
    parts: Vec<Buffer>,
}

impl Placement {
    /// The placement of a tensor of these sizes, which the sharding fits.
    pub(super) fn new(ranks: &Ranks, shape: &[usize], sharding: Option<&Sharding>) -> Arc<Self> {
        let sharding = sharding.filter(|sharding| !sharding.is_replicated()).cloned();
        Arc::new(Self { ranks: ranks.clone(), sharding, shape: shape.into() })
    }

    /// Copies a tensor to the devices, each of which gets its shard.
    ///
    /// # Errors
    /// When the tensor is of other sizes, or the executor cannot hold it.
    pub(super) fn upload(self: &Arc<Self>, executor: &dyn Executor, whole: &HostTensor) -> Result<Placed> {
        let part = |(at, rank)| -> Result<Buffer> {
            let part = match &self.sharding {
                None => Cow::Borrowed(whole),
                Some(sharding) => Cow::Owned(sharding.shard(&self.ranks.mesh, whole, rank)?),
            };
            Ok(executor.upload(&part, self.ranks.device(at))?)
        };
        self.hold(self.ranks.here.clone().enumerate().map(part).collect::<Result<_>>()?)
    }

    /// The tensor with these shards, one for each rank that runs here, in order.
    ///
    /// # Errors
    /// When they are not as many as there are ranks here.
    pub(super) fn hold(self: &Arc<Self>, parts: Vec<Buffer>) -> Result<Placed> {
        let (found, ranks) = (parts.len(), self.ranks.here.len());
        if found == ranks {
            return Ok(Placed { placement: Arc::clone(self), parts });
        }
        let reason = format!("the back end gives an output of {found} replicas, the program was run for {ranks}");
        Err(RuntimeError::Unsupported(reason).into())
    }
}

impl Placed {
    /// The shard of each rank that runs here.
    pub(super) fn parts(&self) -> &[Buffer] {
        &self.parts
    }

    /// Its placement.
    pub(super) fn placement(&self) -> &Arc<Placement> {
        &self.placement
    }

    /// The shard of the first rank that runs here.
    pub(super) fn first(&self) -> &dyn DeviceBuffer {
        self.parts[0].as_ref()
    }

    /// Whether the tensor has this element type and this placement.
    pub(super) fn is(&self, dtype: DType, placement: &Placement) -> bool {
        self.first().spec().dtype == dtype && *self.placement == *placement
    }

    /// Copies the whole tensor to the host. Where several ranks hold the same shard, that of the first is taken.
    ///
    /// # Errors
    /// When parts of it are in other processes, or a copy fails.
    pub(super) fn download(&self) -> Result<HostTensor> {
        let Placement { ranks, sharding, shape } = &*self.placement;
        let Some(sharding) = sharding else { return Ok(self.first().download()?) };
        if !ranks.are_all_here() {
            return Err(elsewhere("of this tensor, other processes hold parts, which are not read from here"));
        }
        let mesh = &*ranks.mesh;
        let parts = self.parts.iter().map(|part| Ok(part.download()?)).collect::<Result<Vec<_>>>()?;
        sharding.assemble(mesh, shape, &parts)
    }

    /// The ranks whose bytes differ from those of the same rank of another stage.
    ///
    /// # Errors
    /// When a copy to the host fails.
    pub(super) fn unlike(&self, other: &Self) -> Result<Vec<usize>> {
        let mut differing = Vec::new();
        for (rank, (own, other)) in self.parts.iter().zip(&other.parts).enumerate() {
            if own.download()? != other.download()? {
                differing.push(rank);
            }
        }
        Ok(differing)
    }

    /// The ranks whose bytes differ from those of the first rank that should hold the same.
    ///
    /// # Errors
    /// When a copy to the host fails.
    pub(super) fn differing(&self) -> Result<Vec<usize>> {
        let Placement { ranks, sharding, .. } = &*self.placement;
        if !ranks.are_all_here() {
            return Err(elsewhere("ranks in several processes are not compared with one another"));
        }
        let mesh = &*ranks.mesh;
        let is_shared =
            |sub_axis: &SubAxisId| sharding.as_ref().is_none_or(|sharding| sharding.find(*sub_axis).is_none());
        let shared: Vec<SubAxisId> = (0..mesh.sub_axes().len()).filter(is_shared).collect();
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

fn elsewhere(reason: &str) -> Diagnostic {
    RuntimeError::Unsupported(reason.to_owned()).into()
}

impl fmt::Display for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.first().spec().dtype, self.placement.shape)?;
        match self.placement.ranks.mesh.num_ranks() {
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
    /// The input of each rank.
    pub(super) fn into_inputs(self) -> Vec<Input<'a>> {
        match self {
            Self::Keep(placed) => placed.parts.iter().map(|part| Input::Keep(part.as_ref())).collect(),
            Self::Donate(placed) => placed.parts.into_iter().map(Input::Donate).collect(),
        }
    }
}
