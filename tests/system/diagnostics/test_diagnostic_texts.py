"""Every kind of diagnostic has a meaning and a sentence; Python and commands name their options."""

import pickle
from collections import defaultdict
from pathlib import Path

import pytest

import herded as hd
from herded.cli.command_wording import error_text, flag_finder
from herded.cli.main import parser
from herded.layouts.general import table_arrays
from herded.methods import herded_gibbs
from herded.moves.tempering import ladder_layouts
from herded.run.diagnostics import (
    chain_agreement,
    confinement,
    length_diagnostics,
    log_z_check,
    start_check,
)
from herded.run.memory import sampler_run_estimate
from herded.system.diagnostics import phrases
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import (
    CHECKPOINT,
    MAX_MEMORY,
    MORE_RUNGS,
    MORE_SWEEPS,
    Phrase,
    Remedy,
    Term,
    at_least_burn_in,
    at_least_sweeps,
)
from herded.system.diagnostics.texts import TEXTS

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "results.md"
MODULES = (
    phrases, table_arrays, herded_gibbs, ladder_layouts, chain_agreement, confinement,
    length_diagnostics, log_z_check, start_check, sampler_run_estimate,
)  # fmt: skip
PYTHON_ONLY = {"every", "rungs", "hottest_beta", "start"}  # keywords that no command has


def example(kind, remedy=None):
    """A diagnostic whose figures are all 2 and whose names are all `it`."""
    figures, names = defaultdict(lambda: 2.0), defaultdict(lambda: "it")
    return Diagnostic(kind, "warning", (0,), figures, remedy or Remedy(MORE_SWEEPS), names)


def infer_flags():
    return flag_finder(parser().parse_args(["infer", "model.uai"]))


def terms_of(value):
    if isinstance(value, Term):
        return [value]
    if isinstance(value, Diagnostic):
        value = value.remedy
    return list(value.terms) if isinstance(value, (Phrase, Remedy)) else []


TERMS = {term for module in MODULES for value in vars(module).values() for term in terms_of(value)}


# -- kinds -----------------------------------------------------------------------------------------


def test_every_kind_has_a_meaning_a_sentence_and_a_line_in_the_docs():
    page = PAGE.read_text(encoding="utf-8")
    assert set(TEXTS) == set(DiagnosticKind)
    for kind in DiagnosticKind:
        assert kind.meaning and f"`{kind}`" in page, kind
    assert len({kind.meaning for kind in DiagnosticKind}) == len(DiagnosticKind)


@pytest.mark.parametrize("kind", DiagnosticKind)
def test_sentences(kind):
    """The headline begins the sentence; a command says the same but for its options."""
    found = example(kind)
    assert found.message == str(found) and found.message.startswith(found.headline)
    assert "  " not in found.message
    said = found.render(infer_flags())
    assert said == found.message.replace("more sweeps", "more --sweeps")


def test_kinds_are_their_texts_and_survive_pickling():
    assert DiagnosticKind.SHORT_RUN == "short run" and str(DiagnosticKind.LADDER) == "ladder"
    found = Diagnostic(DiagnosticKind.MEMORY, "warning", (), {"sweeps": 3.0}, Remedy(MAX_MEMORY))
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.kind is DiagnosticKind.MEMORY


# -- options ---------------------------------------------------------------------------------------


def test_every_term_names_options_of_the_command_line():
    flag_of = infer_flags()
    keywords = {keyword for term in TERMS for keyword in term.keywords}
    assert len(TERMS) >= 15
    assert {keyword for keyword in keywords if flag_of(keyword) is None} == PYTHON_ONLY - {"start"}
    for term in TERMS:
        assert "--" not in term.render()
        known = not PYTHON_ONLY.intersection(term.keywords)
        assert ("--" in term.render(flag_of)) == known == term.is_known(flag_of)


@pytest.mark.parametrize(
    ("remedy", "python", "command"),
    [
        (chain_agreement.ONE_CHAIN.remedy, "pass chains=4", "pass --chains 4"),
        (
            chain_agreement.EXACT_OR_MORE_SWEEPS,
            "use exact inference where it fits, or more sweeps",
            "use --method exact where it fits, or more --sweeps",
        ),
        (
            Remedy(at_least_sweeps(1234), phrases.FASTER_MOVES, verb="use"),
            "use 1,300 sweeps or more, or moves that mix faster (moves=Blocks(), Tempered())",
            "use --sweeps 1300 or more, or moves that mix faster (--method blocks, --method "
            "tempered)",
        ),
        (
            Remedy(at_least_burn_in(90), verb="use"),
            "use a burn-in of 90 sweeps or more",
            "use --burn-in 90 or more",
        ),
        (Remedy(MORE_SWEEPS, MORE_RUNGS), "more sweeps, or more rungs", "more --sweeps"),
        (
            ladder_layouts.BETTER_LADDER,
            "use more rungs, more sweeps, or a larger hottest_beta=",
            "use more --sweeps",
        ),
        (
            sampler_run_estimate.KEEP_LESS,
            "keep fewer of them with every=, or raise max_memory=",
            "raise --max-memory",
        ),
        (
            Remedy(log_z_check.LADDER),
            "hd.Tempered(hd.Gibbs(), 17, hottest_beta=0)",
            "--method tempered --task pr",
        ),
        (Remedy(CHECKPOINT), "checkpoint=", "--checkpoint"),
        (Remedy(MORE_RUNGS), "more rungs", "more rungs"),
        (Remedy(), "", ""),
    ],
)
def test_python_says_keywords_and_commands_say_options(remedy, python, command):
    assert str(remedy) == python and remedy.render(infer_flags()) == command
    assert bool(remedy) == bool(python)


def test_compare_calls_its_options_otherwise():
    flag_of = flag_finder(parser().parse_args(["compare", "model.uai"]))
    assert phrases.HERDED.render(flag_of) == "--methods herded"
    assert herded_gibbs.LAZY_OR_POOLED.render(flag_of) == "--methods lazy or pooled"


def test_errors_are_rendered_too_and_survive_pickling():
    error = hd.MethodError(Phrase("expected ", CHECKPOINT, " as the name of a file"))
    options = parser().parse_args(["infer", "model.uai"])
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert str(one) == "expected checkpoint= as the name of a file"
        assert error_text(one, options) == "expected --checkpoint as the name of a file"
    assert error_text(hd.MethodError("got max_memory=1"), options) == "got max_memory=1"
