//! Data from outside: files that others wrote, and examples in files.

mod examples;
mod token_files;
