//! Reads texts of StableHLO and writes the HLO of each beside it, for `tests/jax/read_stablehlo.py`. The faults of one that is refused
//! go to standard error, a line each: the file and the message.

use halite_support::SourceFile;
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let file = SourceFile::new(&*path, std::fs::read_to_string(&path)?);
        match halite_stablehlo::read(&file) {
            Ok(hlo) => std::fs::write(format!("{path}.hlo.pb"), hlo.encode())?,
            Err(faults) => {
                let mut out = std::io::stderr().lock();
                faults.iter().try_for_each(|fault| writeln!(out, "{path}\t{}", fault.message()))?;
            }
        }
    }
    Ok(())
}
