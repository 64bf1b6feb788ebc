#!/usr/bin/env bash
# The laws of `tests/run.sh` with bigger budgets. Run it when you touch what they guard; it takes hours on two cores.
#
#   long.sh             everything
#   long.sh NAME ...    some of it: code kills verdicts bugs causality memory random layouts shells scaling hashes growth fuzz loader python
#
# `growth` needs valgrind, `loader` a `python3` with venv and 11 GB of disk.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

run() {
    step "$1"
    case $1 in
        code)
            cargo test --locked --workspace -- --include-ignored ;;
        kills)
            HALITE_KILLS=50 cargo test --locked -p halite-cli --test kills ;;
        verdicts)
            HALITE_VERDICTS=1000000 HALITE_VERDICT_SEEDS=20 cargo test --locked -p halite-tests --test verdicts ;;
        bugs)
            HALITE_BUG_SEEDS=5 cargo test --locked -p halite-tests --test seeded_bugs ;;
        causality)
            HALITE_ARITHMETIC_MASKS=2000 HALITE_MUTANTS=2000 cargo test --locked -p halite-tests \
                --test causality_arithmetic --test causality_mutations ;;
        memory)
            HALITE_COMPILES=1000 cargo test --locked -p halite-tests --test same_memory ;;
        random)
            HALITE_RANDOM_MODULES=20000 cargo test --locked -p halite-tests --test random_modules --test random_layers ;;
        layouts)
            HALITE_LAYOUTS=all HALITE_SEEDED_REPLICAS=all cargo test --locked --release -p halite-tests \
                --test layouts --test check_replicas --test seeded_replicas --test lifted_replicas ;;
        shells)
            HALITE_SHELL_CASES=2000 cargo test --locked -p halite-neuron --lib --features neuronx-cc -- shell:: ;;
        scaling)
            HALITE_SCALED_RECIPES=2000 cargo test --locked -p halite --lib -- verify::scale ;;
        hashes)
            HALITE_HASHES=all cargo test --locked --release -p halite-tests --test hlo_hashes ;;
        growth)
            HALITE_GROWTH_BYTES=1048576 cargo test --locked --release -p halite-tests --test growth -- --nocapture ;;
        fuzz)
            cargo run --locked --profile fuzz -p halite-fuzz -- all --executions 2000000 ;;
        loader)
            cargo build --locked --release -p halite-cli
            bash benches/setup.sh loader
            benches/loader/.venv/bin/python benches/loader/loader.py --halite target/release/halite --flat 10000
            python3 benches/checkpoints/blocking.py --halite target/release/halite ;;
        python)
            bash bindings/python/test.sh long ;;
        *)
            echo "there is no part \`$1\`" >&2
            exit 2 ;;
    esac
}

[ $# -gt 0 ] || set -- code kills verdicts bugs causality memory random layouts shells scaling hashes growth fuzz loader python
for part; do
    run "$part"
done
