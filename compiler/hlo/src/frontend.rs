//! Frontend attributes that compilers of HLO read.

/// On a parameter of the entry: its name among the inputs of the compiled program, which sort by their names.
pub const INPUT_NAMES: &str = "neff_input_names";

/// On the root of the entry: the names of the results of the compiled program, joined by commas.
pub const OUTPUT_NAMES: &str = "neff_output_names";

/// On a collective: `1` where its last operand is a token, a scalar that it hands on as its last result. The next collective takes it, so
/// that a compiler keeps their order.
pub const HAS_TOKEN: &str = "has_token";

/// On a collective with a token: the number of the stream in which it runs.
pub const STREAM: &str = "stream_id";

/// On a collective with a token: the axis that it serves and its opcode, as `tp_reduce_scatter`.
pub const COLLECTIVE_TYPE: &str = "collective_type";
