from herded.learn.boltzmann_machine import BoltzmannMachine as BoltzmannMachine
from herded.learn.fitted import Fitted as Fitted
from herded.learn.fitting import fit as fit
from herded.learn.mixture import DirichletMixture as DirichletMixture
from herded.learn.rbm import RBM as RBM
from herded.learn.selection import select_variables as select_variables
from herded.learn.selection_result import Selection as Selection
from herded.learn.selector import VariableSelector as VariableSelector
from herded.learn.structure import Structure as Structure, find_structure as find_structure
