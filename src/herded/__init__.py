"""Deterministic inference for discrete graphical models: herded Gibbs sampling, made practical.

Everything public is here, and imported when first used: `import herded` loads no numpy.
"""

from typing import TYPE_CHECKING

from herded.system.lazy import attach
from herded.version import __version__

__getattr__, __dir__, _names = attach(
    "herded",
    {
        "herded.models.protocol": ["Model"],
        "herded.methods.protocol": ["Answer", "Sampler", "Solver"],
        "herded.layouts.protocol": ["Layout"],
        "herded.layouts.state": ["State"],
        "herded.models.factor_graph": ["FactorGraph"],
        "herded.models.pairwise": ["pairwise_model"],
        "herded.models.lattice": ["Lattice", "denoising_model", "ising_grid", "potts_grid"],
        "herded.models.chain": ["chain_model", "skip_chain_model"],
        "herded.models.convert.networkx": ["from_networkx"],
        "herded.models.convert.bqm": ["from_bqm"],
        "herded.models.convert.pgmpy": ["from_pgmpy"],
        "herded.methods.herded_gibbs": ["HerdedGibbs"],
        "herded.methods.recommend": ["recommend"],
        "herded.methods.gibbs": ["Gibbs"],
        "herded.methods.mean_field": ["MeanField"],
        "herded.methods.belief_propagation": ["BeliefPropagation"],
        "herded.methods.viterbi": ["Viterbi"],
        "herded.methods.exact": ["Exact"],
        "herded.methods.herding": ["herd_distribution", "herd_moments"],
        "herded.run.infer": ["infer"],
        "herded.run.keep": [
            "BestState",
            "ErrorCurve",
            "Joint",
            "Marginals",
            "PairMarginals",
            "Samples",
        ],
        "herded.run.result": ["Result"],
        "herded.run.progress": ["Snapshot"],
        "herded.run.many": ["infer_as_completed", "infer_many"],
        "herded.tiled.stored_lattice": ["StoredLattice"],
        "herded.tiled.infer_tiled": ["infer_tiled"],
        "herded.io.arrays": ["load_model", "save_model"],
        "herded.io.models": ["read_model"],
        "herded.errors": [
            "CheckpointError",
            "CorpusError",
            "FileError",
            "HerdedError",
            "HerdedWarning",
            "InfeasibleError",
            "MemoryLimitError",
            "MethodError",
            "ModelError",
            "NotKeptError",
            "WorkerError",
        ],
        "herded.io": [],
        "herded.ner": [],
        "herded.qubo": [],
        "herded.system.plot": [],
        "herded.theory": [],
        "herded.vision": [],
    },
)
__all__ = ["__version__", *_names]

if TYPE_CHECKING:
    from herded import io, ner, qubo, theory, vision
    from herded.errors import (
        CheckpointError,
        CorpusError,
        FileError,
        HerdedError,
        HerdedWarning,
        InfeasibleError,
        MemoryLimitError,
        MethodError,
        ModelError,
        NotKeptError,
        WorkerError,
    )
    from herded.io.arrays import load_model, save_model
    from herded.io.models import read_model
    from herded.layouts.protocol import Layout
    from herded.layouts.state import State
    from herded.methods.belief_propagation import BeliefPropagation
    from herded.methods.exact import Exact
    from herded.methods.gibbs import Gibbs
    from herded.methods.herded_gibbs import HerdedGibbs
    from herded.methods.herding import herd_distribution, herd_moments
    from herded.methods.mean_field import MeanField
    from herded.methods.protocol import Answer, Sampler, Solver
    from herded.methods.recommend import recommend
    from herded.methods.viterbi import Viterbi
    from herded.models.chain import chain_model, skip_chain_model
    from herded.models.convert.bqm import from_bqm
    from herded.models.convert.networkx import from_networkx
    from herded.models.convert.pgmpy import from_pgmpy
    from herded.models.factor_graph import FactorGraph
    from herded.models.lattice import Lattice, denoising_model, ising_grid, potts_grid
    from herded.models.pairwise import pairwise_model
    from herded.models.protocol import Model
    from herded.run.infer import infer
    from herded.run.keep import BestState, ErrorCurve, Joint, Marginals, PairMarginals, Samples
    from herded.run.many import infer_as_completed, infer_many
    from herded.run.progress import Snapshot
    from herded.run.result import Result
    from herded.system import plot
    from herded.tiled.infer_tiled import infer_tiled
    from herded.tiled.stored_lattice import StoredLattice
