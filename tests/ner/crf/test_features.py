"""Words, features, places, lists of names and links against their slow twins; any text will do."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from herded.errors import CorpusError
from herded.ner.crf.encoded_batch import encode, same_words
from herded.ner.crf.features import MAX_FEATURE_PAIRS, compile_templates, feature_rows
from herded.ner.crf.mention_links import all_mentions, next_mention
from herded.ner.text.lexicon import Lexicon, insert_keys, phrase_keys
from herded.ner.text.word_atoms import (
    ATOMS,
    LOWER_ATOM,
    LOWER_CASE,
    PADDING_AFTER,
    PADDING_BEFORE,
    SHORT_SHAPE_ATOM,
    UPPER_CASE,
    WORD_ATOM,
    Vocabulary,
)
from tests.conformance.twins.learning.recogniser import (
    naive_atoms,
    naive_insert,
    naive_key,
    naive_look_up,
    naive_places,
    naive_rows,
    plain,
    shape_of,
)
from tests.support.example_budget import examples

# Any characters at all: lone surrogates, NUL, emoji, letters that grow when they are made small.
characters = st.one_of(
    st.characters(exclude_categories=()),
    st.sampled_from("aAbBßẞİŉΣςǅ٣²ⅷ中\ud800\udfff\x00\u0301\u2013-'.🙂"),
)
any_words = st.text(characters, max_size=6)
names = st.sampled_from(["Bush", "bush", "BUSH", "Rice", "rice", "A", "a", "1st", "2nd", "", "."])
sentences = st.lists(st.one_of(names, any_words), max_size=6)
documents = st.lists(sentences, max_size=4)
calm = examples(50)  # the first example compiles


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@calm
@given(st.lists(any_words, max_size=8))
def test_atoms_equal_their_twins(words):
    vocabulary = Vocabulary()
    types = vocabulary.encode(words)
    assert types.dtype == np.int32 and len(types) == len(words)
    assert vocabulary.atoms[types].tolist() == [naive_atoms(word) for word in words]
    assert vocabulary.atoms.shape == (2 + len(set(words)), len(ATOMS))
    assert vocabulary.atoms[PADDING_BEFORE].tolist() == [1] * len(ATOMS)
    assert vocabulary.atoms[PADDING_AFTER].tolist() == [2] * len(ATOMS)
    assert np.array_equal(vocabulary.encode(words), types)


def test_words_of_any_length():
    words = ["x" * 100_000, "🙂" * 50_000, "\x00" * 3, "", " "]
    vocabulary = Vocabulary()
    assert vocabulary.atoms.shape[0] == 2
    types = vocabulary.encode(words)
    assert vocabulary.atoms[types].tolist() == [naive_atoms(word) for word in words]


@calm
@given(st.lists(st.lists(any_words, max_size=5), max_size=6), st.integers(2, 6))
def test_forgetting_changes_no_atoms(batches, limit):
    short, long = Vocabulary(limit), Vocabulary()
    for words in batches:
        types = short.encode(words)
        kept = short.atoms  # a batch holds on to these
        short.encode(["another", "word"])
        wanted = long.encode(words)
        assert np.array_equal(kept[types], long.atoms[wanted])
        assert len(short.atoms) <= limit + 3 + len(words)


def test_many_types_make_the_table_grow():
    words = [f"w{n}" for n in range(5000)]
    vocabulary = Vocabulary()
    whole = vocabulary.encode(words)
    parts = Vocabulary()
    apart = np.concatenate([parts.encode(words[n : n + 700]) for n in range(0, 5000, 700)])
    assert np.array_equal(whole, apart) and np.array_equal(vocabulary.atoms, parts.atoms)
    assert len(np.unique(vocabulary.atoms[:, WORD_ATOM])) == 5002


@pytest.mark.parametrize("word", [3, None, b"bytes", ["list"], ("tu", "ple"), 1.5])
def test_a_word_is_a_string(word):
    vocabulary = Vocabulary()
    with pytest.raises(CorpusError, match="expected words as strings"):
        vocabulary.encode(["good", word])
    types = vocabulary.encode(["good"])
    assert vocabulary.atoms[types].tolist() == [naive_atoms("good")]


@calm
@given(documents)
def test_places_equal_their_twins(document):
    batch = encode([document, [["Bush", "met", "Bush"]], document], Vocabulary(), None)
    places, small = naive_places(document)
    n = len(places)
    for part in (slice(0, n), slice(n + 3, None)):  # what another document writes is not counted
        assert batch.places[part].tolist() == places
        assert batch.small_mentions[part].tolist() == small
    assert (
        batch.starts.tolist()[: len(document) + 1] == np.cumsum([0, *map(len, document)]).tolist()
    )
    assert batch.documents.tolist() == [0, len(document), len(document) + 1, 2 * len(document) + 1]


def test_places_by_hand():
    document = [["Bush", "said", "Rice", "left"], ["Rice", "cooks"], ["the", "bush", "IBM"]]
    batch = encode([document], Vocabulary(), None)
    bush, rice, first_rice, ibm = batch.places[[0, 2, 4, 8], 0].tolist()
    assert bush == 1 + 1 + 9  # first of its sentence, and written in small letters once
    assert rice == 1  # its other mention is first of a sentence: that says nothing
    assert first_rice == 1 + 3 + 9
    assert ibm == 1 + 18
    assert batch.places[:, 1].tolist() == [3, 3, 3, 3, 3, 3, 3, 3, 3]


@calm
@given(sentences, st.sampled_from([8, 12, 28]))
def test_rows_equal_their_twins(sentence, bits):
    lexicon = Lexicon.from_lists([["Rice", "Bush Rice"], ["A"]])
    batch = encode([[sentence]], Vocabulary(), lexicon)
    salts, table = compile_templates()
    rows = np.empty((len(sentence), len(salts)), np.uint32)
    feature_rows(batch.types, batch.atoms, batch.places, salts, table, bits, rows)
    wanted = naive_rows(batch.types, batch.atoms, batch.places, salts, table, bits)
    assert same(rows, wanted)
    assert not len(rows) or rows.max() < 2**bits


def test_templates():
    salts, table = compile_templates()
    assert len(salts) == len(table) == 67
    assert table[:, 0].min() == 1 and table[:, 0].max() == MAX_FEATURE_PAIRS
    shared = [f for f in range(len(salts)) if (salts == salts[f]).sum() > 1]
    assert len(shared) == 10 and len(set(salts[shared].tolist())) == 2  # words on either side
    for f in shared:
        assert abs(table[f, 1]) in range(1, 6) and table[f, 2:5].tolist() == [
            LOWER_ATOM,
            0,
            SHORT_SHAPE_ATOM,
        ]
    both = {(int(salt), *pairs) for salt, pairs in zip(salts, table.tolist(), strict=True)}
    assert len(both) == len(salts)


def test_words_near_by_are_one_feature_wherever_they_are():
    salts, table = compile_templates()
    vocabulary, rows = Vocabulary(), []
    for filler in range(5):
        words = ["Xx", *["y"] * filler, "said", *["y"] * (6 - filler)]
        batch = encode([[words]], vocabulary, None)
        found = np.empty((len(words), len(salts)), np.uint32)
        feature_rows(batch.types, batch.atoms, batch.places, salts, table, 28, found)
        rows.append(set(found[0, [len(salts) - 9 + 2 * d for d in range(5)]].tolist()))
    assert len(set.intersection(*rows)) == 2  # "said" and "y", within five words to the right


lists_of_names = st.lists(
    st.lists(st.lists(names, min_size=1, max_size=5).map(" ".join), max_size=5), max_size=8
)


@calm
@given(lists_of_names, documents)
def test_look_up_equals_its_twin(lists, document):
    lexicon = Lexicon.from_lists(lists)
    batch = encode([document], Vocabulary(), lexicon)
    kept = [[name for name in names if 1 <= len(name.split()) <= 4] for names in lists]
    wanted = [value for sentence in document for value in naive_look_up(sentence, kept)]
    assert batch.places[:, 2].tolist() == wanted
    assert len(lexicon.keys) == len(
        {
            tuple(tuple(map(plain, word)) for word in name.split())
            for names in kept
            for name in names
        }
    )


@calm
@given(st.lists(st.lists(any_words, max_size=4), max_size=6))
def test_phrase_keys_equal_their_twins(phrases):
    vocabulary = Vocabulary()
    types = vocabulary.encode([word for phrase in phrases for word in phrase])
    starts = np.cumsum([0, *map(len, phrases)])
    keys = phrase_keys(types, starts, vocabulary.atoms)
    assert keys.dtype == np.uint32 and keys.tolist() == [naive_key(phrase) for phrase in phrases]


@calm
@given(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(1, 15)), max_size=20))
def test_insert_equals_its_twin(entries):
    keys = np.array([2 * key % 64 + 1 if key % 2 else 2 * key + 1 for key, _ in entries], np.uint32)
    kinds = np.array([kind for _, kind in entries], np.uint8)
    table, table_kinds = np.zeros(64, np.uint32), np.zeros(64, np.int64)
    insert_keys(keys, kinds, table, table_kinds)
    assert (table.tolist(), table_kinds.tolist()) == naive_insert(keys, kinds, 64)


def test_phrases_of_one_to_four_words():
    lists = [["New York", "a b c d e"], ["new", "The Bank Of York"]]
    sentence = ["the", "BANK", "of", "York", "New", "York", "a", "b", "c", "d", "e"]
    batch = encode([[sentence, ["New"], ["York"]]], Vocabulary(), Lexicon.from_lists(lists))
    found = batch.places[:, 2].tolist()
    assert found == [*naive_look_up(sentence, [["New York"], lists[1]]), 2, 0]
    # begins: 2^8, goes on: 2^16, alone: 1; the second list counts twice
    assert found[:6] == [2 << 8, 2 << 16, 2 << 16, 2 << 16, (1 << 8) + 2, 1 << 16] and not any(
        found[6:11]
    )


def test_lists_are_checked():
    with pytest.raises(CorpusError, match="at most 8 lists of names, got 9"):
        Lexicon.from_lists([["a"]] * 9)
    with pytest.raises(CorpusError, match="expected lists of names, got 'Paris'"):
        Lexicon.from_lists(["Paris"])
    with pytest.raises(CorpusError, match="expected lists of names"):
        Lexicon.from_lists([["Paris", 5]])
    assert (
        len(Lexicon.from_lists([]).keys) == len(Lexicon.from_lists([["a b c d e", " "]]).keys) == 0
    )


def naive_links(document, most):
    """Pairs of equal capitalised words; a word in small letters anywhere spoils them."""
    words = [word for sentence in document for word in sentence]
    small = {tuple(map(plain, w)) for w in words if shape_of(w, 1) == [LOWER_CASE]}
    mentions = {}
    for at, word in enumerate(words):
        if shape_of(word[:1], 1) == [UPPER_CASE] and tuple(map(plain, word)) not in small:
            mentions.setdefault(word, []).append(at)
    return sorted(
        pair
        for places in mentions.values()
        for a, b in itertools.combinations(range(len(places)), 2)
        if b - a <= most
        for pair in [(places[a], places[b])]
    )


@calm
@given(documents)
def test_links_equal_their_twins(document):
    other = [["Bush", "A", "Rice", "bush"]]
    n = sum(map(len, document))
    batch = encode([document, other, document], Vocabulary(), None)
    for rule, most in ((next_mention, 1), (all_mentions, 10)):
        links = rule(batch)
        wanted = naive_links(document, most)
        shifted = [(a + n + 4, b + n + 4) for a, b in wanted]
        assert list(map(tuple, links.edges.tolist())) == wanted + shifted
        ends = [end for pair in wanted for end in pair]
        strengths = [1.0 if most == 1 else 2.0 / (ends.count(a) + ends.count(b)) for a, b in wanted]
        assert links.strengths.tolist() == strengths * 2


def test_of_many_mentions_ten_are_linked():
    batch = encode([[["Rice"] * 14]], Vocabulary(), None)
    assert len(next_mention(batch).edges) == 13
    edges = all_mentions(batch).edges
    assert len(edges) == sum(min(10, 13 - at) for at in range(14))
    assert (edges[:, 1] - edges[:, 0]).max() == 10


@calm
@given(documents, documents, st.booleans())
def test_a_document_is_encoded_alike_in_any_company(document, other, listed):
    lexicon = Lexicon.from_lists([["Bush", "Rice Bush"]]) if listed else None
    n, m = sum(map(len, document)), sum(map(len, other))
    alone = encode([document], Vocabulary(), lexicon)
    among = encode([other, document, other], Vocabulary(), lexicon)
    assert np.array_equal(among.places[m : m + n], alone.places)
    assert np.array_equal(among.atoms[among.types[m : m + n]], alone.atoms[alone.types])
    groups = same_words(among, WORD_ATOM)[m : m + n]
    assert np.array_equal(np.equal.outer(groups, groups), _equal(document))


def _equal(document):
    words = np.array([hash(word) for sentence in document for word in sentence], np.int64)
    return np.equal.outer(words, words)
