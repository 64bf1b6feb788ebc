"""Runs of training: what they leave, how they go on, what the caller hears and gives."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halite
from interrupts import PYTHON
from small_run import RECIPE, text_files

STEPS = 12
# Rows of an array are not those of an update, which are 2.
BATCHES = np.random.default_rng(0).integers(0, 16, (10, 3, 9), np.int32)
WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog"]


class Source:
    """Batches again and again, which says where it is as PyTorch's loaders do."""

    def __init__(self) -> None:
        self._at = 0

    def __iter__(self) -> Iterator[np.ndarray]:
        while self._at < len(BATCHES):
            self._at += 1
            yield BATCHES[self._at - 1]
        self._at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self._at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._at = state["at"]


class Random:
    """Batches that are drawn by random numbers, whose state has arrays and bytes."""

    def __init__(self) -> None:
        self._drawn = np.random.RandomState(3)

    def __iter__(self) -> Iterator[np.ndarray]:
        while True:
            yield BATCHES[self._drawn.randint(len(BATCHES))]

    def state_dict(self) -> dict[str, Any]:
        kind, keys, *rest = self._drawn.get_state()
        return {"kind": kind.encode(), "keys": keys, "rest": rest}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        assert isinstance(state["kind"], bytes) and isinstance(state["keys"], np.ndarray)
        self._drawn.set_state((state["kind"].decode(), state["keys"], *state["rest"]))


class Places:
    """Batches whose iterator says where it is, as Grain's do."""

    def __iter__(self) -> Iterator[np.ndarray]:
        return Place()


class Place:
    def __init__(self) -> None:
        self._at = 0

    def __iter__(self) -> Iterator[np.ndarray]:
        return self

    def __next__(self) -> np.ndarray:
        if self._at == len(BATCHES):
            raise StopIteration
        self._at += 1
        return np.asarray(BATCHES[self._at - 1])

    def get_state(self) -> dict[str, int]:
        return {"at": self._at}

    def set_state(self, state: dict[str, int]) -> None:
        self._at = state["at"]


class Stop(Exception):
    pass


class Heard(halite.Callbacks):
    """Hears all of a run, and raises where it is told to."""

    def __init__(self, stop: str = "", step: int = 0, error: type[BaseException] = Stop) -> None:
        self.heard: list[tuple[str, int]] = []
        self.threads: set[int] = set()
        self._stop = (stop, step)
        self._error = error

    def _hear(self, what: str, step: int) -> None:
        self.heard.append((what, step))
        self.threads.add(threading.get_ident())
        if (what, step) == self._stop:
            raise self._error

    def on_update(self, update: halite.Update) -> None:
        self._hear("update", update.step)

    def on_evaluation(self, evaluation: halite.Evaluation) -> None:
        self._hear("evaluation", evaluation.step)

    def on_checkpoint(self, step: int, state: Path) -> None:
        assert halite.load_tensors(state)["step"] == step
        self._hear("checkpoint", step)

    def on_warning(self, warning: halite.Diagnostic) -> None:
        self._hear(f"warning {warning.code}", -1)


@pytest.fixture(scope="session")
def bigram(model: halite.Text) -> halite.Bundle:
    return halite.compile(model, roles=["train_step", "eval"])


def files(folder: str) -> dict[str, bytes]:
    """What a run leaves that holds no time."""
    names = ("metrics.jsonl", "recipe.toml", "state.safetensors")
    return {name: Path(folder, name).read_bytes() for name in names}


def curves(page: str) -> list[str]:
    """The pictures of a page but for the last one, which is of times."""
    return page.split("<svg")[1:-1]


def made(folder: str) -> int:
    """Updates before the last state."""
    return int(halite.load_tensors(Path(folder, "state.safetensors"))["step"])


