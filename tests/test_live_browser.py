"""The live page in a real browser, where there is one: scenes, hashes, no errors, for everyone."""

import functools
import shlex
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import numpy as np
import pytest

from herded.io.images import write_image
from herded.live import server
from herded.live.folder import write_page
from herded.live.links import read_link
from herded.live.pictures import decode_picture
from herded.live.server import LiveServer
from tests.browser import Visit, chromium, why_no_browser
from tests.command import run
from tests.live_cases import DIGITS, HASHES, PICTURE, TEXT, write_net

pytestmark = [
    pytest.mark.skipif(bool(why_no_browser()), reason=why_no_browser() or "there is a browser"),
    pytest.mark.xdist_group("browser"),
]
SCENES = ("weight", "two", "picture?size=64", "herd", "names", "model")
PATIENCE = 300_000  # milliseconds: others may need the processor, too


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def live():
    with pytest.MonkeyPatch.context() as patch, LiveServer() as serving:
        patch.setattr(server, "LONGEST", PATIENCE / 1000)  # compilers may come first
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


@pytest.fixture
def visit(browser, live):
    """A page that ends without problems."""
    found = Visit(browser, live.link)
    found.page.set_default_timeout(PATIENCE)
    yield found
    found.context.close()
    assert found.problems == []


def wait_for_hash(page, sweeps):
    page.wait_for_function(
        "n => { const all = [...document.querySelectorAll('[data-hash]')];"
        " return all.length > 0 && all.every(e => +e.dataset.sweeps >= n); }",
        arg=sweeps,
    )


@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_runs_and_is_for_everyone(browser, live, scene):
    """It starts by itself and runs; every width, light and dark."""
    visit = Visit(browser, live.link)
    visit.page.set_default_timeout(PATIENCE)
    visit.go(f"{scene}{'&' if '?' in scene else '?'}speed=300")
    wait_for_hash(visit.page, 10)
    assert visit.nameless() == []
    for scheme in ("light", "dark"):
        visit.page.emulate_media(color_scheme=scheme)
        assert visit.faint() == [], scheme
    for width in (360, 768, 1200, 1600):
        visit.page.set_viewport_size({"width": width, "height": 800})
        assert visit.too_wide() == [], width
    visit.context.close()
    assert visit.problems == []


def bare(link):
    """The link to a scene, whatever its methods: what it shows is all of them."""
    return link.partition("&method=")[0]


@pytest.mark.parametrize("place", sorted({bare(link) for link in HASHES if "model?" not in link}))
def test_the_page_shows_the_hashes(visit, place):
    """Links restore a scene at its sweep, and there are Python's hashes."""
    visit.go(f"{place}&sweeps=1000")
    wait_for_hash(visit.page, 1000)
    shown = visit.hashes()
    for link, expected in HASHES.items():
        if bare(link) == place:
            asked = read_link(link).words
            sweeps, found = shown[asked["method"]]
            assert (str(sweeps), found[:DIGITS]) == (asked["sweeps"], expected), link


@pytest.mark.parametrize("link", [link for link in HASHES if "model?" in link])
def test_the_hash_of_a_model(visit, link, tmp_path):
    """A file is chosen, a state is clicked on."""
    page = visit.page
    visit.go("model?seed=2&speed=1000")  # 10,000 sweeps, and other hashes, take ten times as long
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(write_net(tmp_path))
    page.wait_for_selector("text=weather.bif: 3 variables")
    if read_link(link).words["given"]:
        page.get_by_role("button", name="slip is yes: observe").click()
        page.wait_for_selector(".variable.seen")
    page.get_by_role("button", name="Restart").click()
    shown = f"[data-sweeps='1000'][data-hash^='{HASHES[link]}']"
    page.wait_for_selector(shown, state="attached")


@pytest.mark.parametrize("scene", SCENES)
def test_every_scene_has_speed_pause_step_seed_and_a_link(visit, scene):
    """Stepped to its third sweep, its link leads there, and to the same hashes."""
    page = visit.page
    visit.go(f"{scene}{'&' if '?' in scene else '?'}seed=7&sweeps=2")
    wait_for_hash(page, 2)
    for control in ("Speed", "Seed"):
        assert page.get_by_label(control, exact=True).is_visible()
    values = [page.locator("#story").get_attribute("aria-valuetext")]
    page.locator("#story").focus()
    page.keyboard.press("ArrowLeft")
    values.append(page.locator("#story").get_attribute("aria-valuetext"))
    assert values[0] != values[1]  # one slider, which changes the story
    page.wait_for_function("() => document.querySelectorAll('[data-hash]').length === 0")
    page.wait_for_selector("text=0 sweeps")
    for _ in range(3):
        page.get_by_role("button", name="Step").click()
    wait_for_hash(page, 3)
    shown = visit.hashes()
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_function("() => location.hash.includes('sweeps=3')")
    link = page.url.rpartition("#")[2]
    assert "seed=7" in link
    visit.go(link)
    wait_for_hash(page, 3)
    assert visit.hashes() == shown
    assert page.locator("#story").get_attribute("aria-valuetext") == values[1]
    page.get_by_label("Seed", exact=True).fill("8")
    page.get_by_label("Seed", exact=True).press("Enter")
    page.wait_for_selector("text=0 sweeps")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Pause").click()
    page.wait_for_selector("button:text-is('Run')")


