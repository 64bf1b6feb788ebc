//! Frontend attributes that compilers of HLO read.

/// On a parameter of the entry: its name among the inputs of the compiled program, which sort by their names.
pub const INPUT_NAMES: &str = "neff_input_names";

/// On the root of the entry: the names of the results of the compiled program, joined by commas.
pub const OUTPUT_NAMES: &str = "neff_output_names";
