"""Tests of `herded.paper`: the claims of the paper, its page and its section on names."""
