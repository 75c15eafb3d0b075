"""The live page's server: whom it answers, what it refuses, how it ends; and the static files."""

import http.client
import json
import re
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import herded as hd
from herded.live import api, server, text_tables
from herded.live.server import HOST, LiveServer
from herded.live.static_files import page_files, write_page
from tests.support.commands import environment, fails, run, start, weather
from tests.support.timeouts import HANGS

JSON = "application/json"


@pytest.fixture(scope="module")
def live():
    with pytest.MonkeyPatch.context() as patch, LiveServer(token="secret-token") as serving:
        patch.setattr(server, "ANSWER_TIMEOUT_SECONDS", HANGS)  # compilers may come first
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


def ask(live, method, path, body=None, **headers):
    """Status, headers and content of an answer."""
    connection = http.client.HTTPConnection(HOST, live.port, timeout=HANGS)
    connection.request(
        method, path, body, {name.replace("_", "-"): v for name, v in headers.items()}
    )
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def post(live, question, request, **headers):
    """As the page asks."""
    own = {"Origin": f"http://{HOST}:{live.port}", "Content_Type": JSON, **headers}
    body = request if isinstance(request, bytes) else json.dumps(request).encode()
    status, _, content = ask(live, "POST", f"/secret-token/{question}", body, **own)
    return status, json.loads(content)


# -- who may ask -----------------------------------------------------------------------------------


def test_it_listens_on_loopback_alone(live):
    assert live.server_address[0] == "127.0.0.1"
    assert live.link == f"http://127.0.0.1:{live.port}/secret-token/"
    with LiveServer() as other, LiveServer() as another:
        assert other.token != another.token and len(other.token) >= 20


def test_the_page_and_its_headers(live):
    status, headers, content = ask(live, "GET", "/secret-token/")
    assert status == 200 and b"<title>herded, live</title>" in content
    assert headers["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer" and headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers
    status, headers, content = ask(live, "GET", "/secret-token/sampler/exp.js?x=1")
    assert status == 200 and headers["Content-Type"].startswith("text/javascript")
    assert b"served = true" in ask(live, "GET", "/secret-token/served.js")[2]


@pytest.mark.parametrize(
    "path",
    ["/", "/index.html", "/wrong/", "/secret-toke/", "/secret-token2/", "*"],
)
def test_without_the_token_nothing_is_told(live, path):
    status, _, content = ask(live, "GET", path)
    assert status == 403 and b"html" not in content


@pytest.mark.parametrize(
    "path",
    [
        "../server.py",
        "../../__init__.py",
        "sampler/../../server.py",
        "%2e%2e/server.py",
        "..%2fserver.py",
        "/etc/passwd",
        "sampler",
        "sampler/",
        "__pycache__",
        "C:/windows/win.ini",
        "served.js%00.html",
    ],
)
def test_only_files_of_the_page(live, path):
    assert ask(live, "GET", f"/secret-token/{path}")[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "localhost:1", "127.0.0.1", "evil.example:80"])
