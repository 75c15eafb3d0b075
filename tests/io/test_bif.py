"""BIF files: the grammar, what is written, what is refused, and the networks of bnlearn."""

import gzip
import tracemalloc

import numpy as np
import pytest
from hypothesis import given

import herded as hd
from herded.errors import FileError, MemoryLimitError, ModelError
from herded.io.bif import read_bif, write_bif
from tests.io.bayes_nets import bayes_nets, same_net, shipped_nets
from tests.support.example_budget import ALL
from tests.support.timeouts import ending

GARDEN = """
network "a garden" {
    property version 3 of http://example.org/garden;
}
variable rain {
    type discrete [ 2 ] { yes, no };
}
variable "lawn sprinkler" {          // quotes, and a comment
    type discrete[3] {"off" slow, fast};
    property position = (10, 20) "with; a } brace";
}
/* The grass is
   probability ( of ) { interest } */
variable wet/grass { type discrete [ 2 ] { <5, 12+ }; }
probability ( rain ) { table 0.2, 0.8; }
probability ( "lawn sprinkler" | rain ) {
    (yes) 0.9, 0.1, 0.0;
    (no) 0.5 0.25
         0.25;
}
probability(wet/grass|"lawn sprinkler",rain){
    property learned;
    ("off", yes) 0.3, 0.7;
    default 0.1, 0.9;
    (slow, no) .4, 6e-1;
}
"""


def parse(tmp_path, text, **options):
    path = tmp_path / "net.bif"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_bif(path, **options)


def tables(model):
    return [np.exp(model.factor(f)[1]).round(12).tolist() for f in range(model.n_factors)]


def test_reads_the_grammar(tmp_path):
    model = parse(tmp_path, GARDEN)
    assert model.names == ("rain", "lawn sprinkler", "wet/grass")
    assert model.state_names == (("yes", "no"), ("off", "slow", "fast"), ("<5", "12+"))
    assert [model.factor(f)[0].tolist() for f in range(3)] == [[0], [0, 1], [1, 0, 2]]
    rain, sprinkler, wet = tables(model)
    assert rain == [0.2, 0.8]
    assert sprinkler == [[0.9, 0.1, 0.0], [0.5, 0.25, 0.25]]
    others = [0.1, 0.9]
    assert wet == [[[0.3, 0.7], others], [others, [0.4, 0.6]], [others, others]]
    given = model.given({"rain": "no", "wet/grass": "12+"})
    assert given.evidence.tolist() == [1, -1, 1]


def test_tables_have_the_variable_itself_slowest(tmp_path):
    """0.6 and 0.4 are the probabilities of the light when the family is out."""
    text = """
    network dog { }
    probability ( light | family ) { table 0.6 0.05 0.4 0.95 ; }
    probability ( bark | light family ) { table .1 .2 .3 .4 .9 .8 .7 .6; }
    probability ( family ) { table 0.15 0.85 ; }
    variable family { type discrete [ 2 ] { out, in }; }
    variable light { type discrete [ 2 ] { on, off }; }
    variable bark { type discrete [ 2 ] { heard, not }; }
    """
    model = parse(tmp_path, text)
    assert model.names == ("family", "light", "bark")  # declared after they are used
    family, light, bark = tables(model)
    assert family == [0.15, 0.85]
    assert light == [[0.6, 0.4], [0.05, 0.95]]
    assert model.factor(2)[0].tolist() == [1, 0, 2]
    assert bark == [[[0.1, 0.9], [0.2, 0.8]], [[0.3, 0.7], [0.4, 0.6]]]


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("\n", "\r"), ("|", " "), (",", " , ,")])
def test_line_ends_commas_and_bars_mean_nothing(tmp_path, change):
    same_net(parse(tmp_path, GARDEN.replace(*change)), parse(tmp_path, GARDEN))


@pytest.mark.parametrize("comment", ["// a net\n", "/* a\nnet */"])
def test_one_kind_of_comments(tmp_path, comment):
    text = f"{comment}{ONE}{comment}probability ( a ) {{ {comment}table 0.5 0.5; }}{comment}"
    assert tables(parse(tmp_path, text)) == [[0.5, 0.5]]


def test_gzip_and_marks_of_encodings(tmp_path):
    same_net(parse(tmp_path, gzip.compress(GARDEN.encode())), parse(tmp_path, GARDEN))
    same_net(parse(tmp_path, "\ufeff" + GARDEN), parse(tmp_path, GARDEN))


