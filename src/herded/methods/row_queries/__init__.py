"""Exact answers for many rows of evidence at once, in one elimination with an axis of rows.

`row_evidence` reads what rows know and what is asked of them. `row_jobs` cuts the rows into jobs
that know the same variables and fit in memory. `row_elimination` plans and runs one job; its tables
are in `row_tables`. `hd.query` (`run/row_queries`) and Bayes nets (`nets`) call `row_jobs`.
"""
