"""Corpora as they come: columns, IE-ER, plain text, and files that are none of these."""

import contextlib
import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from herded import CorpusError
from herded.ner.text.corpus import format_of, read_conll, read_corpus, read_ieer, read_text
from herded.ner.text.labels import ENTITY_CLASSES, spans
from tests.support.example_budget import examples

DATA = Path(__file__).parents[4] / "shared/data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="needs the corpora beside the repository")
in_one_folder = examples(100, HealthCheck.function_scoped_fixture)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(text, name="corpus.txt"):
    data = text if isinstance(text, bytes) else text.encode()
    Path(name).write_bytes(data)
    return name


def plain(documents):
    """Names, words and labels alone."""
    return [(d.name, [(s.words, s.labels) for s in d.sentences]) for d in documents]


def entities(document):
    return [
        (" ".join(sentence.words[first:last]), kind)
        for sentence in document.sentences
        for first, last, kind in spans(sentence.labels)
    ]


# Columns


def test_conll_2003():
    write(
        "-DOCSTART- -X- -X- O\n\n"
        "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\nGerman JJ B-NP B-MISC\n\n"
        "Peter NNP B-NP B-PER\n\n\n\n"
        "-DOCSTART- -X- -X- O\n\nLONDON NNP B-NP B-LOC\n"
    )
    assert plain(read_conll("corpus.txt", mapping=ENTITY_CLASSES)) == [
        (
            "corpus:1",
            [
                (("EU", "rejects", "German"), ("B-ORGANIZATION", "O", "O")),
                (("Peter",), ("B-PERSON",)),
            ],
        ),
        ("corpus:2", [(("LONDON",), ("B-LOCATION",))]),
    ]
    first = next(read_conll("corpus.txt", column=2))
    assert first.sentences[0].labels == ("B-NP", "B-VP", "B-NP")


def test_remarks_name_documents_and_hash_signs_are_words():
    write(
        "# columns: token, label, offset\n\n# docno APW.1 file APW\n# section TEXT\n"
        "Moi\tB-PER\t5\n#\tO\t8\n\n# newdoc id = two\n# text = x\ny\tO\t1\n"
    )
    assert plain(read_conll("corpus.txt", column=1)) == [
        ("APW.1", [(("Moi", "#"), ("B-PER", "O"))]),
        ("two", [(("y",), ("O",))]),
    ]
    write("Win O\n# O\n# a remark\n#tag O\n# I-MISC\n")
    assert next(read_conll("corpus.txt")).sentences[0].words == ("Win", "#", "#tag", "#")


@pytest.mark.parametrize(
    "text",
    [
        "a\tO\nb c\tPERSON\n\nd\tO\n",
        "\ufeffa\tO\r\nb c\tPERSON\r\n\r\n\r\nd\tO",
        "\n \t\n\na\tO\nb c\tPERSON\n   \nd\tO\n\n\n",
        " a\tO\nb c \t PERSON\n\tO\n\nd\tO\n\n\tO\n\n",  # words of nothing are dropped
    ],
)
def test_line_ends_blanks_and_byte_order_marks(text):
    expected = [("corpus:1", [(("a", "b c"), ("O", "PERSON")), (("d",), ("O",))])]
    assert plain(read_conll(write(text))) == expected
    zipped = write(gzip.compress(text.encode()), "corpus.tsv.gz")
    assert plain(read_conll(zipped)) == [("corpus:1", expected[0][1])]


def test_bad_utf8_is_replaced():
    assert next(read_conll(write(b"caf\xe9\tO\n"))).sentences[0].words == ("caf\ufffd",)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("a O\nb\n", -1, r"at least 2 columns, got \['b'\] in line 2 of corpus.txt"),
        ("a O\n", 2, r"at least 3 columns, got \['a', 'O'\] in line 1"),
        ("a O\n", -3, r"at least 3 columns"),
        ("a O\n\nb 12\n", -1, r'expected a label such as "O".* got "12" in line 3 of corpus.txt'),
        ("a B-\n", -1, 'got "B-"'),
        ("", -1, "expected words and labels in corpus.txt, got a file without any"),
        ("# remark\n\n", -1, "got a file without any"),
    ],
)
def test_bad_columns_are_one_clear_sentence(text, column, message):
    with pytest.raises(CorpusError, match=message):
        list(read_conll(write(text), column=column))


