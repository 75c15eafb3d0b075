"""Measurements of accuracy and speed against exact answers and other packages.

`python -m benchmarks PART` prints the tables of one part; `__main__.py` lists the parts. Each
part is a module with a function `lines` that yields lines of Markdown. Folders are questions:
`accuracy`, `herds`, `speed`, `hard_models`, `learning`, `denoising` and `peers`. `support` has
what they share, `results` the tables that were printed. `compare_revisions` runs a part on two
revisions in alternation. Start reading at `__main__.py`.
"""
