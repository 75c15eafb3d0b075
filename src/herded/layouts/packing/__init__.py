"""Ways of packing lattices and herds that several layouts share.

`colour_packing.py` splits a picture into the half-lattices of a checkerboard, `wavefront.py` orders
several half-sweeps over strips so that caches and threads are used well, and `member_bits.py`
translates herds whose members are bits of words from and to states.

Start reading at `colour_packing.py`.
"""
