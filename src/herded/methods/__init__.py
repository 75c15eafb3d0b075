"""Methods: one file for each sampler and each solver, all with the same interface."""
