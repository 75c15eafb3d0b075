from herded import (
    io as io,
    learn as learn,
    ner as ner,
    plot as plot,
    qubo as qubo,
    theory as theory,
    vision as vision,
)
from herded.errors import (
    CheckpointError as CheckpointError,
    CorpusError as CorpusError,
    FileError as FileError,
    HerdedError as HerdedError,
    HerdedWarning as HerdedWarning,
    InfeasibleError as InfeasibleError,
    Interrupted as Interrupted,
    MemoryLimitError as MemoryLimitError,
    MethodError as MethodError,
    ModelError as ModelError,
    NotKeptError as NotKeptError,
    WorkerError as WorkerError,
)
from herded.io.model_arrays import load_model as load_model, save_model as save_model
from herded.io.model_files import read_model as read_model
from herded.layouts.base import Layout as Layout
from herded.layouts.state import State as State
from herded.methods.belief_propagation.solver import BeliefPropagation as BeliefPropagation
from herded.methods.exact.solver import Exact as Exact
from herded.methods.gibbs import Gibbs as Gibbs
from herded.methods.herded_gibbs import HerdedGibbs as HerdedGibbs
from herded.methods.herding import (
    herd_distribution as herd_distribution,
    herd_moments as herd_moments,
)
from herded.methods.mean_field.solver import MeanField as MeanField
from herded.methods.protocol import (
    Answer as Answer,
    Sampler as Sampler,
    SamplerCapabilities as SamplerCapabilities,
    Solver as Solver,
    SolverCapabilities as SolverCapabilities,
)
from herded.methods.tempered import Tempered as Tempered
from herded.methods.viterbi.solver import Viterbi as Viterbi
from herded.models.chain import chain_model as chain_model, skip_chain_model as skip_chain_model
from herded.models.callbacks.conditional_model import ConditionalModel as ConditionalModel
from herded.models.convert.bqm import from_bqm as from_bqm
from herded.models.convert.networkx import from_networkx as from_networkx
from herded.nets.convert_pgmpy import from_pgmpy as from_pgmpy
from herded.models.factor_graph import FactorGraph as FactorGraph
from herded.models.lattice_builders import (
    denoising_model as denoising_model,
    ising_grid as ising_grid,
    potts_grid as potts_grid,
)
from herded.models.lattice import Lattice as Lattice
from herded.models.pairwise import pairwise_model as pairwise_model
from herded.models.protocol import Model as Model, ModelCapabilities as ModelCapabilities
from herded.moves.blocks.move import Blocks as Blocks
from herded.nets.bayes_net import BayesNet as BayesNet
from herded.nets.conditional_table import ConditionalTable as ConditionalTable
from herded.run.infer import infer as infer
from herded.run.row_queries.query_result import QueryResult as QueryResult
from herded.run.row_queries.row_query import query as query
from herded.run.recording.recorders import (
    ErrorCurve as ErrorCurve,
    Joint as Joint,
    Marginals as Marginals,
    PairMarginals as PairMarginals,
    Samples as Samples,
)
from herded.run.recording.best_state_recorder import BestState as BestState
from herded.run.observables.functions import (
    Correlations as Correlations,
    energy as energy,
    magnetisation as magnetisation,
)
from herded.run.observables.recorder import Observable as Observable
from herded.run.observables.result import Observed as Observed
from herded.run.distributed.batch import (
    infer_as_completed as infer_as_completed,
    infer_many as infer_many,
)
from herded.run.progress import Snapshot as Snapshot
from herded.run.selection.recommendation import (
    Recommendation as Recommendation,
    recommend as recommend,
)
from herded.run.result import Result as Result
from herded.tiled.infer_tiled import infer_tiled as infer_tiled
from herded.tiled.stored_lattice import StoredLattice as StoredLattice
from herded.version import __version__ as __version__
