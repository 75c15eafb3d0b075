"""The live page's sampler, under Node where there is one, gives Python's hashes, bit for bit."""

import base64
import contextlib
import hashlib
import json
import math
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.errors import HerdedError, ModelError
from herded.live import api, model_tables, picture_codec
from herded.live.scene_links import read_link
from herded.live.scenes import digest_of, scene_of
from herded.system.numerics.exp_log import exp, log
from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.exp_log import naive_log
from tests.conformance.twins.samplers.algorithm_1 import naive_herded_gibbs
from tests.live.linked_runs import DIGITS, HASHES, RING, write_net
from tests.support.example_budget import examples

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no node to run the page's sampler")
PAGE = Path(hd.__file__).parent / "live" / "page"


def ask_node(*question):
    """What the page's own modules say."""
    request = json.dumps({"folder": PAGE.as_uri(), "question": question})
    script = Path(__file__).with_name("live_node.mjs")
    done = subprocess.run(
        [NODE, str(script)], input=request, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    return write_net(tmp_path_factory.mktemp("net"))


@pytest.mark.parametrize("link", HASHES)
def test_python_has_the_hash(link, net):
    assert digest_of(scene_of(read_link(link), net))[:DIGITS] == HASHES[link]


@needs_node
def test_the_page_has_the_hashes(net):
    runs = []
    for text in HASHES:
        link = read_link(text)
        asked = dict(link.words)
        if link.scene == "model":
            graph = model_tables.with_evidence(hd.read_model(net), link.words["given"])
            starts = model_tables.page_chain_starts(graph, 3, int(link.words["seed"]))
            asked["table"] = model_tables.conditional_tables(graph, starts)
        elif link.scene == "names":
            request = {"text": link.words["text"], "ties": float(link.words["ties"])}
            asked |= api.text_answer(request)
        sweeps = int(asked.pop("sweeps"))
        method = asked.pop("method")
        runs.append({"scene": link.scene, "asked": asked, "method": method, "sweeps": sweeps})
    assert [found[:DIGITS] for found in ask_node("hashes", runs)] == list(HASHES.values())


def test_a_hash_is_that_of_states_and_counts():
    """Of the slow twin's states, and of how often it saw each."""
    scene = scene_of(read_link("two?eps=0.05&seed=4&method=herded&sweeps=30"))
    samples, _ = naive_herded_gibbs(scene.model, seed=4, x0=[0, 0], sweeps=30)
    counts = [np.bincount(samples[:, i], minlength=2) for i in (0, 1)]
    bytes_of_both = samples[-1].astype(np.uint8).tobytes() + np.array(counts, "<u8").tobytes()
    assert digest_of(scene) == hashlib.sha256(bytes_of_both).hexdigest()


def test_a_link_may_have_the_file_in_it(net):
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    packed = packer.compress(net.read_bytes()) + packer.flush()
    word = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    for link, expected in HASHES.items():
        if link.startswith("model?"):
            whole = read_link(f"{link}&file=weather.bif&z={word}")
            assert digest_of(scene_of(whole))[:DIGITS] == expected


@needs_node
def test_exp_log_and_streams():
    rng = np.random.default_rng(0)
    numbers = [*rng.normal(size=300), *rng.uniform(-745, 709, 200), *np.exp(rng.normal(size=200))]
    numbers += [0.0, 1.0, 2.0**-1060, 1e300, -1e-300, 0.75, 709.7, -745.0, 5e-324]
    expected = [
        [struct.pack(">d", f(float(x))).hex() for f in (exp, log)] for x in numbers if x >= 0
    ]
    found = ask_node("functions", [repr(float(x)) for x in numbers if x >= 0])
    assert found == expected
    below = [x for x in numbers if x < 0]
    found = ask_node("functions", [repr(float(x)) for x in below])
    assert [pair[0] for pair in found] == [struct.pack(">d", exp(float(x))).hex() for x in below]
    streams = [[int(n) for n in rng.integers(0, 2**31, 3)] for _ in range(50)]
    streams = [[*names, int(rng.integers(0, 2**50))] for names in streams]
    words = [naive_draw(naive_key(a, b, c), counter) for a, b, c, counter in streams]
    assert ask_node("draws", streams) == [[word >> 32, word & (2**32 - 1)] for word in words]


@needs_node
def test_sha256_of_the_page():
    texts = ["", "abc", "x" * 55, "y" * 56, "z" * 1000]
    assert ask_node("sha256", texts) == [hashlib.sha256(t.encode()).hexdigest() for t in texts]


@needs_node
def test_pictures_go_there_and_back():
    rng = np.random.default_rng(1)
    drawn = [
        np.zeros(16, int),
        np.ones(33, int),
        rng.integers(0, 2, 400),
        np.arange(900) // 300 % 2,
    ]
    for bits, (text, back) in zip(
        drawn, ask_node("pictures", [d.tolist() for d in drawn]), strict=True
    ):
        assert back == bits.tolist()
        assert picture_codec.decode_picture(text, len(bits)).tolist() == bits.tolist()


@given(st.text(max_size=40), st.integers(1, 100))
def test_no_text_breaks_the_reader_of_pictures(text, n):
    with contextlib.suppress(ModelError):
        assert len(picture_codec.decode_picture(text, n)) == n


@given(st.text(max_size=60))
@examples(50)
def test_no_text_breaks_the_reader_of_links(text):
    with contextlib.suppress(HerdedError):
        scene_of(read_link(text))


def test_noise_is_that_of_its_twin():
    found = picture_codec.normal_numbers(7, 40)
    key = naive_key(7, 0, 6)
    for i in range(40):
        for attempt in range(32):
            bits = naive_draw(key, 32 * i + attempt)
            u, v = (bits >> 32) / 2**31 - 1, (bits & (2**32 - 1)) / 2**31 - 1
            if 0 < u * u + v * v < 1:
                s = u * u + v * v
                assert found[i] == u * math.sqrt(-2 * naive_log(s) / s)
                break
    many = picture_codec.normal_numbers(3, 20_000)
    assert abs(many.mean()) < 0.03 and abs(many.std() - 1) < 0.02


@needs_node
def test_a_scene_takes_over_the_worker_of_the_one_before():
    """Also one that is at work, but not its failure; a worker that failed is ended."""
    two = ["two failed", "{0} ends", "{1} starts three"]
    found = ask_node("workers", False)
    assert found == ["0 starts one", "0 starts two", *(text.format(0, 1) for text in two)]
    found = ask_node("workers", True)
    assert found == ["0 starts one", "0 ends", "1 starts two", *(text.format(1, 2) for text in two)]


@needs_node
def test_the_exact_energy_of_a_torus():
    """Kaufman's formula against elimination."""
    for side, coupling in ((4, 0.3), (4, 0.6)):
        model = hd.ising_grid(np.zeros((side, side)), coupling, periodic=True)
        h = 1e-3
        log_z = [
            hd.infer(
                hd.ising_grid(np.zeros((side, side)), coupling + d, periodic=True), hd.Exact()
            ).log_z
            for d in (-h, h)
        ]
        slope = (log_z[1] - log_z[0]) / (2 * h * 2 * model.n_variables)
        assert ask_node("tori", [[side, coupling]])[0] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("nowhere?x=1", "a link to a scene"),
        ("two?eps=0.01&seed=0&method=herded", "sweeps=... in the link"),
        ("two?eps=no&seed=0&method=herded&sweeps=1", "eps= as a number"),
        ("two?eps=nan&seed=0&method=herded&sweeps=1", "eps= as a number"),
        ("two?eps=0.01&seed=0.5&method=herded&sweeps=1", "seed= as a whole number"),
        ("two?eps=0.01&seed=0&method=mean&sweeps=1", "method= as one of"),
        ("two?eps=0.01&seed=0&method=gibbs&sweeps=1e99", "sweeps= as a number"),
        (f"picture?size=63&noise=1&p={RING}&seed=0&method=gibbs&sweeps=1", "p= as a picture"),
        ("names?ties=1&seed=0&method=gibbs&sweeps=1", "text=... in the link"),
        ("names?ties=99&text=x&seed=0&method=gibbs&sweeps=1", "ties= as a number"),
        ("model?seed=0&method=gibbs&sweeps=1", "the model's file"),
        ("model?file=a.bif&z=%21&seed=0&method=gibbs&sweeps=1", "z= as a file"),
        ("model?file=a.bif&z=AAAA&seed=0&method=gibbs&sweeps=1", "z= as a file"),
    ],
)
def test_links_that_make_no_sense(link, why):
    with pytest.raises(HerdedError, match="expected .*" + why.replace("?", r"\?")):
        scene_of(read_link(link))
