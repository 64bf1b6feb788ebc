#!/usr/bin/env bash
# Makes what the crate `xla` is built with, and prints the environment that uses it:
#
#   eval "$(bash runtime/xla-rs/xla-extension.sh)"
#
# The crate `xla` links a library that it finds in the folder $XLA_EXTENSION_DIR. Where that variable is set, as it is by
# those who unpacked a release archive of elixir-nx/xla, the folder is taken as it is. Otherwise one is put together in the
# cache, once: XLA's headers and library from the wheel of TensorFlow, and libclang, which the crate's build needs, from a
# wheel of its own. Both are checked against the checksums below. x86-64 Linux only; needs python3 with pip, and g++.
set -euo pipefail

readonly wheels='
tensorflow-cpu==2.21.0 --hash=sha256:2b847d217b02ee7731ed91431daf3250daa0196c3c94614d23be27232e6e5b6c
libclang==18.1.1 --hash=sha256:c533091d8a3bbf7460a00cb6c1a71da93bffe148f172c7d03b1c31fbf8aa2a0b'

fail() { printf 'xla-extension: %s\n' "$*" >&2; exit 1; }

# Fetches the wheels into a folder: those of one platform and Python, whatever runs here.
download() {
    printf '%s\n' "$wheels" >"$1/wheels.txt"
    local attempt
    for attempt in 1 2 3; do
        python3 -m pip download --quiet --disable-pip-version-check --no-input --no-deps --only-binary=:all: \
            --platform manylinux_2_27_x86_64 --platform manylinux2010_x86_64 --implementation cp --python-version 3.11 \
            --abi cp311 --abi none --require-hashes --requirement "$1/wheels.txt" --dest "$1" >&2 && return
        printf 'xla-extension: attempt %s to fetch the packages failed\n' "$attempt" >&2
        sleep $((attempt * 5))
    done
    fail "cannot fetch the packages; set XLA_EXTENSION_DIR to an unpacked release archive of elixir-nx/xla instead"
}

# Unpacks from the wheels in folder $1 what is needed into folder $2, where a release archive has it.
unpack() {
    python3 - "$1" "$2" <<'PYTHON'
import glob, os, shutil, sys, zipfile

source, target = sys.argv[1:]
headers, external = "tensorflow/include/", "tensorflow/include/external/"
places = {
    **{f"{headers}{name}/": f"include/{name}/"
       for name in ("Eigen", "absl", "google", "ml_dtypes", "tsl", "unsupported", "xla")},
    external + "com_github_grpc_grpc/include/": "include/",
    external + "farmhash_archive/src/": "include/",
    external + "highwayhash/highwayhash/": "include/highwayhash/",
    "tensorflow/libtensorflow_cc.so.2": "lib/libtensorflow_cc.so.2",
    "tensorflow/libtensorflow_framework.so.2": "lib/libtensorflow_framework.so.2",
    "libclang-18.1.1.data/platlib/clang/native/libclang.so": "libclang/libclang.so",
}
used = set()
for wheel in sorted(glob.glob(os.path.join(source, "*.whl"))):
    archive = zipfile.ZipFile(wheel)
    for member in archive.infolist():
        place = next((place for place in places if member.filename.startswith(place)), None)
        if place is None or member.is_dir():
            continue
        used.add(place)
        path = os.path.join(target, places[place] + member.filename[len(place):])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with archive.open(member) as reader, open(path, "wb") as writer:
            shutil.copyfileobj(reader, writer, 1 << 20)
missing = sorted(set(places) - used)
sys.exit(f"the wheels lack {missing}" if missing else 0)
PYTHON
}

