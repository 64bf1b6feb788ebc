"""Models built in Python: the programs of the same models as texts, lines of Python, mistakes."""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halite
from halite import Model, Tensor, normal, ones, size, zeros
from hlo_wire import positions, without_positions
import llama_model

HERE = Path(__file__).name
LLAMA = Path(__file__).parents[3] / "models" / "llama.hal"


def line() -> int:
    """The line of the caller."""
    return inspect.stack()[1].lineno


def begun() -> tuple[Model, Tensor]:
    m = Model("m")
    return m, m.batch("x", "f32", [4, 6])


def finish(m: Model, y: Tensor) -> halite.BuiltModel:
    return m.finish((y * y).sum(), m.full([], 4.0))


def mistakes(m: Model, y: Tensor) -> list[halite.Diagnostic]:
    with pytest.raises(halite.Error) as raised:
        finish(m, y)
    assert all(Path(mistake.file or "").name == HERE for mistake in raised.value.diagnostics)
    return list(raised.value.diagnostics)


def compiled(model: halite.BuiltModel | halite.Text | Path, **overrides: Any) -> halite.Bundle:
    return halite.compile(model, roles=["train_step"], **overrides)


def step(model: halite.BuiltModel | halite.Text | Path, **overrides: object) -> bytes:
    return compiled(model, **overrides).hlo("train_step")


def body_text(statements: str) -> halite.Text:
    return halite.Text(f"model m {{ fn main(x: f32[4, 6]) {{ {statements} }} }}", name="m")


@pytest.mark.parametrize("overrides", [{}, {"parallel": {"data": 1, "tensor": 2}}, {"precision": "fp32"}], ids=str)
def test_a_model_gives_the_program_of_its_text(overrides: dict[str, object]) -> None:
    found = step(llama_model.build(), **overrides)
    expected = step(LLAMA, **overrides, **llama_model.CONFIG)
    assert without_positions(found) == without_positions(expected)
    assert found != expected, "positions are those of Python"


def test_operands_are_given_by_position_or_by_name() -> None:
    def program(call: Callable[[Model, Tensor, Tensor, Tensor], Tensor]) -> object:
        m, x = begun()
        w, b = m.param("w", [6, 6], init=normal(0.02)), m.param("b", [6], init=normal(0.02))
        return without_positions(step(finish(m, call(m, x, w, b))))

    by_position = program(lambda m, x, w, b: m.linear(x, w, b))
    assert by_position == program(lambda m, x, w, b: m.linear(x, w, bias=b))
    assert by_position != program(lambda m, x, w, b: m.linear(x, w) - b)
    with pytest.raises(halite.Error, match="`linear` has no operand or attribute `bais`"):
        program(lambda m, x, w, b: m.linear(x, w, bais=b))


def test_named_sizes_are_sharded() -> None:
    def sharded(rows: int) -> halite.manifest.Sharding | None:
        m, x = begun()
        y = m.linear(x, m.param("w", [rows, 6], init=normal(0.02)))
        mesh = {"data": 1, "tensor": 2, "shard": {"tensor": ["heads"]}}
        bundle = compiled(finish(m, y), parallel=mesh)
        return next(buffer.sharding for buffer in bundle.manifest.buffers if buffer.name == "w")

    rows = size(heads=4, head_dim=2)
    assert (rows, rows.factors) == (8, (("heads", 4), ("head_dim", 2)))
    sharding = sharded(rows)
    assert sharding is not None and sharding[1] == ()
    (digit,) = sharding[0]
    assert (digit.size, digit.stride) == (2, 4)
    with pytest.raises(halite.Error, match="no dimension of a parameter is `heads`"):
        sharded(8)


def test_layers_that_are_alike_share_a_function() -> None:
    def functions(model: halite.BuiltModel) -> list[str]:
        return re.findall(r"func @([\w.]+)", model.ir)

    shared = llama_model.build()
    assert functions(shared) == ["block", "main"]
    assert shared.ir.count("{callee = @block}") == llama_model.CONFIG["layers"]
    assert functions(llama_model.build(shared=False)) == ["main"]


