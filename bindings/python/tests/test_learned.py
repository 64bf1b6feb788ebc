"""What runs that are there measured and learned: the same as the command line says."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halite
from small_run import text_files


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with texts, a recipe, and a run of it with two checkpoints, which tests look at only."""
    folder = tmp_path_factory.mktemp("trained")
    before = Path.cwd()
    os.chdir(folder)
    try:
        text_files(["the", "quick", "brown", "fox"])
        Path("other.txt").write_text("0123456789 " * 40)
        halite.train("recipe.toml", steps=12, checkpoint_every=4, keep=2, output="run")
        halite.compile("recipe.toml").write("bundle")
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def there(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trained)


def said(*arguments: str) -> Any:
    """What the command line says."""
    program = os.environ.get("HALITE_PROGRAM")
    if program is None:
        pytest.skip("HALITE_PROGRAM names no program to compare with")
    return json.loads(subprocess.run([program, *arguments, "--json"], check=True, capture_output=True, text=True).stdout)


def as_said(found: list[halite.Evaluated]) -> list[dict[str, Any]]:
    """Evaluations as the command line has them."""
    raws = []
    for each in found:
        raw = {"data": each.data, "loss": each.loss, "metrics": each.metrics, each.unit: each.counted}
        raws.append(raw if each.perplexity is None else {**raw, "perplexity": each.perplexity})
    return raws


@pytest.mark.usefixtures("there")
def test_a_run_is_read_back() -> None:
    run = halite.load_run("run")
    assert (run.update, run.state) == (12, Path("run/checkpoints/00000012/state.safetensors"))
    assert int(halite.load_tensors(run.state)["step"]) == 12
    assert [each.step for each in run.history.updates] == list(range(1, 13))
    assert [each.step for each in run.history.evaluations] == [0, 5, 10, 12]
    assert run.history.updates[-1].loss < run.history.updates[0].loss
    assert run.history.output == Path("run")
    assert halite.compile(run.recipe).manifest.model == halite.compile("recipe.toml").manifest.model


@pytest.mark.usefixtures("there")
def test_a_checkpoint_is_a_run_up_to_it() -> None:
    run = halite.load_run(Path("run/checkpoints/00000008"))
    assert (run.update, int(halite.load_tensors(run.state)["step"])) == (8, 8)
    assert [each.step for each in run.history.updates] == list(range(1, 9))
    assert [each.step for each in run.history.evaluations] == [0, 5]


@pytest.mark.usefixtures("there")
def test_what_a_run_measured_is_what_train_gave() -> None:
    given = halite.train("recipe.toml", steps=12, output="run")
    assert halite.load_run("run").history == given


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", ["run", "run/checkpoints/00000008"])
def test_evaluations_are_those_of_the_command(name: str) -> None:
    expected = said("eval", name)["data"]
    assert as_said(halite.evaluate(name)) == expected
    assert as_said(halite.evaluate(halite.load_run(name))) == expected


@pytest.mark.usefixtures("there")
def test_evaluations_of_bundles_and_files_are_those_of_the_command() -> None:
    expected = said("eval", "bundle", "--state", "run", "--data", "book.txt", "other.txt", "--batches", "3")["data"]
    options: dict[str, Any] = {"state": "run", "data": ["book.txt", Path("other.txt")], "batches": 3}
    assert as_said(halite.evaluate("bundle", **options)) == expected
    assert as_said(halite.evaluate(halite.compile("recipe.toml"), **options)) == expected
    first, other = halite.evaluate("recipe.toml", **options)
    assert (first.counted, first.unit, other.data) == (3 * 2 * 8, "tokens", "other.txt")
    assert first.perplexity == pytest.approx(np.exp(first.loss)) and first.loss < other.loss


@pytest.mark.usefixtures("there")
def test_an_evaluation_is_that_of_training() -> None:
    """Without weights of its own, the loss at the end of a run is that which training measured last."""
    (found,) = halite.evaluate("run", batches=16)
    (last,) = [each for each in halite.load_run("run").history.evaluations if each.step == 12]
    assert (found.data, found.loss, found.counted) == (last.data, last.loss, last.counted)


