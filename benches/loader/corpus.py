"""Writes text to measure loaders with, as JSON lines: documents of sentences drawn from the book in `tests/data`.

    python corpus.py MEGABYTES FILE

The same megabytes give the same bytes. A document has from 1 to 80 sentences, about 4 KB in the mean.
"""

import json
import random
import re
import sys
from pathlib import Path

BOOK = Path(__file__).parents[2] / "tests/data/pride-and-prejudice.txt"


def main(megabytes, file):
    sentences = [sentence for sentence in re.split(r"(?<=[.!?;])\s+", BOOK.read_text()) if sentence]
    draw = random.Random(0)
    left = megabytes * 10**6
    with open(file, "w") as lines:
        while left > 0:
            document = " ".join(draw.choices(sentences, k=draw.randint(1, 80)))
            line = json.dumps({"text": document}, ensure_ascii=False) + "\n"
            lines.write(line)
            left -= len(line.encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