label = st.sampled_from(["O", "PERSON", "B-LOC", "I-LOC", "B-ORG"])
token = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=5)
token = token.filter(lambda word: not word.startswith(("#", "-DOCSTART-")))
sentence = st.lists(st.tuples(token, label), min_size=1, max_size=4)
document = st.lists(sentence, min_size=1, max_size=3)


@given(st.lists(document, min_size=1, max_size=3), st.sampled_from("\t "))
@in_one_folder
def test_what_is_written_in_columns_is_read(documents, blank):
    lines = []
    for each in documents:
        lines.append(f"-DOCSTART-{blank}O\n")
        for part in each:
            lines += ["", *(f"{word}{blank}x{blank}{name}" for word, name in part), ""]
    read = list(read_conll(write("\n".join(lines))))
    assert [
        [list(zip(s.words, s.labels, strict=True)) for s in found.sentences] for found in read
    ] == documents


@given(st.binary(max_size=60), st.integers(-3, 3))
@in_one_folder
def test_any_bytes_are_read_or_refused_kindly(data, column):
    write(data)
    for reader in (read_conll, read_ieer, read_text, read_corpus):
        options = {"column": column} if reader in (read_conll, read_corpus) else {}
        with contextlib.suppress(CorpusError):  # and no other error
            read = list(reader("corpus.txt", **options))
            assert all(s.words for d in read for s in d.sentences)


# IE-ER

IEER = """<IEER_DOC type="NEWSWIRE">
<DOC>
<DOCNO> APW.1 </DOCNO>
<DATE_TIME> 03/14/1998 </DATE_TIME>
<BODY>
<HEADLINE>
<b_enamex type="LOCATION">Kenya<e_enamex>ns protest
</HEADLINE>
<TEXT>
\t   <b_enamex type="LOCATION">NAIROBI<e_enamex>, <b_enamex type="LOCATION">Kenya<e_enamex> \
(<b_enamex type="ORGANIZATION">AP<e_enamex>) _ <b_numex type="CARDINAL">Two<e_numex> of
<b_enamex type="ORGANIZATION" status="opt">Smith &AMP; Co. The
Bank<e_enamex>-<b_enamex type="LOCATION"> London <e_enamex> left. &UR;
<ANNOTATION>
\t   (STORY CAN END HERE)
</ANNOTATION>
\t   <b_enamex type="PERSON">Moi<e_enamex><b_enamex type="PERSON">Jr<e_enamex>. met \
<b_enamex type="ORGANIZATION"><b_enamex type="ORGANIZATION">Smithsonian<e_enamex><e_enamex>.
</TEXT>
</BODY>
</DOC>
<DOC>
<TEXT>
Nothing.
</TEXT>
</DOC>
</IEER_DOC>
"""


def test_ieer_keeps_every_entity():
    first, second = read_ieer(write(IEER, "APW_1"))
    assert (first.name, second.name) == ("APW.1", "APW_1:2")
    assert entities(first) == [
        ("Kenya", "LOCATION"),
        ("NAIROBI", "LOCATION"),
        ("Kenya", "LOCATION"),
        ("AP", "ORGANIZATION"),
        ("Smith & Co. The Bank", "ORGANIZATION"),
        ("London", "LOCATION"),
        ("Moi", "PERSON"),
        ("Jr", "PERSON"),
        ("Smithsonian", "ORGANIZATION"),
    ]
    assert [" ".join(sentence.words) for sentence in first.sentences] == [
        "Kenya ns protest",
        "NAIROBI , Kenya ( AP ) _ Two of Smith & Co. The Bank - London left .",
        "Moi Jr . met Smithsonian .",
    ]
    assert first.sentences[2].labels[:3] == ("B-PERSON", "B-PERSON", "O")
    assert "&" in first.text and "UR" not in first.text and "STORY" not in first.text
    check_offsets(first)


