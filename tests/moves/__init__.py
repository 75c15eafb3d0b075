"""Tests of `herded.moves`: block moves and tempering."""
