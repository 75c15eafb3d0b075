"""Deterministic inference for discrete graphical models: herded Gibbs sampling, made practical.

Everything public is here, and imported when first used: `import herded` loads no numpy.
"""

import importlib
from typing import TYPE_CHECKING, Any

from herded.version import __version__

_HOMES = {
    "herded.models.factor_graph": ["FactorGraph"],
    "herded.models.pairwise": ["pairwise"],
    "herded.models.lattice": ["Lattice", "denoising_model", "ising_grid", "potts_grid"],
    "herded.models.chain": ["chain", "skip_chain"],
    "herded.models.convert.networkx": ["from_networkx"],
    "herded.models.convert.bqm": ["from_bqm", "to_bqm"],
    "herded.models.convert.pgmpy": ["from_pgmpy"],
    "herded.methods.herded_gibbs": ["HerdedGibbs"],
    "herded.methods.recommend": ["recommended"],
    "herded.methods.annealed_herded_gibbs": ["AnnealedHerdedGibbs"],
    "herded.methods.gibbs": ["AnnealedGibbs", "Gibbs"],
    "herded.methods.mean_field": ["MeanField"],
    "herded.methods.belief_propagation": ["BeliefPropagation"],
    "herded.methods.viterbi": ["Viterbi"],
    "herded.methods.exact": ["Exact"],
    "herded.methods.herding": ["herd", "herding"],
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
    "herded.run.many": ["infer_as_completed", "infer_many"],
    "herded.tiled.stored_lattice": ["StoredLattice"],
    "herded.tiled.infer_tiled": ["infer_tiled"],
    "herded.qubo.sampler": ["HerdedSampler"],
    "herded.io.arrays": ["load_model", "save_model"],
    "herded.io.models": ["read_model"],
    "herded.io.bif": ["read_bif", "write_bif"],
    "herded.io.xmlbif": ["read_xmlbif", "write_xmlbif"],
    "herded.io.uai": ["read_uai", "write_uai"],
    "herded.io.uai_evidence": ["read_evidence", "read_evidences", "write_evidence"],
    "herded.io.uai_results": [
        "read_mar",
        "read_mpe",
        "read_pr",
        "write_mar",
        "write_mpe",
        "write_pr",
    ],
    "herded.errors": [
        "CapError",
        "CheckpointError",
        "CorpusError",
        "FileError",
        "HerdedError",
        "HerdedWarning",
        "MethodError",
        "ModelError",
        "NotKeptError",
        "SupportError",
        "WorkerError",
    ],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("ner", "theory", "vision")
_WITH_EXTRAS = {"HerdedSampler"}  # is a class of an optional library: no part of `import *`

__all__ = ["__version__", *_MODULES, *sorted(_HOME_OF.keys() - _WITH_EXTRAS)]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"herded.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'herded' has no attribute {name!r}")
    module = importlib.import_module(_HOME_OF[name])
    value = getattr(module, name)
    globals()[name] = value  # next time it is found at once
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_WITH_EXTRAS})


if TYPE_CHECKING:
    from herded import ner, theory, vision
    from herded.errors import (
        CapError,
        CheckpointError,
        CorpusError,
        FileError,
        HerdedError,
        HerdedWarning,
        MethodError,
        ModelError,
        NotKeptError,
        SupportError,
        WorkerError,
    )
    from herded.io.arrays import load_model, save_model
    from herded.io.bif import read_bif, write_bif
    from herded.io.models import read_model
    from herded.io.uai import read_uai, write_uai
    from herded.io.uai_evidence import read_evidence, read_evidences, write_evidence
    from herded.io.uai_results import (
        read_mar,
        read_mpe,
        read_pr,
        write_mar,
        write_mpe,
        write_pr,
    )
    from herded.io.xmlbif import read_xmlbif, write_xmlbif
    from herded.methods.annealed_herded_gibbs import AnnealedHerdedGibbs
    from herded.methods.belief_propagation import BeliefPropagation
    from herded.methods.exact import Exact
    from herded.methods.gibbs import AnnealedGibbs, Gibbs
    from herded.methods.herded_gibbs import HerdedGibbs
    from herded.methods.herding import herd, herding
    from herded.methods.mean_field import MeanField
    from herded.methods.recommend import recommended
    from herded.methods.viterbi import Viterbi
    from herded.models.chain import chain, skip_chain
    from herded.models.convert.bqm import from_bqm, to_bqm
    from herded.models.convert.networkx import from_networkx
    from herded.models.convert.pgmpy import from_pgmpy
    from herded.models.factor_graph import FactorGraph
    from herded.models.lattice import Lattice, denoising_model, ising_grid, potts_grid
    from herded.models.pairwise import pairwise
    from herded.qubo.sampler import HerdedSampler
    from herded.run.infer import infer
    from herded.run.keep import BestState, ErrorCurve, Joint, Marginals, PairMarginals, Samples
    from herded.run.many import infer_as_completed, infer_many
    from herded.run.result import Result
    from herded.tiled.infer_tiled import infer_tiled
    from herded.tiled.stored_lattice import StoredLattice
