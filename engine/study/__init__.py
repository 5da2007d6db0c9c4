"""Research: simulations with every energy and force, what follows from a preset, and figures of both.

In here come presets, schemes and measurements of profiling; everything is in SI units and unfiltered, and nothing is
about sound cards. Only `plot` knows matplotlib.
"""
