"""Deterministic inference for discrete graphical models: herded Gibbs sampling, made practical.

Everything public is here, and imported when first used: `import herded` loads no numpy.
"""

from typing import TYPE_CHECKING

from herded.system.lazy import attach
from herded.version import __version__

_find, __dir__, _names = attach(
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

if not TYPE_CHECKING:  # which would take any name for one of ours
    __getattr__ = _find
    __all__ = ["__version__", *_names]
else:
    from herded import io as io
    from herded import ner as ner
    from herded import qubo as qubo
    from herded import theory as theory
    from herded import vision as vision
    from herded.errors import (
        CheckpointError as CheckpointError,
    )
    from herded.errors import (
        CorpusError as CorpusError,
    )
    from herded.errors import (
        FileError as FileError,
    )
    from herded.errors import (
        HerdedError as HerdedError,
    )
    from herded.errors import (
        HerdedWarning as HerdedWarning,
    )
    from herded.errors import (
        InfeasibleError as InfeasibleError,
    )
    from herded.errors import (
        MemoryLimitError as MemoryLimitError,
    )
    from herded.errors import (
        MethodError as MethodError,
    )
    from herded.errors import (
        ModelError as ModelError,
    )
    from herded.errors import (
        NotKeptError as NotKeptError,
    )
    from herded.errors import (
        WorkerError as WorkerError,
    )
    from herded.io.arrays import load_model as load_model
    from herded.io.arrays import save_model as save_model
    from herded.io.models import read_model as read_model
    from herded.layouts.protocol import Layout as Layout
    from herded.layouts.state import State as State
    from herded.methods.belief_propagation import BeliefPropagation as BeliefPropagation
    from herded.methods.exact import Exact as Exact
    from herded.methods.gibbs import Gibbs as Gibbs
    from herded.methods.herded_gibbs import HerdedGibbs as HerdedGibbs
    from herded.methods.herding import (
        herd_distribution as herd_distribution,
    )
    from herded.methods.herding import (
        herd_moments as herd_moments,
    )
    from herded.methods.mean_field import MeanField as MeanField
    from herded.methods.protocol import Answer as Answer
    from herded.methods.protocol import Sampler as Sampler
    from herded.methods.protocol import Solver as Solver
    from herded.methods.recommend import recommend as recommend
    from herded.methods.viterbi import Viterbi as Viterbi
    from herded.models.chain import chain_model as chain_model
    from herded.models.chain import skip_chain_model as skip_chain_model
    from herded.models.convert.bqm import from_bqm as from_bqm
    from herded.models.convert.networkx import from_networkx as from_networkx
    from herded.models.convert.pgmpy import from_pgmpy as from_pgmpy
    from herded.models.factor_graph import FactorGraph as FactorGraph
    from herded.models.lattice import (
        Lattice as Lattice,
    )
    from herded.models.lattice import (
        denoising_model as denoising_model,
    )
    from herded.models.lattice import (
        ising_grid as ising_grid,
    )
    from herded.models.lattice import (
        potts_grid as potts_grid,
    )
    from herded.models.pairwise import pairwise_model as pairwise_model
    from herded.models.protocol import Model as Model
    from herded.run.infer import infer as infer
    from herded.run.keep import (
        BestState as BestState,
    )
    from herded.run.keep import (
        ErrorCurve as ErrorCurve,
    )
    from herded.run.keep import (
        Joint as Joint,
    )
    from herded.run.keep import (
        Marginals as Marginals,
    )
    from herded.run.keep import (
        PairMarginals as PairMarginals,
    )
    from herded.run.keep import (
        Samples as Samples,
    )
    from herded.run.many import infer_as_completed as infer_as_completed
    from herded.run.many import infer_many as infer_many
    from herded.run.progress import Snapshot as Snapshot
    from herded.run.result import Result as Result
    from herded.system import plot as plot
    from herded.tiled.infer_tiled import infer_tiled as infer_tiled
    from herded.tiled.stored_lattice import StoredLattice as StoredLattice