@pytest.mark.usefixtures("there")
def test_weights_from_elsewhere_are_evaluated() -> None:
    run = halite.load_run("run")
    bundle = halite.compile(run.recipe)
    weights = bundle.convert(halite.load_tensors(run.state), weights_only=True)
    path = halite.save_tensors("weights.safetensors", weights)
    assert halite.evaluate(bundle, weights=path) == halite.evaluate(run)


@pytest.mark.usefixtures("there")
def test_a_state_and_weights_may_be_arrays() -> None:
    run = halite.load_run("run")
    bundle, state = halite.compile(run.recipe), halite.load_tensors(run.state)
    weights = bundle.convert(state, weights_only=True)
    expected, said = halite.evaluate(run), halite.generate(run, "the ", tokens=6, seed=1)
    forms: list[dict[str, Any]] = [{"state": state}, {"weights": weights}]
    for given in forms:
        assert halite.evaluate(bundle, **given) == expected
        assert halite.generate(bundle, "the ", tokens=6, seed=1, **given) == said
    with pytest.raises(halite.Error, match="model.norm.weight"):
        halite.evaluate(bundle, weights={name: array for name, array in weights.items() if name != "model.norm.weight"})


@pytest.mark.usefixtures("there")
def test_arrays_are_measured_as_files_are() -> None:
    (expected,) = halite.evaluate("run", data="other.txt")
    text = np.frombuffer(Path("other.txt").read_bytes(), np.uint8)
    # Rows overlap by the token that is a label of one and the first of the next.
    rows = np.stack([text[at : at + 9] for at in range(0, len(text) - 8, 8)])
    (found,) = halite.evaluate("run", data=rows)
    assert (found.data, found.loss, found.counted) == ("data", expected.loss, expected.counted)
    one, other = halite.evaluate("run", data={"one": iter([rows[:4], rows[4:6]]), "other": [rows]})
    assert (one.data, one.counted, other.loss) == ("one", 6 * 8, expected.loss)
    with pytest.raises(halite.Error, match=r"batch 0 of `data` is `float64\[2, 9\]`"):
        halite.evaluate("run", data=np.zeros((2, 9)))

    class Gone(Exception):
        pass

    def gone() -> Any:
        yield rows[:2]
        raise Gone

    with pytest.raises(Gone):
        halite.evaluate("run", data=gone())


@pytest.mark.usefixtures("there")
def test_a_prompt_may_be_token_ids() -> None:
    expected = halite.generate("run", "the ", tokens=8, seed=2)
    for prompt in ([116, 104, 101, 32], np.frombuffer(b"the ", np.uint8)):
        assert halite.generate("run", prompt, tokens=8, seed=2) == expected  # type: ignore[arg-type]
    with pytest.raises(halite.Error, match="token 1 of the prompt is 300, the model knows 0 to 255"):
        halite.generate("run", [1, 300])


CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 16,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "num_hidden_layers": 1,
    "intermediate_size": 16,
    "max_position_embeddings": 8,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "hidden_act": "silu",
}


