"""Makes a wheel around a native module that cargo has built, where `maturin build` would build it once more with other features.

python pack.py LIBRARY FOLDER       puts the wheel into the folder
python pack.py --same ONE OTHER     compares two wheels: the names of their files, and what they say of the package
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

HERE = Path(__file__).parent.resolve()
NATIVE = "halite/_native.abi3.so"
"""The name that Python finds the module by, whatever its version is, and that cargo does not give."""


def make(library: Path, folder: Path) -> None:
    """Metadata as maturin writes them, the Python files, and the library; the package `wheel` packs them."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        python = sys.executable
        hook = [python, "-m", "maturin", "pep517", "write-dist-info", "--metadata-directory", scratch, "--interpreter", python]
        subprocess.run(hook, cwd=HERE, check=True, stdout=subprocess.DEVNULL)
        ignored = shutil.ignore_patterns("__pycache__", "*.so")
        shutil.copytree(HERE / "python" / "halite", root / "halite", ignore=ignored)
        shutil.copyfile(library, root / NATIVE)
        subprocess.run([python, "-m", "wheel", "pack", scratch, "--dest-dir", str(folder)], check=True)


def compare(one: Path, other: Path) -> None:
    """Fails where the wheels differ in more than the bytes of the module and who packed them.

    The list of crates, which `maturin build` alone adds, is of no use to what is installed.
    """
    found, expected = contents(one), contents(other)
    assert found.keys() == expected.keys(), sorted(found.keys() ^ expected.keys())
    for name, data in expected.items():
        if not name.endswith((NATIVE, "/RECORD")):
            assert found[name] == data, name


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel; of that with its tags, what Python it is for."""
    with ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and "/sboms/" not in name]
        found = {name: archive.read(name) for name in names}
    (tags,) = (name for name in found if name.endswith("/WHEEL"))
    (tag,) = (line for line in found[tags].decode().splitlines() if line.startswith("Tag: "))
    return {**found, tags: tag.rsplit("-", 1)[0].encode()}


if __name__ == "__main__":
    if sys.argv[1] == "--same":
        compare(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        make(Path(sys.argv[1]), Path(sys.argv[2]))
