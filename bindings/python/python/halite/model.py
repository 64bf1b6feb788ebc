"""Models built in Python: each instruction knows the line that made it.

    import halite

    m = halite.Model("bigram")
    tokens = m.batch("tokens", "s32", [4, 17])
    with m.scope("embed"):
        table = m.param("weight", [256, 64], init=halite.normal(0.02))
    x = m.embedding(tokens[:, :-1], table)
    logits = m.linear(x, table)
    m.output("logits", logits)
    loss, count = m.cross_entropy(logits, tokens[:, 1:])
    bundle = halite.compile(m.finish(loss, count))

A mistake does not raise where it is made. It is recorded with its line, its result is poisoned, what depends on that is
skipped in silence, and `Model.finish` raises all mistakes of the run. What cannot go on without a result raises them at
once: asking a poisoned tensor for its shape, or unpacking it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from types import EllipsisType, TracebackType
from typing import Any, NoReturn, SupportsIndex, TypeAlias, overload

from . import _native
from ._place import place
from .initial import Init

__all__ = ["BuiltModel", "Function", "Model", "Scope", "Size", "Tensor", "size"]

Number = bool | int | float
Operand: TypeAlias = "Tensor | Number"
Subscript: TypeAlias = "SupportsIndex | slice | Tensor | EllipsisType | None"
Subscripts: TypeAlias = "Subscript | tuple[Subscript, ...]"
Shape: TypeAlias = Sequence[SupportsIndex]


class Size(int):
    """A size that knows the named factors that it is a product of; see `size`."""

    factors: tuple[tuple[str | None, int], ...]


def size(*factors: int, **named: int) -> Size:
    """A size as a product of factors, major first: `size(heads=4, head_dim=8)`, `size(3, heads=4)`.

    The dimension of a parameter that is declared with it keeps their names, by which recipes say along which dimensions
    weights are sharded.
    """
    unnamed: list[tuple[str | None, int]] = [(None, operator.index(factor)) for factor in factors]
    all_factors = (*unnamed, *((name, operator.index(factor)) for name, factor in named.items()))
    for name, factor in all_factors:
        if factor < 1:
            found = factor if name is None else f"{name}={factor}"
            raise ValueError(f"a factor of a size is at least 1, found {found}")
    made = Size(prod(factor for _, factor in all_factors))
    made.factors = all_factors
    return made


class Tensor:
    """A tensor of a model under way.

    It has the operators `+ - * / % **` with tensors and numbers on either side, `@`, comparisons, `&`, `|` and `~` on truth
    values and integers, and every builtin and composite as a method: `x.softmax(dim=-1)` is `m.call("softmax", x, dim=-1)`.

    Two operands have one element type; a number takes that of the tensor. Two tensors are repeated to one shape as in NumPy:
    shapes are aligned at their last dimensions, and what is missing or of size 1 is repeated. Dimensions are counted from the end
    when negative.

    A tensor is of one function, or of what is outside of all. Where it is used in a function inside of that, it is a further
    argument there; once its function has returned, using it is a mistake.
    """

    __slots__ = ("_handle", "_model")
    __array_ufunc__ = None
    """NumPy leaves operators to this class."""

    def __init__(self, model: Model, handle: _native.Handle) -> None:
        self._model = model
        self._handle = handle

    def _type(self) -> tuple[str, list[int]]:
        native = self._model._native
        found = native.ty(self._handle, place())
        if found is None:
            native.check()
            raise AssertionError("a tensor without a type is the result of a mistake")
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes. Raises the mistakes so far where it is the result of one."""
        return tuple(self._type()[1])

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> str:
        """Its element type, such as `f32`."""
        return self._type()[0]

    def named(self, name: str) -> Tensor:
        """The same tensor with a name to be printed under, where it has none."""
        self._model._native.named(self._handle, name)
        return self

    def reshape(self, *sizes: SupportsIndex | Shape) -> Tensor:
        """In another shape with as many elements, in row-major order; one size may be left open as -1."""
        return self._one("reshape", _flat(sizes))

    def transpose(self, *order: SupportsIndex | Sequence[SupportsIndex]) -> Tensor:
        """With its dimensions in this order: dimension `i` of the result is `order[i]` of this tensor."""
        return self._one("transpose", _flat(order))

    def broadcast(self, *sizes: SupportsIndex | Shape) -> Tensor:
        """Repeated to a shape; dimensions are aligned at the last one, a size of 1 is repeated too."""
        return self._one("broadcast", _flat(sizes))

    def convert(self, dtype: str) -> Tensor:
        """In another element type; what a narrower float cannot hold is rounded to the nearest, ties to even."""
        return self._one("convert", dtype)

    def _one(self, op: str, *args: object) -> Tensor:
        return self._model._call(op, (self, *args), {})  # type: ignore[no-any-return]

    def __getattr__(self, op: str) -> Callable[..., Any]:
        if op.startswith("_"):
            raise AttributeError(op)

        def call(*args: object, **named: object) -> Any:
            return self._model._call(op, (self, *args), named)

        return call

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._model._native.ops()})

    def __repr__(self) -> str:
        return f"<halite.Tensor {self._model._native.describe(self._handle) or 'poisoned'}>"

    def _binary(self, symbol: str, x: object, y: object) -> Tensor:
        return Tensor(self._model, self._model._native.binary(symbol, x, y, place()))

    def __add__(self, other: Operand) -> Tensor:
        return self._binary("+", self, other)

    def __radd__(self, other: Operand) -> Tensor:
        return self._binary("+", other, self)

    def __sub__(self, other: Operand) -> Tensor:
        return self._binary("-", self, other)

    def __rsub__(self, other: Operand) -> Tensor:
        return self._binary("-", other, self)

    def __mul__(self, other: Operand) -> Tensor:
        return self._binary("*", self, other)

    def __rmul__(self, other: Operand) -> Tensor:
        return self._binary("*", other, self)

    def __truediv__(self, other: Operand) -> Tensor:
        return self._binary("/", self, other)

    def __rtruediv__(self, other: Operand) -> Tensor:
        return self._binary("/", other, self)

    def __mod__(self, other: Operand) -> Tensor:
        return self._binary("%", self, other)

    def __rmod__(self, other: Operand) -> Tensor:
        return self._binary("%", other, self)

    def __matmul__(self, other: Tensor) -> Tensor:
        return self._binary("@", self, other)

    def __and__(self, other: Operand) -> Tensor:
        return self._binary("&", self, other)

    def __rand__(self, other: Operand) -> Tensor:
        return self._binary("&", other, self)

    def __or__(self, other: Operand) -> Tensor:
        return self._binary("|", self, other)

    def __ror__(self, other: Operand) -> Tensor:
        return self._binary("|", other, self)

    def __pow__(self, other: Operand) -> Tensor:
        return self._binary("**", self, other)

    def __rpow__(self, other: Operand) -> Tensor:
        return self._binary("**", other, self)

    def __lt__(self, other: Operand) -> Tensor:
        return self._binary("<", self, other)

    def __le__(self, other: Operand) -> Tensor:
        return self._binary("<=", self, other)

    def __gt__(self, other: Operand) -> Tensor:
        return self._binary(">", self, other)

    def __ge__(self, other: Operand) -> Tensor:
        return self._binary(">=", self, other)

    def __eq__(self, other: Operand) -> Tensor:  # type: ignore[override]
        return self._binary("==", self, other)

    def __ne__(self, other: Operand) -> Tensor:  # type: ignore[override]
        return self._binary("!=", self, other)

    __hash__ = object.__hash__

    def __neg__(self) -> Tensor:
        return Tensor(self._model, self._model._native.negate(self._handle, place()))

    def __invert__(self) -> Tensor:
        return Tensor(self._model, self._model._native.invert(self._handle, place()))

    def __abs__(self) -> Tensor:
        return self._one("abs")

    def __getitem__(self, subscripts: Subscripts) -> Tensor:
        """Leading dimensions as the subscripts say: `x[0]`, `x[:, 1:-1]`, `x[..., -1]`, `x[:, None]`, `x[::-1]`.

        One of them may be a tensor of whole numbers: `table[ids]` has what these name in place of the dimension.
        """
        if self._handle.poisoned:
            return self
        items = _whole(subscripts if isinstance(subscripts, tuple) else (subscripts,), self)
        tensors = [item for item in items if isinstance(item, Tensor)]
        if len(tensors) > 1:
            raise TypeError("one subscript at most is a tensor: index by one after the other, `x[i][:, j]`")
        if tensors:
            at = next(at for at, item in enumerate(items) if isinstance(item, Tensor))
            whole: list[Part] = [slice(None) if isinstance(item, Tensor) else item for item in items]
            kept = sum(item is None or isinstance(item, slice) for item in whole[:at])
            return self[tuple(whole)]._one("take", tensors[0], kept)
        parts = [_part(item) for item in items if item is not None and not isinstance(item, Tensor)]
        sliced = Tensor(self._model, self._model._native.slice(self._handle, parts, place()))
        return sliced._expanded(items) if any(item is None for item in items) and not sliced._handle.poisoned else sliced

    def _expanded(self, items: Sequence[Part]) -> Tensor:
        """What was sliced, with a dimension of size 1 where an item is `None`."""
        sizes = list(self.shape)
        kept = [item for item in items if item is None or isinstance(item, slice)]
        for at, item in enumerate(kept):
            if item is None:
                sizes.insert(at, 1)
        return self.reshape(sizes)

    def __iter__(self) -> Iterator[Tensor]:
        self._type()
        raise TypeError("a tensor is not iterated over: `m.split(x, 3, -1)` gives its parts")

    def __bool__(self) -> NoReturn:
        raise TypeError("a tensor has no truth value while the model is built: `m.where(condition, x, y)` chooses by it")