@pytest.mark.parametrize("scene", SCENES)
def test_the_copied_command_prints_the_hash(visit, scene, capsys):
    """The command as it is, without any file beside it."""
    visit.go(f"{scene}{'&' if '?' in scene else '?'}sweeps=10")
    wait_for_hash(visit.page, 10)
    for code in visit.page.query_selector_all("[data-hash]"):
        program, *arguments = shlex.split(code.get_attribute("title"))
        assert program == "herded"
        assert run(capsys, *arguments)[:2] == (0, code.get_attribute("data-hash") + "\n")


def test_keys_move_the_slider_and_draw(visit):
    page = visit.page
    visit.go(PICTURE + "&sweeps=1")
    wait_for_hash(page, 1)
    first = visit.hashes()["herded"]
    page.locator(".pad").focus()
    for key in ("ArrowLeft", "ArrowUp", " "):
        page.keyboard.press(key)
    page.wait_for_function(
        "h => document.querySelector('[data-hash]')?.dataset.hash !== h", arg=first[1]
    )
    page.locator("#story").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#story").get_attribute("aria-valuetext") == "\u03c3 = 2.5"


def test_a_picture_from_a_file(visit, tmp_path):
    """Its middle, in two levels: the left half of a wide grey picture's square is white."""
    grey = np.full((40, 60), 0.25)
    grey[:, :30] = 0.75
    write_image(tmp_path / "half.png", grey)
    visit.go("picture?size=64&sweeps=1")
    wait_for_hash(visit.page, 1)
    with visit.page.expect_file_chooser() as chooser:
        visit.page.get_by_role("button", name="Choose a picture").click()
    chooser.value.set_files(tmp_path / "half.png")
    visit.page.wait_for_selector("button:text-is('Pause')")
    visit.page.get_by_role("button", name="Copy link").click()
    visit.page.wait_for_function("() => location.hash.includes('p=')")
    bits = decode_picture(read_link(visit.page.url).words["p"], 64 * 64).reshape(64, 64)
    assert bits[:, :31].all() and not bits[:, 33:].any()


SECOND = ".mentions li:nth-child(2) .stacked:nth-of-type({row}) .said"


def test_ties_between_mentions_change_names(visit):
    """The second Jackson is a town by itself, and a person beside the others."""
    page = visit.page
    for ties, kind in ((0, "location"), (4, "person")):
        visit.go(f"names?ties={ties}&text={TEXT}&seed=4&sweeps=1000")
        wait_for_hash(page, 1000)
        assert page.locator(SECOND.format(row=1)).text_content().startswith("location")
        assert page.locator(SECOND.format(row=2)).text_content().startswith(kind)
        assert page.locator("mark.PERSON").count() == (3 if kind == "person" else 2)


def test_another_text(visit):
    page = visit.page
    visit.go("names?speed=1000")
    page.get_by_label("Your text").fill("<b>Amsterdam</b> \U0001f600 and Amsterdam")
    page.wait_for_function("() => document.querySelectorAll('mark').length === 2")
    assert page.locator(".text b").count() == 0
    page.get_by_label("Your text").fill(" ")
    page.wait_for_selector("[role=alert]:has-text('no word')")


def test_who_wants_no_motion_gets_none(browser, live):
    visit = Visit(browser, live.link, reduced_motion="reduce")
    visit.page.set_default_timeout(PATIENCE)
    visit.go("weight")
    visit.page.wait_for_selector("button:text-is('Run')")
    visit.context.close()


def test_a_link_that_makes_no_sense_opens_all_the_same(visit):
    for place in (
        "",
        "nowhere",
        "two?eps=9&seed=x&speed=-1&sweeps=nan",
        f"picture?p={quote('<b>')}&size=9",
    ):
        visit.go(place)
        wait_for_hash(visit.page, 10) if "picture" in place else visit.page.wait_for_selector("h1")


def test_the_static_page_says_how_to_get_the_rest(browser, tmp_path):
    """Without Python behind it: two scenes are left out, the others run."""
    write_page(tmp_path)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path)) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        visit = Visit(browser, f"http://127.0.0.1:{web.server_address[1]}/")
        visit.page.set_default_timeout(PATIENCE)
        for scene in ("names", "model"):
            visit.go(scene)
            visit.page.wait_for_selector("pre:has-text('herded live')")
        visit.go("herd?speed=100000")
        wait_for_hash(visit.page, 10)
        visit.context.close()
        web.shutdown()
    assert visit.problems == []
