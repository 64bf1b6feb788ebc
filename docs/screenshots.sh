#!/usr/bin/env bash
# Pictures of some pages of the book at the widths of a phone and a desktop, light and dark, to look at. Needs Chromium.
#
#   docs/screenshots.sh FOLDER [PAGE ...]
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- index guide/first-steps guide/recipe guide/data neuron/environment precision/compare reference/ops internals/ir

docs=$(realpath "$(dirname "$0")")
bash "$docs/build.sh" > /dev/null
book=$(realpath "$docs/../target/book")
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)

# A narrow frame, since windows of Chromium have a least width, and the theme by the setting that mdBook itself reads.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for page in "$@"; do
    for width in 390 1280; do
        for theme in light navy; do
            cat > "$scratch/frame.html" << HTML
<body style="margin:0"><script>
localStorage.setItem("mdbook-theme", "$theme");
document.write('<iframe src="file://$book/$page.html" style="border:0;width:${width}px;height:1400px"></iframe>');
</script></body>
HTML
            "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files \
                --user-data-dir="$scratch/profile" --window-size="$((width < 500 ? 500 : width)),1400" \
                --virtual-time-budget=5000 --screenshot="$folder/${page//\//-}-$width-$theme.png" \
                "file://$scratch/frame.html" 2> /dev/null
        done
    done
done
ls "$folder"
