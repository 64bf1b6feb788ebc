#!/usr/bin/env bash
# Makes a wheel of the Python package, installs it where there is no Rust, and runs what must hold of it: tests, types, the notebook.
# The wheel holds the native module of a build of the whole workspace, which `tests/run.sh` has done nearly all of. With `long`, it is
# the release that users build, what needs one or many minutes runs too, and tests of JAX once more with the oldest version. Needs
# cargo and a python3 with pip and venv, 3.11 on; $PYTHON names another, $HALITE_PROGRAM a program that is built already, and
# $HALITE_PYTHON_ENVIRONMENT a folder that `environment.sh` has made.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
part=${1:-}
tests=(--numprocesses 2)
[ "$part" != long ] || tests=(-m "long or not long" --capture=no)

step() { printf '\n== %s (after %ds)\n' "$*" "$SECONDS"; }

scratch=$(mktemp -d)
types=
trap '[ -z "$types" ] || kill -- "-$types" 2> /dev/null || true; rm -rf "$scratch"' EXIT
environment=${HALITE_PYTHON_ENVIRONMENT:-$scratch/environment}
if [ ! -e "$environment" ]; then
    step "environment"
    bash environment.sh "$environment"
fi
bin=$environment/bin

# Types are those of the sources: they are looked at while the module is built and the tests run.
setsid bash -euc '
    "$0/mypy" python/halite tests/*.py examples/*.py pack.py
    MYPYPATH=tests/jax:tests "$0/mypy" tests/jax
' "$bin" > "$scratch/types" 2>&1 &
types=$!

step "wheel"
mkdir "$scratch/wheels"
target=$(cd "$root" && realpath "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR=$target
if [ "$part" = long ]; then
    "$bin/maturin" build --quiet --locked --profile dist --out "$scratch/wheels"
    mkdir "$scratch/packed"
    "$bin/python" -m zipfile -e "$scratch"/wheels/*.whl "$scratch/unpacked"
    "$bin/python" pack.py "$scratch/unpacked/halite/_native.abi3.so" "$scratch/packed"
    "$bin/python" pack.py --same "$scratch"/packed/*.whl "$scratch"/wheels/*.whl
else
    # One selection with that of `cargo test --workspace`, of which a test is a part: another would have other features of
    # dependencies, and build them anew.
    cargo build --quiet --locked --workspace --lib --bin halite --test wait
    "$bin/python" pack.py "$target/debug/lib_native.so" "$scratch/wheels"
    HALITE_PROGRAM=${HALITE_PROGRAM:-$target/debug/halite}
fi
# What `halite.train` is compared with.
if [ -z "${HALITE_PROGRAM:-}" ]; then
    cargo build --quiet --locked --release --package halite-cli
    HALITE_PROGRAM=$target/release/halite
fi
export HALITE_PROGRAM

step "install"
# From here on without Rust, and out of the sources.
export PATH=$bin:/usr/local/bin:/usr/bin:/bin
if command -v cargo rustc; then
    echo "Rust is still on the path" >&2
    exit 1
fi
uv pip install --quiet --python "$bin/python" --no-deps --force-reinstall "$scratch"/wheels/*.whl
cd "$scratch"
package=$(python -c 'import halite; print(halite.__path__[0])')
case $package in "$environment"/*) ;; *) echo "tests would look at $package" >&2 && exit 1 ;; esac

step "tests"
python -m pytest --quiet --rootdir "$root/bindings/python" --config-file "$root/bindings/python/pyproject.toml" \
    "$root/bindings/python/tests" "${tests[@]}"
if [ "$part" = long ]; then
    step "tests of JAX with the oldest version"
    uv venv --quiet --python "${PYTHON:-python3}" "$scratch/oldest"
    uv pip install --quiet --python "$scratch/oldest/bin/python" jax==0.7.0 jaxlib==0.7.0 optax orbax-checkpoint==0.11.20 pytest pytest-xdist "$scratch"/wheels/*.whl
    "$scratch/oldest/bin/python" -m pytest --quiet --rootdir "$root/bindings/python" \
        --config-file "$root/bindings/python/pyproject.toml" "$root/bindings/python/tests/jax"
fi
step "notebook"
python "$root/bindings/python/examples/run.py" "$root"/bindings/python/examples/*.ipynb

step "types"
status=0
wait "$types" || status=$?
types=
cat "$scratch/types"
exit "$status"