# MLIR's and LLVM's headers are in neither wheel, and the crate needs them for one function, the text of a module as
# StableHLO. These few lines stand in for them; that function then answers UNIMPLEMENTED. XLA's own headers name
# `mlir::ModuleOp` as a parameter of functions that the crate does not call: here it is what it is there, one pointer.
# Nothing else may have a symbol of LLVM's, or it would take the place of the library's own: hence the unnamed namespace.
stand_in() {
    mkdir -p "$1/llvm/Support" "$1/mlir/IR" "$1/xla/hlo/translate"
    cat >"$1/mlir/IR/BuiltinOps.h" <<'CPP'
#pragma once
#include <string>
namespace {
struct StandInStream {
  explicit StandInStream(std::string&) {}
  void flush() {}
};
struct StandInContext {};
template <typename Op>
struct StandInRef {
  Op op;
  Op* operator->() { return &op; }
};
}  // namespace
namespace llvm {
using raw_string_ostream = StandInStream;
}  // namespace llvm
namespace mlir {
using MLIRContext = StandInContext;
template <typename Op>
using OwningOpRef = StandInRef<Op>;
struct ModuleOp {
  void* state;
  template <typename Stream>
  void print(Stream&) const {}
};
}  // namespace mlir
CPP
    local name
    for name in mlir/IR/MLIRContext.h mlir/IR/OwningOpRef.h llvm/Support/raw_ostream.h; do
        printf '#pragma once\n#include "mlir/IR/BuiltinOps.h"\n' >"$1/$name"
    done
    cat >"$1/xla/hlo/translate/stablehlo.h" <<'CPP'
#pragma once
#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "xla/service/hlo.pb.h"
namespace xla {
static inline absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> ConvertHloToStablehlo(mlir::MLIRContext&,
                                                                                      const HloModuleProto*) {
  return absl::UnimplementedError("this xla_extension was made without MLIR");
}
}  // namespace xla
CPP
}

# Puts the folder together beside its place and moves it there when it is whole.
assemble() {
    command -v g++ >/dev/null || fail "g++ is needed to build the crate"
    [ "$(uname -sm)" = 'Linux x86_64' ] || fail "there are packages for x86-64 Linux only; set XLA_EXTENSION_DIR"
    python3 -m pip --version >/dev/null 2>&1 || fail "python3 with pip is needed to fetch the packages"
    mkdir -p "$(dirname "$1")"
    local scratch
    scratch=$(mktemp -d "$1.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf '$scratch'" EXIT
    mkdir "$scratch/wheels" "$scratch/made"
    download "$scratch/wheels"
    unpack "$scratch/wheels" "$scratch/made"
    stand_in "$scratch/made/include"
    printf 'INPUT(-l:libtensorflow_cc.so.2 -l:libtensorflow_framework.so.2)\n' >"$scratch/made/lib/libxla_extension.so"
    mv -T "$scratch/made" "$1" 2>/dev/null || [ -d "$1/lib" ] || fail "cannot write $1"
}

declare -A environment
if [ -n "${XLA_EXTENSION_DIR:-}" ]; then
    [ -d "$XLA_EXTENSION_DIR/lib" ] || fail "XLA_EXTENSION_DIR is $XLA_EXTENSION_DIR, which has no folder lib"
    folder=$XLA_EXTENSION_DIR
else
    # What is made otherwise has another name.
    recipe=$(declare -p wheels && declare -f unpack stand_in assemble)
    folder=${XDG_CACHE_HOME:-$HOME/.cache}/halite/xla_extension-$(sha256sum <<<"$recipe" | cut -c1-12)
    [ -d "$folder" ] || assemble "$folder"
    environment[LIBCLANG_PATH]=$folder/libclang
    # The wheel of libclang has no headers of its own; the compiler's serve.
    environment[BINDGEN_EXTRA_CLANG_ARGS]=-I$(g++ -print-file-name=include)
fi
environment[XLA_EXTENSION_DIR]=$folder
# The crate's build cannot tell the programs that use it where the library is.
environment[LD_LIBRARY_PATH]=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
for name in "${!environment[@]}"; do
    printf 'export %s=%q\n' "$name" "${environment[$name]}"
done | sort
