"""Tests of the command `herded`, one module for each subcommand and kind of failure."""
