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
from herded.live.picture_codec import decode_picture
from herded.live.scene_links import read_link
from herded.live.scenes import digest_of, scene_of
from herded.live.server import LiveServer
from herded.live.static_files import write_page
from tests.live.browser import Visit, chromium, why_no_browser
from tests.live.linked_runs import DIGITS, HASHES, PICTURE, TEXT, write_net
from tests.support.commands import run

pytestmark = [
    pytest.mark.skipif(bool(why_no_browser()), reason=why_no_browser() or "there is a browser"),
    pytest.mark.xdist_group("browser"),
]
SCENES = ("weight", "two", "picture?size=64", "herd", "names", "model")
LARGE = ("picture", "herd")  # scenes of which a tenth of the sweeps will do: Node has all of them
POLLING = 20  # milliseconds: the usual, each frame, makes the browser paint all of them
PATIENCE = 300_000  # milliseconds: others may need the processor, too
# The page waits until a writer pauses; this one is done at once. What it times by frames goes on.
HASTE = """() => {
  const set = window.setTimeout;
  window.setTimeout = (call, wait = 0, ...given) => set(call, wait / 50, ...given);
}"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def live():
    with pytest.MonkeyPatch.context() as patch, LiveServer() as serving:
        patch.setattr(server, "ANSWER_TIMEOUT_SECONDS", PATIENCE / 1000)  # compilers may come first
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def opened(browser, live):
    """The page, which is loaded once: scenes are turned to, as its own links do."""
    found = Visit(browser, live.link)
    found.page.set_default_timeout(PATIENCE)
    found.context.add_init_script(f"({HASTE})()")
    found.go("weight?sweeps=1")
    yield found
    found.context.close()


@pytest.fixture
def visit(opened):
    """The page for a test, which ends without problems."""
    yield opened
    found, opened.problems = opened.problems, []
    assert found == []


def wait_for_hash(page, sweeps):
    page.wait_for_function(
        "n => { const all = [...document.querySelectorAll('[data-hash]')];"
        " return all.length > 0 && all.every(e => +e.dataset.sweeps >= n); }",
        arg=sweeps,
        polling=POLLING,
    )


def press(page, name, times=1):
    """Click where a button is, whatever lies on it: nothing here moves, which takes time to see."""
    page.get_by_role("button", name=name, exact=True).click(force=True, click_count=times)


def copied_link(page, *words):
    """The link to what is shown, when it has these words."""
    press(page, "Copy link")
    shown = "all => all.every(w => decodeURIComponent(location.hash).includes(w))"
    page.wait_for_function(shown, arg=words, polling=POLLING)
    return page.url.rpartition("#")[2]


@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_runs_and_is_for_everyone(visit, scene):
    """It starts by itself and runs; every width, light and dark."""
    visit.turn(f"{scene}{'&' if '?' in scene else '?'}speed=300")
    wait_for_hash(visit.page, 10)
    press(visit.page, "Pause")  # what is looked at need not be drawn anew each time
    assert visit.nameless() == []
    for scheme in ("dark", "light"):
        visit.page.emulate_media(color_scheme=scheme)
        assert visit.faint() == [], scheme
    for width in (360, 768, 1600, 1200):
        visit.page.set_viewport_size({"width": width, "height": 800})
        assert visit.too_wide() == [], width


def bare(link):
    """The link to a scene, whatever its methods: what it shows is all of them."""
    return link.partition("&method=")[0]


def expected_hashes(place, part):
    """Python's by method, after so many of its sweeps; a part of those on file is run here."""
    for link, digest in HASHES.items():
        if bare(link) == place:
            start, _, all_sweeps = link.rpartition("=")
            sweeps = int(all_sweeps) // part
            run = digest if part == 1 else digest_of(scene_of(read_link(f"{start}={sweeps}")))
            yield read_link(link).words["method"], (sweeps, run[:DIGITS])


