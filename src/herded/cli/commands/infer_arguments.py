"""The arguments of the commands on model files, in a module of their own for fast help."""

import argparse
import textwrap
from typing import TYPE_CHECKING

from herded.methods.registry import BUILT_IN_METHODS, method_names
from herded.system.memory_limits import bytes_of
from herded.system.suggestions import did_you_mean

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

WEIGHTS = ("blanket", "shared", "pooled", "lazy", "full")


def add_infer(commands: "Subparsers", exit_codes: str) -> None:
    """Add `herded infer`."""
    infer = _add(
        commands,
        exit_codes,
        "infer",
        help="compute marginals, the most probable state or log Z of a model",
        description="Compute the marginals (mar), the most probable state (map) or the normalising "
        "constant (pr) of a model file: UAI, BIF, XMLBIF, .npz or .safetensors.",
        example="herded infer alarm.bif --given HYPOVOLEMIA=TRUE",
    )
    infer.add_argument(
        "--task",
        choices=("mar", "map", "pr"),
        default="mar",
        help="what to compute; default: %(default)s",
    )
    infer.add_argument(
        "--method",
        type=method_name,
        default="auto",
        metavar="METHOD",
        help=f"auto, {', '.join(BUILT_IN_METHODS)}; default: exact where elimination fits in "
        "memory, else herd or herded, whichever suits the model; the output says which and why",
    )
    length = infer.add_mutually_exclusive_group()
    length.add_argument(
        "--sweeps",
        type=int,
        metavar="N",
        help="sweeps of each chain (a herd chosen by auto spreads as many updates over its "
        "members); default: 10000 for samplers, at most 1000 for bp and mean-field",
    )
    length.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="run for S seconds instead of a number of sweeps; a run that --checkpoint resumes "
        "counts them from its first start",
    )
    infer.add_argument(
        "--chains", type=int, metavar="C", help="number of chains or herds; default: 4"
    )
    infer.add_argument(
        "--herd", type=int, metavar="N", help="members of each herd; for herd, gibbs, herded, ..."
    )
    infer.add_argument(
        "--burn-in",
        type=int,
        metavar="N",
        help="sweeps discarded at the start; default: a tenth, at most 1000; 100 with --seconds",
    )
    infer.add_argument(
        "--weights", choices=WEIGHTS, help="weights of herded; chosen by the model if not given"
    )
    infer.add_argument("--slack", type=float, metavar="C", help="slack of herded, from 0 to 64")
    infer.add_argument(
        "--seed", type=int, default=0, metavar="N", help="random seed; default: %(default)s"
    )
    infer.add_argument(
        "--reference",
        metavar="F.MAR",
        help="known marginals; the error is shown, also during the run",
    )
    infer.add_argument(
        "--checkpoint",
        metavar="F",
        help="save the run here at intervals; if the file exists, resume from it with identical "
        "results",
    )
    infer.add_argument(
        "--checkpoint-every",
        type=float,
        default=30.0,
        metavar="S",
        help="seconds between checkpoints; default: %(default)g",
    )
    infer.add_argument(
        "--out",
        metavar="F",
        help="write the result as a UAI file (F.MAR, F.MPE or F.PR, by task) or as F.csv",
    )
    infer.add_argument(
        "--json", action="store_true", help="print one JSON object that holds everything"
    )
    infer.add_argument(
        "--threads", type=int, metavar="N", help="threads; default: one for each core"
    )
    add_engine(infer, "chains")


