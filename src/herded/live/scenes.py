"""The models and methods of the scenes, from the settings of a link, and the hash of a run.

The page does the same in `page/sampler/runs.js`. Both compute the SHA-256 of the states after the
last sweep, one byte each, member after member, followed by how often each variable was in each of
its states, as 64-bit whole numbers.
"""

import hashlib
import warnings
from dataclasses import dataclass

import numpy as np

from herded.errors import FileError
from herded.io.model_files import read_model
from herded.live.api import MAX_SEED
from herded.live.model_tables import read_dropped_model, with_evidence
from herded.live.picture_codec import decode_picture, noisy_picture
from herded.live.scene_links import MAX_LINK_SWEEPS, SCENES, SceneLink
from herded.live.text_tables import MAX_TIE_STRENGTH, parse_pasted_text, text_model
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.layout_cache import cached_layout
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.lattice_builders import denoising_model, ising_grid
from herded.models.protocol import Model
from herded.run.infer import infer
from herded.run.recording.recorders import Marginals
from herded.system.atomic_files import FilePath
from herded.system.numerics.exp_log import log_array

SCENE_MEMBERS, SCENE_SIDE = 16, 20


@dataclass(frozen=True)
class SceneSettings:
    """The model, method and length of the run that a link describes."""

    model: Model
    method: Gibbs | HerdedGibbs
    sweeps: int
    start: np.ndarray | None
    layout: str | None = None


def scene_of(link: SceneLink, path: FilePath | None = None) -> SceneSettings:
    """Build the model, method and length of a run; `path` is the file of a link to a model."""
    name = link.one_of("method", SCENES[link.scene])
    seed, sweeps = link.whole("seed", 0, MAX_SEED), link.whole("sweeps", 1, MAX_LINK_SWEEPS)
    methods: dict[str, Gibbs | HerdedGibbs] = {
        "gibbs": Gibbs(seed=seed),
        "herded": HerdedGibbs(seed=seed),
        "shared": HerdedGibbs(weights="shared", seed=seed),
        "herd": Gibbs(herd=SCENE_MEMBERS, seed=seed),
    }
    method, start, layout = methods[name], None, None
    if link.scene == "weight":
        model: Model = weight_model(link.number("p", 0.001, 0.999))
        start = np.zeros(1, int)
    elif link.scene == "two":
        model = two_variables(link.number("eps", 1e-6, 0.2))
        start = np.zeros(2, int)  # the smaller mode, so that both must cross
    elif link.scene == "picture":
        side, sigma = link.whole("size", 16, 256), link.number("noise", 0.1, 10)
        bits = decode_picture(link.text("p"), side * side).reshape(side, side)
        noisy = noisy_picture(bits, sigma, seed)
        model, start = denoising_model(noisy, sigma), (noisy > 0).astype(int)
    elif link.scene == "herd":
        coupling = link.number("coupling", 0.01, 1)
        model = ising_grid(np.zeros((SCENE_SIDE, SCENE_SIDE)), coupling, periodic=True)
    elif link.scene == "names":
        strength = link.number("ties", 0, MAX_TIE_STRENGTH)
        model, layout = text_model(parse_pasted_text(link.text("text")), strength), "table"
        start = np.zeros(model.n_variables, int)
    else:
        model, layout = with_evidence(_net(link, path), link.words.get("given", "")), "table"
    return SceneSettings(model, method, sweeps, start, layout)


def _net(link: SceneLink, path: FilePath | None) -> FactorGraph:
    """Read the model of a file on disk, or of the one contained in the link."""
    if path is not None:
        return to_factor_graph(read_model(path))
    if "z" not in link.words:
        raise FileError(
            "expected the model's file as --model, since the link contains none, got no file"
        )
    return read_dropped_model(link.text("file"), link.file("z"))


def weight_model(p: float) -> FactorGraph:
    """Build a model of one variable that is 1 with probability p."""
    return FactorGraph([2], [((0,), log_array([1.0 - p, p]))])


def two_variables(eps: float) -> FactorGraph:
    """Build the model of table 1 of the paper."""
    joint = np.array([[0.25 - eps, eps], [eps, 0.75 - eps]])
    return FactorGraph([2, 2], [((0, 1), log_array(joint))])


def digest_of(scene: SceneSettings) -> str:
    """Run a scene, and return the hash that the page shows after as many sweeps."""
    model, method = scene.model, scene.method
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # only the bits of a single chain matter here
        result = infer(
            model,
            method,
            sweeps=scene.sweeps,
            burn_in=0,
            chains=1,
            start=scene.start,
            keep=[Marginals()],
            layout=scene.layout,
            progress=False,
        )
    layout = cached_layout(model, method, scene.layout, None)
    states = layout.values(result.state[0]).astype(np.uint8)
    counts = np.rint(result.marginals * (scene.sweeps * method.draw.members)).astype("<u8")
    return hashlib.sha256(states.tobytes() + counts.tobytes()).hexdigest()
