//! What a compiler is taken to do with a module.

/// What a compiler is taken to do beyond fusing: see [`super`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backend {
    /// In which order it runs what it stores.
    pub order: Order,
    /// Whether it computes on floats of less than 32 bits in `f32`: then products alone read and store them narrow, and
    /// those that contract along rows read copies in `f32`.
    pub widens: bool,
    /// Whether a value of several sources is computed again for each reader, where readers do not wait for each other, and
    /// whether arithmetic does not read what is stored for a product.
    pub recomputes: bool,
    /// Whether a call that says `inlineable = "false"` stays one: its operands and results are stored, and what it needs beside
    /// them it needs while it runs.
    pub keeps_calls: bool,
    /// Whether temporaries use the memory of results until these are written.
    pub borrows_results: bool,
}

/// The order of execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// That of the module.
    Program,
    /// What is ready first runs first.
    BreadthFirst,
}
