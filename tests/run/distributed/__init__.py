"""Tests of chains and models that run on executors."""
