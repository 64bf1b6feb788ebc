//! Reads texts of StableHLO and writes the HLO of each beside it, and that as StableHLO again, for `tests/jax/read_stablehlo.py` and
//! `round_trips.py`. The faults of one that is refused go to standard error, a line each: the file and the message.

use halite_stablehlo::{Form, print, read};
use halite_support::SourceFile;
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut err = std::io::stderr().lock();
    for path in std::env::args().skip(1) {
        let file = SourceFile::new(&*path, std::fs::read_to_string(&path)?);
        match read(&file) {
            Ok(hlo) => {
                std::fs::write(format!("{path}.hlo.pb"), hlo.encode())?;
                match print(&hlo, Form::Program { num_replicas: 1 }) {
                    Ok(text) => std::fs::write(format!("{path}.again"), text)?,
                    Err(fault) => std::fs::write(format!("{path}.unwritten"), fault.message())?,
                }
            }
            Err(faults) => faults.iter().try_for_each(|fault| writeln!(err, "{path}\t{}", fault.message()))?,
        }
    }
    Ok(())
}
