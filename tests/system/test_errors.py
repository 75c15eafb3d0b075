"""Errors: one sentence, however long what it quotes."""

import pickle

import pytest

import herded as hd
from herded.cli.main import main
from herded.errors import MAX_MESSAGE_CHARS, shorten_message


def test_a_message_keeps_its_beginning_and_what_to_do():
    short = shorten_message("expected " + "x" * 10**6 + ": give another")
    assert len(short) < MAX_MESSAGE_CHARS + 10
    assert short.startswith("expected xx") and short.endswith("xx: give another")
    assert shorten_message("expected this, got that") == "expected this, got that"


def test_no_error_echoes_what_it_was_given():
    name = "v" * 10**6
    model = hd.FactorGraph([2], [((0,), [0.0, 1.0])], names=[name])
    for mistake in (
        lambda: model.given({"w" * 10**6: 0}),
        lambda: model.given({name: 7}),
        lambda: hd.infer(model, hd.Gibbs(), layout="z" * 10**6),
        lambda: hd.read_model("u" * 10**6),
    ):
        with pytest.raises(hd.HerdedError) as caught:
            mistake()
        assert len(str(caught.value)) < MAX_MESSAGE_CHARS + 10


def test_errors_travel_between_processes():
    error = pickle.loads(pickle.dumps(hd.ModelError("expected a, got b")))
    assert type(error) is hd.ModelError and str(error) == "expected a, got b"


def test_the_command_line_quotes_no_more(capsys):
    with pytest.raises(SystemExit):
        main(["infer", "model.uai", "--sweeps", "9" * 10**5 + "x"])
    assert len(capsys.readouterr().err) < 2 * MAX_MESSAGE_CHARS
