"""All peers, ours first."""

from benchmarks.peers.annealers import Dwave, Openjij
from benchmarks.peers.block_gibbs import BlockGibbs
from benchmarks.peers.handwritten.grid import Checkerboard, Raster
from benchmarks.peers.handwritten.potts import Potts
from benchmarks.peers.handwritten.spin_graph import Flips, Sums
from benchmarks.peers.herded_contender import METHODS
from benchmarks.peers.mcising import Mcising
from benchmarks.peers.probabilistic_programs import NumPyro, PyMC
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
