"""Makes the files of token ids beside it, each by the library that its format is of: arrays by NumPy, indexed data sets by Megatron's
own builder. `many.json` lists the documents of the sets that are called so.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python make_tokens.py
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy
import torch
from megatron.core.datasets.indexed_dataset import IndexedDatasetBuilder

here = Path(__file__).parent


def indexed(name: str, dtype: str, documents: Sequence[Sequence[Sequence[int]]], *, after: str = "") -> None:
    """An indexed data set of documents, each of one or several sequences, which follow those of the set `after`."""
    builder = IndexedDatasetBuilder(str(here / f"{name}.bin"), dtype=numpy.dtype(dtype).type)
    if after:
        builder.add_index(str(here / after))
    for document in documents:
        for sequence in document:
            builder.add_item(torch.tensor(sequence, dtype=torch.int64))
        builder.end_document()
    builder.finalize(str(here / f"{name}.idx"))


def drawn(count: int) -> list[list[list[int]]]:
    """Documents of up to four sequences, some of them without a token, of ids of `bpe-2048.json`."""
    random = numpy.random.default_rng(2048)
    sizes = [random.integers(0, 12, random.integers(1, 5)) for _ in range(count)]
    return [[random.integers(0, 2048, size).tolist() for size in document] for document in sizes]


documents = [[[5, 6, 7, 0]], [[8], [9, 0]], [[10] * 20 + [0]], [[11, 0]]]
flat = [token for document in documents for sequence in document for token in sequence]
for dtype in ["uint16", "uint32", "int32", "int64"]:
    numpy.save(here / f"{dtype}.npy", numpy.array(flat, dtype=dtype))
numpy.save(here / "float32.npy", numpy.array(flat, dtype="float32"))
numpy.save(here / "two.npy", numpy.array([flat, flat], dtype="uint16"))
for dtype in ["uint16", "int32", "int64"]:
    indexed(f"megatron-{dtype}", dtype, documents)

many = drawn(60)
for dtype in ["uint16", "int32"]:
    indexed(f"many-{dtype}", dtype, many)
indexed("first", "int32", many[:25])
indexed("many-merged", "int32", many[25:], after="first")
for end in ["bin", "idx"]:
    (here / f"first.{end}").unlink()
listed = [sum(document, []) for document in many]
numpy.save(here / "many.npy", numpy.array(sum(listed, []), dtype="uint16"))
(here / "many.json").write_text(json.dumps(listed) + "\n")
