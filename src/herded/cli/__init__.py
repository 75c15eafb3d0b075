"""The command line: parse the arguments, call the library, print the results.

`main.py` builds the parser, runs `commands/<name>.py` and turns errors and signals into exit codes.
A command reads its model (`model_input.py`), plans the run (`run_setup.py`), runs it, and prints
the result (`report.py`, `terminal_output.py`) or writes it (`output_files.py`, `text_io.py`).
`executor_options.py` turns `--engine` and `--workers` into an executor, `reference_errors.py`
compares answers with known marginals, and `command_wording.py` renders errors and diagnostics with
the options of a command.

Start reading at `main.py`, then `commands/infer.py`. Nothing heavy is imported before a command
runs, so that help and mistakes answer at once.
"""
