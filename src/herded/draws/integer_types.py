"""Short names of NumPy's integer types, by their bytes, for kernels that convert in every line."""

import numpy as np

I1, I2, I4 = np.int8, np.int16, np.int32
U1, U2, U4, U8 = np.uint8, np.uint16, np.uint32, np.uint64
