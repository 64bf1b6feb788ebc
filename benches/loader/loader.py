"""Halite's loader against Hugging Face's on the same text, tokenizer and core.

    ../setup.sh loader
    .venv/bin/python loader.py --halite ../../target/release/halite [--megabytes 200] [--runs 5] [--flat 10000] [--json FILE]

Each makes rows of 2,048 tokens of JSON lines, in order, on one core with one thread; their processes take turns. Prints tokens per
second and the peak of resident memory of each, and the ratio of the speeds with its 95% bootstrap interval. With `--flat` Halite alone
also reads so many megabytes, and the peaks are compared. Exits with 1 if the two count different tokens, Halite is slower, its peak is
above 300 MB, or the peaks are more than a tenth apart.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TOKENIZER = HERE.parents[1] / "tests/data/bpe-2048.json"
WIDTH = 2048
RECIPE = """\
halite = 1
seq = {seq}

[model]
name = "llama"
config = {{ vocab = 2048, hidden = 64, layers = 1, heads = 4, kv_heads = 2, ffn = 176 }}

[optimizer.adamw]
lr = 1e-3

[data]
tokenizer = "{tokenizer}"
pack = "in_order"
shuffle = false
threads = 1
sources = [{{ files = ["{file}"] }}]
"""


def measured(core, command):
    """Seconds, peak bytes and output of a command on one core, with one thread."""
    alone = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    measure = ["taskset", "-c", str(core), sys.executable, "-I", "-S", HERE.parent / "peer/measure.py", *command]
    run = subprocess.run(measure, env=os.environ | alone, text=True, capture_output=True)
    if run.returncode:
        sys.exit(run.stderr)
    return json.loads(run.stdout.splitlines()[-1]), run.stderr


def halite(program, core, folder, file):
    recipe = folder / "recipe.toml"
    recipe.write_text(RECIPE.format(seq=WIDTH - 1, tokenizer=TOKENIZER, file=file))
    cost, output = measured(core, [program, "data", "show", recipe, "--json"])
    source = json.loads(output)["data"][0]
    return {**cost, "tokens": source["tokens"], "rows": source["rows"]}


def peer(core, folder, file):
    del folder
    cost, output = measured(core, [sys.executable, HERE / "peer.py", file, TOKENIZER, str(WIDTH)])
    return {**cost, **json.loads(output.splitlines()[-1])}


def interval(ratios):
    """The median of paired ratios, and its 95% bootstrap interval."""
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return statistics.median(ratios), medians[50], medians[-51]


def text(folder, megabytes):
    file = folder / f"{megabytes}.jsonl"
    subprocess.run([sys.executable, HERE / "corpus.py", str(megabytes), file], check=True)
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halite", type=Path, required=True, help="the program, of a release build")
    parser.add_argument("--megabytes", type=int, default=200, help="of text for both")
    parser.add_argument("--runs", type=int, default=5, help="of each")
    parser.add_argument("--flat", type=int, metavar="MEGABYTES", help="of text for Halite alone")
    parser.add_argument("--core", type=int, default=0, help="that everything runs on")
    parser.add_argument("--json", type=Path, help="where all figures are written")
    options = parser.parse_args()
    program = options.halite.resolve()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        file = text(folder, options.megabytes)
        runs = []
        for _ in range(options.runs):
            runs.append((halite(program, options.core, folder, file), peer(options.core, folder, file)))
            ours, theirs = runs[-1]
            if ours["tokens"] != theirs["tokens"]:
                failures.append(f"Halite counts {ours['tokens']} tokens, the peer {theirs['tokens']}")
        file.unlink()
        found = {"megabytes": options.megabytes, "halite": [a for a, _ in runs], "hugging_face": [b for _, b in runs]}
        for name, all_runs in (("Halite", found["halite"]), ("Hugging Face", found["hugging_face"])):
            speed = statistics.median(run["tokens"] / run["seconds"] for run in all_runs)
            peak = max(run["peak_bytes"] for run in all_runs)
            print(f"{name:<13} {speed / 1e6:6.2f} M tokens/s  peak {peak / 1e6:6.0f} MB")
        ratio, low, high = interval([b["seconds"] / a["seconds"] for a, b in runs])
        print(f"speed of Halite over that of Hugging Face: {ratio:.2f} [{low:.2f}, {high:.2f}]")
        peak = max(run["peak_bytes"] for run in found["halite"])
        if ratio < 1:
            failures.append("Halite is slower")
        if options.flat:
            flat = halite(program, options.core, folder, text(folder, options.flat))
            found["flat"] = {"megabytes": options.flat, **flat}
            print(f"{options.flat} MB: peak {flat['peak_bytes'] / 1e6:.0f} MB, {flat['peak_bytes'] / peak:.3f} of that above")
            if not 0.9 <= flat["peak_bytes"] / peak <= 1.1:
                failures.append("the peak depends on the text")
            peak = max(peak, flat["peak_bytes"])
        if peak > 300e6:
            failures.append("the peak is above 300 MB")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
