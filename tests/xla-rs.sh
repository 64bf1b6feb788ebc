#!/usr/bin/env bash
# Runs every check and test of the feature `xla-rs`. What it is built with is fetched when it is not there; the CPU XLA
# plugin, which it is compared with, is fetched by `run.sh`.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

step "xla_extension"
environment=$(bash runtime/xla-extension.sh)
printf '%s\n' "$environment"
eval "$environment"
export XLA_FLAGS="--xla_allow_excess_precision=false --xla_cpu_enable_fast_min_max=false --xla_force_host_platform_device_count=8"
export TF_CPP_MIN_LOG_LEVEL=3

# One selection for all commands, so that the crate `xla` is built once; that of `run.sh`, so that what it built of others is there.
select=(--workspace --locked --features halite-runtime/xla-rs,halite-tests/xla-rs,halite-train/xla-rs)

step "lints"
cargo clippy "${select[@]}" --lib --test xla_rs --example xla_rs_step -- -D warnings
step "tests"
cargo test "${select[@]}" --test xla_rs --example xla_rs_step -- --nocapture
step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --quiet -p halite-runtime --features xla-rs --no-deps
