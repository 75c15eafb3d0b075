"""Tests of `herded.vision`: denoising, the fit of noise models, and the estimator."""
