"""Makes `bpe-2048.json`: a byte-level BPE of 2,048 tokens, trained on the book beside it, with the package `tokenizers`."""

from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

here = Path(__file__).parent
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
trainer = trainers.BpeTrainer(
    vocab_size=2048,
    special_tokens=["<|endoftext|>"],
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    show_progress=False,
)
tokenizer.train([str(here / "pride-and-prejudice.txt")], trainer)
tokenizer.save(str(here / "bpe-2048.json"))
