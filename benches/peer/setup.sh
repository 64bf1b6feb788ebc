#!/bin/sh
# Makes the virtual environment of the peer bench, with the pinned packages of requirements.txt, in .venv beside this script.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"${PYTHON:-python3}" -m venv "$here/.venv"
"$here/.venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
echo "ready: $here/.venv/bin/python $here/peer.py --help"
