//! Lifetimes of results, from when they are made to when they are last read.

/// The lifetimes of the results of some nodes, in an order in which these run. Nodes are numbered from 0: instructions of a
/// computation, or what a compiler makes of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lifetimes {
    begin: Vec<u32>,
    last: Vec<u32>,
}

impl Lifetimes {
    /// The lives of the results of `num` nodes. `order` gives those that run, each once; `reads` what one of them reads.
    pub fn new<R: IntoIterator<Item = usize>>(
        num: usize,
        order: impl IntoIterator<Item = usize>,
        reads: impl Fn(usize) -> R,
    ) -> Self {
        let (mut begin, mut last) = (vec![0; num], vec![0; num]);
        for (position, node) in order.into_iter().enumerate() {
            let position = position as u32;
            (begin[node], last[node]) = (position, position);
            for read in reads(node) {
                last[read] = position;
            }
        }
        Self { begin, last }
    }

    /// The position in the order at which a node runs.
    pub fn begin(&self, node: usize) -> u32 {
        self.begin[node]
    }

    /// The position at which a result is last read: that of its own node when nothing after it reads it.
    pub fn last(&self, node: usize) -> u32 {
        self.last[node]
    }
}
