"""How the texts of the bundled English model are prepared: labels, spelling, lists of names."""

import pytest

from herded.ner import Document, Sentence, load
from herded.ner.text.labels import spans
from tools.english_model import __main__ as command
from tools.english_model.augmentation import (
    COPIES_PER_SENTENCE,
    WAYS,
    vary_spelling,
    with_companies,
)
from tools.english_model.label_repair import repair_labels
from tools.english_model.name_lists import PACKAGES, name_lists, sure_names


def test_the_command_writes_what_the_recipe_trains(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "train_recogniser", lambda folder: trained(folder, tmp_path))
    model = tmp_path / "english.npz"
    assert command.main([str(tmp_path), "--out", str(model)]) == 0
    assert load(model).kinds == load().kinds
    assert "12 words, labels" in capsys.readouterr().out


def trained(folder, expected):
    """The bundled model, as if it had been trained on `folder`."""
    assert folder == str(expected)
    recogniser = load()
    recogniser.card = {**recogniser.card, "words": 12}
    return recogniser


def test_the_command_says_what_is_missing(capsys, tmp_path):
    assert command.main([str(tmp_path), "--out", str(tmp_path / "m.npz")]) == 1
    assert "expected wikigold.conll.txt in" in capsys.readouterr().err


def documents_of(*sentences):
    """One document; "Paris/LOCATION" is a word with its label."""
    pairs = [[item.partition("/") for item in sentence.split()] for sentence in sentences]
    parts = [
        Sentence(tuple(w for w, _, _ in pair), tuple(label or "O" for _, _, label in pair))
        for pair in pairs
    ]
    return [Document("d", tuple(parts))]


def repaired(*sentences, **options):
    (document,) = repair_labels(documents_of(*sentences), **options)
    assert [part.words for part in document.sentences] == [
        part.words for part in documents_of(*sentences)[0].sentences
    ]
    return [" ".join(part.labels) for part in document.sentences]


@pytest.mark.parametrize("prefix", ["", "B-"])
def test_repair_puts_in_what_is_left_out(prefix):
    place = f"in Iraq/{prefix}LOCATION"
    assert repaired(*[place] * 6, "Iraq won", "Iraq Daily/ORGANIZATION") == [
        *["O B-LOCATION"] * 6, "B-LOCATION O", "O B-ORGANIZATION",
    ]  # fmt: skip
    assert repaired(*[place] * 5, "Iraq won")[-1] == "O O"  # too few to be sure
    assert repaired(*[place] * 6, *["Iraq/PERSON"] * 6, "Iraq won")[-1] == "O O"
    assert repaired(*["in iraq/LOCATION"] * 6, "iraq won")[-1] == "O O"
    assert repaired("a U.S. layout", "U.S./ORGANIZATION") == ["O B-LOCATION O", "B-LOCATION"]
    assert repaired("the U.S./ORGANIZATION Army/ORGANIZATION") == [
        "O B-ORGANIZATION I-ORGANIZATION"
    ]
    bank = f"at Acme/{prefix}ORGANIZATION"
    assert repaired(*[bank] * 6, "Acme won")[-1] == "B-ORGANIZATION O"
    assert repaired(*[bank] * 6, "Acme won", "Acme lost")[-1] == "O O"  # of a company less sure


def test_repair_takes_out_what_is_no_part_of_a_name():
    assert repaired("President/PERSON Bush/PERSON spoke") == ["O B-PERSON O"]
    assert repaired("the President/PERSON said") == ["O O O"]
    assert repaired("Foreign/PERSON Minister/PERSON of/PERSON Ann/PERSON") == ["O O O B-PERSON"]
    assert repaired("Bank/ORGANIZATION General/ORGANIZATION") == ["B-ORGANIZATION I-ORGANIZATION"]
    assert repaired("of/ORGANIZATION Oman/ORGANIZATION and/ORGANIZATION") == ["O B-ORGANIZATION O"]
    assert repaired("McDonald/ORGANIZATION 's/ORGANIZATION") == ["B-ORGANIZATION I-ORGANIZATION"]
    assert repaired("a Muslim/ORGANIZATION cleric") == ["O O O"]
    many = ["South/LOCATION Korea/LOCATION won"] * 20
    assert repaired(*many, "the South lost")[-1] == "O O O"
    rare = ["a European law"] * 6, ["European/ORGANIZATION"] * 5
    assert repaired(*rare[0], *rare[1])[-1] == "O"  # mostly no name at all


