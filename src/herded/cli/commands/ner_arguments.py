"""The arguments of `herded ner`, in a module of their own for fast help."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_ner(commands: "Subparsers") -> None:
    """Add `herded ner` and its actions."""
    ner = commands.add_parser(
        "ner",
        help="find the names of persons, organizations and locations in text",
        description="Find the names of persons, organizations and locations in text.",
        epilog="example: herded ner tag 'Marie Curie worked in Paris.'",
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
        description="Mark the names in a text: in colours on a terminal, otherwise in brackets. "
        "Long files are read in blocks of about a million characters; each block is a document.",
        epilog="example: herded ner tag --file article.txt --html --out article.html",
    )
    source = tag.add_mutually_exclusive_group(required=True)
    source.add_argument("text", nargs="?", metavar="TEXT", help="the text itself")
    source.add_argument(
        "--file",
        metavar="F",
        help="text file (UTF-8), gzipped or not; - is standard input, not gzipped",
    )
    form = tag.add_mutually_exclusive_group()
    form.add_argument(
        "--json", action="store_true", help="one line for each name, with offsets in F"
    )
    form.add_argument("--html", action="store_true", help="a self-contained HTML page")
    form.add_argument("--conll", action="store_true", help="one word and its BIO label per line")
    _add_decoding(tag)
    tag.add_argument("--out", metavar="F", help="output file; default: standard output")


def _add_eval(actions: "Subparsers") -> None:
    evaluate = actions.add_parser(
        "eval",
        help="score a model on labelled documents",
        description="Print precision, recall and F1 over whole names, in all and for each kind, "
        "and a 95 % bootstrap interval over documents (if there are 5 or more) or sentences (if "
        "there are 100 or more). Words per second are measured in CPU time. Common names of the "
        "model's kinds (PER, ORG, GPE, ...) are understood; for a model that knows persons, "
        "organizations and locations only, other kinds are ignored.",
        epilog="example: herded ner eval test.conll --model my.npz",
    )
    evaluate.add_argument(
        "corpus", metavar="CORPUS", help="labelled file, gzipped or not, or a folder"
    )
    evaluate.add_argument(
        "--format", choices=["conll", "ieer"], help="format; default: recognised from the files"
    )
    _add_column(evaluate, -1)
    _add_decoding(evaluate)
    evaluate.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )


def _add_train(actions: "Subparsers") -> None:
    train = actions.add_parser(
        "train",
        help="train a model on labelled documents",
        description="Train a model on labelled documents. Options default to those of "
        "`herded.ner.CRF`.",
        epilog="example: herded ner train train.conll --dev dev.conll --out my.npz",
    )
    train.add_argument("corpora", nargs="+", metavar="CORPUS", help="files or folders")
    train.add_argument("--dev", metavar="F", help="held-out documents for early stopping")
    _add_column(train, None)
    train.add_argument("--out", required=True, metavar="MODEL", help="model file, such as my.npz")
    train.add_argument("--scheme", choices=["io", "bio"], help="labelling scheme inside the model")
    train.add_argument("--epochs", type=int, metavar="N")
    train.add_argument("--rate", type=float, metavar="R", help="learning rate")
    train.add_argument("--l2", type=float, metavar="L", help="L2 penalty of the weights")
    train.add_argument("--dropout", type=float, metavar="D", help="fraction of features dropped")
    train.add_argument("--seed", type=int, metavar="N")
    train.add_argument("--bits", type=int, metavar="B", help="2^B weights per label")


def _add_compare(actions: "Subparsers") -> None:
    compare = actions.add_parser(
        "compare",
        help="compare the decoders, as the paper's table 3 does",
        description="Compare the decoders on labelled documents, as table 3 of Bornn et al. "
        "(2013) does, and write one HTML page and CSV files.",
        epilog="example: herded ner compare --quick --out report",
    )
    compare.add_argument(
        "corpus", nargs="?", metavar="CORPUS", help="default: a bundled sample, and IE-ER if found"
    )
    compare.add_argument("--out", default="herded-ner", metavar="DIR", help="default: %(default)s")
    size = compare.add_mutually_exclusive_group()
    size.add_argument(
        "--quick", action="store_true", help="two random starts; no IE-ER unless given"
    )
    size.add_argument(
        "--full", action="store_true", help="five random starts, and 800 sweeps as well"
    )


def _add_column(parser: argparse.ArgumentParser, default: int | None) -> None:
    parser.add_argument(
        "--column",
        type=int,
        default=default,
        metavar="N",
        help="column of the labels, for conll: from 0, or from -1 at the end; default: the last",
    )


def _add_decoding(parser: argparse.ArgumentParser) -> None:
    """Add the options of decoding."""
    parser.add_argument(
        "--decoder",
        metavar="NAME",
        help="viterbi, max-marginals, herded, gibbs, annealed, annealed-herded or icm; "
        "default: viterbi, iterated over sentences with --skip",
    )
    parser.add_argument(
        "--skip",
        action="store_true",
        help="link equal words of a document, so that they tend to share a label",
    )
    parser.add_argument(
        "--sweeps",
        type=int,
        default=400,
        metavar="N",
        help="sweeps of samplers; default: %(default)s",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="random seed; default: %(default)s"
    )
    parser.add_argument(
        "--model", metavar="F", help="model file; default: the bundled English model"
    )