def test_instructions_name_their_lines() -> None:
    m, x = begun()
    w = m.param("w", [6, 6], init=normal(0.02))
    lines = []
    y = x @ w
    lines.append(line() - 1)
    y = y.tanh()
    lines.append(line() - 1)
    y = y + m.softmax(y, dim=-1)
    lines.append(line() - 1)
    lines.append(line() + 1)
    found = positions(step(finish(m, y[:, None].reshape(4, 6))))
    assert {(HERE, at) for at in lines[:3]} <= found
    assert {file for file, _ in found} == {HERE}


def test_a_cell_of_a_notebook_is_a_file() -> None:
    """Code that stands in no file has its lines from Python, as cells have."""
    name, code = "<cell 1>", "y = x.tanh()\nz = y.reshape(5, 5)\n"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    m, x = begun()
    scope = {"x": x}
    exec(compile(code, name, "exec"), scope)
    with pytest.raises(halite.Error) as raised:
        finish(m, scope["z"])
    mistake = raised.value.diagnostics[0]
    assert (mistake.file, mistake.line, mistake.column) == (name, 2, 1)
    assert "z = y.reshape(5, 5)" in mistake.report


def test_subscripts_of_more_than_64_bits_are_told_at_their_line() -> None:
    m, x = begun()
    y = x[2**80]
    with pytest.raises(halite.Error) as raised:
        finish(m, y)
    mistake = raised.value.diagnostics[0]
    assert "is out of range for size" in mistake.message, mistake.message
    assert "y = x[2**80]" in mistake.report


def test_a_line_without_a_text_is_told() -> None:
    m, x = begun()
    scope = {"x": x}
    exec(compile("\ny = x.reshape(5, 5)", "/nowhere/model.py", "exec"), scope)
    with pytest.raises(halite.Error) as raised:
        finish(m, scope["y"])
    assert raised.value.diagnostics[0].place is None
    assert raised.value.diagnostics[0].notes == ("at `model.py:2`",)


def test_mistakes_come_all_at_once_each_at_its_line() -> None:
    m, x = begun()
    y = x.reshape(5, -1)
    first = line() - 1
    with m.scope("layers.0"):
        z = m.sofmax(x)
        second = line() - 1
    w = m.param("w", [6, 6], init=normal(-1.0))
    found = mistakes(m, (y + z) @ w)
    assert [mistake.line for mistake in found] == [first, second, second + 2]
    assert found[0].message == "no size in place of -1 makes [5, -1] hold the 24 elements of `f32[4,6]`"
    assert "y = x.reshape(5, -1)" in found[0].report
    assert (found[1].code, found[1].help) == ("E0301", "did you mean `softmax`? `halite help softmax` describes it")
    assert found[1].notes == ("in `layers.0`",)
    assert found[2].message == "expected a standard deviation, found `-1.0`"


def test_a_mistake_in_a_loop_is_told_once() -> None:
    m, x = begun()
    for _ in range(3):
        y = m.sofmax(x)
    assert len(mistakes(m, y)) == 1


def test_a_taken_name_says_where_it_was_taken() -> None:
    m, x = begun()
    w = m.param("w", [6], init=ones)
    first = line() - 1
    m.param("w", [6], init=ones)
    (mistake,) = mistakes(m, x * w)
    assert (mistake.message, mistake.line) == ("parameter `w` is declared twice", first + 2)
    assert [(other.line, other.label) for other in mistake.also] == [(first, "first here")]


def test_what_cannot_go_on_raises_the_mistakes_at_once() -> None:
    m, x = begun()
    poisoned = m.sofmax(x)
    assert repr(poisoned) == "<halite.Tensor poisoned>"
    assert repr(poisoned[..., 0] + 1) == "<halite.Tensor poisoned>"
    for ask in (lambda: poisoned.shape, lambda: poisoned.dtype, lambda: tuple(poisoned)):
        with pytest.raises(halite.Error, match="sofmax"):
            ask()


