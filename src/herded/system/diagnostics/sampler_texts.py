"""Sentences about runs of samplers, one function for each kind of diagnostic."""

from typing import TYPE_CHECKING

from herded.system.diagnostics.phrases import Phrase
from herded.system.diagnostics.text import (
    Text,
    chains_text,
    count_others,
    others_text,
    sweeps_text,
)

if TYPE_CHECKING:
    from herded.system.diagnostics.diagnostic import Diagnostic

MULTIMODAL = "the model is multimodal or mixes slowly, so these averages are unreliable; "
MAX_LISTED_NAMES = 3  # names in a sentence
SAME_START = "all chains started from the same state, so that their agreement proves little"


# -- any run ---------------------------------------------------------------------------------------


def interrupted(found: "Diagnostic") -> Text:
    """Ctrl-C ended a run, or what would have followed its last sweep."""
    if "sweeps" in found.figures:
        sweeps = found.figures["sweeps"]
        length = sweeps_text(sweeps) if sweeps else "no sweeps"
        return Text(f"interrupted after {length}, before the end")
    if "missing" in found.names:
        return Text(f"interrupted after the last sweep, without {found.names['missing']}")
    return Text("interrupted when the run was done")


def memory(found: "Diagnostic") -> Text:
    """Samples or series reached the limit of memory."""
    return Text(
        f"the run ended after {found.figures['sweeps']:,.0f} sweeps, when its samples or series "
        "had reached the limit of memory",
        Phrase(found.remedy),
    )


# -- chains ----------------------------------------------------------------------------------------


def plan(found: "Diagnostic") -> Text:
    """The pilot was too short."""
    return Text(
        "the chains may agree and be wrong",
        Phrase(
            f"in a pilot of {found.figures['sweeps']:,.0f} sweeps the slowest variable hardly "
            "moved on, so the mixing time of this model is unknown; ",
            found.remedy,
        ),
    )


def one_chain(found: "Diagnostic") -> Text:
    """A run of one chain."""
    return Text(
        "a single chain or herd cannot show its own error, nor whether it has visited all modes",
        Phrase(found.remedy, ": their spread gives intervals, and disagreement is reported"),
    )


def disagreement(found: "Diagnostic") -> Text:
    """Chains differ by more than chance explains."""
    figures, names = found.figures, found.names
    return Text(
        "the chains disagree",
        Phrase(
            f"variable {names['variable']} is {names['state']} with probability "
            f"{figures['high']:.2f} in chain {figures['high_chain']:.0f} and {figures['low']:.2f} "
            f"in chain {figures['low_chain']:.0f}"
            f"{others_text(figures['others'], 'disagrees', 'disagree')}, after "
            f"{figures['sweeps']:.0f} sweeps: {MULTIMODAL}",
            found.remedy,
            " until the chains agree",
        ),
    )


def immobility(found: "Diagnostic") -> Text:
    """Members of a herd are as they were."""
    figures = found.figures
    return Text(
        "the members of the herd have not moved on",
        Phrase(
            f"variable {found.names['variable']} is as it was {figures['sweeps']:.0f} sweeps "
            f"before in {100 * figures['same']:.0f} % of them, where chance explains "
            f"{100 * figures['by_chance']:.0f} %{others_text(figures['others'], 'is', 'are')}: "
            f"{MULTIMODAL}",
            found.remedy,
        ),
    )


def confinement(found: "Diagnostic") -> Text:
    """A state that no chain can reach."""
    figures, names = found.figures, found.names
    where = f" in chain {figures['chain']:.0f}" if figures["chains"] > 1 else ""
    return Text(
        f"{chains_text(figures['confined'], figures['chains'])} cannot reach every state that the "
        "model allows",
        Phrase(
            f"{names['moves']} never set variable {names['variable']} to {names['state']}{where}; "
            f"hard zeros tie {_tied(found)}, whose marginals reflect the start: ",
            found.remedy,
        ),
    )


def split_support(found: "Diagnostic") -> Text:
    """Classes of states that moves never leave."""
    figures, names = found.figures, found.names
    return Text(
        f"{chains_text(figures['chains'], figures['chains'])} cannot reach every state that the "
        "model allows",
        Phrase(
            f"hard zeros tie {_tied(found)}, whose possible states fall apart into classes that "
            f"{names['moves']} never leave, such as those of ({names['here']}) and "
            f"({names['there']}), so that their marginals reflect the start: ",
            found.remedy,
        ),
    )


def _tied(found: "Diagnostic") -> str:
    """The first tied variables, and how many others there are."""
    others = len(found.variables) - MAX_LISTED_NAMES
    return found.names["tied"] + (f" and {count_others(others)}" if others > 0 else "")


# -- lengths and starts ----------------------------------------------------------------------------


def short_run(found: "Diagnostic") -> Text:
    """Few autocorrelation times."""
    figures = found.figures
    return Text(
        "the run is short for this model",
        Phrase(
            f"its {figures['sweeps']:,.0f} sweeps are at most {figures['times']:.2g} "
            f"autocorrelation times of {_quantities(found)}, which remembers its states for "
            f"{sweeps_text(figures['autocorrelation_time'])} or more, so that intervals may be too "
            f"narrow{_same_start(found)}: ",
            found.remedy,
        ),
    )


