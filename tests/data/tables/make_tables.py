"""Makes the tables in Parquet beside it, by Arrow's own writer. `texts.json` lists the texts of all that are called so.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python make_tables.py
"""

import json
from pathlib import Path

import pyarrow
from pyarrow import parquet

here = Path(__file__).parent

words = "one two three four fünf sechs 七 八 nine ten".split()
texts = [" ".join(words[(number * step) % 10] for step in range(1, 2 + number % 9)) for number in range(50)]
(here / "texts.json").write_text(json.dumps(texts, ensure_ascii=False) + "\n")

ids = pyarrow.array(range(len(texts)))
table = pyarrow.table({"id": ids, "text": texts})
for compression in ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]:
    parquet.write_table(table, here / f"texts-{compression}.parquet", compression=compression, row_group_size=17)

# Pages of a few rows, with sums, in both versions; plain values.
for version in ["1.0", "2.0"]:
    parquet.write_table(
        table,
        here / f"texts-pages-{version}.parquet",
        data_page_version=version,
        data_page_size=64,
        write_batch_size=4,
        use_dictionary=False,
        write_page_checksum=True,
        write_page_index=True,
        row_group_size=30,
    )

# Lengths as differences, and texts as what they do not share with the one before.
for encoding in ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]:
    path = here / f"texts-{encoding.lower().replace('_byte_array', '').replace('_', '-')}.parquet"
    parquet.write_table(table, path, compression="none", use_dictionary=False, column_encoding={"text": encoding}, row_group_size=17)

required = pyarrow.schema([pyarrow.field("text", pyarrow.large_string(), nullable=False)])
parquet.write_table(pyarrow.table({"text": texts}, schema=required), here / "texts-required.parquet")
inside = pyarrow.table({"id": ids, "meta": [{"text": text, "source": "x"} for text in texts]})
parquet.write_table(inside, here / "inside.parquet")

missing = ["one", None, "", "two", b"\xff".decode("latin-1"), "three"]
parquet.write_table(pyarrow.table({"text": missing, "words": [["a"]] * 6, "id": range(6)}), here / "missing.parquet")
binary = pyarrow.array([b"one", b"two\xff", b"three"], pyarrow.binary())
parquet.write_table(pyarrow.table({"text": binary}), here / "binary.parquet")

# A text of 64 MiB and a byte, and a page of more than a GiB, in a few bytes.
long = pyarrow.table({"text": ["one", "a" * ((64 << 20) + 1), "two"]})
parquet.write_table(long, here / "long.parquet", compression="zstd", write_statistics=False, use_dictionary=False)
huge = pyarrow.table({"text": pyarrow.array(["a" * (60 << 20)] * 18, pyarrow.large_string())})
parquet.write_table(huge, here / "huge.parquet", compression="zstd", write_statistics=False, use_dictionary=False)
