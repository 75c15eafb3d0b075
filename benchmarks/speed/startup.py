"""python -m benchmarks.speed.startup: what the first answer of a process costs.

CPU seconds, user and system, of new processes. The first of each kind finds no compiled kernels,
those after it find what it has left; of these the fastest counts. Bytecode is always there, as
after `pip install`.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

REPEATS = 5

# Prints the CPU seconds that Numba has compiled for; kernels within kernels are not counted twice.
COUNTED = """
import atexit, time
from numba.core import event

class Compilers(event.Listener):
    depth, began, seconds = 0, 0.0, 0.0

    def on_start(self, event):
        if self.depth == 0:
            self.began = time.process_time()
        self.depth += 1

    def on_end(self, event):
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.process_time() - self.began

compilers = Compilers()
event.register("numba:compile", compilers)
atexit.register(lambda: print(compilers.seconds))
"""
INFER = "import numpy as np, herded as hd; hd.infer(hd.ising_grid(np.zeros((10, 10)), 0.2){})"
COMMAND = "import sys; from herded.cli.main import main; main({!r})"
TEXT = "Tim Roth met Amanda Plummer in Amsterdam."
MODEL = "MARKOV\n3\n2 2 2\n2\n2 0 1\n2 1 2\n4\n2 1 1 2\n4\n2 1 1 2\n"


def lines() -> Iterator[str]:
    """A table, row by row."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.uai")
        file.write_text(MODEL)
        programs = {
            "`hd.infer(model)` on a grid of 10 x 10": INFER.format(""),
            "`hd.infer(model, hd.HerdedGibbs())` there": INFER.format(", hd.HerdedGibbs()"),
            "`hd.infer(model, hd.Gibbs(herd=64))` there": INFER.format(", hd.Gibbs(herd=64)"),
            "`hd.infer(model, hd.Gibbs(moves=hd.Blocks()))` there": INFER.format(
                ", hd.Gibbs(moves=hd.Blocks()), sweeps=100"
            ),
            "`hd.infer(model, hd.Tempered())` there": INFER.format(", hd.Tempered(), sweeps=100"),
            "`herded infer model.uai`": COMMAND.format(["infer", str(file)]),
            f'`herded ner tag "{TEXT}"`': COMMAND.format(["ner", "tag", TEXT]),
        }
        yield "| CPU seconds | first: compilers | first: all | second process |"
        yield "|---|---|---|---|"
        for number, (name, program) in enumerate(programs.items()):
            kernels = str(Path(folder, str(number)))
            process(program.partition(";")[0], kernels)  # imports: bytecode is written
            first, printed = process(COUNTED + program, kernels)
            second = min(process(program, kernels)[0] for _ in range(REPEATS))
            compilers = float(printed.split()[-1])
            yield f"| {name} | {compilers:.1f} | {first:.1f} | {second:.2f} |"


def process(program: str, kernels: str) -> tuple[float, str]:
    """CPU seconds of a new process that keeps its kernels in `kernels`, and what it prints."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "NUMBA_DISABLE_JIT")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"NUMBA_CACHE_DIR": kernels, "HERDED_CACHE": "1"}
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system, done.stdout


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