def add_engine(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--engine` and `--workers`."""
    parser.add_argument(
        "--engine",
        metavar="dask://HOST:PORT",
        help=f"run the {what} on the workers of a Dask scheduler, with identical results",
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help=f"run the {what} in N processes; with --engine: wait for N workers",
    )


def add_info(commands: "Subparsers", exit_codes: str) -> None:
    """Add `herded info`."""
    info = _add(
        commands,
        exit_codes,
        "info",
        help="describe a model file and the methods that can run on it",
        description="Describe the variables, factors, degrees and zeros of a model, its treewidth, "
        "the memory that each kind of weights needs, and which methods can run.",
        example="herded info alarm.bif",
    )
    info.add_argument("--json", action="store_true", help="print one JSON object")


def add_compare(commands: "Subparsers", exit_codes: str) -> None:
    """Add `herded compare`."""
    compare = _add(
        commands,
        exit_codes,
        "compare",
        help="compare the errors of several methods over time",
        description="Run several methods one after another, each for the same time, and measure "
        "the error of their marginals against a reference during the run.",
        example="herded compare grid.uai --methods herded,gibbs --seconds 10 --out curves",
    )
    compare.add_argument(
        "--methods",
        default="herded,gibbs",
        metavar="A,B,..",
        help="methods to compare: herded, gibbs, mean-field, bp or exact; or blanket, shared, "
        "pooled, lazy or full, for herded with these weights; default: %(default)s",
    )
    compare.add_argument(
        "--seconds",
        type=float,
        default=10.0,
        metavar="S",
        help="seconds for each method; default: %(default)g",
    )
    compare.add_argument("--slack", type=float, metavar="C", help="slack of all herded methods")
    compare.add_argument(
        "--seed", type=int, default=0, metavar="N", help="random seed; default: %(default)s"
    )
    compare.add_argument(
        "--reference", metavar="F.MAR", help="known marginals; computed exactly if not given"
    )
    compare.add_argument(
        "--out", metavar="DIR", help="write the errors as CSV and a figure as SVG and PNG"
    )


def _add(
    commands: "Subparsers", exit_codes: str, name: str, help: str, description: str, example: str
) -> argparse.ArgumentParser:
    """Add a command on a model with the arguments that all of them share."""
    parser = commands.add_parser(
        name,
        help=help,
        description=textwrap.fill(description, 80),
        epilog=f"example:\n  {example}\n\n{exit_codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "model", metavar="MODEL", help="model file, gzipped or not; - is standard input"
    )
    parser.add_argument("--evidence", metavar="F", help="a UAI .evid file")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="sample to use if the file has several; from 0"
    )
    parser.add_argument(
        "--given",
        action="append",
        default=[],
        metavar="NAME=STATE",
        help="observed state, by name or number; may be repeated",
    )
    parser.add_argument(
        "--max-memory",
        type=parse_size,
        metavar="BYTES",
        help="memory limit, such as 500M or 2G; default: half of what is free",
    )
    return parser


def method_name(text: str) -> str:
    """Return `text` if it is the name of a method, or auto."""
    if text != "auto" and text not in BUILT_IN_METHODS and text not in method_names():
        names = ", ".join(("auto", *method_names()))
        hint = did_you_mean(text, ("auto", *method_names()))
        raise argparse.ArgumentTypeError(f"expected one of {names}, got {text!r}{hint}")
    return text


def parse_size(text: str) -> float:
    """Read a number of bytes: 1000000, 1e6, 500M, 2 GiB."""
    value = bytes_of(text)
    if value is None:
        raise argparse.ArgumentTypeError(
            f"expected a number of bytes above 0, such as 500M or 2G, got {text!r}"
        )
    return value


def add_many(commands: "Subparsers", exit_codes: str) -> None:
    """Add `herded many`."""
    many = commands.add_parser(
        "many",
        help="compute marginals of many model files in parallel",
        description=textwrap.fill(
            "Compute the marginals of many models in parallel, each as `herded infer MODEL` would. "
            "DIR/MODEL.MAR is written for each model as soon as it is done.",
            80,
        ),
        epilog=f"example:\n  herded many *.uai --out marginals --workers 4\n\n{exit_codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    many.add_argument("models", nargs="+", metavar="MODEL", help="model files, gzipped or not")
    many.add_argument("--out", required=True, metavar="DIR", help="folder; created if missing")
    many.add_argument(
        "--method",
        type=method_name,
        default="auto",
        metavar="METHOD",
        help=f"auto, {', '.join(BUILT_IN_METHODS)}; default: %(default)s",
    )
    length = many.add_mutually_exclusive_group()
    length.add_argument("--sweeps", type=int, metavar="N", help="default: 10000 for samplers")
    length.add_argument("--seconds", type=float, metavar="S", help="seconds for each model")
    many.add_argument(
        "--chains", type=int, metavar="C", help="number of chains or herds; default: 4"
    )
    many.add_argument("--herd", type=int, metavar="N", help="members of each herd")
    many.add_argument(
        "--burn-in",
        type=int,
        metavar="N",
        help="sweeps discarded at the start; default: a tenth, at most 1000",
    )
    many.add_argument(
        "--weights", choices=WEIGHTS, help="weights of herded; chosen by the model if not given"
    )
    many.add_argument("--slack", type=float, metavar="C", help="slack of herded, from 0 to 64")
    many.add_argument(
        "--seed", type=int, default=0, metavar="N", help="random seed; default: %(default)s"
    )
    many.add_argument(
        "--max-memory",
        type=parse_size,
        metavar="BYTES",
        help="memory limit of one model; default: half of what is free, shared by all workers",
    )
    add_engine(many, "models")
    many.set_defaults(
        task="mar",
        evidence=None,
        sample=None,
        given=[],
        checkpoint=None,
        checkpoint_every=30.0,
        threads=1,
    )
