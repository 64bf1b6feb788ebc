#!/bin/sh
# setup.sh BENCH: makes the virtual environment of a bench, with the pinned packages of its requirements.txt, in its .venv.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)/$1
"${PYTHON:-python3}" -m venv "$bench/.venv"
"$bench/.venv/bin/pip" install --quiet --disable-pip-version-check -r "$bench/requirements.txt"
echo "ready: $bench/.venv/bin/python"
