"""All peers, ours first."""

from benchmarks.peers.annealers import Dwave, Openjij
from benchmarks.peers.block_gibbs import BlockGibbs
from benchmarks.peers.expert_graph import Flips, Sums
from benchmarks.peers.expert_grid import Checkerboard, Raster
from benchmarks.peers.expert_potts import Potts
from benchmarks.peers.mcising import Mcising
from benchmarks.peers.ours import METHODS
from benchmarks.peers.probabilistic import NumPyro, PyMC
from benchmarks.peers.protocol import Peer

BY_HAND: tuple[Peer, ...] = (Raster(), Checkerboard(), Sums(), Flips(), Potts())
INSTALLED: tuple[Peer, ...] = (
    Dwave("Gibbs"),
    Dwave("Metropolis"),
    Openjij(),
    Mcising(),
    BlockGibbs("thrml"),
    BlockGibbs("hamon"),
    PyMC(),
    NumPyro(),
)
EVERYONE: tuple[Peer, ...] = (*METHODS, *BY_HAND, *INSTALLED)
WITHOUT_PACKAGES: tuple[Peer, ...] = (*METHODS, *BY_HAND)
