"""Runs on several workers: any `concurrent.futures.Executor`, such as processes or Dask.

`worker_pool.py` sends jobs to an executor and repeats those whose worker died. `remote_chains.py`
advances the chains of one run there, round by round. `batch.py` is `infer_many`: many models,
grouped into batches. Results do not depend on the workers.

Start reading at `worker_pool.py`.
"""
