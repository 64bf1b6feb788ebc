"""Functions of a module replaced for a while."""

from contextlib import contextmanager


@contextmanager
def substituted(module, **functions):
    """Has a module use other functions by the names of its own."""
    plain = {name: getattr(module, name) for name in functions}
    for name, function in functions.items():
        setattr(module, name, function)
    try:
        yield
    finally:
        for name, function in plain.items():
            setattr(module, name, function)
