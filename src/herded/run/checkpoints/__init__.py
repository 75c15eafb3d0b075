"""Checkpoints: runs that are saved to a file, and resumed with the same bits.

`save_and_resume.py` says what is saved of a sampler or a solver, and checks everything before it
restores it. `checkpoint_file.py` is the file format: arrays and a JSON header without pickle,
written completely or not at all. `checkpoint_header.py` reads how far a run has come, and with
which method it was started, without loading it.

Arrays are named after fields of `State` and after the classes of recorders, so renaming one of
these changes the format: raise `CHECKPOINT_FORMAT`.

Start reading at `save_and_resume.py`.
"""
