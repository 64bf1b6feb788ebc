//! What a module needs on a core.
