"""The arguments of `herded many`: apart from it, so that help imports nothing heavy."""

import argparse
import textwrap
from typing import TYPE_CHECKING

from herded.cli.infer_arguments import WEIGHTS, add_engine, method_name, size
from herded.methods.registry import BUILT_IN

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_many(commands: "Commands", exit_codes: str) -> None:
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
        help=f"auto, {', '.join(BUILT_IN)}; default: %(default)s",
    )
    length = many.add_mutually_exclusive_group()
    length.add_argument("--sweeps", type=int, metavar="N", help="default: 10000 of a sampler")
    length.add_argument("--seconds", type=float, metavar="S", help="of each model")
    many.add_argument("--chains", type=int, metavar="C", help="of a sampler; default: 4")
    many.add_argument("--burn-in", type=int, metavar="N", help="default: a tenth, at most 1000")
    many.add_argument("--weights", choices=WEIGHTS, help="of herded; chosen if not given")
    many.add_argument("--slack", type=float, metavar="C", help="of herded, from 0 to 64")
    many.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    many.add_argument(
        "--max-memory",
        type=size,
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
