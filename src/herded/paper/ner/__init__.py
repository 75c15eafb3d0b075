"""Section 4.3 of Bornn et al. (2013): named entity recognition with chains and skip-chains.

`tasks.py` makes models of documents with known labels, `decoder_runs.py` runs each decoder on them
with the same starts and sweeps, and `ner_section.py` writes the tables, figures and verdicts of the
section. `misses_figure.py` and `example.py` draw its pictures.

Start reading at `ner_section.py`.
"""
