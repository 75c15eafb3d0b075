"""Text and corpora: from characters to documents of sentences of words.

`tokenizer.py` splits text by rules. `corpus.py` reads corpora in columns, in the IE-ER markup
(`ieer.py`) or as plain text, through `text_files.py`; the result is the classes of `documents.py`.
`labels.py` translates between labels of words and entities, `word_atoms.py` hashes what words look
like, `lexicon.py` knows lists of names, and `sentence_inputs.py` converts what users pass.

Start reading at `documents.py`, then `tokenizer.py`.
"""
