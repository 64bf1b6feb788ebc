//! Assumptions about how a compiler schedules and stores values.

/// Assumptions about a compiler beyond fusion: see [`super`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backend {
    /// The order in which it runs the instructions whose results are stored.
    pub order: Order,
    /// Whether it computes on floats of less than 32 bits in `f32`: then products alone read and store them narrow, and
    /// those that contract along rows read copies in `f32`.
    pub widens: bool,
    /// Whether a value of several sources is computed again for each reader, where readers do not wait for each other, and
    /// whether arithmetic does not read what is stored for a product.
    pub recomputes: bool,
    /// Whether a call with `inlineable = "false"` stays a call: its operands and results are stored, and its own temporaries live
    /// while it runs.
    pub keeps_calls: bool,
    /// Whether temporaries use the memory of results until these are written.
    pub borrows_results: bool,
}

/// The order of execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Program order.
    Program,
    /// Breadth-first: the instruction that is ready first runs first.
    BreadthFirst,
}
