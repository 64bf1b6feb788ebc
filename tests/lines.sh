#!/usr/bin/env bash
# Counts lines of production code by crate: without tests, documentation, comments and blank lines.
set -euo pipefail
cd "$(dirname "$0")/.."

# Unit tests end their file; a `mod tests;` may stand anywhere.
without_tests='/^#\[cfg\(test\)\]$/ { held = $0; next }
    held && /^(pub\(crate\) )?mod tests \{/ { exit }
    { if (held) print held; held = ""; print }'

total=0
for manifest in $(git ls-files '*Cargo.toml' | grep -vE '^(Cargo.toml|tests/|benches/)'); do
    folder=$(dirname "$manifest")
    files=$(git ls-files "$folder/src/*.rs" | grep -vE '/tests(/|\.rs$)' || true)
    lines=0
    if [ -n "$files" ]; then
        lines=$(for file in $files; do awk "$without_tests" "$file"; done | grep -cvE '^\s*(//.*)?$' || true)
    fi
    printf '%7d  %s\n' "$lines" "$folder"
    total=$((total + lines))
done
printf '%7d  in all\n' "$total"
