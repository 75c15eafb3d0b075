"""`hd.query`: exact answers for many rows of evidence at once.

`row_query.query` reads the evidence (`row_evidence`), cuts the rows into jobs (`row_jobs`), each of
which is one vectorised elimination (`methods/exact/row_elimination.py`), and gives a `QueryResult`
(`query_result`). Start reading at `row_query.query`.
"""
