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
step "tests"
cargo test --workspace --locked -- --include-ignored
step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
