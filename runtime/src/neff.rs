//! A program that the compiler of its target has finished.

/// The bytes of a NEFF with what they do not tell by themselves: which of its tensors is which input and output of the program.
///
/// A NEFF knows its tensors by name, and whoever asks for them gets them sorted by name (issue 684 of `aws-neuron-sdk`), so that only
/// names tell them apart. They are those that the compiler was told in the HLO.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Neff<'a> {
    /// The content of the file.
    pub bytes: &'a [u8],
    /// The name of each input, in the order of the program.
    pub inputs: Vec<String>,
    /// The name of each output, in the order of the program.
    pub outputs: Vec<String>,
    /// For each output, the position of the input whose memory it takes when that input is given away.
    pub aliases: Vec<Option<usize>>,
}