def test_tensors_of_other_models_are_refused() -> None:
    m, x = begun()
    _, other = begun()
    y = x + other
    (mistake,) = mistakes(m, y)
    assert (mistake.message, mistake.line) == ("this tensor is one of another model", line() - 2)


def test_tensors_of_a_function_that_returned_are_refused() -> None:
    m, x = begun()
    kept: list[Tensor] = []

    @m.function
    def f(x: Tensor) -> Tensor:
        kept.append(x.tanh())
        return kept[0]

    y = f(x) + kept[0]
    (mistake,) = mistakes(m, y)
    assert mistake.message == "this tensor is one of a call of `f` that has returned"
    assert (mistake.line, mistake.help) == (line() - 3, "return it from the body of `f`")
    with pytest.raises(halite.Error, match="has returned"):
        kept[0].shape  # noqa: B018


def test_a_body_that_raises_leaves_the_model_as_it_was() -> None:
    m, x = begun()

    def fails(x: Tensor) -> Tensor:
        with m.scope("inner"):
            m.param("w", [6], init=ones)
            raise KeyError("mine")

    with m.scope("outer"):
        with pytest.raises(KeyError, match="mine"):
            m.function("f", fails)(x)
        y = x * m.param("w", [6], init=ones)
    names = [buffer.name for buffer in compiled(finish(m, y)).manifest.buffers if buffer.slot == "weight"]
    assert names == ["outer.w"]


def test_a_body_gives_tensors() -> None:
    m, x = begun()
    with pytest.raises(TypeError, match="the body of `f` gives a tensor, or a tuple or list of tensors, not `3`"):
        m.function("f", lambda x: 3)(x)
    finish(m, x * m.param("w", [6], init=ones))


def test_functions_take_and_give_any_number_of_tensors() -> None:
    m, x = begun()
    w = m.param("w", [6], init=ones)

    @m.function("pair")
    def pair(x: Tensor, times: int, *, shift: Tensor) -> tuple[Tensor, ...]:
        assert times == 2
        return x * times, shift + w, x - 1

    a, b, c = pair(x, 2, shift=x)
    assert [t.shape for t in (a, b, c)] == [(4, 6)] * 3
    many = m.function("many", lambda *xs: list(xs[::-1]))(*[x] * 20)
    assert len(many) == 20
    finish(m, a + b + c + many[3])


def test_scopes_left_out_of_order_are_a_mistake() -> None:
    m, x = begun()
    outer, inner = m.scope("outer"), m.scope("inner")
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    at = line() - 1
    inner.__exit__(None, None, None)
    found = mistakes(m, x)
    assert found[0].message == "scopes are left in another order than they were entered in"
    assert [mistake.line for mistake in found] == [at, at + 2]


