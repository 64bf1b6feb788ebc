//! Training state on devices.

use crate::batch::{DeviceBatch, another_step};
use crate::holdings::Holdings;
use crate::placed::{Placed, Ranks};
use crate::scheduled::{Doing, Planned};
use crate::stage::{Run, Stage};
use crate::transport::Transport;
use crate::worker::{self, Outputs};
use halite_bundle::init::transient_state;
use halite_bundle::parts;
use halite_bundle::tensors::Tensors;
use halite_bundle::{Buffer, BufferRole, Manifest};
use halite_runtime::Executor;
use halite_support::{Diagnostic, Diagnostics, Result, codes};
use halite_tensor::{ATTEMPTS, Mesh, STEP};

/// The buffers that modules read besides the batch, on the devices of each stage that runs here.
#[derive(Debug)]
pub(super) struct State {
    stages: Vec<Stage>,
    /// The number of the first of them: of processes, each has one stage.
    first: usize,
    holdings: Holdings,
    /// Whether some calls of an update were made, and not all of them.
    is_under_way: bool,
}

/// The number of updates that led to a state: those made, and those made or skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Updates {
    pub(super) made: u64,
    pub(super) attempted: u64,
}

impl Updates {
    /// The numbers of updates in the counters of a state.
    pub(super) fn of(manifest: &Manifest, state: &Tensors) -> Self {
        let count = |kind: &str| {
            let is_it = |buffer: &&Buffer| matches!(&buffer.role, BufferRole::State(spec) if *spec.kind == *kind);
            let buffer = manifest.buffers.iter().find(is_it)?;
            u64::try_from(*state.get(&buffer.name)?.ints().first()?).ok()
        };
        let made = count(STEP).unwrap_or(0);
        Self { made, attempted: count(ATTEMPTS).unwrap_or(made) }
    }
}

impl Updates {
    /// The error of a call of a module, with the number of the update that it was part of.
    pub(super) fn blame(self, error: Diagnostic, module: &str) -> Diagnostic {
        let begun = self.attempted + 1;
        let what =
            if module.is_empty() { "values went between stages".to_owned() } else { format!("`{module}` was called") };
        error
            .note(format!("{what} after {} whole updates; update {begun} was not made", self.attempted))
            .note("what it was given is gone from the device: load a state to go on")
    }
}

impl State {
    /// Copies the tensors of a saved state, which [`check_state`](halite_bundle::check_state) has checked, to the devices, and the
    /// transient buffers beside them. Tensors that are stored as one are joined for one buffer at a time.
    pub(super) fn upload(
        executor: &dyn Executor,
        manifest: &Manifest,
        mut tensors: Tensors,
    ) -> std::result::Result<Self, Diagnostics> {
        let (holdings, mut transient) = (Holdings::of(manifest), transient_state(manifest)?);
        let here = Ranks::stages(executor, manifest);
        let stages = here.clone().map(|stage| Stage::new(executor, manifest, (stage, &holdings)));
        let stages = stages.collect::<Result<_>>()?;
        let mut state = Self { stages, first: here.start, holdings, is_under_way: false };
        for buffer in manifest.buffers.iter().filter(|buffer| !buffer.is_batch()) {
            let tensor = match transient.swap_remove(&buffer.name) {
                Some(tensor) => tensor,
                None => buffer.pack(&mut tensors)?.ok_or_else(|| not_given(&buffer.name))?,
            };
            for (at, stage) in state.stages.iter_mut().enumerate() {
                if state.holdings.has(state.first + at, &buffer.name) {
                    stage.hold(executor, buffer, &tensor)?;
                }
            }
        }
        Ok(state)
    }

