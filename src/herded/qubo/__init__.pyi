from herded.models.convert.bqm import from_bqm as from_bqm, to_bqm as to_bqm
from herded.qubo.dimod_sampler import HerdedSampler as HerdedSampler
