"""python -m benchmarks [PART] [--peers] [--quick] [--models DIR] [--out DIR]

Print the tables of the docs, or those of one part (`--only PART` is the same). `--peers` adds the
same work done by other packages, as far as they are installed (pip install ".[peers]"). The part
`peers` is the comparison alone, and `speed`, `many-models`, `time-to-accuracy` or `scaling` one
section of it; without `--peers` these compare with samplers written by hand. `--out DIR` also
writes DIR/tables.md, where the sections that were not run stay as they are, and DIR/peers.csv. No
number here is a promise; `python -m benchmarks --out benchmarks/results` makes that page, `python
-m docs.tools.benchmark_plots` the pictures of it, and `python -m benchmarks PART >
benchmarks/results/PART.md` the tables of a part that has a page of its own. That of `chosen-stages`
stays as it is where a change leaves the choices of `auto` alone.
`--updates`, `--rows`, `--every`, `--scores` and `--others` are for `herds`, which says more;
`--others` is also for `ladders`.
"""

import argparse
import os
import sys
from collections.abc import Iterator

from benchmarks.accuracy import (
    bias,
    complete_graphs,
    default_weights,
    ising_marginals,
    readme_figures,
    run_length,
    warning_precision,
    which_method,
)
from benchmarks.denoising import automatic_settings, denoising_methods, gain_by_noise, picture_size
from benchmarks.hard_models import (
    block_moves,
    chosen_stages,
    exact_inference,
    ladder_settings,
    qubo,
    tempering,
    uai_competition,
)
from benchmarks.herds import (
    energy_spread,
    herd_comparison,
    herd_goals,
    herd_speed_goals,
    pair_model_speed,
    phase_orders,
)
from benchmarks.learning import bayesian_models, fit_improvement, ner_speed, parameter_recovery
from benchmarks.peers import comparison_page, row_queries
from benchmarks.speed import (
    callback_models,
    grids_3d,
    large_lattices,
    lattices,
    memory_estimates,
    method_cost,
    recording,
    sparse_graphs,
)
from benchmarks.support import machine, results_store
from herded.errors import HerdedError

PARTS = {
    "accuracy": ising_marginals,
    "complete": complete_graphs,
    "weights": default_weights,
    "warning-precision": warning_precision,
    "denoising": denoising_methods,
    "picture-size": picture_size,
    "qubo": qubo,
    "cost": method_cost,
    "lattice": lattices,
    "grids-3d": grids_3d,
    "sparse": sparse_graphs,
    "ner": ner_speed,
    "learn": parameter_recovery,
    "herd-goals": herd_goals,
}
WITHIN = {  # run alone
    "denoising-gain": gain_by_noise,
    "herd-speed": herd_speed_goals,
    "callback-models": callback_models,
    "pair-herds": pair_model_speed,
    "pictures": automatic_settings,
    "recording": recording,
}
APART = {
    "bayes": bayesian_models,
    "bias": bias,
    "scale": large_lattices,
    "uai": uai_competition,
    "exact": exact_inference,
    "fit": fit_improvement,
    "memory": memory_estimates,
    "blocks": block_moves,
    "chosen-stages": chosen_stages,
    "herds": herd_comparison,
    "herd-orders": phase_orders,
    "herd-spread": energy_spread,
    "which-method": which_method,
    "tempered": tempering,
    "queries": row_queries,
    "readme": readme_figures,
    "run-length": run_length,
    "ladders": ladder_settings,
}  # on pages of their own
PEERS = ("peers", *comparison_page.SECTIONS)
ONE_THREAD = {  # for everybody; read by packages when they are imported, which peers do late
    "OMP_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def header(only: str | None) -> list[str]:
    """What ran, on what."""
    where = machine.sentence(f"python -m benchmarks{f' --only {only}' if only else ''}")
    if only in APART:
        return [APART[only].TITLE, "", where]
    return [
        f"# {only.replace('-', ' ').capitalize()}" if only else "# All tables",
        "",
        where,
        "Times are CPU times of one thread, medians of interleaved repeats. Timings are noisy:",
        "compare ratios.",
    ]


def lines(chosen: argparse.Namespace, noted: results_store.Book) -> Iterator[str]:
    yield from header(chosen.only)
    yield ""
    parts = {**PARTS, **WITHIN, **APART}
    for name in [chosen.only] if chosen.only else PARTS:
        if name == "herds":
            yield from herd_comparison.lines(chosen.quick, wanted(chosen))
        elif name == "ladders":
            yield from ladder_settings.lines(chosen.quick, chosen.others)
            yield ""
        elif name == "uai":
            yield from uai_competition.lines(chosen.quick, chosen.seconds)
            yield ""
        elif name in parts:
            yield from parts[name].lines(chosen.quick)
            yield ""
    if chosen.peers or chosen.only in PEERS:
        only = chosen.only if chosen.only in comparison_page.SECTIONS else None
        yield from comparison_page.lines(chosen.quick, chosen.peers, noted, only)


def wanted(chosen: argparse.Namespace) -> herd_comparison.Wanted:
    """What is asked for of the comparison of herds."""
    rows = None if chosen.rows is None else tuple(chosen.rows)
    return herd_comparison.Wanted(chosen.updates, rows, chosen.every, chosen.scores, chosen.others)


def whole_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(float(number)) for number in text.split(","))


def main() -> None:
    options = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--quick", action="store_true", help="fewer models and repeats")
    options.add_argument("--peers", action="store_true", help="also the same work by others")
    names = [*PARTS, *WITHIN, *APART, *PEERS]
    options.add_argument("part", nargs="?", choices=names, metavar="PART", help=", ".join(names))
    options.add_argument("--only", choices=names, metavar="PART", help="the same")
    options.add_argument("--models", metavar="DIR", help="UAI models; or set HERDED_UAI")
    options.add_argument("--seconds", type=float, help="of CPU, for log Z of UAI models")
    options.add_argument("--updates", type=whole_numbers, help="lengths of runs: 10000,100000")
    options.add_argument("--rows", nargs="+", help="rows whose names begin so: recommend Gibbs")
    options.add_argument("--every", type=int, default=1, help="every so many-th model")
    options.add_argument("--scores", metavar="FILE", help="scores of runs, to go on from")
    options.add_argument("--others", type=int, default=0, help="another set of models: 1, 2, ..")
    options.add_argument("--out", metavar="DIR", help="where to write tables.md, peers.csv")
    chosen = options.parse_args()
    if chosen.part and chosen.only not in (None, chosen.part):
        options.error(f"expected one part, got {chosen.part} and --only {chosen.only}")
    chosen.only = chosen.part or chosen.only
    if chosen.models:
        os.environ["HERDED_UAI"] = chosen.models
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    try:
        run(chosen)
    except HerdedError as problem:
        sys.exit(str(problem))


def run(chosen: argparse.Namespace) -> None:
    """Print, and write. Goals are also held against what earlier runs noted in the same place."""
    noted = results_store.read(chosen.out) if chosen.out else results_store.Book()
    printed = []
    for line in lines(chosen, noted):
        print(line, flush=True)
        printed.append(line)
    if chosen.out:
        results_store.write(chosen.out, printed, noted)


if __name__ == "__main__":
    main()
