//! HLO that the checker takes, compiled by CPU XLA: it may refuse, but must not end the process.

use crate::judge::Verdict;
use crate::target::{Target, WIRE};
use crate::targets::hlo;
use halite_runtime::{ClientOptions, CompileOptions, Executor, Pjrt, Program, find_plugin};

/// XLA's libraries alone take 1 GiB of addresses, its threads some more.
pub(super) const MEMORY: u64 = 16 << 10;

pub(crate) const TARGET: Target = Target {
    name: "xla",
    share: 1,
    seeds: hlo::seeds,
    prepare: |_| {
        let client = client();
        Box::new(move |input| run(input, &client))
    },
    memory: MEMORY,
    plugin: true,
    ..WIRE
};

/// A client of CPU XLA.
///
/// # Panics
/// When there is no plugin.
pub(super) fn client() -> Pjrt {
    let client = find_plugin(None).and_then(|path| Pjrt::open(&path, &ClientOptions::cpu(1)));
    client.unwrap_or_else(|error| panic!("{error}; `halite plugin install` puts it in place"))
}

fn run(input: &[u8], client: &Pjrt) -> Verdict {
    if hlo::sound(input).is_err() {
        return Ok(false);
    }
    let Ok(program) = Program::new(input, CompileOptions::default()) else { return Ok(false) };
    Ok(client.compile(&program).is_ok())
}
