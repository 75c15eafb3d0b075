"""Pictures: denoising with Ising and Potts models.

`denoising.py` has `denoise` and `restore`. `validation.py` checks the picture and the options, and
`missing_pixels.py` fills gaps. `model_selection.py` decides by the evidence in the picture whether
it has two levels, is grey, or is left alone. `restoration.py` runs either model, grey pictures by
their `level_sets.py`. `noise` fits the noise. `estimator.py` is a scikit-learn transformer.

Start reading at `denoising.py`, then `restoration.py`.
"""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__, extras=["IsingDenoiser"])  # needs scikit-learn
