#!/usr/bin/env bash
# Makes the environment that the tests of the Python package run in, without the package: `environment.sh FOLDER`, where no folder is
# yet. Needs a python3 with pip and venv, 3.11 on; $PYTHON names another.
set -euo pipefail
folder=$1
requirements=$(cd "$(dirname "$0")" && pwd)/tests/requirements.txt

"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check "$(grep '^uv==' "$requirements")"
"$folder/bin/uv" pip install --quiet --python "$folder/bin/python" --requirement "$requirements"
