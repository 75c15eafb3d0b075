"""Notebooks: bars come and go, results show themselves, runs stop; the docs' own ones run."""

import importlib.util
import os
import sys
import tempfile
from types import SimpleNamespace

import pytest

from docs.tools import notebooks
from docs.tools.page_files import page_files
from docs.tools.transcripts import BLOCKS
from tests.support.timeouts import HANGS

nbclient = pytest.importorskip("nbclient", reason="notebooks are run by nbclient")
nbformat = pytest.importorskip("nbformat", reason="notebooks are run by nbclient")
if importlib.util.find_spec("ipykernel") is None:  # not imported: this is no notebook
    pytest.skip("notebooks need a kernel", allow_module_level=True)

CELLS = {
    "model": """
import os, signal, numpy as np, herded as hd
from herded.run import progress
progress.BAR_DELAY_SECONDS = 0.0  # a bar at once, however fast the machine is
progress.UPDATE_SECONDS = 0.0
model = hd.ising_grid(np.zeros((8, 8)), 0.3)
model
""",
    "result": """
keep = [hd.Marginals(), hd.Observable(hd.energy)]
result = hd.infer(model, hd.Gibbs(), sweeps=3000, chains=2, keep=keep, callback=lambda s: "so far")
result
""",
    "picture": "result.plot()",
    "stop": """
def stop(snapshot):  # as the stop button does, by the same signal
    if snapshot.sweeps >= 300 and not hasattr(stop, "done"):
        stop.done = os.kill(os.getpid(), signal.SIGINT)
try:
    hd.infer(model, hd.Gibbs(), seconds=100_000, callback=stop, checkpoint="run.ckpt")
except KeyboardInterrupt as error:
    endless = error.result
print(endless.provenance["interrupted"], endless.sweeps >= 300, os.path.exists("run.ckpt"))
""",
    "after": "print('the kernel lives')",
}


def run(book, folder, Client):
    """Run all cells by a kernel of this Python."""
    # pytest's folders are too long for a socket
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as sockets:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        from jupyter_client.kernelspec import KernelSpec
        from jupyter_client.manager import AsyncKernelManager

        # No ports, where that can be: one that is free may be another's before the kernel has it.
        place = {"transport": "ipc", "ip": os.path.join(sockets, "kernel")}
        manager = AsyncKernelManager(**(place if os.name == "posix" else {}))
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        manager._kernel_spec = KernelSpec(argv=command, display_name="here", language="python")
        settings = {"resources": {"metadata": {"path": str(folder)}}, "timeout": HANGS}
        Client(book, km=manager, **settings).execute()


def page_of(name):
    return page_files()[name].read_text(encoding="utf-8")


# What is there by then stays: `%reset` looks for garbage, and need not look there.
ANEW = """
import gc
gc.freeze()
%reset -f
import os
os.mkdir({folder!r})
os.chdir({folder!r})
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """What one kernel did, as to start one takes a second.

    `pages` are the cells of each page of the docs, which ran in an empty folder and without the
    names of other pages; `shown` is what each of CELLS has shown, and `left` what it shows at last.
    """
    folder = tmp_path_factory.mktemp("notebook")
    pages, cells = {}, []
    for page in notebooks.PAGES if importlib.util.find_spec("matplotlib") else ():
        book = nbformat.from_dict(notebooks.notebook(page_of(page)))
        nbformat.validate(book)
        pages[page] = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        for cell in pages[page]:
            cell["id"] = f"{page}-{cell['id']}"  # each page numbers its own
        anew = ANEW.format(folder=str(folder / page))
        cells += [nbformat.v4.new_code_cell(anew), *pages[page]]
    own = [nbformat.v4.new_code_cell(code) for code in CELLS.values()]
    anew = ANEW.format(folder=str(folder / "own"))
    cells += [nbformat.v4.new_code_cell(anew), *own]
    names = [*[""] * (len(cells) - len(own)), *CELLS]
    shown = {name: [] for name in names}

    class Watched(nbclient.NotebookClient):
        """Also notes what a cell has shown and taken away."""

        def process_message(self, message, cell, cell_index):
            shown[names[cell_index]].append(message)
            return super().process_message(message, cell, cell_index)

    run(nbformat.v4.new_notebook(cells=cells), folder, Watched)
    left = {name: cell["outputs"] for name, cell in zip(CELLS, own, strict=True)}
    return SimpleNamespace(pages=pages, shown=shown, left=left)


@pytest.mark.parametrize("name", notebooks.PAGES)
def test_notebooks_of_the_docs_print_what_their_pages_say(name, kernel):
    """If not, and rightly so: python -m docs.tools.refresh_pages"""
    pytest.importorskip("matplotlib", reason="pages draw")
    cells = kernel.pages[name]
    said = [match["said"] or "" for match in BLOCKS.finditer(page_of(name))]
    assert any(said)
    for cell, text in zip(cells, said, strict=True):
        printed = "".join(o["text"] for o in cell["outputs"] if o.get("name") == "stdout")
        assert [line.rstrip() for line in printed.splitlines()] == text.splitlines()


def pages(cell):
    """The HTML that a cell shows at its end."""
    return [output["data"]["text/html"] for output in cell if "text/html" in output.get("data", {})]


def test_models_and_results_show_themselves(kernel):
    left = kernel.left
    assert "Lattice(8 x 8 variables of 2 states)" in pages(left["model"])[-1]
    page = pages(left["result"])[-1]
    assert "Result of Gibbs(): 3,000 sweeps, 2 chains" in page and "95 % interval" in page


def test_a_bar_comes_and_goes(kernel):
    shown, left = kernel.shown, kernel.left
    texts = [
        message["content"]["data"].get("text/html", "")
        for message in shown["result"]
        if message["msg_type"] in ("display_data", "update_display_data")
    ]
    bars = [text for text in texts if "<progress" in text]
    assert any("Gibbs" in bar and "of 3,000 sweeps" in bar and "so far" in bar for bar in bars)
    assert texts[-1] == "" and not any("<progress" in page for page in pages(left["result"]))


def test_pictures_are_shown(kernel):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    left = kernel.left
    assert any("image/png" in output.get("data", {}) for output in left["picture"])


def test_the_stop_button_ends_a_run_and_keeps_what_there_is(kernel):
    left = kernel.left
    texts = {name: "".join(o.get("text", "") for o in left[name]) for name in ("stop", "after")}
    assert texts["stop"].startswith("True True True")
    assert texts["after"] == "the kernel lives\n"
