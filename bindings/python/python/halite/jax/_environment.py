"""The environment that programs of a bundle run in."""

from __future__ import annotations

import os

from .. import _native
from ..bundle import Bundle


def check_environment(bundle: Bundle) -> None:
    """Refuses the environment of this process where it is not what the manifest says: call it before the first array is made.

    Of a bundle for Neuron these are its variables, the flags of the compiler in `NEURON_CC_FLAGS`, and variables that must not
    be set; the script that `halite env BUNDLE --profile jax --script` prints sets them. Other bundles need nothing.
    """
    _native.check_environment(bundle._native, dict(os.environ))
