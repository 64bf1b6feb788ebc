#!/usr/bin/env bash
# Runs every check and test of Halite, cheapest first. Fetches the CPU XLA plugin when it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s (after %ds)\n' "$*" "$SECONDS"; }

step "format"
cargo fmt --all --check
step "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings
step "build"
cargo test --workspace --locked --no-run --quiet
# Of this build: on its own the program would be built anew, with everything that it needs, for other features of dependencies.
HALITE_PROGRAM=$(realpath "${CARGO_TARGET_DIR:-target}")/debug/halite
export HALITE_PROGRAM
step "CPU XLA plugin"
"$HALITE_PROGRAM" plugin install
# Most time of the tests would go into making fast code for programs that run a few times. On the code that XLA makes by itself
# run the golden tests, what holds XLA to tolerances of single operations, and what runs hundreds of times; `long.sh code` runs
# everything on it.
own_code=(single_operations_agree_with_xla tiny_learns_english)
plain_code="--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
plain_code+=" --xla_llvm_disable_expensive_passes=true --xla_cpu_parallel_codegen_split_count=1"
step "tests"
XLA_FLAGS=$plain_code cargo test --workspace --locked -- --include-ignored "${own_code[@]/#/--skip=}"
step "tests on XLA's own code"
cargo test --workspace --locked --test samples --test train -- "${own_code[@]}"
step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