def few_round_trips(found: "Diagnostic") -> Text:
    """Few crossings of a ladder."""
    return Text(
        "the run is short for this model",
        Phrase(
            f"in its {found.figures['sweeps']:,.0f} sweeps a variable made "
            f"{found.figures['times']:.2g} round trips between the coldest rung and the hottest "
            "on average, so that the coldest may have missed modes: ",
            found.remedy,
        ),
    )


def halves_differ(found: "Diagnostic") -> Text:
    """The means of both halves."""
    figures = found.figures
    time = figures["autocorrelation_time"]
    bound = f", which remembers its states for {sweeps_text(time)} or more" if time >= 1.0 else ""
    return Text(
        "the halves of the run differ",
        Phrase(
            f"the mean of {_quantities(found)}{bound}, is {figures['first_half']:.4g} in the first "
            f"and {figures['second_half']:.4g} in the second, {figures['standard_errors']:.1f} "
            "standard errors apart, so that the burn-in was too short"
            f"{_same_start(found)}: ",
            found.remedy,
        ),
    )


def equal_starts(found: "Diagnostic") -> Text:
    """All chains began at one state."""
    return Text(SAME_START, Phrase(found.remedy))


def start_matters(found: "Diagnostic") -> Text:
    """Herds from random starts disagree with the run."""
    figures, names = found.figures, found.names
    reason = (
        SAME_START
        if figures["is_start_shared"]
        else f"its {figures['chains']:.0f} chains are too few to be in all modes by their starts"
    )
    return Text(
        "the answer depends on the start",
        Phrase(
            f"variable {names['variable']} is {names['state']} with probability "
            f"{figures['probability']:.2f} in this run and {figures['from_random_starts']:.2f} in "
            "a short one from random starts"
            f"{others_text(figures['others'], 'differs', 'differ')}; {reason}: ",
            found.remedy,
        ),
    )


def _quantities(found: "Diagnostic") -> str:
    """The worst quantity, and how many others are like it."""
    others = found.figures["others"]
    return found.names["quantity"] + (f" (and of {count_others(others)})" if others else "")


def _same_start(found: "Diagnostic") -> str:
    return f"; {SAME_START}" if found.figures["is_start_shared"] else ""


# -- ladders of temperatures -----------------------------------------------------------------------


def ladder(found: "Diagnostic") -> Text:
    """No replica came down."""
    stuck, ladders = found.figures["stuck"], found.figures["ladders"]
    who = "the ladder" if ladders == 1 else f"{stuck:.0f} of {ladders:.0f} ladders"
    return Text(
        f"nothing came down from the hottest rung of {who} to the coldest, which has seen what it "
        "could reach from its start",
        Phrase(found.remedy),
    )


def log_z_round_trips(found: "Diagnostic") -> Text:
    """Few round trips behind log Z."""
    return Text(
        f"log Z rests on {found.figures['round_trips']:.2g} round trips between the hottest rung "
        "and the coldest",
        Phrase("its interval may be too narrow; ", found.remedy),
    )


def log_z_unknown(found: "Diagnostic") -> Text:
    """No estimate."""
    return Text(
        "log Z is unknown",
        Phrase("no state of the rung above the coldest was possible; ", found.remedy),
    )


def log_z_halves(found: "Diagnostic") -> Text:
    """Two halves that differ."""
    return Text(
        f"log Z of the first half of the run is {found.figures['first_half']:.6g}, that of the "
        f"second {found.figures['second_half']:.6g}",
        Phrase("further apart than its interval explains, so that the burn-in was not long enough"),
    )


def log_z_directions(found: "Diagnostic") -> Text:
    """Two directions that differ."""
    return Text(
        f"log Z is {found.figures['upwards']:.6g} from hot to cold and "
        f"{found.figures['downwards']:.6g} from cold to hot",
        Phrase("rungs are too far apart, or have not burnt in; ", found.remedy),
    )


# -- models given by functions ---------------------------------------------------------------------


def plain_functions(found: "Diagnostic") -> Text:
    """Functions that run as plain Python."""
    return Text(
        f"the model's functions run as plain Python, since {found.names['reason']}",
        Phrase(
            f"conditional takes {1e6 * found.figures['seconds']:.2g} us, some "
            f"{found.figures['slower']:.0f} times as long as the compiled ones of "
            "docs/how-to/custom-conditionals.md; ",
            found.remedy,
        ),
    )


def no_joint(found: "Diagnostic") -> Text:
    """Conditionals that contradict each other."""
    return Text(
        "the conditionals belong to no joint distribution",
        Phrase(
            f"changing variables {found.names['variable']} and {found.names['other']} one after "
            f"the other, and back, changes the log-probability by {found.figures['change']:.3g}; "
            "averages then depend on the order of visits, so ",
            found.remedy,
        ),
    )
