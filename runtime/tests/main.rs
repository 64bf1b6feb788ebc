//! The plugin from outside: opening and installing it, compiling, running.

mod common;
mod execute;
mod format;
mod garbage;
mod install;
mod other_platform;
mod plugin;
mod stages;
