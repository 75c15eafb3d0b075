from herded.learn.fit import fit as fit
from herded.learn.fitted import Fitted as Fitted
