#!/usr/bin/env bash
# The second tier: the laws of `tests/run.sh` with bigger budgets, and what takes too long for it. Run it before a release, and parts of
# it when you touch what they guard.
#
#   tests/long.sh                     everything, most valuable first; hours on two cores
#   tests/long.sh --minutes 60        what fits into an hour; the next call on the same revision goes on from there
#   tests/long.sh layouts kills       some parts, whether they were run before or not
#   tests/long.sh --list              the parts
#   tests/long.sh --record            writes how each part ended last to tests/long.md, and runs nothing
#
# Tells after each part how it ended, and in the end of all. Output and results are kept in build/long. Of the layouts, 1,000 are run
# that are as far apart as can be; `HALITE_LAYOUTS=all` runs all 17,040, in seven hours. `growth` needs
# valgrind, `xla-rs` g++ and pip, `python` and `loader` a python3 with venv, `loader` 11 GB of disk.
set -euo pipefail
cd "$(dirname "$0")/.."

# NAME, what it holds, in the order in which it is run.
parts=(
    "layouts|models on 1,000 layouts are equal to one device"
    "pipelines|every model on every pipeline is equal to one device, and seeded faults in all places"
    "replicas|check-replicas on every layout, seeded faults of every kind, 3,000 right programs"
    "ignored|tests that the first tier leaves out"
    "kills|50 kills in 500 updates, three times, end like a run without any"
    "training|300 updates of the tiny model from four seeds in each precision"
    "hashes|bytes and structure of all pinned programs"
    "xla-rs|the whole suite of the executor on the crate xla"
    "python|the wheel as it is released: all tests, and those of JAX with its oldest version"
    "bits|bits of two streams at 20,528 differences, 2^20 words each"
    "random|20,000 random modules, 400 of layers, 2,000 under other names, 40,000 functions of integers"
    "verdicts|a million verdicts, and right programs from 20 seeds"
    "plans|all published figures beside what arithmetic says of them, as the book shows them, and 200 random questions"
    "bugs|seeded bugs from five seeds"
    "causality|2,000 masks, 2,000 mutants and 2,000 models of idioms against runs"
    "own-code|every test on the code that XLA makes by itself"
    "growth|work on a megabyte of input of each kind"
    "memory|1,000 compiles in one process"
    "scaling|2,000 recipes scaled down for verification"
    "shells|2,000 environments through shells"
    "fuzz|two million mutated inputs"
    "loaded|the tests of the first tier three times beside two busy loops, more of them at once"
    "loader|tokens per second beside Hugging Face's loader, and 10 GB"
)

source tests/stages.sh

# Runs a part in the foreground. One selection of packages for all, that of `run.sh`: another has other features of dependencies, and
# builds them anew.
run() {
    local target own=(cargo test --locked --workspace) plain=(env "XLA_FLAGS=$plain_code")
    local tests=("${plain[@]}" "${own[@]}") release=("${plain[@]}" "${own[@]}" --release)
    target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
    case $1 in
        # What starts the program takes that of the same build.
        ignored | own-code | kills) "${tests[@]}" --no-run; export HALITE_PROGRAM=$target/debug/halite ;;
        growth) "${release[@]}" --no-run; export HALITE_PROGRAM=$target/release/halite ;;
    esac
    case $1 in
        layouts) HALITE_LAYOUTS=${HALITE_LAYOUTS:-1000} "${release[@]}" --test mesh -- layouts:: ;;
        pipelines) HALITE_PIPELINES=all "${release[@]}" --test numerics -- pipelines:: pipeline_faults:: ;;
        replicas)
            HALITE_LAYOUTS=all HALITE_SEEDED_REPLICAS=all HALITE_RIGHT_PROGRAMS=3000 "${release[@]}" --test mesh -- \
                check_replicas:: seeded_replicas:: lifted_replicas:: right_programs:: ;;
        ignored) "${tests[@]}" -- --ignored ;;
        kills) HALITE_KILLS=50 "${tests[@]}" --test cli -- kills:: ;;
        training) HALITE_TRAIN_SEEDS=4 "${release[@]}" --test numerics -- train::tiny_learns_english ;;
        hashes) HALITE_HASHES=all "${release[@]}" --test surface -- hlo_hashes:: ;;
        xla-rs) bash tests/xla-rs.sh all ;;
        python) bash bindings/python/test.sh long ;;
        bits) HALITE_RANDOM_BITS=20000 "${release[@]}" --lib -- random_bits:: ;;
        random)
            HALITE_RANDOM_MODULES=20000 HALITE_INTEGER_RANGES=20000 "${tests[@]}" --test laws -- \
                random_modules:: random_layers:: names:: lift:: exact_integers:: ;;
        verdicts) HALITE_VERDICTS=1000000 HALITE_VERDICT_SEEDS=20 "${tests[@]}" --test laws -- verdicts:: ;;
        plans) HALITE_ROWS=all HALITE_PLANS=200 "${release[@]}" --test targets --test cli -- plan:: plan_laws:: documents::calibration:: ;;
        bugs) HALITE_BUG_SEEDS=5 "${tests[@]}" --test laws -- seeded_bugs:: ;;
        causality)
            HALITE_ARITHMETIC_MASKS=2000 HALITE_MUTANTS=2000 HALITE_CAUSAL_IDIOMS=2000 "${tests[@]}" --test laws -- \
                causality_arithmetic:: causality_mutations:: causality_idioms:: ;;
        own-code) "${own[@]}" ;;
        growth) HALITE_GROWTH_BYTES=1048576 "${release[@]}" --test surface -- growth:: --nocapture ;;
        memory) HALITE_COMPILES=1000 "${tests[@]}" --test surface -- same_memory:: ;;
        scaling) HALITE_SCALED_RECIPES=2000 "${tests[@]}" --lib -- scale:: ;;
        shells) HALITE_SHELL_CASES=2000 "${tests[@]}" --lib -- shell:: ;;
        fuzz) cargo run --locked --profile fuzz -p halite-fuzz -- all --executions 2000000 ;;
        loaded)
            "${tests[@]}" --no-run
            export HALITE_PROGRAM=$target/debug/halite
            for _ in 1 2; do while :; do :; done & done
            trap 'kill $(jobs -p) 2> /dev/null' EXIT
            for _ in 1 2 3; do RUST_TEST_THREADS=$((4 * $(nproc))) "${tests[@]}"; done ;;
        loader)
            cargo build --locked --release -p halite-cli
            bash benches/setup.sh loader
            benches/loader/.venv/bin/python benches/loader/loader.py --halite target/release/halite --flat 10000
            python3 benches/checkpoints/blocking.py --halite target/release/halite ;;
        *) return 2 ;;
    esac
}

