"""Viterbi."""
