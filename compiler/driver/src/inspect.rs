//! What is in a bundle or a module.
