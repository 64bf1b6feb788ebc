//! The native module of the Python package `halite`: what the compiler does, on data that Python has. How it looks to users
//! is said in Python.

mod builder;
mod bundle;
mod errors;
mod functions;
mod json;
mod own;
mod plugin;
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
    use crate::functions::{Initial, check_environment, check_numbers, functions, pack, unpack};
    #[pymodule_export]
    use crate::plugin::install_plugin;
    #[pymodule_export]
    use crate::source::Source;
    #[pymodule_export]
    use crate::step::TrainStep;
    #[pymodule_export]
    use crate::tensors::{load_tensors, save_tensors};
    #[pymodule_export]
    use crate::train::train;
}
