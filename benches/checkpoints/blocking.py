"""How long checkpoints hold up the updates of a run.

    python blocking.py --halite ../../target/release/halite [--size mid] [--updates 100] [--every 20]

Trains on the book in `tests/data` with a checkpoint every so many updates, and adds up from `timing.jsonl` what the loop spent writing
and what it spent computing. The last update is left out: a run waits for its last state. Exits with 1 if writing is more than 3% of
computing.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "peer"))
from configs import CONFIGS, EXECUTED

BOOK = Path(__file__).parents[2] / "tests/data/pride-and-prejudice.txt"
ALLOWED = 0.03


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halite", type=Path, required=True, help="the program, of a release build")
    parser.add_argument("--size", default="mid", choices=EXECUTED, help="of the peer bench")
    parser.add_argument("--updates", type=int, default=100)
    parser.add_argument("--every", type=int, default=20, help="updates between checkpoints")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        size = CONFIGS[options.size]
        command = [options.halite.resolve(), "train", size.preset, "--text", BOOK, "-o", folder, "--quiet"]
        command += [word for setting in size.sets for word in ("--set", setting)]
        counts = ["--steps", str(options.updates), "--checkpoint-every", str(options.every), "--eval-every", "0", "--eval-batches", "1"]
        subprocess.run([*command, *counts], check=True, stdout=subprocess.DEVNULL)
        times = [json.loads(line) for line in (Path(folder) / "timing.jsonl").read_text().splitlines()][:-1]
        state = (Path(folder) / "state.safetensors").stat().st_size
    writing, computing = (sum(time[key] for time in times) for key in ("writing_seconds", "step_seconds"))
    share = writing / computing
    print(f"{options.size}: state of {state / 1e6:.1f} MB, {computing / len(times) * 1e3:.0f} ms an update, {len(times)} updates")
    print(f"writing holds them up by {100 * share:.2f}% ({writing / (len(times) // options.every) * 1e3:.1f} ms a checkpoint)")
    sys.exit(share > ALLOWED)


if __name__ == "__main__":
    main()
