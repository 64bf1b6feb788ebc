#!/usr/bin/env python3
"""Builds a copy of the sources with all mutants of a list, and says which tests find which. See README.md."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent

# No mutant may take the machine along: bytes of data of a process, and of a file.
LIMITS = ["nice", "-n", "15", "prlimit", f"--data={8 << 30}", f"--fsize={4 << 30}"]

# What the sum of the times of tests that run in one process should be, in seconds.
BATCH = 3.0


def lines(path):
    """The values of a file with one in each line."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


class Log:
    """A file that is appended to by several threads."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()

    def add(self, value):
        with self.lock, self.path.open("a") as file:
            file.write(json.dumps(value) + "\n")


# Planting


def planter(*arguments):
    """Runs the program that knows Rust."""
    manifest = HERE / "Cargo.toml"
    target = HERE.parent.parent / "target" / "mutants"
    environment = {name: value for name, value in os.environ.items() if name != "RUSTFLAGS"}
    command = ["cargo", "run", "--quiet", "--manifest-path", manifest, "--target-dir", target, "--", *arguments]
    subprocess.run(list(map(str, command)), check=True, env=environment)


def planted(tree, listed):
    """Plants mutants in a tree as it is committed, and says where they stand: number, file, bytes."""
    if tree == HERE.parent.parent:
        sys.exit("what is planted loses its changes: give a clone")
    subprocess.run(["git", "-C", tree, "checkout", "--quiet", "--", "."], check=True)
    with tempfile.NamedTemporaryFile() as places:
        planter("plant", tree, listed, places.name)
        return json.load(places)


def draw(arguments):
    """Draws mutants of a tree as a list."""
    planter("draw", arguments.tree, arguments.seed, arguments.count, arguments.list)


def plant(arguments):
    """Plants the mutants of a list in a clone, and says which have no place there."""
    places = planted(arguments.tree, arguments.list)
    print(f"{len(places)} mutants are planted")


def spans(message):
    """The places that a message of the compiler names, those that it is about first."""
    own = sorted(message["spans"], key=lambda span: not span["is_primary"])
    for span in own:
        while span:
            yield span["file_name"], span["byte_start"], span["byte_end"]
            span = (span.get("expansion") or {}).get("span")
    for child in message["children"]:
        yield from spans(child)


def blamed(message, places):
    """The mutant of an error: the smallest that a named place lies in, or else the one before or after it."""
    named = list(spans(message))
    for name, start, end in named:
        around = [place for place in places if place["file"] == name and place["start"] <= start and end <= place["end"]]
        if around:
            return min(around, key=lambda place: place["end"] - place["start"])["number"]
    for name, start, end in named:
        near = [place for place in places if place["file"] == name]
        if near:
            return min(near, key=lambda place: max(place["start"] - end, start - place["end"]))["number"]
    return None


def settle(arguments):
    """Leaves out of a list what does not compile, and keeps the first of the rest."""
    tree, listed = arguments.tree, arguments.list
    while True:
        places = planted(tree, listed)
        command = ["cargo", "check", "--workspace", "--lib", "--bins", "--locked", "--keep-going", "--message-format=json"]
        output = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wrong = {}
        for line in output.stdout.splitlines():
            message = json.loads(line).get("message") if line.startswith("{") else None
            if message and message["level"].startswith("error") and message["spans"]:
                wrong.setdefault(blamed(message, places), message["message"])
        if not wrong and output.returncode == 0:
            break
        if not wrong or None in wrong:
            sys.exit(f"an error of no mutant: {wrong or output.stderr}")
        for number, text in sorted(wrong.items()):
            print(f"does not compile: {number}: {text.splitlines()[0]}", flush=True)
        kept = [mutant for mutant in lines(listed) if mutant["number"] not in wrong]
        listed.write_text("".join(json.dumps(mutant) + "\n" for mutant in kept))
    kept = lines(listed)[: arguments.count]
    for number, mutant in enumerate(kept, 1):
        mutant["number"] = number
    listed.write_text("".join(json.dumps(mutant) + "\n" for mutant in kept))
    print(f"{len(kept)} mutants compile")
    planted(tree, listed)


# Jobs: programs with tests


def output_of(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **more).stdout


def names(executable, tests, **more):
    """The tests of a program that would run."""

    def listed(*own):
        text = output_of([executable, "--list", "--format", "terse", *tests, *own], **more)
        return [line.removesuffix(": test") for line in text.splitlines() if line.endswith(": test")]

    ignored = [] if {"--include-ignored", "--ignored"} & set(tests) else listed("--ignored")
    return [name for name in listed() if name not in ignored]


def jobs(arguments):
    """Builds all tests and appends their programs to the list of jobs, with what of the environment they are to run in."""
    tree, tests = arguments.tree, arguments.tests
    kept = re.compile("XLA_FLAGS|HALITE_|CARGO_|RUSTFLAGS|RUSTDOCFLAGS|RUSTUP_HOME")
    environment = {name: value for name, value in os.environ.items() if kept.match(name)}
    root = output_of(["rustc", "--print", "sysroot"], cwd=tree).strip()
    target = pathlib.Path(environment.get("CARGO_TARGET_DIR", tree / "target")).resolve() / "debug"
    folders = [str(target / "deps"), str(target), f"{root}/lib"]
    environment["LD_LIBRARY_PATH"] = ":".join(folders)
    environment["HALITE_PROGRAM"] = str(target / "halite")
    command = ["cargo", "test", "--locked", "--no-run", "--message-format=json", *(arguments.cargo or ["--workspace"])]
    start = time.monotonic()
    built = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, text=True, check=True)
    print(f"built in {time.monotonic() - start:.0f} s")
    artifacts = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    found = []
    for artifact in artifacts:
        if artifact["reason"] != "compiler-artifact" or not artifact["manifest_path"].startswith(str(tree)):
            continue
        folder = str(pathlib.Path(artifact["manifest_path"]).parent)
        own = environment | {"CARGO_MANIFEST_DIR": folder}
        if artifact["executable"] and artifact["profile"]["test"]:
            executable = artifact["executable"]
            named = "report-time" in output_of([executable, "--help"], cwd=folder, env=os.environ | own, timeout=600)
            of = names(executable, tests, cwd=folder, env=os.environ | own) if named else [None]
            name = f"{os.path.relpath(folder, tree)}:{artifact['target']['name']}"
            found.append({"job": name, "command": [executable, *tests], "cwd": folder, "env": own, "tests": of})
    if arguments.documentation:
        # Of all packages at once: of one alone, what it needs would be built anew for other features.
        command = ["cargo", "test", "--doc", "--locked", "--workspace"]
        found.append({"job": "documentation", "command": command, "cwd": str(tree), "env": environment, "tests": [None]})
    log = Log(arguments.work / "jobs.jsonl")
    taken = {job["job"] for job in lines(log.path)}
    for job in found:
        while job["job"] in taken:
            job["job"] += "+"
        log.add(job)
    print(f"{len(found)} programs with {sum(len(job['tests']) for job in found)} tests")


class Run:
    """One run of some tests of a job: how it ended, in how many seconds, and what it said."""

    count = 0
    lock = threading.Lock()

    def __init__(self, work, job, tests, limit, **variables):
        with Run.lock:
            Run.count += 1
            self.folder = work / f"t{Run.count}"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        command = list(job["command"])
        if tests != [None]:
            # The exact names take the place of what chose them.
            command = [command[0], *(own for own in command[1:] if own in ("--include-ignored", "--ignored"))]
            command += ["--test-threads=1", "--exact", *tests]
        # Of its own: a mutant may spoil what is kept there.
        home = work / "home"
        environment = os.environ | job["env"] | {"TMPDIR": str(self.folder), "HOME": str(home)} | variables
        with (self.folder / "said").open("wb") as said:
            start = time.monotonic()
            process = subprocess.Popen(
                LIMITS + command, cwd=job["cwd"], env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )
            try:
                self.code = process.wait(limit)
            except subprocess.TimeoutExpired:
                self.code = None
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        self.seconds = time.monotonic() - start
        self.said = (self.folder / "said").read_text(errors="replace")

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def failed(self):
        """The names of tests that failed."""
        return re.findall(r"^test (?:\[\S+\] )?(.*?) +\.\.\. .*FAILED", self.said, re.M)


def prepare(work):
    """A home with the plugin and the tools that the tests need."""
    home, real = work / "home", pathlib.Path.home()
    (home / ".cache").mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("CARGO_HOME", str(real / ".cargo"))
    os.environ.setdefault("RUSTUP_HOME", str(real / ".rustup"))
    if not (home / ".cache" / "halite").exists():
        shutil.copytree(real / ".cache" / "halite", home / ".cache" / "halite")


def reach(arguments):
    """Runs each test by itself without a mutant: how long it takes, whether it passes, and which mutants it asks for."""
    work = arguments.work
    prepare(work)
    log = Log(work / "reach.jsonl")
    done = {(one["job"], one["test"]) for one in lines(log.path)}

    def one(job, test):
        folder = work / "asked" / f"{threading.get_ident()}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        asking = Run(work, job, [test], 900, HALITE_MUTANT_REACH=str(folder))
        asked = sorted(int(path.name) for path in folder.iterdir())
        passes, seconds = asking.code == 0, asking.seconds
        asking.clean()
        if not passes:
            # Only what fails without asking too is no evidence.
            plain = Run(work, job, [test], 900)
            passes, seconds = plain.code == 0, plain.seconds
            if not passes:
                print(f"fails without a mutant: {job['job']} {test}\n{plain.said[-2000:]}", flush=True)
            plain.clean()
        log.add({"job": job["job"], "test": test, "seconds": round(seconds, 3), "passes": passes, "asked": asked})

    open_tests = [(job, test) for job in lines(work / "jobs.jsonl") for test in job["tests"] if (job["job"], test) not in done]
    with concurrent.futures.ThreadPoolExecutor(arguments.parallel) as pool:
        for future in [pool.submit(one, *own) for own in open_tests]:
            future.result()
    found = lines(log.path)
    asked = {number for own in found for number in own["asked"]}
    failing = [own for own in found if not own["passes"]]
    print(f"{len(found)} tests, {sum(own['seconds'] for own in found):.0f} s, {len(failing)} fail; {len(asked)} mutants are reached")


# Measuring


def batches(work):
    """For each mutant, tests that ask for it in groups that run in one process: expected seconds, job, tests; quickest first."""
    known = {job["job"]: job for job in lines(work / "jobs.jsonl")}
    of = {}
    for own in sorted(lines(work / "reach.jsonl"), key=lambda own: own["seconds"]):
        for number in own["asked"] if own["passes"] else []:
            groups = of.setdefault(number, {}).setdefault(own["job"], [])
            if not groups or own["test"] is None or groups[-1][0] + own["seconds"] > BATCH:
                groups.append([0, []])
            groups[-1][0] += own["seconds"]
            groups[-1][1].append(own["test"])
    return {
        number: sorted(((seconds, known[job], tests) for job, groups in own.items() for seconds, tests in groups), key=lambda group: group[0])
        for number, own in of.items()
    }


def measure(work, number, groups, patience):
    """The first test that finds a mutant, or none."""
    start = time.monotonic()
    result = {"number": number, "found": False, "reached": bool(groups), "unsteady": []}
    for seconds, job, tests in groups:
        limit = 5 * seconds + patience
        run = Run(work, job, tests, limit, HALITE_MUTANT=str(number))
        run.clean()
        if run.code == 0:
            continue
        # What fails without the mutant too has not found it.
        again = Run(work, job, tests, limit)
        again.clean()
        failed = run.failed() or tests
        if again.code != 0:
            result["unsteady"].append([job["job"], failed])
            continue
        how = "takes too long" if run.code is None else "fails"
        result |= {"found": True, "job": job["job"], "tests": failed[:5], "how": how}
        break
    result["seconds"] = round(time.monotonic() - start, 1)
    return result


def run(arguments):
    """Measures the mutants of a list that have no result yet, or those that another measurement did not find."""
    work = arguments.work
    prepare(work)
    log = Log(work / "results.jsonl")
    done = {own["number"] for own in lines(log.path)}
    numbers = [mutant["number"] for mutant in lines(arguments.list)]
    if arguments.not_found_in:
        found = {own["number"] for own in lines(arguments.not_found_in / "results.jsonl") if own["found"]}
        numbers = [number for number in numbers if number not in found]
    of = batches(work)

    def one(number):
        result = measure(work, number, of.get(number, []), arguments.patience)
        log.add(result)
        print(json.dumps(result), flush=True)

    with concurrent.futures.ThreadPoolExecutor(arguments.parallel) as pool:
        for future in [pool.submit(one, number) for number in numbers if number not in done]:
            future.result()
    left = output_of(["git", "-C", arguments.tree, "status", "--porcelain"])
    changed = [line for line in left.splitlines() if not line.startswith(" M")]
    if changed:
        print("tests left files:", *changed, sep="\n")


def report(arguments):
    """What the results of one or two trees are."""
    mutants = {mutant["number"]: mutant for mutant in lines(arguments.list)}
    results = {own["number"]: own for own in lines(arguments.work / "results.jsonl")}
    older = arguments.older and {own["number"]: own for own in lines(arguments.older / "results.jsonl")}
    for number, mutant in mutants.items():
        own = results.get(number)
        print(f"{number}\t{mutant['file']}:{mutant['line']}\t{mutant['kind']}\t{mutant['before']} -> {mutant['after']}\t{said(own)}")
    found = sum(own["found"] for own in results.values())
    reached = sum(own["reached"] for own in results.values())
    print(f"\n{len(mutants)} mutants, {len(results)} measured, {reached} reached, {found} found")
    if older is not None:
        lost = [number for number, own in older.items() if own["found"] and not results.get(number, {"found": False})["found"]]
        # What the new tests find counts as found by the old ones.
        print(f"the tests find {found} of {found + len(lost)}: {found / max(found + len(lost), 1):.1%}")
        for number in lost:
            mutant = mutants[number]
            print(f"lost: {number} {mutant['file']}:{mutant['line']} {mutant['text']}\n    {said(older[number])}")


def said(result):
    if result is None:
        return "not measured"
    if not result["found"]:
        return "found by nothing" if result["reached"] else "reached by nothing"
    return f"{result['how']}: {result['job']} {', '.join(test or 'all' for test in result['tests'])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)

    def command(function, *positional):
        own = commands.add_parser(function.__name__, help=function.__doc__)
        own.set_defaults(function=function)
        for name in positional:
            own.add_argument(name, type=lambda text: pathlib.Path(text).resolve())
        return own

    own = command(draw, "tree", "list")
    own.add_argument("count", type=int)
    own.add_argument("--seed", type=int, default=1)
    command(settle, "tree", "list").add_argument("count", type=int)
    command(plant, "tree", "list")
    own = command(jobs, "tree", "work")
    own.add_argument("--documentation", action="store_true", help="the tests of documentation too")
    own.add_argument("--cargo", action="append", help="what `cargo test` is told of the tests instead of --workspace")
    own.add_argument("--tests", nargs=argparse.REMAINDER, default=[], help="what the programs are told")
    command(reach, "work").add_argument("--parallel", type=int, default=2)
    own = command(run, "tree", "work", "list")
    own.add_argument("--parallel", type=int, default=2)
    own.add_argument("--patience", type=float, default=20, help="seconds that a test may take beyond five times its own: more on a busy machine")
    own.add_argument("--not-found-in", type=pathlib.Path, help="another work folder: what it found is not measured")
    own = command(report, "work", "list")
    own.add_argument("--older", type=pathlib.Path, help="the work folder of the tests before a change")
    arguments = parser.parse_args()
    if hasattr(arguments, "work"):
        arguments.work.mkdir(parents=True, exist_ok=True)
    arguments.function(arguments)


if __name__ == "__main__":
    main()
