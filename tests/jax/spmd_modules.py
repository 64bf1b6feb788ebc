"""Makes random programs on 8 virtual devices, right ones and ones with a fault, and asks `halite hlo check --mesh` of each.

    pip install -r requirements.txt
    python spmd_modules.py --halite ../../target/debug/halite --right 300 --seeded 300 --keep DIR

What is right is found by running: each result of each device is compared with the same program on one device. A fault that changes no
result is dropped, and so is what is neither close nor far. The table says what was found, and `DIR` gets the modules that contradict it
and two samples for each reason why a module is not followed, with an `index.tsv` and the table in `SUMMARY.txt`.

    python spmd_modules.py --halite ../../target/debug/halite --all ALL    # keeps every module
    python spmd_modules.py --halite ../../target/debug/halite --again ALL  # asks again of these, without JAX

A `pmean` in place of a `psum` is not seeded: what ranks hold does not say which of the two is meant.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from spmd_module import Module

VERDICTS = ("proven", "wrong", "not followed")
#: How many samples are kept for each reason why a module is not followed.
SAMPLES = 2


def asked(halite, module):
    """The verdict of a module, and its findings."""
    mesh = ",".join(f"{axis}={size}" for axis, size in module.mesh.items())
    with tempfile.NamedTemporaryFile(suffix=".hlo.pb") as file:
        file.write(module.data)
        file.flush()
        called = subprocess.run([halite, "hlo", "check", file.name, "--mesh", mesh, "--json"], capture_output=True, text=True, timeout=300)
    for line in called.stdout.splitlines():
        if "replicas" in (answer := json.loads(line)):
            return answer["replicas"]
    lines = (called.stderr + called.stdout).strip().splitlines() or ["nothing said"]
    return {"verdict": f"refused ({called.returncode})", "findings": [], "unfollowed": {}, "witness": None, "said": lines[0]}


def reason(answer):
    """Why a module is not proven: the op at which the first finding arises, and what is said of it."""
    if answer["unfollowed"]:
        return "op that is not followed: " + ", ".join(sorted(answer["unfollowed"]))
    if not answer["findings"]:
        return answer.get("said", "")[:160]
    first = answer["findings"][0]
    op = (first["scope"] or "?").split("/")[-1].split(".")[-1] if first["scope"] else "?"
    said = re.sub(r"`result \d+`", "a result", first["message"])
    return f"{op}: {re.sub(r'along `[^`]*`(, `[^`]*`)*( and `[^`]*`)?', 'along an axis', said)}"


class Table:
    """What was found of right and seeded modules."""

    def __init__(self):
        self.modules, self.dropped, self.failed = [], Counter(), []

    def of(self, truth, verdict=None):
        return [m for m in self.modules if m.truth == truth and verdict in (None, m.verdict["verdict"])]

    def text(self):
        lines = []
        for truth in ("right", "wrong"):
            all_of = self.of(truth)
            counts = Counter(m.verdict["verdict"] for m in all_of)
            names = [*VERDICTS, *sorted(set(counts) - set(VERDICTS))]
            each = ", ".join(f"{counts[name]} {name} ({100 * counts[name] / max(len(all_of), 1):.0f}%)" for name in names)
            lines.append(f"{truth}: {len(all_of)} modules: {each}")
        if self.dropped or self.failed:
            lines.append(f"left out: {dict(self.dropped)}, {len(self.failed)} that could not be made")
        lines += ["", *self._by("right, by how they are made", "right", lambda m: m.name.split("; ")[1])]
        lines += ["", *self._by("right, by program", "right", lambda m: re.split(r"[,;]", m.name)[0])]
        lines += ["", *self._by("seeded, by what shows", "wrong", lambda m: m.shows)]
        lines += ["", *self._by("seeded, by fault", "wrong", lambda m: m.fault)]
        lines += ["", *self._by("seeded, by program", "wrong", lambda m: re.split(r"[,;]", m.name)[0])]
        for truth in ("right", "wrong"):
            reasons = Counter(reason(m.verdict) for m in self.modules if m.truth == truth and m.verdict["verdict"] not in ("proven", "wrong"))
            lines += ["", f"{truth}, not followed, by op:", *(f"{count:5}  {why}" for why, count in reasons.most_common(40))]
        lines += ["", "could not be made:", *(f"  seed {seed}: {error}" for seed, error in self.failed[:20])] if self.failed else []
        return "\n".join(lines) + "\n"

    def _by(self, title, truth, key):
        groups = defaultdict(Counter)
        for module in self.of(truth):
            groups[key(module)][module.verdict["verdict"]] += 1
        rows = sorted(groups.items(), key=lambda item: -sum(item[1].values()))
        return [f"{title}: proven / wrong / not followed", *(f"  {'/'.join(str(n[v]) for v in VERDICTS):>12}  {name}" for name, n in rows)]


class Kept:
    """The folder of modules that are worth a look."""

    def __init__(self, folder):
        self.folder, self.samples, self.rows = folder, Counter(), ["file\tmesh\ttruth\tverdict\tshows\tfault\tprogram\treason"]
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob("*.hlo.pb"):
                old.unlink()

    def add(self, module):
        verdict = module.verdict["verdict"]
        contradicts = (module.truth, verdict) in (("right", "wrong"), ("wrong", "proven")) or verdict.startswith("refused")
        why = reason(module.verdict)
        sample = (module.truth, why)
        if verdict == "not followed":
            self.samples[sample] += 1
        if not self.folder or not (contradicts or (verdict == "not followed" and self.samples[sample] <= SAMPLES)):
            return
        kind = "contradicts" if contradicts else "sample"
        file = f"{kind}_{module.truth}_{module.seed}.hlo.pb"
        (self.folder / file).write_bytes(module.data)
        mesh = ",".join(f"{axis}={size}" for axis, size in module.mesh.items())
        self.rows.append("\t".join([file, mesh, module.truth, verdict, module.shows, module.fault, module.name, module.verdict["witness"] or why]))
        (self.folder / "index.tsv").write_text("\n".join(self.rows) + "\n")

    def summary(self, text):
        if self.folder:
            (self.folder / "SUMMARY.txt").write_text(text)


def stored(folder):
    """The modules that a folder has."""
    for line in (folder / "modules.jsonl").read_text().splitlines():
        known = json.loads(line)
        yield Module(data=(folder / known.pop("file")).read_bytes(), **known)


def store(folder, module):
    folder.mkdir(parents=True, exist_ok=True)
    file = f"{module.truth}_{module.seed}.hlo.pb"
    (folder / file).write_bytes(module.data)
    known = {"file": file} | {name: getattr(module, name) for name in ("name", "seed", "mesh", "truth", "fault", "shows")}
    with (folder / "modules.jsonl").open("a") as index:
        index.write(json.dumps(known) + "\n")


def made(table, wanted, first):
    """Modules that are as they are to be, right ones and seeded ones in turn. What is left out goes to the table."""
    import spmd_truth

    # In a process of its own, as XLA ends it where it finds itself at fault.
    apart = partial(ProcessPoolExecutor, 1, mp_context=get_context("spawn"))
    makers, seeds, pool = {"right": spmd_truth.right, "wrong": spmd_truth.seeded}, {"right": first, "wrong": first}, apart()
    have = {truth: 0 for truth in wanted}
    while any(have[truth] < wanted[truth] for truth in wanted):
        truth = min((truth for truth in wanted if have[truth] < wanted[truth]), key=lambda truth: have[truth])
        seed, seeds[truth] = seeds[truth], seeds[truth] + 1
        try:
            module = pool.submit(makers[truth], seed).result()
        except Exception as error:
            table.failed.append((seed, f"{truth}: {type(error).__name__}: {str(error)[:300]}"))
            print("".join(traceback.format_exception(error, limit=-4)), file=sys.stderr)
            pool = apart() if isinstance(error, BrokenProcessPool) else pool
            if len(table.failed) > 20 + sum(have.values()):
                sys.exit("hardly any module can be made")
            continue
        if module is None or module.truth != truth:
            table.dropped["no fault shows" if module is None else f"{truth} is {module.truth}"] += 1
            if module and truth == "right":
                print(f"seed {seed}: {module.name} on {module.mesh} is {module.truth}", file=sys.stderr)
            continue
        have[truth] += 1
        yield module
    pool.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halite", required=True, help="the command `halite`")
    parser.add_argument("--right", type=int, default=300, help="how many right modules")
    parser.add_argument("--seeded", type=int, default=300, help="how many with a fault")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--keep", type=Path, help="the folder for modules that contradict, and samples")
    parser.add_argument("--all", type=Path, help="a new folder for all modules")
    parser.add_argument("--again", type=Path, help="a folder of all modules, which are asked of again")
    asks = parser.parse_args()
    if asks.all and asks.all.exists():
        parser.error(f"{asks.all} is there already")
    table, kept, start = Table(), Kept(asks.keep), time.monotonic()
    wanted = {"right": asks.right, "wrong": asks.seeded}
    for module in stored(asks.again) if asks.again else made(table, wanted, asks.seed):
        if asks.all:
            store(asks.all, module)
        module.verdict = asked(asks.halite, module)
        table.modules.append(module)
        kept.add(module)
        if len(table.modules) % 20 == 0:
            kept.summary(table.text())
            print(f"{len(table.modules)} modules, {time.monotonic() - start:.0f} s", file=sys.stderr)
    kept.summary(table.text())
    print(table.text(), end="")


if __name__ == "__main__":
    main()
