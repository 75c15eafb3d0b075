"""Programs that fill pages: outputs of commands, notebooks and pictures.

`refresh_pages` runs the commands that pages show and writes what they print. `transcripts`
does so for Python, `notebooks` turns pages into notebooks. `page_pictures`,
`denoising_animation` and `benchmark_plots` draw pictures.
"""
