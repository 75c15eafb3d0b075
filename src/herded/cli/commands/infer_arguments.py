"""The arguments of the commands on model files: apart from them, so that help imports nothing
heavy.
"""

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
    """`herded infer`."""
    infer = _add(
        commands,
        exit_codes,
        "infer",
        help="marginals, the most probable state or log Z of a model file",
        description="Marginals (mar), the most probable state (map) or the normalising constant "
        "(pr) of a model: UAI, BIF, XMLBIF, .npz or .safetensors.",
    )
    infer.add_argument(
        "--task", choices=("mar", "map", "pr"), default="mar", help="default: %(default)s"
    )
    infer.add_argument(
        "--method",
        type=method_name,
        default="auto",
        metavar="METHOD",
        help=f"auto, {', '.join(BUILT_IN_METHODS)}; default: exact where elimination fits in "
        "memory, else a herd or herded, whichever suits the model; it says which and why",
    )
    length = infer.add_mutually_exclusive_group()
    length.add_argument(
        "--sweeps",
        type=int,
        metavar="N",
        help="of each chain, of which a herd that auto has chosen takes as many updates in all; "
        "default: 10000 of a sampler, at most 1000 of bp and mean-field",
    )
    length.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="run for so long, counted from the first start of a run that --checkpoint resumes; "
        "the clock decides the sweeps",
    )
    infer.add_argument("--chains", type=int, metavar="C", help="or herds; default: 4")
    infer.add_argument(
        "--herd", type=int, metavar="N", help="members that draw together: of herd, gibbs, ..."
    )
    infer.add_argument(
        "--burn-in",
        type=int,
        metavar="N",
        help="sweeps that are not counted; default: a tenth, at most 1000; 100 with --seconds",
    )
    infer.add_argument("--weights", choices=WEIGHTS, help="of herded; chosen if not given")
    infer.add_argument("--slack", type=float, metavar="C", help="of herded, from 0 to 64")
    infer.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    infer.add_argument(
        "--reference", metavar="F.MAR", help="known marginals: the error is shown, also live"
    )
    infer.add_argument(
        "--checkpoint",
        metavar="F",
        help="written as a sampler runs; if it exists, the run goes on from it, to the same bits",
    )
    infer.add_argument(
        "--checkpoint-every",
        type=float,
        default=30.0,
        metavar="S",
        help="seconds between two checkpoints; default: %(default)g",
    )
    infer.add_argument(
        "--out",
        metavar="F",
        help="write the answer: as a UAI file (F.MAR, F.MPE or F.PR by the task) or as F.csv",
    )
    infer.add_argument("--json", action="store_true", help="print one JSON object, with everything")
    infer.add_argument("--threads", type=int, metavar="N", help="default: as many as cores")
    add_engine(infer, "chains")


def add_engine(parser: argparse.ArgumentParser, what: str) -> None:
    """`--engine` and `--workers`."""
    parser.add_argument(
        "--engine",
        metavar="dask://HOST:PORT",
        help=f"run the {what} on the workers of a Dask scheduler, to the same bits",
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help=f"run the {what} in N processes; with --engine: wait for so many workers",
    )


def add_info(commands: "Subparsers", exit_codes: str) -> None:
    """`herded info`."""
    info = _add(
        commands,
        exit_codes,
        "info",
        help="what a model file holds, and which methods can run on it",
        description="Variables, factors, degrees and zeros of a model, its treewidth, the memory "
        "of each kind of weights, and whether each method can run.",
    )
    info.add_argument("--json", action="store_true", help="print one JSON object")


