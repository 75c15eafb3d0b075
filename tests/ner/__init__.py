"""Tests of `herded.ner`: the recogniser, its bundled model, rendering, scoring and spaCy."""