def _flat(sizes: tuple[Any, ...]) -> list[Any]:
    return list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else list(sizes)


Part: TypeAlias = "SupportsIndex | slice | Tensor | None"


def _whole(items: Sequence[Subscript], x: Tensor) -> list[Part]:
    """The items with as many whole ranges as `...` stands for."""
    parts: list[Part] = [item for item in items if not isinstance(item, EllipsisType)]
    dots = [at for at, item in enumerate(items) if isinstance(item, EllipsisType)]
    if len(dots) > 1:
        raise TypeError("`...` stands once among subscripts")
    if dots:
        named = sum(part is not None for part in parts)
        parts[dots[0] : dots[0]] = [slice(None)] * (x.ndim - named)
    return parts


def _part(item: SupportsIndex | slice) -> int | tuple[int | None, int | None, int | None]:
    if not isinstance(item, slice):
        return _in_64_bits(item)
    start, stop, step = (end if end is None else _in_64_bits(end) for end in (item.start, item.stop, item.step))
    return start, stop, step


def _in_64_bits(number: SupportsIndex) -> int:
    """The nearest number that fits: no dimension is as long, so that as a subscript it says the same."""
    return max(-(2**63), min(2**63 - 1, operator.index(number)))


class Scope:
    """A scope of a model, entered by `with`."""

    def __init__(self, model: Model, name: str) -> None:
        self._model = model
        self._name = name
        self._entered: list[_native.Scope] = []

    def __enter__(self) -> None:
        self._entered.append(self._model._native.enter_scope(self._name, place()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._model._native.leave_scope(self._entered.pop(), place())


class Function:
    """A function of a model. Calls whose bodies come out alike share it."""

    def __init__(self, model: Model, name: str, body: Callable[..., Any]) -> None:
        self._model = model
        self.name = name
        self.body = body

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Calls it: the tensors among the arguments are its own parameters, what else there is the body takes as it is.

        The body gives a tensor, or a tuple or a list of tensors, and so does the call.
        """
        model, at = self._model, place()
        given = [value for value in (*args, *named.values()) if isinstance(value, Tensor)]
        body, params = model._native.begin_function(self.name, [tensor._handle for tensor in given], at)
        fresh = iter([Tensor(model, param) for param in params])

        def own(value: Any) -> Any:
            return next(fresh) if isinstance(value, Tensor) else value

        try:
            results = self.body(*[own(value) for value in args], **{name: own(value) for name, value in named.items()})
            handles = [tensor._handle for tensor in self._tensors(results)]
        except BaseException:
            model._native.abandon_function(body)
            raise
        returned = [Tensor(model, result) for result in model._native.end_function(body, handles, at)]
        if isinstance(results, Tensor):
            return returned[0]
        return returned if isinstance(results, list) else tuple(returned)

    def _tensors(self, results: object) -> list[Tensor]:
        given = results if isinstance(results, list | tuple) else [results]
        tensors = [result for result in given if isinstance(result, Tensor)]
        if len(tensors) == len(given):
            return tensors
        raise TypeError(f"the body of `{self.name}` gives a tensor, or a tuple or list of tensors, not `{results!r}`")

    def __repr__(self) -> str:
        return f"<halite.Function {self.name}>"


class Model:
    """A model under way. Every builtin and composite of the model language is a method: `m.softmax(x, dim=-1)`.

    What has a name, the model too, is named as in the model language: by letters, digits and `_`, not starting with a digit,
    and by no word of the language. `float` is the element type of weights; where it is `f64`, `f32` means that too.
    """

    def __init__(self, name: str, *, float: str = "f32") -> None:
        self._native = _native.Builder(name, float, place())
        self.name = name

    def batch(self, name: str, dtype: str, shape: Shape) -> Tensor:
        """Data of one step, fed by the host. Batches are declared before parameters, and outside of functions."""
        return Tensor(self, self._native.batch(name, dtype, shape, place()))

    def causal_mask(self, name: str, shape: Shape) -> Tensor:
        """A batch that is declared to be the causal mask, `pred[.., size, size]`: the compiler counts on it.

        The composite of this name, which makes one, is `m.call("causal_mask", size=seq)`.
        """
        return Tensor(self, self._native.causal_mask(name, shape, place()))

    def param(self, name: str, shape: Shape, *, init: Init) -> Tensor:
        """A parameter in the element type of weights. The scopes around it prefix its name; full names differ."""
        return Tensor(self, self._native.param(name, shape, _start(init), place()))

    def buffer(self, name: str, shape: Shape, *, init: Init) -> Tensor:
        """State that the model reads as a parameter and that no update changes. Checkpoints have it."""
        return Tensor(self, self._native.buffer(name, shape, _start(init), place()))

    def output(self, name: str, value: Tensor) -> None:
        """Shows a tensor under a name: it becomes a result of the module `forward`."""
        self._native.output(name, value._handle, place())

    def metric(self, name: str, sum: Tensor | Number, over: Tensor | Number | None = None) -> None:
        """Reports a sum over the batch by a name, divided by another sum where `over` is one; both are scalars.

        Micro-batches and ranks are added up before the division. Where nothing is counted, the metric is 0.
        """
        self._native.metric(name, sum, over, place())

    def loss(self, name: str, value: Tensor | Number, weight: float = 1.0) -> None:
        """Adds `weight` times a mean over the batch, a scalar, to the loss, and reports that mean by a name.

        The mean over micro-batches weighs each by the count of the loss.
        """
        self._native.loss(name, value, float(weight), place())

    def setting(self, name: str, value: Number | str) -> None:
        """Notes a setting of the model, which the manifest tells. Where a recipe states it too, the two must agree."""
        self._native.setting(name, value, place())

    def require(self, holds: bool, message: str) -> None:
        """Records a mistake where a requirement does not hold; `message` says what is required."""
        self._native.require(bool(holds), message, place())

    def bidirectional(self) -> None:
        """Says that positions read later ones, so that the model is not held to causality."""
        self._native.bidirectional()

    def scope(self, name: str) -> Scope:
        """A scope, entered by `with`: it prefixes the names of parameters, and instructions say that they come from it.

        One is made of letters, digits, `_` and dots, as `layers.0`.
        """
        return Scope(self, name)

    @overload
    def function(self, name: Callable[..., Any], /) -> Function: ...
    @overload
    def function(self, name: str, body: Callable[..., Any], /) -> Function: ...
    @overload
    def function(self, name: str, /) -> Callable[[Callable[..., Any]], Function]: ...

    def function(self, name: Any, body: Any = None, /) -> Any:
        """A function: `@m.function`, `@m.function("block")` or `m.function("block", body)`.

        The body is run for each call. What it declares is named below the scope of the call. Calls share a function where
        their bodies are alike: of one name, with the same operations, types and attributes, and weights of the same names
        below the scope of the call. One of less than 16 operations, or called from one place, is written where it is called.
        """
        if callable(name):
            return Function(self, name.__name__, name)
        if body is None:
            return lambda body: Function(self, name, body)
        return Function(self, name, body)

    def call(self, op: str, /, *args: object, **named: object) -> Any:
        """Calls a builtin or a composite by name: a tensor, or a tuple of them where it has several results."""
        return self._call(op, args, named)

    def _call(self, op: str, args: Iterable[object], named: dict[str, object]) -> Any:
        results = self._native.call(op, list(args), named, place())
        if results is None:
            return Tensor(self, _native.Handle.poison())
        tensors = tuple(Tensor(self, result) for result in results)
        return tensors[0] if len(tensors) == 1 else tensors

    def __getattr__(self, op: str) -> Callable[..., Any]:
        if op.startswith("_"):
            raise AttributeError(op)

        def call(*args: object, **named: object) -> Any:
            return self._call(op, args, named)

        return call

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._native.ops()})

    def finish(self, loss: Tensor, count: Tensor | float) -> BuiltModel:
        """The model, which returns the loss sum and the count over which it sums, both scalars; the count may be a number.

        Raises `Error` with every mistake that was made, in order, each at its line. The model can be used on: what is added
        later is part of the next one that it finishes.
        """
        if isinstance(count, int | float) and not isinstance(count, bool):
            count = self.call("full", [], float(count))
        if not isinstance(loss, Tensor):
            raise TypeError(f"the loss is a `{type(loss).__name__}`, expected a scalar `Tensor` of this model")
        if not isinstance(count, Tensor):
            raise TypeError(f"the count is a `{type(count).__name__}`, expected a number or a scalar `Tensor` of this model")
        return BuiltModel(self._native.finish(loss._handle, count._handle, place()))

    def __repr__(self) -> str:
        return f"<halite.Model {self.name}>"


class BuiltModel:
    """A model that is finished: what `halite.compile` takes."""

    def __init__(self, native: _native.Built) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._native.name

    @property
    def ir(self) -> str:
        """Its functions as IR text, before all passes."""
        return self._native.ir()

    def __repr__(self) -> str:
        return f"<halite.BuiltModel {self.name}>"


def _start(init: Init) -> tuple[str, list[float]]:
    """How a parameter starts, for the native module."""
    if not isinstance(init, Init):
        raise TypeError(f"`init` is `{init!r}`, expected how it starts: `halite.normal(0.02)`, `halite.zeros`, `halite.ones`")
    return init.kind, [float(number) for number in init.numbers]