def test_it_is_what_the_command_does() -> None:
    program = os.environ.get("HALITE_PROGRAM")
    if program is None:
        pytest.skip("HALITE_PROGRAM names no program to compare with")
    text_files(WORDS)
    options = ["--steps", "12", "--seed", "7", "--checkpoint-every", "4", "--keep", "2", "-o", "command"]
    subprocess.run([program, "train", "recipe.toml", *options], check=True, capture_output=True)
    halite.train("recipe.toml", steps=12, seed=7, checkpoint_every=4, keep=2, output="called")
    assert files("called") == files("command")
    assert Path("called/loss.svg").read_text() == Path("command/loss.svg").read_text()
    assert curves(Path("called/report.html").read_text()) == curves(Path("command/report.html").read_text())
    assert os.listdir("called/checkpoints") == os.listdir("command/checkpoints")


def test_a_run_of_the_recipe_goes_on_where_it_was(bigram: halite.Bundle) -> None:
    text_files(WORDS)
    whole = halite.train("recipe.toml", steps=STEPS, output="whole")
    halite.train("recipe.toml", steps=5, output="parts")
    parts = halite.train("recipe.toml", steps=STEPS, output="parts")
    # The recipe that a run leaves has its number of updates.
    assert files("parts") == files("whole")
    assert (parts.updates, parts.evaluations) == (whole.updates, whole.evaluations)
    assert [each.step for each in whole.updates] == list(range(1, STEPS + 1))
    assert [(each.step, each.data) for each in whole.evaluations] == [(0, "end"), (5, "end"), (10, "end"), (12, "end")]
    assert whole.updates[-1].seen == 12 * 2 * 8 and whole.updates[-1].loss < whole.updates[0].loss
    assert whole.state == Path("whole/state.safetensors") and Path(whole.state).is_file()


def test_data_may_be_the_table_of_the_recipe() -> None:
    text_files(WORDS)
    data = {"sources": [{"files": ["book.txt"], "part": "0..0.8"}], "held_out": [{"files": ["book.txt"], "part": "0.8..1", "name": "end"}]}
    recipe = halite.Recipe(RECIPE[: RECIPE.index("[data]")], name="recipe")
    halite.train(recipe, data, steps=3)
    halite.train("recipe.toml", steps=3, output="file")
    assert files("runs/recipe") == files("file")


@pytest.mark.parametrize("source", [Source, Places, Random])
@pytest.mark.parametrize("at", [1, 6, 7])
def test_own_data_go_on_where_they_were(source: Callable[[], Iterable[np.ndarray]], at: int, bigram: halite.Bundle) -> None:
    """Update 7 begins within an array; 20 updates take more than all arrays."""
    options: dict[str, Any] = {"steps": 20, "held_out": BATCHES[:2], "eval_every": 5}
    halite.train(bigram, source(), output="whole", **options)
    heard = Heard("update", at)
    with pytest.raises(Stop):
        halite.train(bigram, source(), output="parts", callbacks=heard, **options)
    assert heard.heard[-1] == ("checkpoint", at), "the run ended after that update, with its state saved"
    halite.train(bigram, source(), output="parts", **options)
    assert files("parts") == files("whole")


def test_sequences_do_not_depend_on_how_arrays_cut_them(bigram: halite.Bundle) -> None:
    rows = BATCHES.reshape(-1, 9)
    cuts: dict[str, Iterable[np.ndarray]] = {"threes": BATCHES, "all": [rows], "ones": rows[:, None], "wide": [rows.astype(np.int64)]}
    for name, data in cuts.items():
        halite.train(bigram, data, steps=STEPS, held_out=data, output=name)
        assert files(name)["metrics.jsonl"] == files("threes")["metrics.jsonl"], name


def test_held_out_data_are_measured_once_each(bigram: halite.Bundle) -> None:
    held_out = {"a": BATCHES[:2], "b": (batch for batch in BATCHES[:4])}
    history = halite.train(bigram, BATCHES, held_out=held_out, steps=1)
    tokens = [(each.step, each.data, each.counted) for each in history.evaluations]
    assert tokens == [(step, name, rows * 8) for step in (0, 1) for name, rows in (("a", 6), ("b", 12))]


