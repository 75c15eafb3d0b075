"""Tests of `herded.system` and `herded.errors`: exp and log, compilation, files and sizes."""
