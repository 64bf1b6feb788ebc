//! Targets: the HLO that each is handed, what it refuses, and the programs and libraries that stand in for it.

mod advice;
mod compile_7b;
mod defects;
mod dialects;
mod emission;
mod estimates;
mod hlo_text;
mod legal_models;
mod legality;
mod neuronx_faults;
mod nrt;
mod other_platform;
mod own_target;
mod plan;
mod plan_laws;
mod selftest;
mod size;
mod stablehlo;
mod verify_target;
