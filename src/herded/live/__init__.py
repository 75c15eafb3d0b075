"""The live page: herded Gibbs in the browser, and a server that shows it.

The page itself is JavaScript in `page/`, whose sampler computes the same bits as Python.
`server.py` serves it to one reader; `static_files.py` knows its files and can copy them elsewhere.
`api.py` answers what the page asks Python: tables of a model that was dropped (`model_tables.py`)
or of a text that was pasted (`text_tables.py`). `scene_links.py` and `scenes.py` rebuild in Python
what a link of the page shows, to check its hash; `picture_codec.py` does so for pictures.

Start reading at `server.py`, then `scenes.py`.
"""
