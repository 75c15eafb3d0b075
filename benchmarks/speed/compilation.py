"""python -m benchmarks.speed.compilation: what each step around Numba saves.

CPU seconds, user and system, of new processes: the first finds no compiled kernels, the second
finds what the first has left. Each row leaves out one step, which is replaced before the program
runs. All rows take turns, and the fastest of their repeats counts.

`--repeats N` is how many rounds there are (a round compiles everything once for each row), and
`--steps NAME ..` picks rows.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence

from benchmarks.speed.startup import INFER, process
from benchmarks.support.machine import sentence

JIT = "import herded.system.compilation.jit as jit\n"
# What a program begins with so that a step is left out.
STEPS = {
    "nothing": "",
    "kernels of kernels without machine code": JIT
    + """
import herded.system.compilation.inner_kernels as inner
from numba.core.caching import CompileResultCacheImpl
from numba.core.compiler import Compiler
inner.InnerCompiler, inner.InnerCacheImpl = Compiler, CompileResultCacheImpl
""",
    "kernels of kernels without an entry from Python": JIT
    + """
wrap = jit._wrap
jit._wrap = lambda function, inner: wrap(function, False)
""",
    "kept kernels loaded without Numba's tables": JIT
    + """
def usual(kind):
    from numba.core.caching import FunctionCache
    return FunctionCache if kind is None else type("Cache", (FunctionCache,), {"_impl_class": kind})
jit._function_cache = usual
""",
    "no import of SciPy": JIT + "jit._avoid_scipy_import = lambda: None\n",
    "no garbage collection while compiling": JIT
    + """
class Collecting(jit._Compilers):
    def on_start(self, event):
        super().on_start(event)
        jit.gc.enable()
jit._COMPILERS = Collecting()
""",
    "no garbage collection while importing Numba": JIT
    + """
numba = jit._numba
def import_first():
    import numba as first
    return numba()
jit._numba = import_first
import_first.cache_info = numba.cache_info
""",
    "short work as plain Python": JIT + "jit._MAX_PLAIN_STEPS = -1\n",
}
SAMPLE, ENUMERATE = INFER.format(", hd.HerdedGibbs()"), INFER.format(", hd.Exact()")
NOTHING, PLAIN = "nothing", "short work as plain Python"


def rows(steps: Sequence[str]) -> dict[tuple[str, str], str]:
    """Programs by the step that is left out and by what they do."""
    found = {(step, "`HerdedGibbs()`"): STEPS[step] + SAMPLE for step in steps if step != PLAIN}
    # An exact answer needs nothing else of Numba.
    exact = {(step, "`Exact()`"): STEPS[step] + ENUMERATE for step in (NOTHING, PLAIN)}
    return found | (exact if PLAIN in steps else {})


def lines(repeats: int, steps: Sequence[str]) -> Iterator[str]:
    """A table, a row for each step that is left out."""
    programs = rows(steps)
    first = dict.fromkeys(programs, float("inf"))
    second = dict(first)
    for _ in range(repeats):
        for row, program in programs.items():
            with tempfile.TemporaryDirectory() as kernels:
                first[row] = min(first[row], process(program, kernels)[0])
                again = min(process(program, kernels)[0] for _ in range(3))
                second[row] = min(second[row], again)
            print(*row, f"{first[row]:.2f} {second[row]:.2f}", file=sys.stderr, flush=True)
    yield "| left out | method | first process, CPU seconds | second |"
    yield "|---|---|---|---|"
    for row in programs:
        yield f"| {row[0]} | {row[1]} | {first[row]:.2f} | {second[row]:.2f} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS))
    options = parser.parse_args()
    print("# What compilation costs, and what saves it\n")
    print(sentence("python -m benchmarks.speed.compilation"), "\n")
    for line in lines(options.repeats, options.steps):
        print(line, flush=True)