ONE = "variable a { type discrete [ 2 ] { x, y }; }\n"
TWO = ONE + "variable b { type discrete [ 2 ] { x, y }; }\nprobability ( a ) { table 0.5 0.5; }\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a Bayes net in PATH, got no variables"),
        ("MARKOV 3", "network, variable or probability, got 'MARKOV' in line 1 of PATH"),
        ("network {}", "expected the name of the network, got '{' in line 1 of PATH"),
        ("network a", "expected '{', got the end of the file in line 1 of PATH"),
        ("network a {", "expected '}', got the end of the file in line 1 of PATH"),
        ("network a { b; }", "expected a property, got 'b' in line 1 of PATH"),
        (
            "network a { property b }",
            "an end of this comment, name or property, got 'property b }' in line 1 of PATH",
        ),
        (
            "/* never closed",
            "an end of this comment, name or property, got '/* never closed' in line 1 of PATH",
        ),
        ("\n/*/", "an end of this comment, name or property, got '/*/' in line 2 of PATH"),
        ('\nnetwork "a', "an end of this comment, name or property, got '\"a' in line 2 of PATH"),
        ("variable a { }", "expected one or more states of 'a', got none in line 1 of PATH"),
        (
            "variable a { type continuous; }",
            "expected 'discrete', got 'continuous' in line 1 of PATH",
        ),
        (
            "variable a { type discrete [ 2 ] { x }; }",
            "expected 2 states of 'a', not 1, got '}' in line 1",
        ),
        ("variable a { type discrete [ 99999999999 ] { x }; }", "expected 99999999999 states of"),
        (
            "variable a { type discrete [ 2 ] { x x }; }",
            "distinct states of 'a', got 'x' twice in line 1 of PATH",
        ),
        (
            "variable a { type discrete [ 2 ] { x property y; }; }",
            "expected the name of a state, got 'property y;' in line 1 of PATH",
        ),
        (
            "variable a { type discrete [ 2 ] { x ( }; }",
            "expected the name of a state, got '(' in line 1 of PATH",
        ),
        (
            'variable "" { type discrete [ 1 ] { x }; }',
            "variables and states, got an empty one in line 1 of PATH",
        ),
        (
            'variable a { type discrete [ 1 ] { "" }; }',
            "variables and states, got an empty one in line 1 of PATH",
        ),
        (ONE.replace(";", "; type discrete [ 1 ] { x };"), "expected one type, and properties"),
        (ONE.replace("};", "}"), "expected ';', got '}' in line 1 of PATH"),
        (ONE + ONE, "expected each variable once, got 'a' again in line 2 of PATH"),
        (ONE, "expected the probabilities of every variable in PATH, got none of 'a'"),
        (TWO, "expected the probabilities of every variable in PATH, got none of 'b'"),
        (TWO + "probability ( ) { }", "expected the name of a variable, got ')' in line 4 of PATH"),
        (TWO + "probability ( b", "expected ')', got the end of the file in line 4 of PATH"),
        (
            TWO + "probability ( c ) { table 1; }",
            "a variable of this file, got 'c' in line 4 of PATH",
        ),
        (
            TWO + "probability ( b | b ) { table 1; }",
            "expected each variable once, got 'b' twice in line 4 of PATH",
        ),
        (
            TWO + "probability ( b | a a ) { table 1; }",
            "expected each variable once, got 'a' twice in line 4",
        ),
        (
            TWO + "probability ( a ) { table 0.5 0.5; }",
            "one table for 'a', got another in line 4 of PATH",
        ),
        (
            TWO + "probability ( b ) { table 0.5; }",
            "expected 2 numbers before it, not 1, got ';' in line 4",
        ),
        (
            TWO + "probability ( b ) { table 0.5 0.5 }",
            "a probability or ';', got '}' in line 4 of PATH",
        ),
        (TWO + "probability ( b ) { 0.5 0.5; }", "expected one table, one default, or states of"),
        (
            TWO + "probability ( b ) { table 0.5 half; }",
            "a probability or ';', got 'half' in line 4 of PATH",
        ),
        (
            TWO + "probability ( b ) { table 0.5 0_5; }",
            "a probability or ';', got '0_5' in line 4 of PATH",
        ),
        (
            TWO + "probability ( b ) { table 1 1e-999; }",
            "a probability or ';', got '1e-999' in line 4 of PATH",
        ),
        (
            TWO + "probability ( b ) { table 1 \u0660; }",
            "expected a probability or ';', got '\u0660' in line 4 of PATH",
        ),
        (
            TWO + "probability ( b ) { table \u0661 0; }",
            "expected a probability or ';', got '\u0661' in line 4 of PATH",
        ),
        (
            TWO + "probability ( b ) { table 0.5 0.6; }",
            "that sum to 1, got 0.5 0.6 in row 0 in line 4 of PATH",
        ),
        (
            TWO + "probability ( b ) { table 2 -1; }",
            "that sum to 1, got 2.0 -1.0 in row 0 in line 4 of PATH",
        ),
        (
            TWO + "probability ( b ) { table 1 nan; }",
            "that sum to 1, got 1.0 nan in row 0 in line 4 of PATH",
        ),
        (
            TWO + "probability ( b ) { table inf 0; }",
            "that sum to 1, got inf 0.0 in row 0 in line 4 of PATH",
        ),
        (
            TWO + "probability ( b | a ) { (x) 1 0; }",
            "expected 2 rows of 'b', one for each state of",
        ),
        (
            TWO + "probability ( b | a ) { (x) 1 0; (x) 1 0; }",
            "no row twice, before it, got ';' in line 4",
        ),
        (
            TWO + "probability ( b | a ) { (x) 1 0;\n(z) 1 0; }",
            "before it, got ';' in line 5 of PATH",
        ),
        (TWO + "probability ( b | a ) { (x) 1 0;\n(x y) 1 0; }", "one state of each parent of 'b'"),
        (
            TWO + "probability ( b | a ) { (x) 1 0\n(y) 1 0; }",
            "a probability or ';', got '(' in line 5 of PATH",
        ),
        (TWO + "probability ( b | a ) { table 1 1 0 0; (x) 1 0; }", "either a table or rows, not"),
        (TWO + "probability ( b | a ) { default 1 0; default 0 1; }", "one table, one default, or"),
        (
            TWO + "probability ( b ) { table 1 0; } }",
            "network, variable or probability, got '}' in line 4",
        ),
        (b"// caf\xe9", "expected text in UTF-8, got other bytes in line 1 of PATH"),
    ],
)
def test_refused_in_one_sentence(tmp_path, text, message):
    with pytest.raises(FileError) as caught:
        parse(tmp_path, text)
    said = str(caught.value).replace(str(tmp_path / "net.bif"), "PATH")
    assert message in said
    assert said.startswith("expected ") and "\n" not in said and len(said) < 250


