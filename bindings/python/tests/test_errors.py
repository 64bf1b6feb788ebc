"""Wrong inputs, and how errors look."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import halite
from halite import manifest

MISTAKE = "model m {\n  fn main(x: f32[2]) {\n    y = foo(x)\n    return y, 1.0\n  }\n}\n"


def _folder(name: str, file: str = "", text: str = "{}") -> str:
    Path(name).mkdir()
    if file:
        Path(name, file).write_text(text)
    return name


def _file(name: str, text: str) -> Path:
    Path(name).write_text(text)
    return Path(name)


def _written(bundle: halite.Bundle) -> str:
    bundle.write("bundle")
    return "bundle"


# What is done, what is said, and what is advised.
MISTAKES: list[tuple[Callable[[halite.Bundle], Any], str, str]] = [
    (lambda _: halite.compile("tinny"), "`tinny` is no preset", "did you mean `tiny`?"),
    (lambda _: halite.compile(""), "the path is empty", "name a preset, such as `tiny`, or a file"),
    (lambda _: halite.compile(MISTAKE), "the path has several lines", "give a model as `halite.Text(..)`"),
    (lambda _: halite.compile("no.hal"), "cannot read `no.hal`", "check the path"),
    (lambda _: halite.compile(_folder("empty")), "`empty` is a folder", "ends in `.toml`, `.hal` or `.json`"),
    (lambda _: halite.compile(_folder("hf", "config.json")), "`hf` is a folder", "`hf/config.json`"),
    (lambda b: halite.compile(_written(b)), "which is compiled already", "`halite.Bundle.read(..)`"),
    (lambda _: halite.compile(_file("a.toml", "batch = 0")), "the recipe lacks", "add"),
    (lambda _: halite.compile(halite.Text(" ")), "the model is an empty text", "give it a text"),
    (lambda _: halite.compile(halite.Text(MISTAKE)), "no function or op is named `foo`", "define it"),
    (lambda _: halite.compile(halite.Recipe("batch = ")), "string values must be quoted", "as TOML has it"),
    (lambda _: halite.compile(halite.Recipe({"batch": 3})), "the recipe lacks `model`", "add `[model]`"),
    (lambda _: halite.compile("tiny", roles=["train"]), "there is no role `train`", "choose one of `train_step`"),
    (lambda _: halite.compile("tiny", batch="eight"), "`batch` is a string", "set `batch` to such a number"),
    (lambda _: halite.compile("tiny", batch=float("nan")), "`batch` is NaN", "set `batch` to such a number"),
    (lambda _: halite.compile("tiny", layerz=3), "no config key `layerz`", "did you mean `layers`?"),
    (lambda _: halite.compile("tiny", parallel={"datta": 2}), "unknown key `parallel.datta`", "did you mean `data`?"),
    (lambda _: halite.compile("tiny", target="trn9"), "`target` is `trn9`", "did you mean `trn1`?"),
    (lambda _: halite.check("tiny", target="trn9"), "`target` is `trn9`", "did you mean `trn1`?"),
    (lambda _: halite.inspect("tiny", target="trn9"), "`target` is `trn9`", "did you mean `trn1`?"),
    (lambda _: halite.verify("tiny", role="nope"), "there is no role `nope`", "choose one of `train_step`"),
    (lambda _: halite.verify("tiny", plugin="no.so"), "`no.so` is not a file", "call `halite.install_plugin()`"),
    (lambda _: halite.install_plugin(wheel="no.whl"), "cannot read `no.whl`", "call `halite.install_plugin()` again"),
    (lambda b: b.hlo("nope"), "no module `nope`", "choose one of `train_step`"),
    (lambda b: b.ir("nope"), "no module `nope`", "choose one of `train_step`"),
    (lambda b: b.ir("train_step"), "does not keep the IR", "compile it with `keep_ir=True`"),
    (lambda b: b.init(weights={}), "the weight `model.embed_tokens.weight` is missing", "shape [256,64]"),
    (lambda b: b.init(weights="no.safetensors"), "cannot read `no.safetensors`", "check the path"),
    (lambda b: b.init(weights={"w": ["a"]}), "the array `w` is of `<U1`", "use one of bool"),
    (lambda b: b.convert({"w": [1.0]}), "the bundle has no tensor `w`", "remove it"),
    (lambda b: b.pack({"w": [1.0]}), "the bundle has no tensor `w`", "remove it"),
    (lambda b: b.unpack({}), "there are no tensors to convert", "give the weights of the bundle"),
    (lambda b: b.write(_folder("other", "file")), "a folder with other files", "choose another place"),
    (lambda _: halite.Bundle.read("no"), "it has no `manifest.json`", "make one with"),
    (lambda _: halite.load_tensors(_file("a.safetensors", "no")), "is not a safetensors file", "check the path"),
    (lambda _: halite.save_tensors(_folder("f"), {"a": 1.0}), "`f` is a folder", "name a file in it"),
    (lambda _: manifest.parse("{"), "the manifest is no JSON", "`manifest.json`"),
    (lambda _: manifest.parse('{"version": 3}'), "of version 3, expected 4", "compile the bundle again"),
    (lambda _: manifest.parse('{"version": 4}'), "does not follow the schema", "`manifest.json`"),
]


@pytest.mark.parametrize("at", range(len(MISTAKES)))
def test_wrong_inputs_are_refused_with_what_to_do(at: int, tiny: halite.Bundle) -> None:
    act, message, help = MISTAKES[at]
    with pytest.raises(halite.Error) as caught:
        act(tiny)
    error = caught.value
    assert type(error) is halite.Error, "the fault is not ours"
    assert message in error.message
    assert help in error.help
    assert error.message in str(error) and error.help in str(error) and error.code in str(error)


# What is done, the kind of exception, and what is said.
OF_ANOTHER_KIND: list[tuple[Callable[[halite.Bundle], Any], type[Exception], str]] = [
    (lambda _: halite.compile(3), TypeError, "expected the name of a preset, a path, .* not a `int`"),  # type: ignore[arg-type]
    (lambda _: halite.compile(None), TypeError, "not a `NoneType`"),  # type: ignore[arg-type]
    (lambda _: halite.compile(b"tiny"), TypeError, "not a `bytes`"),  # type: ignore[arg-type]
    (lambda _: halite.compile({}), TypeError, r"given as `halite.Recipe\(..\)`"),  # type: ignore[arg-type]
    (lambda b: halite.compile(b), TypeError, "a `Bundle` is compiled already"),  # type: ignore[arg-type]
    (lambda _: halite.Text(3), TypeError, "the model is a text, not a `int`"),  # type: ignore[arg-type]
    (lambda _: halite.Recipe({3: 3}), TypeError, "the keys of a recipe are texts, not 3"),  # type: ignore[dict-item]
    (lambda _: halite.compile("tiny", roles="train_step"), TypeError, "`roles` is a list of names"),
    (lambda _: halite.compile("tiny", roles=[]), ValueError, "`roles` is an empty list: leave it out"),
    (lambda _: halite.compile("tiny", roles=[3]), TypeError, "and has a `int`"),  # type: ignore[list-item]
    (lambda _: halite.compile("tiny", batch=None), TypeError, "`batch` is None: leave the key out"),
    (lambda _: halite.compile("tiny", batch={1}), TypeError, "`batch` is a `set`, expected a number"),
    (lambda _: halite.compile("tiny", parallel={}), ValueError, "`parallel` is an empty mapping"),
    (lambda _: halite.compile("tiny", **{"a=b": 1}), TypeError, "the key of an override is a name"),  # type: ignore[arg-type]
    (lambda _: halite.compile(halite.load("tiny"), seq=4), TypeError, "give `seq=4` and other overrides to `halite.load`"),
    (lambda b: halite.inspect(b, seq=4), TypeError, "leave `seq` out, or give the recipe"),
    (lambda _: halite.inspect("tiny", depth=0), ValueError, "`depth` is 0, expected a whole number from 1"),
    (lambda _: halite.verify("tiny", seed=-1), ValueError, "`seed` is -1, expected a whole number from 0"),
    (lambda b: b.init(seed="x"), TypeError, "`seed` is a whole number, not a `str`"),  # type: ignore[arg-type]
    (lambda b: b.init(seed=1, weights={}), TypeError, "from a `seed` or from `weights`"),
    (lambda b: b.init(weights=[1]), TypeError, "tensors are a mapping"),  # type: ignore[arg-type]
    (lambda b: b.convert({}, to="x"), ValueError, "`to` is 'x', expected \"model\" or \"bundle\""),  # type: ignore[arg-type]
    (lambda b: b.convert({}, dtype="s32"), ValueError, "`dtype` is 's32', expected \"bf16\""),
    (lambda _: halite.save_tensors("a", {}, shard_bytes=0), ValueError, "`shard_bytes` is 0, expected"),
    (lambda _: halite.save_tensors("a", {1: [1.0]}), TypeError, "the name of a tensor is a text, not 1"),  # type: ignore[dict-item]
    (lambda b: pickle.dumps(b), TypeError, "write it to a folder"),
    (lambda b: copy.copy(b), TypeError, "write it to a folder"),
]


@pytest.mark.parametrize("at", range(len(OF_ANOTHER_KIND)))
def test_values_of_another_kind_are_refused_as_python_does(at: int, tiny: halite.Bundle) -> None:
    act, kind, message = OF_ANOTHER_KIND[at]
    with pytest.raises(kind, match=message):
        act(tiny)


def test_an_error_knows_its_place() -> None:
    with pytest.raises(halite.Error) as caught:
        halite.compile(halite.Text(MISTAKE, name="mine"))
    error = caught.value
    assert (error.file, error.line, error.column, error.code) == ("<mine.hal>", 3, 9, "E0301")
    assert "3 │     y = foo(x)" in str(error)


def test_every_mistake_is_told() -> None:
    with pytest.raises(halite.Error) as caught:
        halite.compile("tiny", batch=0, seq=0)
    assert [each.message.split("`")[1] for each in caught.value.diagnostics] == ["batch", "seq"]


def test_errors_are_pickled_and_copied() -> None:
    with pytest.raises(halite.Error) as caught:
        halite.compile("tiny", batch=0)
    for other in (pickle.loads(pickle.dumps(caught.value)), copy.deepcopy(caught.value)):
        assert type(other) is halite.Error and other.diagnostics == caught.value.diagnostics
        assert str(other) == str(caught.value)


def test_a_traceback_calls_it_by_its_public_name() -> None:
    program = "import halite; halite.compile('tiny', batch=0)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "\nhalite.Error: \n  × error[E0405]: `batch` is 0" in run.stderr


def test_html_is_escaped_and_has_the_report() -> None:
    with pytest.raises(halite.Error) as caught:
        halite.compile(halite.Text("model m {\n  fn main(x: f32[2]) {\n    y = x < foo(x)\n  }\n}\n"))
    html = caught.value._repr_html_()
    assert "&lt; foo(x)" in html and "< foo" not in html and "\x1b" not in html
    assert "E0301" in html or "E0101" in html


def test_warnings_point_at_the_line_that_compiles() -> None:
    text = Path(__file__).read_text().splitlines()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bundle = halite.compile("tiny", precision="bf16")  # this line
    found = [each for each in caught if each.category is halite.HaliteWarning]
    assert found and len(found) == len(bundle.warnings)
    assert {each.filename for each in found} == {__file__}
    assert {text[each.lineno - 1].split("#")[-1] for each in found} == {" this line"}
    assert all(each.severity == "warning" for each in bundle.warnings)


def test_keywords_are_named_as_python_has_them() -> None:
    """What is wrong in an override is shown where it is, and not as an option of the command line."""
    with pytest.raises(halite.Error) as caught:
        halite.compile("tiny", batch=0)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.file, diagnostic.line, diagnostic.column) == ("batch=0", 1, 7)
    assert "[batch=0:1:7]" in diagnostic.report
    assert "--set" not in diagnostic.report + diagnostic.colored


# What is called, the keyword that is nearly one, and the one that is meant.
NEARLY: list[tuple[Callable[..., Any], str, str]] = [
    (halite.train, "step", "steps"),
    (halite.train, "checkpoint_evry", "checkpoint_every"),
    (halite.compile, "role", "roles"),
    (halite.verify, "sede", "seed"),
    (halite.inspect, "dept", "depth"),
    (halite.check, "progres", "progress"),
]


@pytest.mark.parametrize(("function", "given", "meant"), NEARLY)
def test_a_keyword_that_is_nearly_one_is_named(function: Callable[..., Any], given: str, meant: str) -> None:
    with pytest.raises(halite.Error) as caught:
        function("tiny", **{given: 3})
    assert caught.value.message == f"`{given}` is no keyword of `halite.{function.__name__}`, and no key of the recipe or of the model"
    assert caught.value.help == f"did you mean `{meant}`?"


def test_a_key_of_the_model_is_not_taken_for_a_keyword() -> None:
    with pytest.raises(halite.Error) as caught:
        halite.compile("tiny", layer=3)
    assert "`layers`" in caught.value.help and "keyword" not in caught.value.message
