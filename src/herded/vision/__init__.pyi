from herded.vision.denoising import Denoised as Denoised, denoise as denoise, restore as restore
from herded.vision.estimator import IsingDenoiser as IsingDenoiser
