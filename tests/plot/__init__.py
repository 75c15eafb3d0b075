"""Tests of `herded.plot`."""
