#!/usr/bin/env bash
# Counts lines of production code by crate: without tests, documentation, comments and blank lines.
set -euo pipefail
cd "$(dirname "$0")/.."

total=0
for manifest in $(git ls-files '*Cargo.toml' | grep -vE '^(Cargo.toml|tests/|benches/)'); do
    folder=$(dirname "$manifest")
    files=$(git ls-files "$folder/src/*.rs" | grep -vE '/tests(/|\.rs$)' || true)
    lines=0
    if [ -n "$files" ]; then
        # Unit tests end their file.
        lines=$(for file in $files; do sed '/^#\[cfg(test)\]$/,$d' "$file"; done | grep -cvE '^\s*(//.*)?$' || true)
    fi
    printf '%7d  %s\n' "$lines" "$folder"
    total=$((total + lines))
done
printf '%7d  in all\n' "$total"
