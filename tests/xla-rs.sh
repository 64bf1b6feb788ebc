#!/usr/bin/env bash
# Tests the crate `halite-xla-rs`. What it is built with is fetched when it is not there; the CPU XLA plugin, which it is compared
# with, is fetched by `run.sh`.
#
#   xla-rs.sh        compiles one module and makes updates with it
#   xla-rs.sh all    every check and test: lints, the whole suite, the example, the documentation
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-one} in
    one | all) part=${1:-one} ;;
    *) echo "there is no part \`$1\`" >&2 && exit 2 ;;
esac

step() { printf '\n== %s (after %ds)\n' "$*" "$SECONDS"; }

step "xla_extension"
environment=$(bash runtime/xla-rs/xla-extension.sh)
printf '%s\n' "$environment"
eval "$environment"
export XLA_FLAGS="--xla_allow_excess_precision=false --xla_cpu_enable_fast_min_max=false --xla_force_host_platform_device_count=8"
export TF_CPP_MIN_LOG_LEVEL=3

# One selection for all commands, so that the crate `xla` is built once; that of `run.sh`, so that what it built of others is there.
select=(--workspace --locked --features halite-xla-rs/xla)

if [ "$part" = one ]; then
    step "one module"
    cargo test "${select[@]}" --test step
    exit
fi
suite=(--test agreement --test executor --test step --example xla_rs_step)
step "lints"
cargo clippy "${select[@]}" "${suite[@]}" -- -D warnings
step "tests"
cargo test "${select[@]}" "${suite[@]}" -- --nocapture
step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc "${select[@]}" --no-deps --quiet