def test_another_hosts_name(live, host):
    """A name that was made to point here (DNS rebinding)."""
    assert ask(live, "GET", "/secret-token/", Host=host)[0] == 403
    assert post(live, "names", {"text": ""}, Host=host)[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", ""])
def test_another_origin(live, origin):
    assert post(live, "names", {"text": "x"}, Origin=origin)[0] == 403


def test_no_origin_at_all(live):
    assert ask(live, "POST", "/secret-token/names", b"{}", Content_Type=JSON)[0] == 403


# -- what is sent ----------------------------------------------------------------------------------


def test_bodies_that_are_refused(live, monkeypatch):
    assert post(live, "nothing", {})[0] == 404
    assert post(live, "names", {}, Content_Type="text/plain")[0] == 415
    assert post(live, "names", b"{")[0] == 400
    assert post(live, "names", b"[" * 100_000)[0] == 400
    assert post(live, "names", [1])[0] == 400
    assert post(live, "names", {}, Content_Length="none")[0] == 411
    assert post(live, "names", {}, Content_Length=str(10**12))[0] == 413
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert ask(live, method, "/secret-token/")[0] == 501


@pytest.mark.parametrize(
    ("question", "request_", "why"),
    [
        ("names", {}, "text as a text"),
        ("names", {"text": 3}, "text as a text"),
        ("names", {"text": "x" * 20_001}, "at most 20,000 characters"),
        ("names", {"text": " "}, "a text with a word in it"),
        ("names", {"text": "x", "ties": "2"}, "ties as a number from 0 to 16"),
        ("names", {"text": "x", "ties": 17}, "ties as a number from 0 to 16"),
        ("names", {"text": "x", "ties": float("nan")}, "ties as a number from 0 to 16"),
        ("model", {"name": "a.npz", "content": "", "given": ""}, "a .uai, .bif or .xmlbif file"),
        ("model", {"name": "a.py", "content": "import os", "given": ""}, ".bif"),
        ("model", {"name": "a.uai", "content": "import os", "given": ""}, "a.uai"),
        ("model", {"name": "a.uai", "content": "", "given": None}, "given as a text"),
    ],
)
def test_questions_that_make_no_sense(live, question, request_, why):
    status, found = post(live, question, {"chains": 2, "seed": 0, "ties": 1, **request_})
    assert status == 422 and found["error"].startswith("expected ") and why in found["error"]


def test_a_text_that_was_pasted(live):
    """Ties of strength 0 leave every sentence to itself: elimination gives what the chain says."""
    text = "Jackson met reporters in Jackson. \U0001f600 Then Jackson flew."
    status, found = post(live, "names", {"text": text, "ties": 0})
    assert status == 200 and found["kinds"] == ["O", "LOCATION", "ORGANIZATION", "PERSON"]
    words = [text[a : a + n] for a, n in zip(found["starts"], found["lengths"], strict=True)]
    assert words[:2] == ["Jackson", "met"] and words.count("Jackson") == 3
    assert [[words[a], words[b]] for a, b in found["ties"]] == [["Jackson"] * 2] * 2
    assert found["sentences"][0] == 0 and found["sentences"][-1] == len(words)
    alone = np.reshape(found["alone"], (len(words), 4))
    for strength, near in ((0.0, True), (4.0, False)):
        model = text_tables.text_model(text_tables.parse_pasted_text(text), strength)
        marginals = hd.infer(model, "exact").marginals
        assert np.allclose(marginals, alone, atol=6e-5) == near


def weather_file(tmp_path):
    hd.io.write_bif(weather(), tmp_path / "weather.bif")
    return (tmp_path / "weather.bif").read_text()


def test_a_model_that_was_dropped(live, tmp_path):
    request = {"name": "weather.bif", "content": weather_file(tmp_path), "chains": 2, "seed": 0}
    status, found = post(live, "model", {**request, "given": "2:1"})
    assert status == 200 and found["names"] == ["rain", "ground", "slip"]
    assert found["states"][1] == ["dry", "damp", "wet"]
    assert found["table"]["observed"] == [-1, -1, 1] and len(found["table"]["starts"]) == 2
    for given, why in (
        ("2:7", "evidence from 0"),
        ("x", "evidence such as"),
        ("9:0", "a variable"),
    ):
        status, found = post(live, "model", {**request, "given": given})
        assert status == 422 and why in found["error"]
    status, found = post(live, "model", {**request, "given": "", "chains": 10**6})
    assert status == 422 and "chains from 1" in found["error"]


def test_models_that_are_too_large(monkeypatch, tmp_path):
    content = weather_file(tmp_path)
    request = {"name": "w.bif", "content": content, "given": "", "chains": 2, "seed": 0}
    for limit, value, why in (
        ("MAX_PAGE_VARIABLES", 2, "at most 2 variables"),
        ("MAX_PAGE_STATES", 2, "at most 2 states"),
        ("MAX_PAGE_ENTRIES", 3, "at most 3 entries"),
        ("MAX_PAGE_MEMORY", 1000, "at most"),
    ):
        with monkeypatch.context() as small:
            small.setattr(f"herded.live.model_tables.{limit}", value)
            status, found = api.respond("model", request)
            assert status == 422 and why in found["error"], limit


def test_an_answer_that_takes_too_long(live, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setitem(api.RESPONDERS, "names", lambda request: {"waited": go_on.wait(HANGS)})
    monkeypatch.setattr(server, "ANSWER_TIMEOUT_SECONDS", 0.05)
    status, found = post(live, "names", {})
    assert status == 503 and "within" in found["error"]
    assert post(live, "names", {})[0] == 503  # one at a time: the first is still at work
    go_on.set()
    monkeypatch.setattr(server, "ANSWER_TIMEOUT_SECONDS", HANGS)
    assert post(live, "names", {}) == (200, {"waited": True})


def test_a_mistake_of_ours_is_told(live, monkeypatch):
    monkeypatch.setitem(api.RESPONDERS, "names", lambda request: 1 / 0)
    status, found = post(live, "names", {})
    assert status == 500 and "ZeroDivisionError" in found["error"]


# -- files -----------------------------------------------------------------------------------------


def test_the_page_asks_nothing_of_other_places():
    names = {"http://www.w3.org/2000/svg"}  # of a language, which nobody fetches
    for path, content in page_files():
        text = content.decode("utf-8")
        assert set(re.findall(r"\w+://[^\s\"'`)>]+", text)) <= names, path
        assert not re.search(r"\beval\(|new Function|innerHTML|document\.write", text), path


def test_imports_of_the_page_are_there():
    files = dict(page_files())
    assert {"index.html", "style.css", "main.js", "worker.js", "sampler/grid.js"} <= files.keys()
    for path, content in files.items():
        for target in re.findall(r'(?:from|import) "(\.[^"]+)"', content.decode("utf-8")):
            resolved = (Path("/") / path).parent.joinpath(target).resolve().relative_to("/")
            assert resolved.as_posix() in files, f"{path} imports {target}"


def test_the_static_folder(tmp_path, capsys):
    code, out, _ = run(capsys, "live", "--out", tmp_path / "page")
    assert code == 0 and "files" in out
    for path, content in page_files():
        assert (tmp_path / "page" / path).read_bytes() == content
    assert "served = false" in (tmp_path / "page" / "served.js").read_text()
    assert write_page(tmp_path / "page") == len(dict(page_files()))
    (tmp_path / "file").write_text("")
    assert "the folder" in fails(capsys, 3, "live", "--out", tmp_path / "file" / "page")


# -- the command -----------------------------------------------------------------------------------


def test_check_prints_a_hash(capsys):
    link = "http://127.0.0.1:1/x/#two?eps=0.01&seed=3&method=herded&sweeps=1000"
    code, out, _ = run(capsys, "live", "--check", link)
    assert code == 0 and out.startswith("88daae004d3da1714ce80238a89ecbe6") and len(out) == 65
    assert "a link to a scene" in fails(capsys, 1, "live", "--check", "nowhere")


def test_a_port_that_is_taken(capsys, live):
    assert "--port" in fails(capsys, 3, "live", "--no-browser", "--port", live.port)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(number):
    with start("live", "--no-browser", env=environment()) as process:
        link = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{20,}/", link)
        process.stdout.readline()
        process.send_signal(number)
        _, err = process.communicate(timeout=HANGS)
    assert process.returncode == 128 + number
    assert "the live page is no longer served" in err and "Traceback" not in err