def add_compare(commands: "Subparsers", exit_codes: str) -> None:
    """`herded compare`."""
    compare = _add(
        commands,
        exit_codes,
        "compare",
        help="the error of several methods over time",
        description="Run several methods, one after another and each for the same time, and "
        "measure the error of their marginals against a reference as they go.",
    )
    compare.add_argument(
        "--methods",
        default="herded,gibbs",
        metavar="A,B,..",
        help="herded, gibbs, mean-field, bp, exact, or blanket, shared, pooled, lazy, full for "
        "herded with these weights; default: %(default)s",
    )
    compare.add_argument(
        "--seconds", type=float, default=10.0, metavar="S", help="of each; default: %(default)g"
    )
    compare.add_argument("--slack", type=float, metavar="C", help="of all herded methods")
    compare.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    compare.add_argument(
        "--reference", metavar="F.MAR", help="known marginals; computed exactly if not given"
    )
    compare.add_argument(
        "--out", metavar="DIR", help="write the errors as CSV and a figure as SVG and PNG"
    )


def _add(
    commands: "Subparsers", exit_codes: str, name: str, help: str, description: str
) -> argparse.ArgumentParser:
    """A command on a model, with what all of them have."""
    parser = commands.add_parser(
        name,
        help=help,
        description=textwrap.fill(description, 80),
        epilog=exit_codes,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "model", metavar="MODEL", help="a file, gzipped or not; - is standard input"
    )
    parser.add_argument("--evidence", metavar="F", help="a UAI .evid file")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="which, if that file has several; from 0"
    )
    parser.add_argument(
        "--given",
        action="append",
        default=[],
        metavar="NAME=STATE",
        help="evidence by name or number; as often as needed",
    )
    parser.add_argument(
        "--max-memory",
        type=parse_size,
        metavar="BYTES",
        help="most memory to take, such as 500M or 2G; default: half of what is free",
    )
    return parser


def method_name(text: str) -> str:
    """A method's name in the registry, or auto."""
    if text != "auto" and text not in BUILT_IN_METHODS and text not in method_names():
        names = ", ".join(("auto", *method_names()))
        hint = did_you_mean(text, ("auto", *method_names()))
        raise argparse.ArgumentTypeError(f"expected one of {names}, got {text!r}{hint}")
    return text


def parse_size(text: str) -> float:
    """A number of bytes: 1000000, 1e6, 500M, 2 GiB."""
    value = bytes_of(text)
    if value is None:
        raise argparse.ArgumentTypeError(
            f"expected a number of bytes above 0, such as 500M or 2G, got {text!r}"
        )
    return value


def add_many(commands: "Subparsers", exit_codes: str) -> None:
    """`herded many`."""
    many = commands.add_parser(
        "many",
        help="marginals of many model files, on many workers",
        description=textwrap.fill(
            "Marginals of many models, several at once and each as `herded infer MODEL` would "
            "find them: DIR/MODEL.MAR for each, written as soon as it is known.",
            80,
        ),
        epilog=exit_codes,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    many.add_argument("models", nargs="+", metavar="MODEL", help="files, gzipped or not")
    many.add_argument("--out", required=True, metavar="DIR", help="made if it is not there")
    many.add_argument(
        "--method",
        type=method_name,
        default="auto",
        metavar="METHOD",
        help=f"auto, {', '.join(BUILT_IN_METHODS)}; default: %(default)s",
    )
    length = many.add_mutually_exclusive_group()
    length.add_argument("--sweeps", type=int, metavar="N", help="default: 10000 of a sampler")
    length.add_argument("--seconds", type=float, metavar="S", help="of each model")
    many.add_argument("--chains", type=int, metavar="C", help="or herds; default: 4")
    many.add_argument("--herd", type=int, metavar="N", help="members that draw together")
    many.add_argument("--burn-in", type=int, metavar="N", help="default: a tenth, at most 1000")
    many.add_argument("--weights", choices=WEIGHTS, help="of herded; chosen if not given")
    many.add_argument("--slack", type=float, metavar="C", help="of herded, from 0 to 64")
    many.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    many.add_argument(
        "--max-memory",
        type=parse_size,
        metavar="BYTES",
        help="most memory of one model; default: half of what is free, shared by all at once",
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
