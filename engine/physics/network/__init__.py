"""Strings on a bridge that moves: an instrument as a network of parts, each of which answers a force within its own step.

A description (parts.py) becomes memory (memory.py, design.py), which kernels advance (step.py); everything metered in
a run (metered.py). The equations are in the README beside this file.
"""
