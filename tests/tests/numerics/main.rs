//! Numbers: training steps against other implementations, formulas and themselves in another form.

mod accumulation;
mod architectures;
mod buffers;
mod coalescing;
mod dropout;
mod groups;
mod hugging_face;
mod init_lint;
mod loss_scale;
mod mixed;
mod nonfinite;
mod optax;
mod optimized_hlo;
mod packed;
mod packed_documents;
mod parity;
mod pipeline_faults;
mod pipelines;
mod recompute;
mod recomputed_flops;
mod reported;
mod residuals;
mod stage_roles;
mod stochastic_rounding;
mod train;
mod weights;
