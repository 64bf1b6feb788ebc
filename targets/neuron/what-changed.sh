#!/usr/bin/env bash
# What changed in the documents that the tables of targets cite, between two releases of the AWS Neuron SDK.
#
#   what-changed.sh DOCS OLD NEW            the cited files that changed or are gone, and new error codes
#   what-changed.sh DOCS OLD NEW --diff     the same, then each change
#
# DOCS is a clone of the repository aws-neuron-sdk of the organization aws-neuron; OLD and NEW are its tags, such as
# v2.31.1 and v2.32.0. docs/neuron/sdk.md says what to do with the answer.
set -euo pipefail

[ $# -ge 3 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
docs=$1 old=$2 new=$3 show=${4:-}
data=$(cd "$(dirname "$0")" && pwd)/data
for release in "$old" "$new"; do
    git -C "$docs" rev-parse --verify --quiet "$release^{commit}" > /dev/null ||
        { echo "\`$release\` is no tag of $docs; fetch its tags, or name another" >&2; exit 2; }
done

# The documents that rows name, each with how many rows name it.
cited=$(grep -ho 'source = "[^"]*"' "$data"/*.toml | grep -oE '[A-Za-z0-9_./-]+\.(rst|md|txt|py|csv)' | sort | uniq -c)
in_release() { git -C "$docs" cat-file -e "$1:$2" 2> /dev/null; }

changed=()
echo "cited documents, $old to $new:"
while read -r rows file; do
    in_release "$old" "$file" || in_release "$new" "$file" || continue
    if ! in_release "$new" "$file"; then
        echo "  gone      $file ($rows rows)"
    elif ! git -C "$docs" diff --quiet "$old" "$new" -- "$file"; then
        echo "  changed   $file ($rows rows)"
        changed+=("$file")
    fi
done <<< "$cited"

echo "error codes:"
git -C "$docs" diff --name-status --diff-filter=ADR "$old" "$new" -- compiler/error-codes | sed 's/^/  /'

if [ "$show" = --diff ] && [ ${#changed[@]} -gt 0 ]; then
    git -C "$docs" --no-pager diff --unified=1 "$old" "$new" -- "${changed[@]}"
fi
