#!/usr/bin/env bash
# Builds a project outside of the workspace that embeds Halite, from what docs/guide/rust.md says: its Cargo.toml, and the example
# `embed_train` as its program.
#
#   tests/embedding.sh [--run]     with --run, trains with it too (needs the plugin of the CPU: halite plugin install)
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ln -s "$PWD" "$scratch/halite"
mkdir -p "$scratch/embedder/src"
awk '/^```toml$/ { inside = 1; next } /^```$/ { inside = 0 } inside' docs/guide/rust.md > "$scratch/embedder/Cargo.toml"
cp train/examples/embed_train.rs "$scratch/embedder/src/main.rs"
# The versions that everything else is built with.
cp Cargo.lock "$scratch/embedder/Cargo.lock"
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/embedding
cd "$scratch/embedder"
if [ "${1:-}" = --run ]; then
    CARGO_TARGET_DIR=$target cargo run --quiet
else
    CARGO_TARGET_DIR=$target cargo check --quiet
fi
echo "a project outside of the workspace embeds Halite"
