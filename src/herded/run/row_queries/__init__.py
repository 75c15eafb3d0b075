"""`hd.query`: exact answers for many rows of evidence at once.

`row_query.query` checks its options and runs the jobs of `methods/row_queries`; `query_result` has
the result. Start reading at `row_query.query`.
"""
