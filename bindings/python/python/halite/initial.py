"""How parameters start."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Init",
    "constant",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "lecun_normal",
    "normal",
    "ones",
    "orthogonal",
    "range",
    "truncated_normal",
    "uniform",
    "zeros",
]


@dataclass(frozen=True)
class Init:
    """How a parameter starts; see `zeros`, `ones` and the functions of this module, such as `normal`."""

    kind: str
    numbers: tuple[float, ...] = ()


zeros = Init("zeros")
ones = Init("ones")


def constant(value: float) -> Init:
    """The same number everywhere."""
    return Init("constant", (value,))


def normal(std: float) -> Init:
    """Samples of the normal distribution with mean 0 and this standard deviation."""
    return Init("normal", (std,))


def truncated_normal(std: float) -> Init:
    """The same, where samples beyond two standard deviations are drawn again; `std` is that before this, as in JAX."""
    return Init("truncated_normal", (std,))


def uniform(low: float, high: float) -> Init:
    """Samples that are equally likely from one number to the other."""
    return Init("uniform", (low, high))


def range(start: float, step: float) -> Init:
    """Numbers in equal steps along the last dimension, the same in all others."""
    return Init("range", (start, step))


def orthogonal(gain: float = 1.0) -> Init:
    """A matrix of the first size by all others whose rows, or columns where there are fewer, are orthogonal and of the length `gain`.

    It is made of normal samples (Saxe et al. 2014).
    """
    return Init("orthogonal", (gain,))


def he_normal(fan_in: float) -> Init:
    """Normal samples of the variance `2 / fan_in` (He et al. 2015); `fan_in` is how many products a result sums up."""
    return Init("he_normal", (fan_in,))


def he_uniform(fan_in: float) -> Init:
    """Uniform samples of the variance `2 / fan_in` (He et al. 2015)."""
    return Init("he_uniform", (fan_in,))


def lecun_normal(fan_in: float) -> Init:
    """Normal samples of the variance `1 / fan_in` (LeCun et al. 1998)."""
    return Init("lecun_normal", (fan_in,))


def glorot_normal(fan_in: float, fan_out: float) -> Init:
    """Normal samples of the variance `2 / (fan_in + fan_out)` (Glorot and Bengio 2010)."""
    return Init("glorot_normal", (fan_in, fan_out))


def glorot_uniform(fan_in: float, fan_out: float) -> Init:
    """Uniform samples of the variance `2 / (fan_in + fan_out)` (Glorot and Bengio 2010)."""
    return Init("glorot_uniform", (fan_in, fan_out))
