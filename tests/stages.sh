# What the scripts that run tests share: `stage NAME` begins a stage, `timed_tests ARGUMENT ...` runs `cargo test`, and `summary`
# prints the time of each stage and the ten slowest tests.

# For builds that nobody goes on from or debugs: less time, and a quarter of the disk.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0

# Most time of the tests would go into making fast code for programs that run a few times. What needs the code that XLA makes by itself
# says so in its test (`on_own_code`), and golden tests run on it; `long.sh own-code` runs everything on it.
plain_code="--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
plain_code+=" --xla_llvm_disable_expensive_passes=true --xla_cpu_parallel_codegen_split_count=1"

# Tests that wait, for processes that they start or for time to pass, leave their core to others.
export RUST_TEST_THREADS=$(($(nproc) + 2))

stages=()
current=
begun=0
tests_log=

# Ends the current stage.
finish_stage() {
    [ -z "$current" ] || stages+=("$(printf '%5d s  %s' $((SECONDS - begun)) "$current")")
    current=
}

stage() {
    finish_stage
    current=$1 begun=$SECONDS
    printf '\n== %s (after %d s)\n' "$current" "$SECONDS"
}

timed_tests() {
    tests_log=$(mktemp)
    local host
    host=$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)
    # The harness of Rust tells the time of a test to those alone who may use what is not stable yet.
    env "CARGO_TARGET_${host}_RUNNER=bash $PWD/tests/timed.sh" XLA_FLAGS="$plain_code" cargo test --locked "$@" 2>&1 | tee "$tests_log"
}

# The time of each test, longest first. A test is named by its executable and its own name; an executable that tells no times is one test.
times() {
    awk '/^ +Running / { name = $NF; sub(/^.*\//, "", name); sub(/-[0-9a-f]+\)$/, "", name) }
         /^ +Doc-tests / { name = "documentation of " $2 }
         /^test .* <[0-9.]+s>$/ { time = $NF; gsub(/[<>s]/, "", time); printf "%7.1f s  %s %s\n", time, name, $2; told = name }
         /^test result: .*finished in/ && told != name { time = $NF; sub(/s$/, "", time)
                         printf "%7.1f s  %s (all %d)\n", time, name, $4 }' "$1" | sort -rn
}

summary() {
    local status=$? slowest=
    finish_stage
    if [ -n "$tests_log" ]; then
        slowest=$(times "$tests_log")
        printf '\n== The slowest tests\n'
        head -n 10 <<< "$slowest"
        rm -f "$tests_log"
    fi
    printf '\n== Stages\n'
    printf '%s\n' "${stages[@]}" "$(printf '%5d s  in all' "$SECONDS")"
    return $status
}