def test_the_folder_of_a_checkpoint_of_transformers_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "llama"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    bundle = halite.compile(folder / "config.json")
    halite.save_tensors(folder / "model.safetensors", bundle.convert(bundle.init(seed=3), weights_only=True))
    Path("text.txt").write_text("the quick brown fox " * 30)
    (found,) = halite.evaluate(folder, data="text.txt")
    assert found == halite.evaluate(bundle, weights=folder, data="text.txt")[0]
    assert abs(found.loss - np.log(256)) < 0.1
    texts = halite.generate(str(folder), "the ", tokens=5, seed=1)
    assert texts == halite.generate(bundle, "the ", tokens=5, seed=1, weights=folder)
    raw = said("eval", str(folder), "--data", "text.txt")["data"]
    assert as_said([found]) == raw


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"greedy": True, "tokens": 12}, ["--greedy", "--tokens", "12"]),
        ({"tokens": 12, "seed": 7, "samples": 3}, ["--tokens", "12", "--seed", "7", "--samples", "3"]),
        (
            {"tokens": 30, "temperature": 0.8, "top_p": 0.9, "stop": [" ", "q"], "samples": 2},
            ["--tokens", "30", "--temperature", "0.8", "--top-p", "0.9", "--stop", " ", "--stop", "q", "--samples", "2"],
        ),
    ],
)
def test_texts_are_those_of_the_command(options: dict[str, Any], arguments: list[str]) -> None:
    expected = [each["text"] for each in said("generate", "run", "--prompt", "the ", *arguments)["samples"]]
    assert halite.generate("run", "the ", **options) == expected
    assert len(expected) == options.get("samples", 1) and any(expected)
    assert halite.generate("recipe.toml", "the ", state="run/state.safetensors", **options) == expected


@pytest.mark.usefixtures("there")
def test_a_text_ends_where_it_is_told_to() -> None:
    (whole,) = halite.generate("run", "the ", tokens=30, seed=3)
    stop = whole[4:6]
    assert halite.generate("run", "the ", tokens=30, seed=3, stop=stop) == [whole[: whole.index(stop)]]
    assert halite.generate("run", "the ", tokens=0) == [""]


@pytest.mark.usefixtures("there")
def test_ctrl_c_or_a_function_that_is_told_ends_it() -> None:
    class Stop(Exception):
        pass

    def stop(progress: halite.Progress) -> None:
        raise Stop

    with pytest.raises(Stop):
        halite.generate("run", "the ", tokens=10**6, progress=stop)
    with pytest.raises(Stop):
        halite.evaluate("run", progress=stop)


def test_the_model_of_a_file_is_kept_with_its_run(model: halite.Text) -> None:
    Path("models").mkdir()
    Path("models/bigram.hal").write_text(model.text)
    rows = np.random.default_rng(0).integers(0, 16, (6, 9), np.int32)
    halite.train("models/bigram.hal", [rows], steps=3, output="run")
    Path("models/bigram.hal").unlink()
    Path("text.txt").write_bytes(bytes(range(16)) * 8)
    assert Path("run/bigram.hal").read_text() == model.text
    run = halite.load_run("run")
    assert halite.compile(run.recipe).manifest.model.name == "bigram"


def test_a_run_of_a_model_of_python_has_its_state_alone() -> None:
    m = halite.Model("built")
    tokens = m.batch("tokens", "s32", [2, 9])
    table = m.param("table", [256, 4], init=halite.normal(0.02))
    logits = m.linear(m.embedding(tokens[:, :-1], table), table)
    m.output("logits", logits)
    loss, count = m.cross_entropy(logits, tokens[:, 1:])
    bundle = halite.compile(m.finish(loss, count))
    rows = np.random.default_rng(0).integers(0, 256, (6, 9), np.int32)
    halite.train(bundle, [rows], steps=3, output="run")
    run = halite.load_run("run")
    assert run.update == 3
    with pytest.raises(halite.Error):
        run.recipe  # noqa: B018
    Path("text.txt").write_text("abc" * 40)
    (found,) = halite.evaluate(bundle, state=run.state, data="text.txt")
    assert found.unit == "tokens" and found.counted > 0
    assert len(halite.generate(bundle, "a", state="run", tokens=3, greedy=True)) == 1