def test_callbacks_hear_all_in_the_thread_of_the_caller(bigram: halite.Bundle) -> None:
    heard, other = Heard(), Heard()
    threads: set[int] = set()

    def data() -> Iterator[np.ndarray]:
        for batch in BATCHES:
            threads.add(threading.get_ident())
            yield batch

    halite.train(bigram, data(), held_out=BATCHES, steps=4, eval_every=2, checkpoint_every=3, callbacks=[heard, other])
    assert [step for what, step in heard.heard if what == "update"] == [1, 2, 3, 4]
    assert [step for what, step in heard.heard if what == "evaluation"] == [0, 2, 4]
    assert [step for what, step in heard.heard if what == "checkpoint"] == [3, 4]
    assert heard.heard.index(("evaluation", 2)) == heard.heard.index(("update", 2)) + 1
    assert other.heard == heard.heard
    assert heard.threads == threads == {threading.get_ident()}


@pytest.mark.parametrize(("what", "step", "saved"), [("update", 3, 3), ("evaluation", 2, 2), ("evaluation", 0, 0), ("checkpoint", 4, 4)])
def test_an_exception_of_a_callback_ends_the_run_with_its_state(
    what: str, step: int, saved: int, bigram: halite.Bundle
) -> None:
    heard = Heard(what, step)
    options: dict[str, Any] = {"steps": 4, "eval_every": 2, "output": "run"}
    with pytest.raises(Stop) as caught:
        halite.train(bigram, Source(), held_out=BATCHES, callbacks=heard, **options)
    assert made("run") == saved
    if hasattr(caught.value, "__notes__"):
        assert f"after update {saved} is saved" in caught.value.__notes__[0]


def test_warnings_are_heard_and_given(bigram: halite.Bundle) -> None:
    """A state of `Bundle.init` does not say what made it."""
    step = halite.runtime.TrainStep(bigram)
    step.init(seed=1)
    step.step({"tokens": BATCHES[0, :2]})
    halite.save_tensors("start.safetensors", step.state())
    heard = Heard()
    with pytest.warns(halite.HaliteWarning, match="does not say what made it") as given:
        halite.train(bigram, BATCHES, steps=2, resume="start.safetensors", callbacks=heard)
    assert ("warning E0515", -1) in heard.heard
    assert {each.filename for each in given} == {__file__}
    with pytest.raises(Stop), pytest.warns(halite.HaliteWarning):
        stop = Heard("warning E0515", -1)
        halite.train(bigram, BATCHES, steps=2, resume="start.safetensors", callbacks=stop, output="other")


def test_an_exception_of_data_ends_the_run_at_its_batch(bigram: halite.Bundle) -> None:
    """It is read ahead; updates that do not need it are made."""

    def data() -> Iterator[np.ndarray]:
        yield from BATCHES[:, :2][:3]
        raise Stop

    with pytest.raises(Stop):
        halite.train(bigram, data(), steps=9, output="run")
    assert made("run") == 3
    halite.train(bigram, data(), steps=3, output="enough")
    assert files("enough")["state.safetensors"] == files("run")["state.safetensors"]


def test_data_that_cannot_go_on_begin_anew_where_that_is_said(bigram: halite.Bundle) -> None:
    halite.train(bigram, BATCHES, steps=3)
    with pytest.warns(halite.HaliteWarning, match="`data` cannot go on after the 2 batches .*, and begin anew"):
        history = halite.train(bigram, BATCHES, steps=5, allow_changes=True)
    assert len(history.updates) == 5


def test_other_threads_run_meanwhile() -> None:
    counted, ends = [0], threading.Event()

    def count() -> None:
        while not ends.is_set():
            counted[0] += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    rows = np.zeros((8, 65), np.int32)
    seen = []

    class See(halite.Callbacks):
        def on_update(self, update: halite.Update) -> None:
            seen.append(counted[0])

    halite.train("tiny", [rows], steps=4, eval_batches=0, callbacks=See())
    ends.set()
    other.join()
    assert seen[0] > 50, "it counted while XLA compiled"
    assert all(b > a for a, b in zip(seen, seen[1:], strict=False)), "it counted while the device worked"


