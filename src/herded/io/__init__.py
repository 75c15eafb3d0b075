"""Files: models, evidence and answers in formats that other programs read and write.

`model_files.py` (`read_model`) recognises the format of a file and calls its reader: UAI
(`uai.py`), BIF (`bif.py`, `bif_tokenizer.py`), XMLBIF (`xmlbif.py`) or our own arrays
(`model_arrays.py`). `number_parser.py` turns text into numbers; `bayes_net_tables.py` is common to
both formats of Bayes nets. Evidence and answers of the UAI competitions are in `uai_evidence.py`
and `uai_results.py`, pictures in `images.py`. Files are read within a memory limit, and written
completely or not at all.

Start reading at `model_files.py`.
"""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__)