def test_cycles_are_refused(tmp_path):
    row = "{ (x) 1 0; (y) 0 1; }"
    text = ONE + TWO.splitlines()[1] + f"\nprobability ( a | b ) {row} probability ( b | a ) {row}"
    with pytest.raises(FileError, match=r"expected no cycle of parents, got one of 2 variables"):
        parse(tmp_path, text)


def test_a_default_may_not_stand_for_more_than_memory_has(tmp_path):
    names = [f"v{i}" for i in range(41)]
    blocks = [f"variable {name} {{ type discrete [ 2 ] {{ x, y }}; }}" for name in names]
    blocks += [f"probability ( {name} ) {{ table 0.5 0.5; }}" for name in names[1:]]
    for parents, max_memory in ((40, None), (20, 2**25)):
        given_ = " ".join(names[1 : 1 + parents])
        text = "\n".join([*blocks, f"probability ( v0 | {given_} ) {{ default 1 0; }}"])
        tracemalloc.start()
        with pytest.raises(
            MemoryLimitError, match="expected the table of 'v0' and those before it"
        ):
            parse(tmp_path, text, max_memory=max_memory)
        assert tracemalloc.get_traced_memory()[1] < 2**21
        tracemalloc.stop()
    # Of 15,000 variables the states are a number that Python does not write out.
    for row, n in (("default 1 0;", 15_000), ("(x) 1 0;", 50), ("table 1;", 50)):
        many = [f"variable w{i} {{ type discrete [ 2 ] {{ x, y }}; }}" for i in range(n)]
        given_ = " ".join(f"w{i}" for i in range(n))
        text = "\n".join([*many, *blocks, f"probability ( v0 | {given_} ) {{ {row} }}"])
        line = f"in line {n + 82}"
        with pytest.raises(FileError, match=rf"at most 2\^48 states together, got .* {line}"):
            parse(tmp_path, text)
    text = "\n".join([*blocks, "probability ( v0 | v1 v2 v3 ) { default 1 0; }"])
    assert parse(tmp_path, text, max_memory=2**25).n_variables == 41


