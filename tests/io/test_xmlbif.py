"""XMLBIF files: what is read and written, and that no XML does harm."""

import gzip
import tracemalloc

import numpy as np
import pytest
from hypothesis import given

import herded as hd
from herded.errors import FileError, ModelError
from herded.io.xmlbif import read_xmlbif, write_xmlbif
from tests.io.bayes_nets import bayes_nets, same_net
from tests.support.timeouts import ending

DTD = """<!DOCTYPE BIF [
    <!ELEMENT BIF ( NETWORK )*>
    <!ATTLIST BIF VERSION CDATA #REQUIRED>
    <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
]>"""
DOG = """<?xml version="1.0" encoding="US-ASCII"?>
<!-- a net -->
DTD
<BIF VERSION="0.3">
<NETWORK>
<NAME>Dog</NAME>
<PROPERTY>from = a book</PROPERTY>
<VARIABLE TYPE="nature">
    <NAME>light &amp; shade</NAME>
    <OUTCOME>on</OUTCOME> <OUTCOME>off</OUTCOME>
    <PROPERTY>position = (73, 165)</PROPERTY>
</VARIABLE>
<VARIABLE><NAME> family </NAME><OUTCOME>out</OUTCOME><OUTCOME>in</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>bark</NAME>
    <OUTCOME>loud</OUTCOME><OUTCOME>&lt;5</OUTCOME><OUTCOME>none</OUTCOME></VARIABLE>
<DEFINITION>
    <FOR>light &amp; shade</FOR>
    <GIVEN>family</GIVEN>
    <TABLE> 0.6 0.4 <!-- out -->
            0.05 0.95 <!-- in --> </TABLE>
</DEFINITION>
<DEFINITION><FOR>family</FOR><TABLE>0.15 0.85</TABLE><PROPERTY>guessed</PROPERTY></DEFINITION>
<DEFINITION><FOR>bark</FOR><GIVEN>family</GIVEN><GIVEN>light &amp; shade</GIVEN>
    <TABLE>0.1 0.2 0.7  0.3 0.3 0.4  0 0 1  1 0 0</TABLE></DEFINITION>
</NETWORK>
</BIF>
""".replace("DTD", DTD)


def parse(tmp_path, text):
    path = tmp_path / "net.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_xmlbif(path)


def test_reads_the_format(tmp_path):
    model = parse(tmp_path, DOG)
    assert model.names == ("light & shade", "family", "bark")
    assert model.state_names == (("on", "off"), ("out", "in"), ("loud", "<5", "none"))
    assert [model.factor(f)[0].tolist() for f in range(3)] == [[1, 0], [1], [1, 0, 2]]
    light, family, bark = (np.exp(model.factor(f)[1]).round(12).tolist() for f in range(3))
    assert light == [[0.6, 0.4], [0.05, 0.95]]
    assert family == [0.15, 0.85]
    assert bark == [[[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]], [[0, 0, 1], [1, 0, 0]]]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.encode("utf-16"),
        lambda text: gzip.compress(text.encode()),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("NETWORK>", "Network>").replace("FOR>", "for>").encode(),
        lambda text: text.replace(DTD, '<!DOCTYPE BIF SYSTEM "/nowhere/bif.dtd">').encode(),
        lambda text: text.replace("0.15 0.85", "<![CDATA[0.15]]> .85").encode(),
    ],
)
def test_other_ways_to_write_the_same(tmp_path, change):
    text = DOG.replace(' encoding="US-ASCII"', "")
    same_net(parse(tmp_path, change(text)), parse(tmp_path, DOG))


# -- harm --------------------------------------------------------------------------------------

LAUGHS = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 10))


@pytest.mark.parametrize(
    "document",
    [
        f'<!DOCTYPE BIF [<!ENTITY a0 "ha">{LAUGHS}]><BIF>&a9;</BIF>',
        '<!DOCTYPE BIF [<!ENTITY a SYSTEM "file:///etc/passwd">]><BIF>&a;</BIF>',
        '<!DOCTYPE BIF [<!ENTITY a SYSTEM "http://localhost/">]><BIF>&a;</BIF>',
        '<!DOCTYPE BIF [<!ENTITY % a SYSTEM "http://localhost/"> %a;]><BIF/>',
        '<!DOCTYPE BIF [<!ENTITY a "harmless">]><BIF/>',
        '<!DOCTYPE BIF SYSTEM "http://localhost/bif.dtd"><BIF>&a;</BIF>',
        '<!DOCTYPE BIF [<!NOTATION n SYSTEM "n"> <!ENTITY a SYSTEM "b" NDATA n>]><BIF/>',
    ],
)
def test_entities_are_refused(tmp_path, document):
    tracemalloc.start()
    with pytest.raises(FileError, match=r"expected no entities, got one in line 1 of .*: write"):
        parse(tmp_path, document)
    assert tracemalloc.get_traced_memory()[1] < 2**22  # the bomb would be 2 GB
    tracemalloc.stop()


