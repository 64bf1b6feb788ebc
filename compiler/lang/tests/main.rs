//! The language from outside: what models mean, and what is said of mistakes.

mod build;
mod build_core;
mod build_functions;
mod common;
mod diagnostics;
mod dim_names;
mod libraries;
mod models;
mod presence;
mod values;
