"""What XLA writes on standard error."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["quiet_xla"]


@contextmanager
def quiet_xla() -> Iterator[None]:
    """XLA logs fatal errors only where it is loaded in here, unless the environment says how much to log."""
    level = "TF_CPP_MIN_LOG_LEVEL"
    if level in os.environ:
        yield
        return
    os.environ[level] = "3"
    try:
        yield
    finally:
        os.environ.pop(level, None)
