from herded.plot.curve_plots import curve as curve, series as series
from herded.plot.graph_plots import graph as graph
from herded.plot.marginal_plots import marginals as marginals
from herded.plot.sample_plots import samples as samples
