//! Writes the module with every opcode to a file, for `tests/xla_text.py`.

#[path = "../tests/common/mod.rs"]
mod common;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: every_opcode FILE")?;
    std::fs::write(path, halite_hlo::encode(&common::every_opcode()?))?;
    Ok(())
}
