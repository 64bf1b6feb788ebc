"""Python that Ctrl-C ends. Whoever runs the tests in the background has them ignore it, and so what they start."""

from __future__ import annotations

import sys

PYTHON = ["env", "--default-signal=INT", sys.executable]
