#!/usr/bin/env bash
# Runs every check and test of Halite, cheapest first, and ends with the time of each stage and of the slowest tests. Fetches the CPU
# XLA plugin when it is not there. `tests/long.sh` holds the same laws with bigger budgets.
set -euo pipefail
cd "$(dirname "$0")/.."
source tests/stages.sh
trap summary EXIT

stage "format"
cargo fmt --all --check
stage "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings
stage "documentation"
# By the compiler that lints are found with, whose work is there.
RUSTC_WORKSPACE_WRAPPER=clippy-driver RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
stage "build"
cargo test --workspace --locked --no-run --quiet
# Of this build: on its own the program would be built anew, with everything that it needs, for other features of dependencies.
HALITE_PROGRAM=$(realpath "${CARGO_TARGET_DIR:-target}")/debug/halite
export HALITE_PROGRAM
stage "CPU XLA plugin"
"$HALITE_PROGRAM" plugin install
stage "tests"
timed_tests --workspace
