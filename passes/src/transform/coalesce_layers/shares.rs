//! Sharing out the rows of a projection over ranks.

use super::projection::Projection;
use halite_ir::{Function, Op, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The ranks of tensor parallelism, and the readers of each value, as far as they matter.
pub(super) struct Sharing<'a> {
    function: &'a Function,
    ranks: usize,
    /// Whether a row that several ranks read may be stored for each of them.
    copies: bool,
    readers: FxHashMap<Value, SmallVec<[Reader; 2]>>,
}

/// A reader of a value: a reshape into so many heads, or anything else.
type Reader = Option<usize>;

impl<'a> Sharing<'a> {
    pub(super) fn new(function: &'a Function, ranks: usize, copies: bool) -> Self {
        let mut readers: FxHashMap<Value, SmallVec<[Reader; 2]>> = FxHashMap::default();
        // One rank holds everything, so nothing is asked.
        if ranks > 1 {
            for inst in &function.insts {
                let heads = if matches!(inst.op, Op::Reshape(_)) {
                    heads(function, inst.args[0], inst.results[0])
                } else {
                    None
                };
                inst.args.iter().for_each(|&arg| readers.entry(arg).or_default().push(heads));
            }
            function.results.iter().for_each(|result| readers.entry(result.value).or_default().push(None));
        }
        Self { function, ranks, copies, readers }
    }

    pub(super) fn ranks(&self) -> usize {
        self.ranks
    }

    /// The number of ranks that hold each row of a projection, or the reason why its rows do not share out.
    pub(super) fn copies(&self, projection: &Projection) -> Result<usize, String> {
        let ranks = self.ranks;
        let sum = projection.bias.as_ref().and_then(|bias| bias.added).map_or(projection.at, |[_, add]| add);
        let output = self.function.insts[sum].results[0];
        match self.heads(output) {
            Some(heads) if heads.is_multiple_of(ranks) => Ok(1),
            Some(heads) if ranks.is_multiple_of(heads) && self.copies => Ok(ranks / heads),
            Some(heads) if ranks.is_multiple_of(heads) => {
                Err(format!("its {heads} heads are fewer than the {ranks} ranks, some of which hold the same"))
            }
            Some(heads) => Err(format!("its {heads} heads neither share out over {ranks} ranks nor divide them")),
            None => {
                let weight = self.function.ty(self.function.params[projection.weight].value);
                let rows = weight.shape()[usize::from(projection.transposed)];
                let fits = rows.is_multiple_of(ranks);
                fits.then_some(1).ok_or_else(|| format!("its {rows} rows do not share out over {ranks} ranks"))
            }
        }
    }

    /// The heads into which everything that reads a value splits it.
    fn heads(&self, output: Value) -> Option<usize> {
        let readers = self.readers.get(&output)?;
        let (first, rest) = readers.split_first()?;
        first.filter(|_| rest.iter().all(|reader| reader == first))
    }
}

/// The heads that a reshape makes of the last dimension.
fn heads(function: &Function, from: Value, to: Value) -> Option<usize> {
    let (from, to) = (function.ty(from).shape(), function.ty(to).shape());
    let leading = from.rank().checked_sub(1)?;
    let splits = to.rank() == leading + 2 && to[..leading] == from[..leading] && to[leading] > 0;
    splits.then(|| to[leading])
}
