#!/usr/bin/env bash
# Runs every check and test of Halite, cheapest first. Fetches the CPU XLA plugin when it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

step "format"
cargo fmt --all --check
step "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings
step "CPU XLA plugin"
cargo run --locked --quiet -- plugin install
# Most time of the tests would go into making fast code for programs that run a few times. `long.sh code` runs them all on the
# code that XLA makes by itself; the golden tests always do, and here what runs hundreds of times.
step "tests"
plain_code="--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_llvm_disable_expensive_passes=true \
    --xla_cpu_parallel_codegen_split_count=1"
XLA_FLAGS=$plain_code cargo test --workspace --locked -- --include-ignored --skip tiny_learns_english
step "tests on XLA's own code"
cargo test --workspace --locked --test execute --test samples --test train -- --skip a_run_is --skip the_seed_of_rounding
step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
