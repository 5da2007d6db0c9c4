"""An instrument's design does not depend on a library of linear algebra, on its threads, or on numpy's vectors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy_vectors
import pytest

ROOT = Path(__file__).parents[2]
# Every number of some keys of every kind of string, and of the filters.
DIGEST = """
import hashlib
import numpy as np
from engine.physics import retune
from engine.synth import decimate, rehearsal
from engine.preset.loader import load_preset
from engine.synth.keys import design_key

string = {"length": 1.0, "density": 1e-3, "tension": 100.0, "stiffness": 1e-5}
string["loss"] = {"s0": 0.6, "s1": 5e-3, "s3": 1e-6}
pins = {"profile": "points", "at": [[0.3, 1e-3], [0.301, 1.1e-3], [0.5, -1e-3], [0.7, 1e-3]]}
table = {"profile": "table", "table": [[0.3, 1e-4], [0.4, 9e-4], [0.5, 3e-4]], "points": 40}
own = [{"model": m, "string": string, "barrier": b, "pickups": [{"at": 0.1}, {"at": 0.0, "kind": "bridge_force"}]}
       for m in ("modal", "fd") for b in (pins, table)]
digest = hashlib.sha256()

def add(x):
    if isinstance(x, tuple):
        for part in x:
            add(part)
    elif not isinstance(x, int):
        digest.update(np.ascontiguousarray(x).tobytes())

rehearsal.REHEARSED = range(60, 61)
for preset in map(load_preset, ["plain", "prepared", "sitar-string", "slap-bass", "tanpura-string", *own]):
    designs = [None] * 128
    for number in (40, 60, 75):
        key = design_key(preset.problem, preset.model, preset.keys, preset.tuning[number], 96_000.0, preset.tracking)
        assert key.design is not None, key.silent_because
        add(key.design.coefficients)
        add((retune.modal_tuning if preset.model == "modal" else retune.grid_tuning)(key.design))
        designs[number] = key.design
    add(rehearsal.gains(designs, preset, decimate.design(48_000.0, 2)))
for rate, oversample in ((44_100.0, 8), (96_000.0, 2)):
    add(decimate.design(rate, oversample).taps)
print(digest.hexdigest())
"""


def designed(**environment: str) -> str:
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("OPENBLAS", "OMP", "MKL"))}
    done = subprocess.run(
        [sys.executable, "-c", DIGEST],
        capture_output=True,
        text=True,
        env={**variables, "PYTHONPATH": str(ROOT), **environment},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_design_is_the_same_whatever_library_threads_and_vectors() -> None:
    here = designed()
    assert designed(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_CORETYPE="Prescott") == here
    vectors = numpy_vectors.chosen()
    if not vectors:
        pytest.skip(f"numpy {np.__version__} has one way of adding on this machine")
    assert designed(NPY_DISABLE_CPU_FEATURES=" ".join(vectors)) == here