OPERATORS: dict[str, tuple[Callable[[Model, Tensor], Tensor], str]] = {
    "arithmetic": (lambda m, x: (1 - x) * 2 / (x + 3.5) - x % 2 + 2 / (1 + x * x), "(1 - x) * 2 / (x + 3.5) - x % 2 + 2 / (1 + x * x)"),
    "power": (lambda m, x: x**2 + 2**x, "x ** 2 + 2 ** x"),
    "steps": (lambda m, x: x[::2, ::-1] * 2, "x[::2, ::-1] * 2"),
    "positions": (lambda m, x: x[:, m.argsort(x[0])], "x[:, argsort(x[0])]"),
    "rows of one": (lambda m, x: x - m.mean(x, -1, True), "x - mean(x, -1, true)"),
    "signs": (lambda m, x: -abs(x), "-abs(x)"),
    "numbers of numpy": (lambda m, x: np.float32(0.5) * x + np.int64(3), "0.5 * x + 3"),  # type: ignore[operator]
    "comparisons": (
        lambda m, x: m.where((x < 1) & ~(x >= -1) | (x == 0), x, 0.0),
        "where(x < 1 and not (x >= -1) or x == 0, x, 0.0)",
    ),
    "more comparisons": (lambda m, x: m.where((0 < x) | (x != 2) & (x <= 7), x, 1.0), "where(x > 0 or x != 2 and x <= 7, x, 1.0)"),
    "products": (lambda m, x: x @ x.transpose(1, 0) @ x, "x @ transpose(x, [1, 0]) @ x"),
    "slices": (lambda m, x: x[1:-1, 0], "x[1:-1, 0]"),
    "dots": (lambda m, x: x[..., -1], "x[:, -1]"),
    "no dots left": (lambda m, x: x[0, ..., -1], "x[0, -1]"),
    "new dimensions": (lambda m, x: x[:, None, 2:], "reshape(x[:, 2:], [4, 1, 4])"),
    "a new dimension after a position": (lambda m, x: x[0, None], "reshape(x[0], [1, 6])"),
    "shapes": (lambda m, x: x.reshape(2, -1).reshape([x.shape[1], 4]).broadcast(2, 6, 4), "broadcast(reshape(reshape(x, [2, -1]), [6, 4]), [2, 6, 4])"),
    "reductions": (lambda m, x: x.mean(-1) + x.max(dims=[1]) + x.sum(1, keep=True).reshape(4), "mean(x, -1) + max(x, dims = [1]) + reshape(sum(x, 1, keep = true), [4])"),
    "types": (lambda m, x: m.iota([4, 6], 1).convert("f32") + m.full([6], 2, type="f32") + x, "convert(iota([4, 6], 1), f32) + full([6], 2, type = f32) + x"),
    "several results": (lambda m, x: m.concat(list(m.split(x, 2, -1))[::-1], 0), "a, b = split(x, 2, -1) y = concat([b, a], 0)"),
    "truth values": (lambda m, x: m.gelu(x, tanh=True), "gelu(x, tanh = true)"),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operations_are_those_of_the_language(name: str) -> None:
    build, text = OPERATORS[name]
    m, x = begun()
    x = x * m.param("w", [6], init=ones)
    y = build(m, x)
    found = step(finish(m, y))
    text = text if "y = " in text else f"y = {text}"
    statements = f"param w: [6] = ones x = x * w {text} return sum(y * y), full([], 4.0)"
    expected = step(body_text(statements))
    assert without_positions(found) == without_positions(expected)


def test_what_python_cannot_say_is_refused_where_it_stands() -> None:
    m, x = begun()
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: bool(x == 1), "no truth value"),
        (lambda: list(x), "not iterated over"),
        (lambda: x[x, x], "one subscript at most"),
        (lambda: x["a"], "integer"),  # type: ignore[index]
        (lambda: x[..., ...], "once"),
        (lambda: x + None, "expected a tensor"),  # type: ignore[operator]
        (lambda: m.softmax(object()), "expected a tensor"),
        (lambda: m.softmax({"x": x}), "found `dict`"),
        (lambda: np.ones(6, np.float32) * x, "expected a tensor"),
        (lambda: m.setting("a", [1]), "a setting is"),  # type: ignore[arg-type]
    ]
    for wrong, words in refused:
        with pytest.raises(TypeError, match=words):
            wrong()
    nested: list[object] = []
    nested.append(nested)
    with pytest.raises(ValueError, match="nest more than"):
        m.concat(nested, 0)
    with pytest.raises(ValueError, match="did you mean `s32`"):
        m.batch("y", "s3", [1])
    with pytest.raises(ValueError, match="at least 1"):
        size(heads=0)
    finish(m, x * m.param("w", [6], init=ones))


def test_settings_and_requirements() -> None:
    m, x = begun()
    m.setting("width", 6)
    m.setting("rate", 0.5)
    m.require(True, "never told")
    built = finish(m, x * m.param("w", [6], init=zeros))
    assert compiled(built).manifest.model.config == {"width": 6, "rate": 0.5}
    with pytest.raises(halite.Error, match="width"):
        compiled(built, width=7)
    m.require(False, "`width` is even")
    assert [mistake.message for mistake in mistakes(m, x)][0] == "`width` is even"


