//! Time and memory of reading texts of StableHLO:
//!
//! ```text
//! cargo run --release -p halite-stablehlo --example cost -- model.mlir ..
//! ```
//!
//! Each text is read in a process of its own, so that its peak of memory is its own. Memory is what reading takes besides the text, as the
//! system counts it.

#![allow(clippy::print_stdout, reason = "what was measured is its output")]

use halite_stablehlo::read;
use halite_support::SourceFile;
use std::process::Command;

/// A megabyte, as speeds count it.
const MEGA: f64 = 1e6;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [word, path] if word == "alone" => measure(path),
        paths => {
            for path in paths {
                Command::new(std::env::current_exe()?).args(["alone", path]).status()?;
            }
            Ok(())
        }
    }
}

fn measure(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(path)?;
    let length = text.len() as f64;
    let file = SourceFile::new(path, text);
    let before = resident("VmHWM:");
    let since = seconds();
    let hlo = read(&file)?;
    let seconds = seconds() - since;
    let [peak, kept] = ["VmHWM:", "VmRSS:"].map(|line| resident(line) - before);
    let count: usize = hlo.computations.iter().map(|computation| computation.instructions.len()).sum();
    println!("{path}: {:.1} MB, {count} instructions, {:.0} bytes each", length / MEGA, length / count as f64);
    println!("  {:.1} MB/s", length / MEGA / seconds);
    println!("  peak {:.2} bytes a byte of text, {:.0} an instruction", peak / length, peak / count as f64);
    println!("  kept {:.2} bytes a byte of text, {:.0} an instruction", kept / length, kept / count as f64);
    Ok(())
}

/// The seconds for which the system says that a processor worked on this thread.
fn seconds() -> f64 {
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    status
        .split(' ')
        .next()
        .and_then(|nanoseconds| nanoseconds.parse::<f64>().ok())
        .map_or(f64::NAN, |number| number / 1e9)
}

/// The bytes of memory that the system says of this process; 0 where it says none.
fn resident(line: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|own| own.strip_prefix(line)?.trim().strip_suffix("kB"));
    kilobytes.and_then(|number| number.trim().parse::<f64>().ok()).map_or(0.0, |number| number * 1024.0)
}
