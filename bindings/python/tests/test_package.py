"""The package as it is installed: imports, types, examples in its documentation."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import halite
from halite import _native


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_importing_it_imports_nothing_that_takes_time() -> None:
    heavy = ["numpy", "jax", "ml_dtypes", "tqdm", "IPython", "asyncio"]
    program = f"import sys, halite; halite.compile('tiny'); print([name for name in {heavy} if name in sys.modules])"
    assert run(program) == "[]\n"
    assert run("import sys, halite; halite.runtime; halite.Tensors; print('jax' in sys.modules)") == "False\n"


def test_names_are_there() -> None:
    for name in halite.__all__:
        assert getattr(halite, name) is not None
    assert set(halite.__all__) <= set(dir(halite))
    with pytest.raises(AttributeError, match="no attribute `nothing`"):
        halite.nothing  # noqa: B018


def test_the_version_is_that_of_the_package_and_of_the_command() -> None:
    assert halite.__version__ == version("halite-compiler")
    program = os.environ.get("HALITE_PROGRAM")
    if program is not None:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        assert said == f"halite {halite.__version__}\n"


def test_types_are_shipped() -> None:
    folder = Path(halite.__file__).parent
    assert (folder / "py.typed").is_file()
    stub = (folder / "_native.pyi").read_text()
    for name in (name for name in dir(_native) if not name.startswith("__")):
        assert f"class {name}:" in stub or f"def {name}(" in stub or f"\n{name}: " in stub, name
        own = getattr(_native, name)
        for method in vars(own) if isinstance(own, type) else ():
            if not method.startswith("__"):
                assert f"def {method}(" in stub, f"{name}.{method}"


def modules() -> list[str]:
    found = pkgutil.iter_modules(halite.__path__, "halite.")
    return [module.name for module in found if not module.name.startswith(("halite.jax", "halite._native"))]


@pytest.mark.parametrize("name", ["halite", *modules()])
def test_examples_do_what_they_show(name: str) -> None:
    module: ModuleType = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert not failed


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    count = sum(len(test.examples) > 0 for name in modules() for test in finder.find(importlib.import_module(name)))
    assert count >= 10


@pytest.mark.parametrize("document", ["README.md", "../../README.md", "../../docs/guide/python.md", "../../docs/guide/jax.md", "../../docs/guide/jax-model.md"])
def test_documents_are_true(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    monkeypatch.chdir(tmp_path)
    path = Path(__file__).parent.parent / document
    failed, tried = doctest.testfile(str(path), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried and not failed
