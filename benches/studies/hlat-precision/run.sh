#!/usr/bin/env bash
# Runs the study and leaves plot and data in the folder that is given, or in runs/hlat-precision.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
output=$(realpath -m "${1:-$root/runs/hlat-precision}")
cd "$here"
cargo run --release --quiet -p halite-cli -- numerics \
    fp32 mixed bf16 bf16-sr bf16-master.toml bf16-sr-all.toml bf16-sr-beta2-99.toml mixed-beta2-99.toml \
    --against fp64 --model base.toml --text "$root/tests/data/pride-and-prejudice.txt" \
    --seeds 10,11,12 --steps 600 --every 50 --eval-every 25 --eval-batches 16 -o "$output"