def check_offsets(document):
    last = 0
    for sentence in document.sentences:
        for word, start in zip(sentence.words, sentence.starts, strict=True):
            assert start >= last and document.text[start : start + len(word)] == word
            last = start + len(word)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('<b_enamex type="PERSON">Moi', "expected <e_enamex> after every <b_enamex> in document x"),
        ("Moi<e_enamex>", "expected <b_enamex> before <e_enamex> in document x"),
    ],
)
def test_broken_marks_are_one_clear_sentence(body, message):
    with pytest.raises(CorpusError, match=message):
        list(read_ieer(write(f"<DOC>\n<DOCNO>x</DOCNO><TEXT>{body}</TEXT>\n</DOC>")))


kind = st.sampled_from(["PERSON", "ORGANIZATION", "LOCATION", "DATE"])
stretch = st.text(st.sampled_from("ab AB.,!\n\t-'5\x07"), max_size=8)


@given(st.lists(st.tuples(stretch, st.none() | kind), max_size=8))
@in_one_folder
def test_entities_in_any_text_are_kept(parts):
    marked = "".join(f'<b_enamex type="{k}">{text}<e_enamex>' if k else text for text, k in parts)
    read = list(read_ieer(write(f"<DOC><TEXT>{marked}</TEXT></DOC>")))
    assert read[0].text == "".join(text for text, _ in parts)
    check_offsets(read[0])
    visible = [("".join(text.replace("\x07", "").split()), k) for text, k in parts]
    expected = [(text, k) for text, k in visible if text and k in ENTITY_CLASSES]
    assert [(text.replace(" ", ""), k) for text, k in entities(read[0])] == expected


def test_a_folder_is_read_by_name_without_its_readme():
    Path("ieer").mkdir()
    for name in ("NYT_2", "APW_1"):
        write(f"<DOC>\n<TEXT>{name}</TEXT>\n</DOC>\n", f"ieer/{name}")
    write("About <DOC> files", "ieer/README")
    write("<DOC>", "ieer/.hidden")
    assert [d.name for d in read_ieer("ieer")] == ["APW_1:1", "NYT_2:1"]
    assert [d.name for d in read_corpus("ieer")] == ["APW_1:1", "NYT_2:1"]


# Plain text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")))
@in_one_folder
def test_plain_text_is_kept_with_offsets(text):
    (read,) = read_text(write(text, "a.b.txt"))
    assert (read.name, read.text) == ("a.b", text)
    check_offsets(read)


# Which it is, and what is none


@pytest.mark.parametrize(
    ("name", "text", "column", "expected"),
    [
        ("a", "<DOC>\n<TEXT>x</TEXT>", -1, "ieer"),
        ("a", "We say <DOC> here.", -1, "text"),
        ("a", "EU NNP B-ORG\nsaid VBD O\n", -1, "conll"),
        ("a.txt", "-DOCSTART- O\n\nEU I-ORG\n", -1, "conll"),
        ("a", "# remark\nEU\tORGANIZATION\nsaid\tO", -1, "conll"),
        ("a", "EU\tB-ORG\t12\n", 1, "conll"),
        ("a", "EU\tB-ORG\t12\n", -1, "text"),
        ("a.conll", "EU\tB-ORG\t12\n", -1, "conll"),
        ("a", "One word\nand O\n", -1, "text"),
        ("a", "Hello", -1, "text"),
        ("a", "", -1, "text"),
        ("a", "word O\n" * 20_000 + "prose", -1, "conll"),
        ("a", "\n" * 200_000, -1, "text"),
    ],
)
def test_formats_are_told_apart(name, text, column, expected):
    assert format_of(write(text, name), column) == expected


