#!/usr/bin/env bash
# Builds the book into `target/book`. A warning is a failure. Installs mdBook, into a folder of its own, where it is not at hand.
#
#   docs/build.sh               builds the book
#   docs/build.sh --install     installs mdBook alone, which mostly waits for the network
set -euo pipefail
cd "$(dirname "$0")"

version=0.5.4
home=${XDG_CACHE_HOME:-$HOME/.cache}/halite/mdbook-$version

mdbook=$(command -v mdbook || true)
if [ -z "$mdbook" ]; then
    mdbook=$home/bin/mdbook
    [ -x "$mdbook" ] || env -u CARGO_TARGET_DIR cargo install mdbook --version "$version" --locked --no-default-features --features search --root "$home"
fi
[ "${1:-}" != --install ] || exit 0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$mdbook" build 2>&1 | tee "$log"
if grep -qE 'WARN|ERROR' "$log"; then
    echo "the book has warnings" >&2
    exit 1
fi
