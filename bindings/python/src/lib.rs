//! The native module of the Python package `halite`: what the compiler does, on data that Python has. How it looks to users
//! is said in Python.

mod builder;
mod bundle;
mod errors;
mod evaluate;
mod functions;
mod generate;
mod json;
mod learned;
mod own;
mod page;
mod plugin;
mod program;
mod run;
mod source;
mod step;
mod tensors;
mod train;
mod wait;
mod watched;
mod work;

#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::builder::{Body, Builder, Built, Handle, Scope};
    #[pymodule_export]
    use crate::bundle::Bundle;
    #[pymodule_export]
    use crate::errors::found;
    #[pymodule_export]
    use crate::evaluate::evaluate;
    #[pymodule_export]
    use crate::functions::{Initial, check_environment, check_numbers, functions, pack, unpack};
    #[pymodule_export]
    use crate::generate::generate;
    #[pymodule_export]
    use crate::page::{compare, loss_plot, report};
    #[pymodule_export]
    use crate::plugin::install_plugin;
    #[pymodule_export]
    use crate::program::Program;
    #[pymodule_export]
    use crate::run::run_at;
    #[pymodule_export]
    use crate::source::Source;
    #[pymodule_export]
    use crate::step::TrainStep;
    #[pymodule_export]
    use crate::tensors::{load_tensors, save_tensors};
    #[pymodule_export]
    use crate::train::train;

    /// The version of the compiler, which is that of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "it is called so in Python")]
    const version: &str = env!("CARGO_PKG_VERSION");
}