def test_read_corpus_takes_any_format():
    write("EU B-ORG\nsaid O\n", "a")
    write(IEER, "b")
    write("He left.", "c")
    read = list(read_corpus(".", mapping=ENTITY_CLASSES))
    assert [d.name for d in read] == ["a:1", "APW.1", "b:2", "c"]
    assert read[0].sentences[0].labels == ("B-ORGANIZATION", "O")
    assert list(read_corpus("a", "text")) == list(read_text("a"))
    with pytest.raises(CorpusError, match="a format of conll, ieer, text or None, got 'xml'"):
        list(read_corpus("a", "xml"))
    with pytest.raises(CorpusError, match="in line 1 of c"):
        list(read_corpus("c", "conll"))


@pytest.mark.parametrize("reader", [read_conll, read_ieer, read_text, read_corpus])
def test_files_that_cannot_be_read(reader):
    with pytest.raises(CorpusError, match="could not read the text file none: No such file"):
        list(reader("none"))
    write(b"\x89PNG\0\0", "binary")
    with pytest.raises(CorpusError, match="UTF-8 at binary, got a binary file"):
        list(reader("binary"))
    write(gzip.compress(b"a O\n" * 9999)[:-12], "broken.gz")
    with pytest.raises(CorpusError, match=r"could not read the text file broken.gz: "):
        list(reader("broken.gz"))


@pytest.mark.parametrize("reader", [read_ieer, read_text, read_corpus])
def test_folders_without_documents(reader):
    Path("empty/inner").mkdir(parents=True)
    write("x", "empty/README.md")
    with pytest.raises(CorpusError, match="expected documents in empty, got a folder without any"):
        list(reader("empty"))


def test_text_is_not_ieer():
    with pytest.raises(
        CorpusError, match=r"expected <DOC> marks of IE-ER documents in corpus\.txt"
    ):
        list(read_ieer(write("Hello")))


def test_documents_come_one_by_one():
    write("-DOCSTART- O\n\na O\n\n-DOCSTART- O\n\nb O\n\nc 12\n")
    reader = read_conll("corpus.txt")
    assert next(reader).sentences[0].words == ("a",)
    with pytest.raises(CorpusError, match="line 9"):
        next(reader)


# The corpora themselves


@needs_data
def test_ieer_as_tokenised_elsewhere():
    ours = {d.name: d for d in read_corpus(DATA / "ieer/raw")}
    theirs = {
        d.name: d
        for d in read_conll(DATA / "ieer/ieer_ptb.conll", column=1, mapping=ENTITY_CLASSES)
    }
    assert len(theirs) == 94 and ours.keys() == theirs.keys()
    assert sum(d.n_words for d in theirs.values()) == 65456
    assert sum(len(d.sentences) for d in theirs.values()) == 2773
    # 3385 marks, one of them inside its double; ours all apart, theirs joined in 6 words.
    assert sum(len(entities(d)) for d in ours.values()) == 3384
    unequal = {n: len(entities(d)) - len(entities(theirs[n])) for n, d in ours.items()}
    assert {name: more for name, more in unequal.items() if more} == {
        "APW19980424.0887": 2,
        "APW19980424.0890": 2,
        "APW19980424.0899": 1,
        "NYT19980315.0086": 1,
    }
    for found in ours.values():
        check_offsets(found)


@needs_data
@pytest.mark.parametrize(
    ("name", "n_documents", "n_words"),
    [
        ("wikigold.conll.txt", 145, 39007),
        ("btc.tsv", 1, 150381),
        ("wnut17_test.tsv", 1, 23394),
        ("uner_ewt_dev.tsv", 1, 25149),
    ],
)
def test_corpora_to_learn_from(name, n_documents, n_words):
    read = list(read_corpus(DATA / "ner" / name, mapping=ENTITY_CLASSES))
    assert (len(read), sum(d.n_words for d in read)) == (n_documents, n_words)
    kinds = {kind for d in read for s in d.sentences for _, _, kind in spans(s.labels)}
    assert kinds == set(ENTITY_CLASSES.values())