# What is done, what is said, and what is advised.
MISTAKES: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: halite.load_run("nothing"), "`nothing` is not the folder of a run", "`halite.train`"),
    (lambda: halite.load_run("bundle"), "`bundle` is not the folder of a run", "`checkpoints`"),
    (lambda: halite.evaluate("bundle"), "no weights are given", "here or as `state`, or a checkpoint as `weights`"),
    (lambda: halite.evaluate("tiny", state="run", data="book.txt"), "the tensor `model.embed_tokens.weight` is `f32[256,16]`", "convert or reshape it"),
    (lambda: halite.evaluate("run", data="no.txt"), "no file matches `no.txt`", "check the path"),
    (lambda: halite.evaluate("run", plugin="no.so"), "`no.so` is not a file", "call `halite.install_plugin()`"),
    (lambda: halite.evaluate("bundle", state="empty"), "`empty` is neither a checkpoint nor", ""),
    (lambda: halite.generate("run", ""), "the prompt has no tokens", "give at least one"),
    (lambda: halite.generate("run", "a", temperature=-1), "`temperature` is -1, expected", "0 takes the most probable"),
    (lambda: halite.generate("run", "a", top_p=2), "`top_p` is 2, expected", "1 takes all tokens"),
    (lambda: halite.generate("run", "a", tokenizer="no.json"), "cannot read `./no.json`", "check the path"),
]


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("at", range(len(MISTAKES)))
def test_wrong_inputs_are_refused_with_what_to_do(at: int) -> None:
    act, message, help = MISTAKES[at]
    Path("empty").mkdir(exist_ok=True)
    with pytest.raises(halite.Error) as caught:
        act()
    error = caught.value
    assert type(error) is halite.Error, "the fault is not ours"
    assert message in error.message
    assert help in error.help
    assert "`--" not in str(error), "what is advised is Python"


def test_without_data_it_is_not_said_what_to_measure_on() -> None:
    halite.train("tiny", [np.zeros((8, 65), np.int32)], steps=1, output="run")
    with pytest.raises(halite.Error, match="no data to measure on") as caught:
        halite.evaluate("run")
    assert caught.value.help == "give files with `data`, or hold data out in the recipe: `data.held_out`"


# What is done, and what is said.
OF_ANOTHER_KIND: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: halite.load_run(3), TypeError, "by the path of its folder, not as a `int`"),  # type: ignore[arg-type]
    (lambda: halite.evaluate("tiny", state="a", weights="b"), TypeError, "not of both"),
    (lambda: halite.evaluate("tiny", batches=0), ValueError, "`batches` is 0, expected a whole number from 1"),
    (lambda: halite.evaluate("tiny", data=[]), ValueError, "`data` is an empty list"),
    (lambda: halite.generate("tiny", 3), TypeError, "`prompt` is a text, or token ids, not a `int`"),  # type: ignore[arg-type]
    (lambda: halite.generate("tiny", [1.5]), TypeError, "`prompt` is a whole number"),  # type: ignore[list-item]
    (lambda: halite.evaluate("tiny", weights=3), TypeError, "`weights` is a path, or arrays by name, not a `int`"),  # type: ignore[arg-type]
    (lambda: halite.evaluate("tiny", weights={"w": 1}, data=3), TypeError, "`data` are files, or arrays, not a `int`"),  # type: ignore[arg-type]
    (lambda: halite.generate("tiny", "a", greedy=True, seed=3), TypeError, "leave `seed` or `greedy` out"),
    (lambda: halite.generate("tiny", "a", samples=0), ValueError, "`samples` is 0"),
    (lambda: halite.generate("tiny", "a", tokens=-1), ValueError, "`tokens` is -1"),
    (lambda: halite.generate("tiny", "a", top_p="x"), TypeError, "`top_p` is a number"),  # type: ignore[arg-type]
    (lambda: halite.generate("tiny", "a", stop=[""]), ValueError, "`stop` has an empty text"),
    (lambda: halite.generate("tiny", "a", stop=[1]), TypeError, "`stop` are texts"),  # type: ignore[list-item]
]


@pytest.mark.parametrize("at", range(len(OF_ANOTHER_KIND)))
def test_values_of_another_kind_are_refused_as_python_does(at: int) -> None:
    act, kind, message = OF_ANOTHER_KIND[at]
    with pytest.raises(kind, match=message):
        act()
