"""Strings on a bridge that moves: an instrument as a network of parts.

A description (parts.py) becomes memory (memory.py, weaving.py), which kernels advance (stepping.py), metered in a run
(metered.py). The equations are in the README beside this file.
"""