def test_short_rows_take_no_memory_for_long_ones(tmp_path):
    """3000 rows of one number, where 3000 rows of 3000 were due."""
    states = " ".join(f"s{k}" for k in range(3000))
    variables = [f"variable {name} {{ type discrete [ 3000 ] {{ {states} }}; }}" for name in "ab"]
    rows = " ".join(f"(s{k}) 1;" for k in range(3000))
    text = "\n".join([*variables, f"probability ( b | a ) {{ {rows} }}"])
    tracemalloc.start()
    with pytest.raises(
        FileError, match="expected 3000 numbers before it, not 1, got ';' in line 3"
    ):
        parse(tmp_path, text)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


@pytest.mark.parametrize(
    "text", ["/* " * 200_000, '" ' * 200_001, "a/" * 100_000, "property " * 10**5]
)
def test_every_text_comes_to_an_end(tmp_path, text):
    with ending(), pytest.raises(FileError):
        parse(tmp_path, text)


# -- writing -----------------------------------------------------------------------------------


@given(bayes_nets())
def test_round_trip(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("bif")
    write_bif(model, folder / "one")
    first = read_bif(folder / "one")
    assert first.names == model.names and first.state_names == model.state_names
    np.testing.assert_allclose(first.log_tables, model.log_tables, rtol=2.3e-16, atol=2.3e-16)
    write_bif(first, folder / "two")
    same_net(read_bif(folder / "two"), first)
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()


def test_names_are_made_up_where_there_are_none(tmp_path):
    model = hd.FactorGraph(
        [2, 3], [([0], np.log([0.5, 0.5])), ([0, 1], np.log(np.full((2, 3), 1 / 3)))]
    )
    write_bif(model, tmp_path / "net.bif")
    found = read_bif(tmp_path / "net.bif")
    assert found.names == ("x0", "x1") and found.state_names == (("s0", "s1"), ("s0", "s1", "s2"))
    assert found.content_hash == model.content_hash


COIN = np.log([0.5, 0.5])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (5, "expected a Bayes net as a FactorGraph, got int"),
        (hd.ising_grid([[0.0]]), "expected a Bayes net as a FactorGraph, got Lattice"),
        (hd.FactorGraph([2], []), "other than one for each variable: use write_uai"),
        (hd.FactorGraph([2], [((), 0.0)]), "other than one for each variable"),
        (hd.FactorGraph([2], [((0,), COIN), ((), 0.0)]), "other than one for each variable"),
        (hd.FactorGraph([2, 2], [((0,), COIN)] * 2), "other than one for each variable"),
        (hd.FactorGraph([2], [((0,), [0.0, 0.0])]), "got other numbers in factor 0: use write_uai"),
        (hd.FactorGraph([2], [((0,), COIN)]).given({0: 1}), "without evidence"),
        (hd.FactorGraph([2], [((0,), COIN)], names=['"']), "names without quotes"),
        (hd.FactorGraph([2], [((0,), COIN)], names=["\ud800"]), "names without quotes"),
        (hd.FactorGraph([2, 2], [((0, 1), [COIN, COIN]), ((1, 0), [COIN, COIN])]), "a cycle of"),
    ],
)
def test_what_is_no_net_is_not_written(tmp_path, model, message):
    with pytest.raises(ModelError, match=message):
        write_bif(model, tmp_path / "net.bif")
    assert list(tmp_path.iterdir()) == []


# -- the networks of bnlearn -------------------------------------------------------------------


def test_shipped_networks(tmp_path):
    """Those of less than 20 KiB, or every second; that all can be read is in test_networks.py."""
    paths = [path for path in shipped_nets() if path.stat().st_size < 20_000]
    if not paths:
        pytest.skip("pgmpy, whose package has the networks, is not installed")
    assert len(paths) >= 13
    for path in paths if ALL else paths[::2]:
        model = read_bif(path)
        sums = [np.exp(model.factor(f)[1]).sum(axis=-1) for f in range(model.n_factors)]
        np.testing.assert_allclose(np.concatenate([s.ravel() for s in sums]), 1, atol=0.01)
        write_bif(model, tmp_path / "again.bif")
        same_net(read_bif(tmp_path / "again.bif"), model)
        hd.io.write_xmlbif(model, tmp_path / "again.xml")
        same_net(hd.io.read_xmlbif(tmp_path / "again.xml"), model)


def test_asia(tmp_path):
    paths = [path for path in shipped_nets() if path.name == "asia.bif.gz"]
    if not paths:
        pytest.skip("pgmpy, whose package has the networks, is not installed")
    model = read_bif(paths[0])
    result = hd.infer(model.given({"xray": "yes"}), hd.Exact())
    lung = result.marginals[model.names.index("lung")]
    assert lung[0] == pytest.approx(0.48871, abs=1e-5)
    assert hd.infer(model, hd.Exact()).log_z == pytest.approx(0, abs=1e-9)