    /// Copies the tensors of the model in these buffers to the host.
    ///
    /// # Errors
    /// When a copy fails, or a tensor is stored several times and its copies differ.
    pub(super) fn download<'b>(&self, wanted: impl Iterator<Item = &'b Buffer>) -> Result<Tensors> {
        let mut tensors = Tensors::new();
        for buffer in wanted {
            tensors.extend(buffer.unpack(self.placed(&buffer.name)?.download()?)?);
        }
        Ok(tensors)
    }

    /// Copies the shards of these buffers that the rank of this process holds to the host. Where several ranks hold the same shard,
    /// only the first of them copies it: of several stages the first.
    ///
    /// # Errors
    /// When a copy fails.
    pub(super) fn download_part<'b>(
        &self,
        wanted: impl Iterator<Item = &'b Buffer>,
        mesh: &Mesh,
        rank: usize,
    ) -> Result<Tensors> {
        let (stage, rank) = (rank / mesh.num_ranks(), rank % mesh.num_ranks());
        let is_first = |buffer: &&Buffer| self.holdings.first(&buffer.name) == Some(stage);
        let mine = wanted.filter(is_first).filter(|buffer| parts::holder(mesh, buffer.sharding.as_ref(), rank) == rank);
        mine.map(|buffer| Ok((buffer.name.clone(), self.placed(&buffer.name)?.first().download()?))).collect()
    }

    /// Checks that ranks hold the same bytes of these buffers, where they should: those of a stage, and those of stages that hold one buffer.
    ///
    /// # Errors
    /// Every buffer of which they do not, with the ranks, counted over all stages.
    pub(super) fn check_replicas<'b>(
        &self,
        wanted: impl Iterator<Item = &'b Buffer>,
    ) -> std::result::Result<(), Diagnostics> {
        let mut mistakes = Diagnostics::new();
        for Buffer { name, .. } in wanted {
            let mut differing = Vec::new();
            let mut first: Option<&Placed> = None;
            for (number, stage) in self.stages.iter().enumerate() {
                let Some(placed) = stage.state(name).transpose()? else { continue };
                let ranks = placed.parts().len();
                let mut own = placed.differing()?;
                if let Some(first) = first {
                    own.extend(placed.unlike(first)?);
                    own.sort_unstable();
                    own.dedup();
                }
                differing.extend(own.into_iter().map(|rank| number * ranks + rank));
                first.get_or_insert(placed);
            }
            if !differing.is_empty() {
                mistakes.push(parted(name, &differing));
            }
        }
        if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
    }

    /// The first stage that holds a buffer, which writes it.
    pub(super) fn first_holder(&self, name: &str) -> Option<usize> {
        self.holdings.first(name)
    }

    /// The state of this name on the first stage that holds it.
    fn placed(&self, name: &str) -> Result<&Placed> {
        self.stages.iter().find_map(|stage| stage.state(name)).unwrap_or_else(|| Err(not_here(name)))
    }

    /// The calls that are made and the values that are sent, for each stage that runs here, each call with the part of the batch that it reads.
    ///
    /// # Errors
    /// When the batch has more pieces than calls take, or fewer; when an input of a call is not there: before anything is given away.
    pub(super) fn plan<'m>(&self, batch: &'m DeviceBatch, stages: &'m [Vec<Doing>]) -> Result<Vec<Vec<Planned<'m>>>> {
        let mut taken = None;
        let mut plan = Vec::with_capacity(self.stages.len());
        for (number, own) in self.stages.iter().enumerate() {
            let stage = self.first + number;
            let doings = stages.get(stage).map_or(&[][..], Vec::as_slice);
            let mut planned = Vec::new();
            for doing in doings {
                match doing {
                    Doing::Send { transfer, piece } => planned.push(Planned::Send { transfer, piece: *piece }),
                    Doing::Receive { transfer, piece } => planned.push(Planned::Receive { transfer, piece: *piece }),
                    Doing::Run(call) => {
                        for number in call.numbers() {
                            let is_read = call.micro_batches > 0;
                            let at = number.filter(|_| is_read).unwrap_or(0);
                            let run = Run { module: &call.module, number, piece: batch.piece(stage, at)? };
                            own.check(&run)?;
                            planned.push(Planned::Run(run));
                            taken = taken.max(is_read.then_some(at + 1));
                        }
                    }
                }
            }
            plan.push(planned);
        }
        if taken.is_some_and(|taken| taken < batch.pieces()) { Err(another_step()) } else { Ok(plan) }
    }

    /// Does what was planned, with the way to stages that do not run here. Returns the outputs that no other call reads, by name.
    pub(super) fn run(
        &mut self,
        executor: &dyn Executor,
        plan: &[Vec<Planned<'_>>],
        elsewhere: Option<&mut dyn Transport>,
    ) -> Outputs {
        worker::run(executor, &mut self.stages, plan, elsewhere)
    }

    /// Resets the transient buffers, which pass between the calls of an update, where an earlier update did not complete. From here on
    /// this update is incomplete.
    pub(super) fn start_anew(
        &mut self,
        executor: &dyn Executor,
        manifest: &Manifest,
    ) -> std::result::Result<(), Diagnostics> {
        if std::mem::replace(&mut self.is_under_way, true) {
            let transient = transient_state(manifest)?;
            for (at, stage) in self.stages.iter_mut().enumerate() {
                stage.clear();
                let number = self.first + at;
                for buffer in manifest.buffers.iter().filter(|buffer| self.holdings.has(number, &buffer.name)) {
                    if let Some(tensor) = transient.get(&buffer.name) {
                        stage.hold(executor, buffer, tensor)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Marks the update as complete.
    pub(super) fn come_to_end(&mut self) {
        self.is_under_way = false;
    }
}

fn not_given(name: &str) -> Diagnostic {
    Diagnostic::bug(format!("a state without what `{name}` stores"))
}

fn not_here(name: &str) -> Diagnostic {
    Diagnostic::error(codes::NOT_SUPPORTED, format!("`{name}` is held by a stage in another process"))
        .help("read the state that all processes save together")
}

fn parted(name: &str, ranks: &[usize]) -> Diagnostic {
    let plural = if ranks.len() == 1 { "" } else { "s" };
    let ranks: Vec<_> = ranks.iter().map(ToString::to_string).collect();
    let message =
        format!("`{name}` should be the same on several ranks and differs on rank{plural} {}", ranks.join(", "));
    Diagnostic::error(codes::RUNTIME_EXECUTE, message)
        .note("each rank is compared with the first one that has the same part")
        .help("load the state again; if ranks part once more, the program lacks a collective, or devices compute differently")
}
