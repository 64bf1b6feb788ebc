#!/usr/bin/env bash
# Builds a wheel of the Python package, installs it where there is no Rust, and runs what must hold of it: tests, types, the notebook.
# With `long`, the wheel is a release, what needs one or many minutes runs too, and tests of JAX once more with the oldest version. Needs cargo and a python3 with pip and venv, 3.11 on;
# $PYTHON names another, and $HALITE_PROGRAM a program that is built already.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
python=${PYTHON:-python3}
profile=dev
tests=(--numprocesses 2)
if [ "${1:-}" = long ]; then
    profile=release
    tests=(-m "long or not long" --capture=no)
fi

step() { printf '\n== %s (after %ds)\n' "$*" "$SECONDS"; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
step "environment"
"$python" -m venv "$scratch/venv"
bin=$scratch/venv/bin
"$bin/pip" install --quiet --disable-pip-version-check "$(grep '^uv==' tests/requirements.txt)"
"$bin/uv" pip install --quiet --python "$bin/python" --requirement tests/requirements.txt
# What `halite.train` is compared with.
if [ -z "${HALITE_PROGRAM:-}" ]; then
    step "program"
    cargo build --quiet --locked --profile "$profile" --package halite-cli
    built=$([ "$profile" = dev ] && echo debug || echo "$profile")
    export HALITE_PROGRAM=${CARGO_TARGET_DIR:-$root/target}/$built/halite
fi
step "wheel"
"$bin/maturin" build --quiet --locked --profile "$profile" --manifest-path Cargo.toml --out "$scratch/wheels"

step "install"
# From here on without Rust, and out of the sources.
export PATH=$bin:/usr/local/bin:/usr/bin:/bin
if command -v cargo rustc; then
    echo "Rust is still on the path" >&2
    exit 1
fi
uv pip install --quiet --python "$bin/python" --no-deps "$scratch"/wheels/*.whl
cd "$scratch"
package=$(python -c 'import halite; print(halite.__path__[0])')
case $package in "$scratch"/*) ;; *) echo "tests would look at $package" >&2 && exit 1 ;; esac

step "types"
cd "$root/bindings/python"
mypy python/halite tests/*.py examples/*.py
MYPYPATH=tests/jax:tests mypy tests/jax
cd "$scratch"
step "tests"
python -m pytest --quiet --rootdir "$root/bindings/python" --config-file "$root/bindings/python/pyproject.toml" \
    "$root/bindings/python/tests" "${tests[@]}"
if [ "${1:-}" = long ]; then
    step "tests of JAX with the oldest version"
    uv venv --quiet --python "$python" "$scratch/oldest"
    uv pip install --quiet --python "$scratch/oldest/bin/python" jax==0.7.0 jaxlib==0.7.0 optax orbax-checkpoint==0.11.20 pytest pytest-xdist "$scratch"/wheels/*.whl
    "$scratch/oldest/bin/python" -m pytest --quiet --rootdir "$root/bindings/python" \
        --config-file "$root/bindings/python/pyproject.toml" "$root/bindings/python/tests/jax"
fi
step "notebook"
python "$root/bindings/python/examples/run.py" "$root"/bindings/python/examples/*.ipynb
