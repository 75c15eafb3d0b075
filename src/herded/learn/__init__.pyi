from herded.learn.boltzmann.boltzmann_machine import BoltzmannMachine as BoltzmannMachine
from herded.learn.fitting.fit_result import Fitted as Fitted
from herded.learn.fitting.fit_function import fit as fit
from herded.learn.mixture.dirichlet_mixture import DirichletMixture as DirichletMixture
from herded.learn.boltzmann.rbm import RBM as RBM
from herded.learn.variable_selection.selection import select_variables as select_variables
from herded.learn.variable_selection.result import Selection as Selection
from herded.learn.variable_selection.estimator import VariableSelector as VariableSelector
from herded.learn.structure.structure_search import (
    Structure as Structure,
    find_structure as find_structure,
)
