//! The roles of what a program takes and gives.

use halite_tensor::Init;

/// The roles of the parameters and the results of a program, in its order.
#[derive(Clone, PartialEq, Debug)]
pub struct Signature {
    /// Those of the parameters.
    pub inputs: Vec<Input>,
    /// Those of the results.
    pub outputs: Vec<Output>,
    /// Whether positions may read none that come later, so that the model is held to it.
    pub causal: bool,
}

/// A parameter of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    /// Its name, unique among the parameters. In that of a weight, a part that is a number is the place in a list of layers, as in
    /// `layers.0.mlp.weight`.
    pub name: String,
    /// Its role.
    pub role: InputRole,
}

/// The role of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum InputRole {
    /// Data of one step. Its first dimension is that of sequences, or of whatever else a batch has many of.
    Batch,
    /// A weight that is trained, with how it starts where no state is given.
    Weight(Init),
    /// A weight that no update changes.
    Frozen(Init),
}

/// A result of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// Its name, unique among the results.
    pub name: String,
    /// Its role.
    pub role: OutputRole,
}

/// The role of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputRole {
    /// The objective, a scalar of floats: a sum over the elements of the batch.
    Loss,
    /// The number of elements that the objective sums over, a scalar.
    Count,
    /// A value that is shown, such as `logits`.
    Shown,
}
