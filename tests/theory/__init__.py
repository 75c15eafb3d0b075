"""Tests of `herded.theory`: definitions, theorems and herds on small models."""
