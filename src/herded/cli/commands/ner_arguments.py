"""The arguments of `herded ner`: apart from the command, so that help imports nothing heavy."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_ner(commands: "Subparsers") -> None:
    """Add `ner` and what it can do."""
    ner = commands.add_parser(
        "ner",
        help="find the names of persons, organizations and locations in text",
        description="Find the names of persons, organizations and locations in text.",
    )
    ner.set_defaults(help=ner.print_help)
    actions = ner.add_subparsers(title="actions", dest="action", metavar="ACTION")
    _add_tag(actions)
    _add_eval(actions)
    _add_train(actions)
    _add_compare(actions)


def _add_tag(actions: "Subparsers") -> None:
    tag = actions.add_parser(
        "tag",
        help="mark the names in a text",
        description="Mark the names in a text: in colours on a terminal, else in brackets. Long "
        "files are read in blocks of about a million characters; each block is a document.",
    )
    source = tag.add_mutually_exclusive_group(required=True)
    source.add_argument("text", nargs="?", metavar="TEXT", help="the text itself")
    source.add_argument(
        "--file", metavar="F", help="UTF-8, gzipped or not; - is standard input, not gzipped"
    )
    form = tag.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a line for each name, offsets in F")
    form.add_argument("--html", action="store_true", help="one page that needs nothing else")
    form.add_argument("--conll", action="store_true", help="a word and its BIO label per line")
    _add_decoding(tag)
    tag.add_argument("--out", metavar="F", help="standard output if not given")


def _add_eval(actions: "Subparsers") -> None:
    evaluate = actions.add_parser(
        "eval",
        help="score a model on labelled documents",
        description="Precision, recall and F1 over whole names, in all and for each kind; and an "
        "interval that holds 95 % of resamples: of 5 documents or more, or else of 100 sentences "
        "or more. Words per second are those of CPU time. "
        "Common names of the model's kinds (PER, ORG, GPE, ...) are understood; if it knows "
        "persons, organizations and locations only, other kinds are left out.",
    )
    evaluate.add_argument("corpus", metavar="CORPUS", help="a file, gzipped or not, or a folder")
    evaluate.add_argument(
        "--format", choices=["conll", "ieer"], help="recognised from the files if not given"
    )
    _add_column(evaluate, -1)
    _add_decoding(evaluate)
    evaluate.add_argument("--json", action="store_true", help="one object instead of a table")


def _add_train(actions: "Subparsers") -> None:
    train = actions.add_parser(
        "train",
        help="train a model on labelled documents",
        description="Train a model on labelled documents. Options that are not given are as "
        "`herded.ner.CRF` has them.",
    )
    train.add_argument("corpora", nargs="+", metavar="CORPUS", help="files or folders")
    train.add_argument("--dev", metavar="F", help="other documents, to see when to stop")
    _add_column(train, None)
    train.add_argument("--out", required=True, metavar="MODEL", help="its file, such as my.npz")
    train.add_argument("--scheme", choices=["io", "bio"], help="of the labels inside the model")
    train.add_argument("--epochs", type=int, metavar="N")
    train.add_argument("--rate", type=float, metavar="R", help="of learning")
    train.add_argument("--l2", type=float, metavar="L", help="pull of the weights to zero")
    train.add_argument("--dropout", type=float, metavar="D", help="share of features left out")
    train.add_argument("--seed", type=int, metavar="N")
    train.add_argument("--bits", type=int, metavar="B", help="2^B weights per label")


def _add_compare(actions: "Subparsers") -> None:
    compare = actions.add_parser(
        "compare",
        help="compare the decoders, as the paper's table 3 does",
        description="Compare the decoders on labelled documents, as table 3 of Bornn et al. "
        "(2013) does, and write one HTML page and CSV files.",
    )
    compare.add_argument(
        "corpus", nargs="?", metavar="CORPUS", help="default: our sample, and IE-ER if found"
    )
    compare.add_argument("--out", default="herded-ner", metavar="DIR", help="default: %(default)s")
    size = compare.add_mutually_exclusive_group()
    size.add_argument(
        "--quick", action="store_true", help="two random starts; no IE-ER if not given"
    )
    size.add_argument("--full", action="store_true", help="five starts, and 800 sweeps as well")


def _add_column(parser: argparse.ArgumentParser, default: int | None) -> None:
    parser.add_argument(
        "--column",
        type=int,
        default=default,
        metavar="N",
        help="of the labels, for conll: from 0, or from -1 at the end; default: the last",
    )


def _add_decoding(parser: argparse.ArgumentParser) -> None:
    """How labels are chosen."""
    parser.add_argument(
        "--decoder",
        metavar="NAME",
        help="viterbi, max-marginals, herded, gibbs, annealed, annealed-herded or icm; "
        "default: viterbi, with --skip sentence by sentence in rounds",
    )
    parser.add_argument(
        "--skip",
        action="store_true",
        help="join the same words of a document, so that they tend to the same label",
    )
    parser.add_argument(
        "--sweeps", type=int, default=400, metavar="N", help="of a sampler; default: %(default)s"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of a sampler; default: %(default)s"
    )
    parser.add_argument("--model", metavar="F", help="the bundled English one if not given")