def test_repair_tells_names_apart():
    places = ["Sudan/LOCATION"] * 4 + ["Chad/LOCATION"] * 4
    both = "Sudan/ORGANIZATION {}/ORGANIZATION Chad/ORGANIZATION"
    for between in ("'s", "and", ","):
        assert repaired(*places, both.format(between))[-1] == "B-LOCATION O B-LOCATION"
    owned = "Sudan/ORGANIZATION 's/ORGANIZATION Foreign/ORGANIZATION Ministry/ORGANIZATION"
    assert repaired(*places, owned)[-1] == "B-LOCATION O B-ORGANIZATION I-ORGANIZATION"
    food = "Food/ORGANIZATION and/ORGANIZATION Drug/ORGANIZATION Administration/ORGANIZATION"
    assert repaired(*places, food)[-1].count("I-ORGANIZATION") == 3
    two = "Serbia/LOCATION and/LOCATION Montenegro/LOCATION"
    apart = ["Serbia/LOCATION", "Montenegro/LOCATION"] * 4
    assert repaired(*apart, two)[-1] == "B-LOCATION I-LOCATION I-LOCATION"


def test_repair_gives_a_name_one_kind():
    mixed = ["Oslo/LOCATION"] * 3 + ["Oslo/ORGANIZATION", "Oslo/PERSON"]
    assert repaired(*mixed) == ["B-LOCATION"] * 5
    tied = ["Oslo/LOCATION"] * 2 + ["Oslo/ORGANIZATION"] * 2
    assert repaired(*tied) == ["B-LOCATION"] * 2 + ["B-ORGANIZATION"] * 2
    assert repaired("Ford/PERSON fell", known={"Ford": "ORGANIZATION"}) == ["B-ORGANIZATION O"]
    assert repaired("US/ORGANIZATION and UN/LOCATION") == ["B-LOCATION O B-ORGANIZATION"]
    titled = ["Mr. Sharon/LOCATION spoke", "Mr./ORGANIZATION Sharon/ORGANIZATION"]
    assert repaired(*titled) == ["O B-PERSON O", "O B-PERSON"]
    assert repaired(*titled * 2, "Ariel/LOCATION Sharon/LOCATION")[-1] == "B-PERSON I-PERSON"
    assert repaired(*titled * 2, "General/LOCATION Sharon/LOCATION")[-1] == "O B-PERSON"
    camp = ["Camp/LOCATION Sharon/LOCATION"] * 4  # so often a place, and never a person
    assert repaired(*titled * 2, *camp)[-1] == "B-LOCATION I-LOCATION"


def test_words_are_written_in_other_ways():
    sentence = "Mr./O Lee/B-PERSON of/O the/O U.S./B-LOCATION and/O al-Qaida/B-ORGANIZATION"
    sentence = sentence.replace("/B-", "/")  # IO labels stay what they are
    (varied,) = vary_spelling(documents_of(*[sentence] * 13))
    words = [part.words for part in varied.sentences]
    assert {own[0] for own in words} == set(WAYS["Mr."])
    assert {own[4] for own in words} == set(WAYS["U.S."])
    assert words[0][-3:] == ("al", "-", "Qaida") and words[1][-1] == words[2][-1] == "al-Qaida"
    for part in varied.sentences:
        kinds = [kind for _, _, kind in spans(part.labels)]
        assert kinds == ["PERSON", "LOCATION", "ORGANIZATION"]
        assert len(part.labels) == len(part.words)
    assert vary_spelling(documents_of("I/O left")) == documents_of("I/O left")


def test_companies_take_the_place_of_companies():
    documents = documents_of(
        "Ann/PERSON left Acme/ORGANIZATION for/O Best/ORGANIZATION Buy/ORGANIZATION ."
    )
    found = with_companies(documents, ["Acme", "Best Buy", "Ford"])
    assert len(found) == COPIES_PER_SENTENCE and not with_companies(documents, ["Ford"])
    seen = set()
    for document in found:
        (part,) = document.sentences
        person, *others = spans(part.labels)
        assert person == (0, 1, "PERSON") and [kind for *_, kind in others] == ["ORGANIZATION"] * 2
        names = [" ".join(part.words[first:last]) for first, last, _ in others]
        rest = " ".join(part.words).replace(names[0], "X", 1).replace(names[1], "Y", 1)
        assert rest == "Ann left X for Y ."
        seen.update(names)
    assert seen == {"Acme", "Best Buy", "Ford"}


def test_names_that_are_sure():
    lists = [["Ford"], ["Paris", "apple"]]
    assert sure_names(["Apple", "FORD", "IBM", "IBM", "Air France"], lists) == ["IBM", "Air France"]


def test_lists_of_names():
    for package in PACKAGES:
        pytest.importorskip(package)
    lists = name_lists()
    assert len(lists) == 6 and all(lists)
    for name, at in [("JOHN", 0), ("SMITH", 1), ("Paris", 2), ("France", 3), ("UK", 3)]:
        assert name in lists[at]
    assert {"Goldman Sachs", "Volkswagen", "Matson", "Matson , Inc."} <= set(lists[4])
    assert not [name for name in lists[4] if "(" in name or not name.strip()]
    assert {"NATO", "Huawei"} <= set(lists[5])
