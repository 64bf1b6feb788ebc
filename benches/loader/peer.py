"""The peer: Hugging Face `datasets` and `tokenizers` make rows of tokens of JSON lines, in order, and count them.

    python peer.py FILE TOKENIZER WIDTH

Documents are streamed, tokenized in batches of 1,000 without offsets (`encode_batch_fast`), and cut into rows of WIDTH tokens that
overlap by one, as Halite's do. Prints tokens and rows as JSON.
"""

import json
import sys

import numpy as np
from datasets import load_dataset
from tokenizers import Tokenizer

BATCH = 1000


def main(file, tokenizer, width):
    tokenizer = Tokenizer.from_file(tokenizer)
    end = tokenizer.token_to_id("<|endoftext|>")
    documents = load_dataset("json", data_files=file, split="train", streaming=True)
    rest = np.empty(0, np.int32)
    tokens = rows = 0
    for batch in documents.iter(BATCH):
        encoded = tokenizer.encode_batch_fast(batch["text"], add_special_tokens=False)
        ids = [rest, *(np.array([*each.ids, end], np.int32) for each in encoded)]
        tokens += sum(map(len, ids[1:]))
        stream = np.concatenate(ids)
        whole = (len(stream) - 1) // (width - 1)
        made = np.lib.stride_tricks.sliding_window_view(stream, width)[:: width - 1][:whole].copy() if whole else ()
        rows += len(made)
        rest = stream[whole * (width - 1) :]
    print(json.dumps({"tokens": tokens, "rows": rows}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
