"""Makes the files of token ids beside it: arrays by NumPy, and an indexed data set in the layout that Megatron-LM documents
in `megatron/core/datasets/indexed_dataset.py`."""

import struct
from pathlib import Path

import numpy

here = Path(__file__).parent
documents = [[5, 6, 7, 0], [8, 9, 0], [10] * 20 + [0], [11, 0]]
flat = [token for document in documents for token in document]
for dtype in ["uint16", "uint32", "int32", "int64"]:
    numpy.save(here / f"{dtype}.npy", numpy.array(flat, dtype=dtype))
numpy.save(here / "float32.npy", numpy.array(flat, dtype="float32"))
numpy.save(here / "two.npy", numpy.array([flat, flat], dtype="uint16"))

# The second document is of two sequences.
sequences = [documents[0], documents[1][:1], documents[1][1:], documents[2], documents[3]]
starts = [0, 1, 3, 4, 5]
for code, dtype in [(8, "uint16"), (4, "int32"), (5, "int64")]:
    size = numpy.dtype(dtype).itemsize
    numpy.array(flat, dtype=dtype).tofile(here / f"megatron-{dtype}.bin")
    with open(here / f"megatron-{dtype}.idx", "wb") as index:
        index.write(b"MMIDIDX\x00\x00")
        index.write(struct.pack("<Q", 1))
        index.write(struct.pack("<B", code))
        index.write(struct.pack("<QQ", len(sequences), len(starts)))
        lengths = numpy.array([len(sequence) for sequence in sequences], dtype=numpy.int32)
        index.write(lengths.tobytes(order="C"))
        pointers = numpy.concatenate([[0], numpy.cumsum(lengths[:-1].astype(numpy.int64) * size)]).astype(numpy.int64)
        index.write(pointers.tobytes(order="C"))
        index.write(numpy.array(starts, dtype=numpy.int64).tobytes(order="C"))
