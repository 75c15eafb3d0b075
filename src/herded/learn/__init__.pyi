from herded.learn.fit import fit as fit
from herded.learn.fitted import Fitted as Fitted
from herded.learn.mixture import DirichletMixture as DirichletMixture
from herded.learn.selection import select_variables as select_variables
from herded.learn.selection_result import Selection as Selection
from herded.learn.selector import VariableSelector as VariableSelector