def assert_hashes(visit, place, part=1):
    """There are Python's, of each method that is known."""
    wait_for_hash(visit.page, 1000 // part)
    shown = visit.hashes()
    for method, expected in expected_hashes(place, part):
        sweeps, found = shown[method]
        assert (sweeps, found[:DIGITS]) == expected, method


@pytest.mark.parametrize("place", sorted({bare(link) for link in HASHES if "model?" not in link}))
def test_the_page_shows_the_hashes(visit, place):
    """Links restore a scene at its sweep, and there are Python's hashes."""
    part = 10 if place.startswith(LARGE) else 1
    visit.turn(f"{place}&sweeps={1000 // part}")
    assert_hashes(visit, place, part)


def test_the_hashes_of_a_model(visit, tmp_path):
    """A file is chosen, a state is clicked on; the link has both in it."""
    page = visit.page
    visit.turn("model?seed=2&sweeps=1")
    wait_for_hash(page, 1)  # or the file's model would be the first, and go to that sweep
    with page.expect_file_chooser() as chooser:
        press(page, "Choose a file")
    chooser.value.set_files(write_net(tmp_path))
    page.wait_for_selector("text=weather.bif: 3 variables")
    for given in sorted({read_link(link).words["given"] for link in HASHES if "model?" in link}):
        if given:
            press(page, "slip is yes: observe")
            page.wait_for_selector(".variable.seen")
        link = copied_link(page, "file=weather.bif", "sweeps=0", given and f"given={given}")
        visit.turn(link.replace("sweeps=0", "sweeps=1000"))
        assert_hashes(visit, f"model?given={given}&seed=2")


@pytest.mark.parametrize("scene", SCENES)
def test_every_scene_has_speed_pause_step_seed_and_a_link(visit, scene, capsys):
    """Stepped to its third sweep, its link leads there, and to the same hashes.

    So does the command that is copied, as it is and without any file beside it.
    """
    page = visit.page
    visit.turn(f"{scene}{'&' if '?' in scene else '?'}seed=7&sweeps=2")
    wait_for_hash(page, 2)
    for control in ("Speed", "Seed"):
        assert page.get_by_label(control, exact=True).is_visible()
    values = [page.locator("#story").get_attribute("aria-valuetext")]
    page.locator("#story").focus()
    page.keyboard.press("ArrowLeft")
    values.append(page.locator("#story").get_attribute("aria-valuetext"))
    assert values[0] != values[1]  # one slider, which changes the story
    cleared = "() => document.querySelectorAll('[data-hash]').length === 0"
    page.wait_for_function(cleared, polling=POLLING)
    page.wait_for_selector("text=0 sweeps")
    press(page, "Step", 3)
    wait_for_hash(page, 3)
    shown = visit.hashes()
    link = copied_link(page, "sweeps=3")
    assert "seed=7" in link
    if scene == "model":
        visit.go(link)  # by somebody who has nothing but the link, and no file
    else:
        visit.turn(f"{link}&again=1")
    wait_for_hash(page, 3)
    assert visit.hashes() == shown
    for code in page.query_selector_all("[data-hash]"):
        program, *arguments = shlex.split(code.get_attribute("title"))
        assert program == "herded"
        assert run(capsys, *arguments)[:2] == (0, code.get_attribute("data-hash") + "\n")
    assert page.locator("#story").get_attribute("aria-valuetext") == values[1]
    page.get_by_label("Seed", exact=True).fill("8")
    page.get_by_label("Seed", exact=True).press("Enter")
    page.wait_for_selector("text=0 sweeps")
    for name in ("Run", "Restart"):
        press(page, name)
        press(page, "Pause")
        page.wait_for_selector("button:text-is('Run')")


def test_keys_move_the_slider_and_draw(visit):
    page = visit.page
    visit.turn(PICTURE + "&sweeps=1")
    wait_for_hash(page, 1)
    first = visit.hashes()["herded"]
    page.locator(".pad").focus()
    for key in ("ArrowLeft", "ArrowUp", " "):
        page.keyboard.press(key)
    page.wait_for_function(
        "h => document.querySelector('[data-hash]')?.dataset.hash !== h",
        arg=first[1],
        polling=POLLING,
    )
    page.locator("#story").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#story").get_attribute("aria-valuetext") == "\u03c3 = 2.5"


def test_a_picture_from_a_file(visit, tmp_path):
    """Its middle, in two levels: the left half of a wide grey picture's square is white."""
    grey = np.full((40, 60), 0.25)
    grey[:, :30] = 0.75
    write_image(tmp_path / "half.png", grey)
    visit.turn("picture?size=64&sweeps=1")
    wait_for_hash(visit.page, 1)
    with visit.page.expect_file_chooser() as chooser:
        press(visit.page, "Choose a picture")
    chooser.value.set_files(tmp_path / "half.png")
    visit.page.wait_for_selector("button:text-is('Pause')")
    link = read_link(copied_link(visit.page, "p="))
    bits = decode_picture(link.words["p"], 64 * 64).reshape(64, 64)
    assert bits[:, :31].all() and not bits[:, 33:].any()


SECOND = ".mentions li:nth-child(2) .stacked:nth-of-type({row}) .said"


def test_ties_between_mentions_change_names(visit):
    """The second Jackson is a town by itself, and a person beside the others."""
    page = visit.page
    for ties, kind in ((0, "location"), (4, "person")):
        visit.turn(f"names?ties={ties}&text={TEXT}&seed=4&sweeps=1000")
        wait_for_hash(page, 1000)
        assert page.locator(SECOND.format(row=1)).text_content().startswith("location")
        assert page.locator(SECOND.format(row=2)).text_content().startswith(kind)
        assert page.locator("mark.PERSON").count() == (3 if kind == "person" else 2)


def test_another_text(visit):
    page = visit.page
    visit.turn("names?speed=1000")
    page.get_by_label("Your text").fill("<b>Amsterdam</b> \U0001f600 and Amsterdam")
    page.wait_for_function("() => document.querySelectorAll('mark').length === 2")
    assert page.locator(".text b").count() == 0
    page.get_by_label("Your text").fill(" ")
    page.wait_for_selector("[role=alert]:has-text('no word')")


def test_who_wants_no_motion_gets_none(visit):
    visit.page.emulate_media(reduced_motion="reduce")
    visit.turn("weight")
    visit.page.wait_for_selector("button:text-is('Run')")
    visit.page.emulate_media(reduced_motion="no-preference")
    visit.turn("weight?seed=1")
    visit.page.wait_for_selector("button:text-is('Pause')")


def test_a_link_that_makes_no_sense_opens_all_the_same(visit):
    for place in (
        "",
        "nowhere",
        "two?eps=9&seed=x&speed=-1&sweeps=nan",
        f"picture?p={quote('<b>')}&size=9&speed=300",
    ):
        visit.turn(place)
        wait_for_hash(visit.page, 10) if "picture" in place else visit.page.wait_for_selector("h1")


def test_the_static_page_says_how_to_get_the_rest(browser, tmp_path):
    """Without Python behind it: two scenes are left out, the others run."""
    write_page(tmp_path)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path)) as web:
        threading.Thread(target=web.serve_forever, args=[0.05], daemon=True).start()
        visit = Visit(browser, f"http://127.0.0.1:{web.server_address[1]}/")
        visit.page.set_default_timeout(PATIENCE)
        visit.go("herd?speed=100000")
        for scene in ("names", "model"):
            visit.turn(scene)
            visit.page.wait_for_selector("pre:has-text('herded live')")
        visit.turn("herd?speed=100000&seed=1")  # by a worker that was left at work
        wait_for_hash(visit.page, 10)
        visit.context.close()
        web.shutdown()
    assert visit.problems == []
