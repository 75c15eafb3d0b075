from herded.vision.denoising import denoise as denoise, restore as restore
from herded.vision.estimator import IsingDenoiser as IsingDenoiser
from herded.vision.restoration import Denoised as Denoised
