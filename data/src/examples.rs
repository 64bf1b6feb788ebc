//! The examples of one source.

use crate::dataset::{Dataset, Position, Rows};
use crate::example_file::ExampleFile;
use crate::files::Origin;
use crate::formats::OpenExamples;
use crate::input::Input;
use crate::part::Part;
use crate::random::{hash, shuffle};
use crate::shard::not_ours;
use halite_support::{Diagnostic, Result, codes};
use halite_tensor::{HostTensor, Shape};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The constant that sets the order of examples apart from those of files and rows.
const EXAMPLES: u64 = 3;

/// Examples of files, in an order of each epoch.
pub(crate) struct Examples {
    files: Vec<Box<dyn ExampleFile>>,
    inputs: Vec<Input>,
    identity: BTreeMap<String, String>,
    /// The seed that their order is drawn from; `None` for that of the files.
    seed: Option<u64>,
    /// File and number of each, in the order of this epoch.
    order: Vec<(u32, u64)>,
    state: State,
}

/// The position of a source.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    epoch: u64,
    /// Examples of this epoch that were given.
    given: usize,
}

impl Examples {
    /// Those of a share of each file, which hold all inputs and are opened by `open`.
    ///
    /// # Errors
    /// When a file cannot be read or holds something else; when there is no example.
    pub(crate) fn open(
        open: OpenExamples,
        origins: &[Origin],
        part: Part,
        inputs: &[Input],
        seed: Option<u64>,
        identity: BTreeMap<String, String>,
    ) -> Result<Self> {
        let files = origins.iter().map(|origin| open(origin, inputs)).collect::<Result<Vec<_>>>()?;
        let all = (0..).zip(&files).flat_map(|(at, file)| part.of(file.count()).map(move |number| (at, number)));
        let order: Vec<(u32, u64)> = all.collect();
        if order.is_empty() {
            let names: Vec<String> = origins.iter().map(|origin| format!("`{}`", origin.path.display())).collect();
            let error = Diagnostic::error(codes::DATA, format!("there is no example in {}", names.join(", ")));
            return Err(error.help("give files with examples, or a greater `part` of them"));
        }
        let inputs = inputs.to_vec();
        let mut examples = Self { files, inputs, identity, seed, order, state: State::default() };
        examples.arrange();
        Ok(examples)
    }

    /// The number of examples of an epoch.
    pub(crate) fn count(&self) -> u64 {
        self.order.len() as u64
    }

    /// Puts the examples in the order of the epoch.
    fn arrange(&mut self) {
        if let Some(seed) = self.seed {
            self.order.sort_unstable();
            shuffle(&mut self.order, hash(&[seed, EXAMPLES, self.state.epoch]));
        }
    }

    fn read(&self, numbers: &[(u32, u64)]) -> Result<Rows> {
        let mut inputs = IndexMap::with_capacity(self.inputs.len());
        for (at, input) in self.inputs.iter().enumerate() {
            let mut bytes = Vec::new();
            for &(file, number) in numbers {
                self.files[file as usize].read((at, input), number, &mut bytes)?;
            }
            let shape: Shape = std::iter::once(numbers.len()).chain(input.shape.iter().copied()).collect();
            let tensor = HostTensor::from_bytes(input.dtype, shape, bytes);
            let tensor = tensor.map_err(|size| Diagnostic::bug(format!("an example has {} bytes", size.found)))?;
            inputs.insert(input.name.clone(), tensor);
        }
        Ok(Rows { rows: numbers.len(), inputs, ..Rows::default() })
    }
}

impl Dataset for Examples {
    fn next(&mut self, rows: usize) -> Result<Rows> {
        let before = self.state;
        let mut numbers = Vec::with_capacity(rows);
        while numbers.len() < rows {
            if self.state.given == self.order.len() {
                self.state = State { epoch: self.state.epoch + 1, given: 0 };
                self.arrange();
            }
            let rest = &self.order[self.state.given..];
            let taken = &rest[..rest.len().min(rows - numbers.len())];
            numbers.extend(taken);
            self.state.given += taken.len();
        }
        let read = self.read(&numbers);
        if read.is_err() {
            self.state = before;
            self.arrange();
        }
        read
    }

    fn position(&self) -> Position {
        Position(serde_json::json!(self.state))
    }

    fn seek(&mut self, position: &Position) -> Result<()> {
        let state = State::deserialize(&position.0);
        let state = state.map_err(|error| not_ours(format!("the position is not one of this data ({error})")))?;
        if state.given > self.order.len() {
            let all = self.order.len();
            return Err(not_ours(format!("the position is at example {} of {all}", state.given)));
        }
        self.state = state;
        self.arrange();
        Ok(())
    }

    fn epochs(&self) -> u64 {
        self.state.epoch + u64::from(self.state.given == self.order.len())
    }

    fn identity(&self) -> BTreeMap<String, String> {
        self.identity.clone()
    }

    /// Returns 0, since examples need not hold tokens: the ranges of inputs are checked as batches come.
    fn vocabulary(&self) -> u64 {
        0
    }
}
