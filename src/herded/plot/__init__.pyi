from herded.plot.curves import curve as curve, series as series
from herded.plot.graphs import graph as graph
from herded.plot.marginals import marginals as marginals
from herded.plot.samples import samples as samples
