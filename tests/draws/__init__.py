"""Tests of `herded.draws`: the lemmas of herding, slack, and precision of conditionals."""
