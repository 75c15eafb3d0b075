"""Tests of lattices of any dimension: kernels, and models on every sampler."""
