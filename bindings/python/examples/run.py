"""Runs notebooks from the first cell to the last, and says what the last ones print: `python run.py NOTEBOOK...`"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

for path in map(Path, sys.argv[1:]):
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(Path.cwd())}}).execute()
    texts = [output.text for cell in notebook.cells for output in cell.get("outputs", ()) if output.output_type == "stream"]
    print(f"{path.name}:", texts[-1].strip().splitlines()[0])
