//! Laws: what holds of every op, of random modules and of seeded faults, on the interpreter and on CPU XLA.

mod cancelling;
mod casts;
mod causal_input;
mod causality;
mod causality_arithmetic;
mod causality_claims;
mod causality_idioms;
mod causality_mutations;
mod causality_verdicts;
mod functions;
mod gradients;
mod lift;
mod names;
mod packed_causality;
mod pipelines;
mod precision;
mod precision_faults;
mod random_layers;
mod random_modules;
mod rule_order;
mod samples;
mod seeded_bugs;
mod shards;
mod step_faults;
mod verdicts;
