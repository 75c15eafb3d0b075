"""What a diagnostic is: its kinds, its text, and advice that names options.

A run is judged in `herded.run.diagnostics`; a layout may judge its chains, too. Both describe what
they find by a `Diagnostic` (`diagnostic.py`): a kind from one table, figures, names, and a remedy.
Code branches on kinds and figures, never on words. `sampler_texts.py` and `solver_texts.py` make
the sentence of each kind, `texts.py` finds it. `phrases.py` is text that names options: Python
renders it with keywords (`chains=4`), the command line with its own options (`--chains 4`). Errors
that advise an option carry such a phrase, too.

The docstring of `herded.run.diagnostics` lists what a new diagnostic needs.

Start reading at `diagnostic.py`.
"""