def test_a_forked_process_is_told_that_it_runs_nothing(bigram: halite.Bundle) -> None:
    halite.train(bigram, BATCHES, steps=1, output="before")
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            halite.train(bigram, BATCHES, steps=1, output="child")
        except halite.Error as error:
            os.write(writes, error.message.encode())
        finally:
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as told:
        assert "forked from one that has run programs" in told.read()
    assert os.waitpid(child, 0)[1] == 0
    assert len(halite.train(bigram, BATCHES, steps=1, output="after").updates) == 1


def test_how_far_a_run_is(bigram: halite.Bundle) -> None:
    told: list[halite.Progress] = []
    halite.train(bigram, [BATCHES[0]], steps=150, progress=told.append)
    assert {(each.work, each.total) for each in told} == {("training bigram", 150)}
    assert told[-1].done > 0 and told[-1].message.startswith("loss ")

    def stop(progress: halite.Progress) -> None:
        if progress.done:
            raise Stop

    with pytest.raises(Stop):
        halite.train(bigram, BATCHES, steps=10**6, progress=stop, output="stopped")
    assert 0 < made("stopped") < 10**6


def test_ctrl_c_ends_a_run_that_goes_on_as_if_it_never_had(bigram: halite.Bundle) -> None:
    bigram.write("bundle")
    program = """
import halite, sys, test_runs
class Ready(halite.Callbacks):
    def on_update(self, update):
        if update.step == 3: print("ready", flush=True)
try: halite.train(halite.Bundle.read("bundle"), test_runs.Source(), steps=int(sys.argv[1]), output="run", callbacks=Ready())
except KeyboardInterrupt as error: print("ended", *getattr(error, "__notes__", []))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])}
    command = [*PYTHON, "-c", program, str(10**6)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0 and out.startswith("ended"), out
    steps = made("run") + 4
    assert 7 <= steps < 10**6
    halite.train(bigram, Source(), steps=steps, output="run")
    halite.train(bigram, Source(), steps=steps, output="whole")
    assert files("run") == files("whole")


def _trained(bundle: halite.Bundle) -> halite.Bundle:
    halite.train(bundle, BATCHES, steps=3, output="trained")
    return bundle


class NoJson(Source):
    def state_dict(self) -> Any:
        return {"at": {1}}


# What is done, what is said, and what is advised.
MISTAKES: list[tuple[Callable[[halite.Bundle], Any], str, str]] = [
    (lambda b: halite.train(b), "no data to train on", "give `data`: arrays of tokens"),
    (lambda b: halite.train(b, BATCHES[0]), "batch 0 of `data` is `int32[9]`, expected whole numbers `[rows, 9]`", "a row for each sequence"),
    (lambda b: halite.train(b, BATCHES[:, :, :8]), "`int32[3, 8]`, expected whole numbers `[rows, 9]`", "and one more to predict"),
    (lambda b: halite.train(b, BATCHES * 1.0), "is `float64[3, 9]`", "arrays of token ids"),
    (lambda b: halite.train(b, [BATCHES[0].astype(np.int64) + (1 << 40)]), "has the token 1099511627", "the model's tokens"),
    (lambda b: halite.train(b, [BATCHES[0] + 16]), "the model knows 0 to 15", "the model's tokens"),
    (lambda b: halite.train(b, [BATCHES[0] - 16]), "batch 0 of `data` has the token -", "the model's tokens"),
    (lambda b: halite.train(b, BATCHES, held_out=BATCHES + 8), "batch 0 of `held_out` has the token ", "the model's tokens"),
    (lambda b: halite.train(b, iter(BATCHES[:1]), steps=5), "`data` ended after 1 batch, and the run needs more", "iterated again"),
    (lambda b: halite.train(b, []), "`data` ended after 0 batches", "iterated again"),
    (lambda b: halite.train(b, BATCHES, held_out=[]), "`held_out` ended after 0 batches", "iterated again"),
    (lambda b: halite.train(b, NoJson()), "no form in JSON: a `set` has none", "keep numbers, texts, arrays"),
    (lambda b: halite.train(_trained(b), BATCHES, steps=4, output="trained"), "`data` cannot go on after the 2 batches", "`allow_changes=True`"),
    (lambda b: halite.train(_trained(b), Source(), steps=4, output="trained"), "comes from another run", "or say `allow_changes=True`"),
    (lambda b: halite.train(_trained(b), BATCHES, steps=4, output="trained", fresh=True), "starts after update 0", "another folder with `output`"),
    (lambda b: halite.train(b, BATCHES, resume="no"), "`no`", ""),
    (lambda b: halite.train(b, BATCHES, weights="no.safetensors"), "cannot read `no.safetensors`", "check the path"),
    (lambda b: halite.train(b, BATCHES, plugin="no.so"), "`no.so` is not a file", "call `halite.install_plugin()`"),
    (lambda b: halite.train("tiny", {"sources": [{"files": ["no.txt"]}]}), "no.txt", ""),
    (lambda b: halite.train("tiny", {"surces": []}), "unknown key `data.surces`", "did you mean `sources`?"),
]


@pytest.mark.parametrize("at", range(len(MISTAKES)))
def test_wrong_inputs_are_refused_with_what_to_do(at: int, bigram: halite.Bundle) -> None:
    act, message, help = MISTAKES[at]
    with pytest.raises(halite.Error) as caught:
        act(bigram)
    error = caught.value
    assert type(error) is halite.Error, "the fault is not ours"
    assert message in error.message
    assert help in error.help
    assert "--" not in error.help, "what is advised is Python"


# What is done, and what is said.
OF_ANOTHER_KIND: list[tuple[Callable[[halite.Bundle], Any], str]] = [
    (lambda b: halite.train(b, "book.txt"), "`data` are arrays, not a `str`; files are given as"),
    (lambda b: halite.train(b, 3), "`data` are arrays, not a `int`"),  # type: ignore[arg-type]
    (lambda b: halite.train(b, BATCHES, held_out={"a": "b"}), "`held_out` are arrays, not a `str`"),
    (lambda b: halite.train(b, held_out=BATCHES), "`held_out` are arrays beside arrays to train on"),
    (lambda b: halite.train(b, {"sources": []}), "a `Bundle` has the table `data` of its recipe"),
    (lambda b: halite.train(b, BATCHES, seq=4), "a `Bundle` is compiled already: leave `seq` out"),
    (lambda b: halite.train(b, BATCHES, fresh=True, resume="x"), "in one way, not in 2: leave `resume` or `fresh` out"),
    (lambda b: halite.train(b, BATCHES, steps="x"), "`steps` is a whole number, not a `str`"),  # type: ignore[arg-type]
    (lambda b: halite.train(b, BATCHES, callbacks=[print]), "of a class below `halite.Callbacks`, not a `builtin_function"),  # type: ignore[list-item]
]


@pytest.mark.parametrize("at", range(len(OF_ANOTHER_KIND)))
def test_values_of_another_kind_are_refused_as_python_does(at: int, bigram: halite.Bundle) -> None:
    act, message = OF_ANOTHER_KIND[at]
    with pytest.raises(TypeError, match=message):
        act(bigram)
    assert not os.listdir(), "nothing was written"


@pytest.mark.parametrize(("name", "value"), [("steps", -1), ("seed", 1 << 63), ("keep", 0), ("restarts", -1)])
def test_numbers_out_of_range_are_refused(name: str, value: int, bigram: halite.Bundle) -> None:
    with pytest.raises(ValueError, match=f"`{name}` is {value}, expected a whole number from"):
        options: dict[str, Any] = {name: value}
        halite.train(bigram, BATCHES, **options)


def test_a_history_shows_itself(bigram: halite.Bundle) -> None:
    history = halite.train(bigram, BATCHES, held_out=BATCHES, steps=30)
    lines = str(history).splitlines()
    assert lines[0].split() == ["update", "tokens", "loss", "held-out", "loss"]
    assert len(lines) == 12 and lines[2].startswith("1 ") and lines[-1].startswith("30 ")
    assert lines[-1].split()[-1] == f"{history.evaluations[-1].loss:.4f}"
    assert "<table>" in history._repr_html_()
