"""The live page: herded Gibbs in the browser, and a server for it.

The page itself is JavaScript in `page/`, whose sampler matches Python bit for bit. `server.py`
serves it to one reader; `static_files.py` lists its files and can copy them elsewhere. `api.py`
answers the page's requests to Python: tables of a dropped model (`model_tables.py`) or of a pasted
text (`text_tables.py`). `scene_links.py` and `scenes.py` rebuild in Python the run that a link of
the page shows, to check its hash; `picture_codec.py` does so for pictures.

Start reading at `server.py`, then `scenes.py`.
"""