known() { printf '%s\n' "${parts[@]%%|*}" | grep -qx -- "$1"; }

minutes= asked=() record=
while [ $# -gt 0 ]; do
    case $1 in
        --run) run "$2"; exit ;;
        --list) printf '%s\n' "${parts[@]}" | column -t -s '|'; exit ;;
        --record) record=yes ;;
        --minutes)
            [[ ${2:-} =~ ^[0-9]+$ ]] || { echo "--minutes takes a whole number, such as 60" >&2 && exit 2; }
            minutes=$2 && shift ;;
        *)
            known "$1" || { echo "there is no part \`$1\`; \`tests/long.sh --list\` shows them" >&2 && exit 2; }
            asked+=("$1") ;;
    esac
    shift
done

revision=$(git describe --always --dirty --abbrev=8)
results=build/long
mkdir -p "$results"

# How a part ended last: a line of the table. Of a part that was not run here, what was recorded.
row() {
    local name=${1%%|*}
    if [ -f "$results/$name" ]; then
        printf '| `%s` | %s | %s |\n' "$name" "${1#*|}" "$(cat "$results/$name")"
    else
        grep -F "| \`$name\` |" tests/long.md || printf '| `%s` | %s | not run | | | | |\n' "$name" "${1#*|}"
    fi
}

table() {
    printf '| part | what it holds | result | minutes | tests | revision | date |\n|---|---|---|---|---|---|---|\n'
    local entry
    for entry in "${parts[@]}"; do
        row "$entry"
    done
}

if [ -n "$record" ]; then
    rows=$(table)
    {
        printf '# The second tier\n\nWritten by `bash tests/long.sh --record`: how each part ended when it was run last, '
        printf 'on two cores. Parts that are run side by side take longer.\n\n%s\n' "$rows"
    } > tests/long.md
    exit
fi

# What was not asked for by name is left out where it passed on this revision.
if [ ${#asked[@]} -eq 0 ]; then
    for entry in "${parts[@]}"; do
        part=${entry%%|*}
        [[ $revision != *-dirty ]] && grep -qs "^passed .* | $revision |" "$results/$part" || asked+=("$part")
    done
fi

failed=
for part in "${asked[@]}"; do
    left=$((${minutes:-100000} * 60 - SECONDS))
    [ "$left" -gt 0 ] || break
    printf '%-10s ' "$part"
    begun=$SECONDS status=0
    timeout --kill-after=20 "$left" bash tests/long.sh --run "$part" < /dev/null > "$results/$part.log" 2>&1 || status=$?
    case $status in
        0) outcome=passed ;;
        124 | 137) outcome="ended by the budget" ;;
        *) outcome=failed failed=yes ;;
    esac
    tests=$(awk '/^test result:/ { sum += $4 } / passed/ && !/^test result:/ && $2 == "passed" { sum += $1 } END { print sum + 0 }' "$results/$part.log")
    printf '%s | %d | %d | %s | %s\n' "$outcome" $(((SECONDS - begun + 30) / 60)) "$tests" "$revision" "$(date -u +%F)" > "$results/$part"
    printf '%s in %d s' "$outcome" $((SECONDS - begun))
    [ "$outcome" = passed ] && echo || printf ': %s\n' "$results/$part.log"
    [ "$outcome" = failed ] && grep -E '^(error|failures:|test .* FAILED|---- )' "$results/$part.log" | head -n 20 | sed 's/^/    /'
done
printf '\n' && table
[ -z "$failed" ]
