from herded.learn.boltzmann_machine import BoltzmannMachine as BoltzmannMachine
from herded.learn.fitting import fit as fit
from herded.learn.fitted import Fitted as Fitted
from herded.learn.rbm import RBM as RBM
from herded.learn.structure import Structure as Structure, find_structure as find_structure
