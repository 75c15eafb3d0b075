"""One run from start to result: the loop, what it keeps, checkpoints, executors, diagnostics."""
