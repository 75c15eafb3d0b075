"""Results for people and for other libraries.

`formatting.py` writes a result as text and as HTML for notebooks; `pandas_xarray.py` lays results
out as pandas tables and xarray trees. Methods of `herded.run.result.Result` call these modules when
they are needed; nothing here changes a result.

Start reading at `formatting.py`.
"""
