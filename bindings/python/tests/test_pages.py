"""What is seen of runs: their pages, plots and comparisons, in notebooks and as files."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import halite
from small_run import text_files


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs, which tests look at only."""
    folder = tmp_path_factory.mktemp("seen")
    before = Path.cwd()
    os.chdir(folder)
    try:
        text_files(["the", "quick", "brown", "fox"])
        halite.train("recipe.toml", steps=70, checkpoint_every=30, output="runs/a")
        halite.train("recipe.toml", steps=8, seed=3, output="runs/b", optimizer={"adamw": {"lr": 2e-2}})
    finally:
        os.chdir(before)
    return folder


@pytest.fixture(autouse=True)
def there(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trained)


def curves(page: str) -> list[str]:
    """The pictures of a page but for the last one, which is of times."""
    return page.split("<svg")[1:-1]


def test_a_run_shows_what_it_wrote() -> None:
    run = halite.load_run("runs/a")
    written = Path("runs/a/report.html").read_text()
    page = run.report().html
    assert curves(page) == curves(written) and len(curves(page)) == 2
    assert "update 70 of 70" in page and "Loss per token (nats)" in page
    assert run.plot().svg.replace("a: loss", "recipe: loss") == Path("runs/a/loss.svg").read_text()
    assert run.history.report() == run.report()
    for part in ("compiling, Halite", "compiling, cpu", "Samples after update 70"):
        assert part in page and part in written
    samples = [json.loads(line) for line in Path("runs/a/samples.jsonl").read_text().splitlines()]
    held_out = Path("book.txt").read_text()[int(0.8 * Path("book.txt").stat().st_size) :]
    assert [sample["step"] for sample in samples] == [70, 70]
    assert all(sample["prompt"] in held_out and sample["text"] for sample in samples)


def test_a_checkpoint_shows_the_run_up_to_it() -> None:
    run = halite.load_run("runs/a/checkpoints/00000030")
    page = run.report().html
    assert "update 30 of 70" in page and "Samples" not in page
    assert 'http-equiv="refresh"' not in page


def test_a_notebook_shows_runs_and_pages() -> None:
    run = halite.load_run("runs/a")
    assert run._repr_html_() == run.history._repr_html_()
    assert '<img src="data:image/svg+xml;base64,' in run._repr_html_() and "<table>" in run._repr_html_()
    frame = run.report()._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!doctype html&gt;') and frame.endswith("</iframe>")
    assert '"' not in frame.split('srcdoc="')[1].split('" style=')[0]


def test_pages_and_plots_are_written(tmp_path: Path) -> None:
    run = halite.load_run("runs/a")
    page = run.report().write(tmp_path / "new" / "report.html")
    assert page.read_text() == run.report().html
    assert run.plot().write(str(tmp_path / "loss.svg")).read_text() == run.plot().svg


def test_runs_are_compared_as_the_command_does(tmp_path: Path) -> None:
    compared = halite.compare("runs/a", Path("runs/b"))
    assert compared.runs == ("runs/a", "runs/b")
    differ = {key: values for key, values in compared.differences.items() if not key.startswith("checkpoint.")}
    assert differ == {"optimizer.adamw.lr": ("0.01", "0.02"), "train.seed": ("0", "3"), "train.steps": ("70", "8")}
    assert compared.differences["checkpoint.every"] == ("30", None)
    assert "runs/b" in str(compared) and "train.steps" in str(compared)
    assert compared._repr_html_().startswith("<iframe")
    program = os.environ.get("HALITE_PROGRAM")
    if program is None:
        pytest.skip("HALITE_PROGRAM names no program to compare with")
    subprocess.run([program, "compare", "runs/a", "runs/b", "-o", tmp_path / "command"], check=True, capture_output=True)
    compared.write(tmp_path / "called")
    for name in ("compare.html", "loss.svg"):
        assert (tmp_path / "called" / name).read_text() == (tmp_path / "command" / name).read_text()


def test_a_run_is_given_in_any_form() -> None:
    run = halite.load_run("runs/a")
    by_path = halite.compare("runs/a", "runs/b")
    assert halite.compare(run, run.history).page.html.count("runs/a") > 1
    assert halite.compare(run, halite.load_run("runs/b")) == by_path
    early = halite.compare("runs/a/checkpoints/00000030", "runs/b")
    assert early.loss != by_path.loss
    with pytest.raises(TypeError, match="two runs or more are compared, not 1"):
        halite.compare(run)
    with pytest.raises(TypeError, match="not a `int`"):
        halite.compare(run, 3)  # type: ignore[arg-type]
    with pytest.raises(halite.Error, match="`nothing` is not the folder of a run"):
        halite.compare(run, "nothing")


def test_a_run_of_a_model_of_python_is_shown_and_compared() -> None:
    m = halite.Model("built")
    tokens = m.batch("tokens", "s32", [2, 9])
    table = m.param("table", [256, 4], init=halite.normal(0.02))
    logits = m.linear(m.embedding(tokens[:, :-1], table), table)
    m.output("logits", logits)
    loss, count = m.cross_entropy(logits, tokens[:, 1:])
    rows = np.random.default_rng(0).integers(0, 256, (6, 9), np.int32)
    history = halite.train(halite.compile(m.finish(loss, count)), [rows], steps=3, output="runs/built")
    assert "built" in history.report().html and "Samples" not in history.report().html
    assert halite.compare(history, "runs/b").runs == ("runs/built", "runs/b")


def test_samples_are_as_many_as_are_asked_for() -> None:
    halite.train("recipe.toml", steps=64, samples=3, output="runs/three")
    assert len(Path("runs/three/samples.jsonl").read_text().splitlines()) == 3
    halite.train("recipe.toml", steps=64, samples=0, output="runs/none")
    halite.train("recipe.toml", steps=63, output="runs/short")
    assert not Path("runs/none/samples.jsonl").exists() and not Path("runs/short/samples.jsonl").exists()
    assert "Samples" not in Path("runs/none/report.html").read_text()
    with pytest.raises(ValueError, match="`samples` is 65"):
        halite.train("recipe.toml", samples=65)
