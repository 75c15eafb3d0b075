"""One module for each command of `herded`, each with a function of the command's name.

`herded.cli.main` imports the module of the chosen command and calls that function with the parsed
options; it returns the exit code. `infer.py`, `info.py`, `compare.py` and `many.py` are on model
files, `denoise.py` on pictures, `ner.py` on text; `paper.py` and `live.py` show pages. Arguments
are declared in `infer_arguments.py` (commands on model files), `live_arguments.py` and
`ner_arguments.py`, which import nothing heavy.

Start reading at `infer.py`.
"""
