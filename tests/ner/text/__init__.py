"""Tests of `herded.ner.text`: corpora, labels and the tokenizer."""