@pytest.mark.parametrize(
    "text", ["<a>" * 10**6, "<BIF>" * 9, "<BIF " + 'a="b" ' * 2 * 10**5, "<!--" * 10**6]
)
def test_deep_and_endless_documents(tmp_path, text):
    with ending(), pytest.raises(FileError, match="expected"):
        parse(tmp_path, text)


def net(*parts):
    return f"<BIF>\n<NETWORK>\n{''.join(parts)}</NETWORK></BIF>"


A = "<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>\n"
P = "<DEFINITION><FOR>a</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "XML, got something else (no element found: line 1, column 0) in line 1 of PATH"),
        (
            "MARKOV",
            "expected XML, got something else (syntax error: line 1, column 0) in line 1 of PATH",
        ),
        (
            "<BIF>\n<NETWORK>\n</BIF>",
            "XML, got something else (mismatched tag: line 3, column 2) in line 3 of PATH",
        ),
        (
            b"<BIF>\xff\xfe</BIF>",
            "something else (not well-formed (invalid token): line 1, column 5) in line 1 of PATH",
        ),
        (
            '<?xml version="1.0" encoding="klingon"?><BIF/>',
            "expected XML, got something else (unknown encoding: klingon) in line 1",
        ),
        (
            '<?xml version="1.0" encoding="big5"?><BIF/>',
            "expected XML, got something else (multi-byte encodings are not supported) in line 1",
        ),
        ("<html/>", "expected <BIF>, got <HTML> in line 1 of PATH: use a file in XMLBIF 0.3"),
        ("<BIF/>", "expected one <NETWORK> in <BIF>, got 0 in line 1 of PATH"),
        ("<BIF><NETWORK/></BIF>", "expected a Bayes net in PATH, got no variables"),
        (
            net("<PROBABILITY/>"),
            "expected VARIABLE or DEFINITION, got <PROBABILITY> in line 3 of PATH",
        ),
        (
            net(A.replace("NAME", "TITLE")),
            "expected one <NAME> in <VARIABLE>, got 0 in line 3 of PATH",
        ),
        (
            net(A.replace("<NAME>a", "<NAME>")),
            "names of variables and states, got an empty one in line 3 of PATH",
        ),
        (
            net(A.replace("BLE>", 'BLE TYPE="utility">', 1)),
            "expected 'a' of type nature, got utility in line 3",
        ),
        (net(A, A), "expected each variable once, got 'a' again in line 4 of PATH"),
        (
            net(A.replace(">y<", ">x<")),
            "expected distinct states of 'a', got 'x' twice in line 3 of PATH",
        ),
        (
            net(A.replace("OUTCOME", "OTHER")),
            "expected one or more states of 'a', got none in line 3",
        ),
        (net(A), "expected the probabilities of every variable in PATH, got none of 'a'"),
        (net(A, P, P), "expected one table for 'a', got another in line 5 of PATH"),
        (net(A, P.replace(">a<", ">b<")), "a variable of this file, got 'b' in line 4 of PATH"),
        (
            net(A, P.replace("<TAB", "<GIVEN>a</GIVEN><TAB")),
            "each variable once, got 'a' twice in line 4 of PATH",
        ),
        (
            net(A, P.replace("0.5 0.5", "0.5")),
            "expected 2 numbers in the table of 'a', got 1 in line 4",
        ),
        (
            net(A, P.replace("0.5 0.5", "half half")),
            "in the table of 'a', got other words in line 4",
        ),
        (
            net(A, P.replace("0.5 0.5", "0.5 -0.5")),
            "that sum to 1, got 0.5 -0.5 in row 0 in line 4 of PATH",
        ),
        (
            net(A, P.replace("TABLE", "VALUES")),
            "expected one <TABLE> in <DEFINITION>, got 0 in line 4",
        ),
    ],
)
def test_refused_in_one_sentence(tmp_path, text, message):
    with pytest.raises(FileError) as caught:
        parse(tmp_path, text)
    said = str(caught.value).replace(str(tmp_path / "net.xml"), "PATH")
    assert message in said
    assert said.startswith("expected ") and "\n" not in said and len(said) < 250


# -- writing -----------------------------------------------------------------------------------


@given(bayes_nets())
def test_round_trip(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("xmlbif")
    write_xmlbif(model, folder / "one")
    first = read_xmlbif(folder / "one")
    assert first.names == model.names and first.state_names == model.state_names
    np.testing.assert_allclose(first.log_tables, model.log_tables, rtol=2.3e-16, atol=2.3e-16)
    write_xmlbif(first, folder / "two")
    same_net(read_xmlbif(folder / "two"), first)
    hd.io.write_bif(first, folder / "three")
    same_net(hd.io.read_bif(folder / "three"), first)


@pytest.mark.parametrize("name", [" a", "a ", "a\nb", "\0", "\ud800", "\uffff"])
def test_names_that_xml_cannot_hold(tmp_path, name):
    model = hd.FactorGraph([2], [((0,), np.log([0.5, 0.5]))], names=[name])
    with pytest.raises(ModelError, match="names without control characters or spaces"):
        write_xmlbif(model, tmp_path / "net.xml")
    assert list(tmp_path.iterdir()) == []