def test_overrides_are_those_of_the_default_recipe() -> None:
    built = llama_model.build()
    bundle = compiled(built, optimizer={"adamw": {"lr": 1e-2}}, batch=2)
    assert bundle.manifest.recipe["optimizer"]["adamw"]["lr"] == 1e-2
    with pytest.raises(halite.Error, match="batch"):
        compiled(built, batch=3)
    with pytest.raises(halite.Error, match="optimizr"):
        compiled(built, optimizr={"lr": 1.0})


def test_weights_are_of_the_float_that_is_asked_for() -> None:
    m = Model("m", float="f64")
    x = m.batch("x", "f32", [4, 6])
    assert (x.dtype, m.param("w", [6], init=ones).dtype) == ("f64", "f64")


def test_everything_that_can_be_called_is_listed() -> None:
    m, x = begun()
    assert {"softmax", "cross_entropy", "where", "batch"} <= set(dir(m))
    assert {"tanh", "silu", "shape"} <= set(dir(x))
    assert not hasattr(m, "_repr_html_") and not hasattr(x, "_repr_html_")


def language_model(*, leaks: bool = False) -> halite.BuiltModel:
    m = Model("m")
    tokens = m.batch("tokens", "s32", [4, 17])
    table = m.param("table", [16, 8], init=normal(0.02))
    x = m.embedding(tokens[:, :-1], table)
    if leaks:
        x = m.softmax(x @ m.transpose(x, [0, 2, 1])) @ x
    logits = m.linear(x, table)
    m.output("logits", logits)
    return m.finish(*m.cross_entropy(logits, tokens[:, 1:]))


def test_sizes_that_a_model_was_not_built_for_are_refused() -> None:
    manifest = halite.compile(language_model()).manifest
    assert (manifest.recipe["batch"], manifest.statistics.tokens_per_step) == (4, 4)
    assert halite.compile(language_model(), batch=4, seq=16).manifest.statistics.tokens_per_step == 64
    assert halite.compile(language_model(), batch=2, parallel={"data": 2}).manifest.buffers[0].shape == (4, 17)
    for stated, message in (
        ({"batch": 8}, "the recipe states 8 sequences in all, the batches of the model have [4] there"),
        ({"seq": 99}, "the recipe states 99 positions, the batches of the model have [17] there"),
        ({"batch": 4, "parallel": {"data": 2}}, "the recipe states 8 sequences in all"),
    ):
        with pytest.raises(halite.Error) as raised:
            halite.compile(language_model(), **stated)
        assert raised.value.message.startswith(message), raised.value.message


def test_a_leak_names_its_line() -> None:
    with pytest.raises(halite.Error) as raised:
        halite.compile(language_model(leaks=True))
    (first, *_) = raised.value.diagnostics
    (note,) = [note for note in first.notes if "from here on" in note]
    lines, start = inspect.getsourcelines(language_model)
    at = start + next(number for number, text in enumerate(lines) if "softmax" in text)
    assert note.startswith(f"`softmax` at `{HERE}:{at}`"), note


def test_a_count_may_be_a_number() -> None:
    m, x = begun()
    built = m.finish((x @ m.param("w", [6, 1], init=normal(0.1))).sum(), 4)
    assert compiled(built).manifest.statistics.parameters == 6
    m, x = begun()
    with pytest.raises(TypeError, match="the loss is a `NoneType`, expected a scalar `Tensor`"):
        m.finish(None, 4)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`init` is `0.02`, expected how it starts"):
        m.param("w", [6], init=0.02)  # type: ignore[arg-type]


def test_a_built_model_is_not_verified_in_another_type() -> None:
    with pytest.raises(halite.Error, match="give the model as a text"):
        halite.verify(language_model())
