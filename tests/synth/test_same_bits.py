"""A preset of each kind sounds the same, to the last bit, whatever CPU its code was compiled for.

Code for another CPU is compiled once and kept beside this one's, so only the first run takes its minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy_vectors
import pytest

from engine import processor
from engine.machine_code import INTERPRETED

ROOT = Path(__file__).parents[2]
# Notes in all registers, struck hard and softly, with what moves them: bend, wheel, pressure, pedal, release.
PLAYED = """
import hashlib
import numpy as np
import engine
from engine.synth import image

image._name = lambda setup: ""  # designed here, too
messages = [(bytes((0x90, key, 40 + key)), 0.01 * i) for i, key in enumerate((31, 40, 47, 52, 59, 64, 76))]
messages += [(bytes((0x80, 40, 0)), 0.1), (bytes((0xB0, 64, 90)), 0.09), (bytes((0xD0, 70)), 0.03)]
messages += [(bytes((0xB0, 1, i)), 0.02 + 0.001 * i) for i in range(0, 120, 7)]
messages += [(bytes((0xE0, 0, 64 + i)), 0.05 + 0.002 * i) for i in range(0, 50, 9)]
messages += [(bytes((0xB0, controller, 40)), 0.07) for controller in (2, 7, 10, 16, 17, 74)]
for name in ("prepared", "sitar", "slap-bass", "tanpura-string"):
    instrument = engine.Instrument(engine.load_preset(name), 48_000, 128)
    sound = np.zeros((8_000, instrument.channels), np.float32)
    instrument.process(sorted(messages, key=lambda m: m[1]), sound)
    assert np.abs(sound).max() > 0.01
    print(name, hashlib.sha256(sound.tobytes()).hexdigest())
"""


@cache
def sounds(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PLAYED],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("level", processor.LEVELS)
def test_presets_are_the_same_bits_on_every_cpu(level: str) -> None:
    if level not in processor.known():
        pytest.skip(f"this machine is no {level}")
    if "JAWARI_EVERY_CPU" not in os.environ:  # each takes a compilation of its own, a minute of two cores
        pytest.skip(f"{level} is played by tests/export/test_export_c.py; here, too, if JAWARI_EVERY_CPU is set")
    assert sounds(JAWARI_CPU=level) == sounds()


def test_presets_are_the_same_bits_whatever_numpy_may_use() -> None:
    vectors = numpy_vectors.chosen()
    if not vectors:
        pytest.skip("numpy has nothing to choose from on this machine")
    assert sounds(NPY_DISABLE_CPU_FEATURES=" ".join(vectors)) == sounds()


# A string of each kind, designed and run as the kernels are: compiled, or as Python that knows no vectors at all.
RUN = """
import hashlib
import numpy as np
from engine.physics import finite_difference, modal
from engine.physics.excitation import pulse
from engine.preset.loader import load_preset
from engine.synth.keys import design_key

for name, model in (("sitar-string", modal), ("slap-bass", finite_difference)):
    preset = load_preset(name)
    d = design_key(preset.problem, preset.model, preset.keys, 150.0, 48_000.0, preset.tracking).design
    out, state = np.zeros((400, d.width)), model.state(d.coefficients)
    model.kernel(d.coefficients, state, pulse(d.problem.excitation, 48_000.0, 400), out)
    assert state.touch.psi.size and np.abs(out).max() > 0.0
    print(name, hashlib.sha256(out.tobytes()).hexdigest())

# Two strings on a bridge, five that answer in lanes; all pushed until they touch, in runs that end within a pair.
from engine.physics.barrier import Barrier, Polynomial
from engine.physics.excitation import Excitation
from engine.physics.network.gathering import gather
from engine.physics.network.parts import Against, Body, Network, Resonance, Strung
from engine.physics.network.stepping import run
from engine.physics.network.weaving import weave
from engine.physics.problem import Contact
from engine.physics.string import Loss, String

def strung(length, points):
    over = Against(Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, 0.03, points), Contact(1e8))
    wire = String(length, 5.5e-4, 59.0, 8e-5, Loss(0.6, 6.5e-3))
    return Strung(wire, 0.9, ports=(over,), excitation=Excitation(0.1))

body = Body(tuple(Resonance(f, 12.0, 0.02, (1.0,), (1.0, -0.5)) for f in (180.0, 515.0, 1122.0)))
for one_way in (False, True):
    hub = gather([strung(0.7 - 0.02 * n, 2) for n in range(5)], body, 48_000.0, 3e3)
    w = weave(Network((strung(0.88, 5), strung(0.6, 12)), body), 48_000.0, 3e3, hub, one_way)
    force, knock, out, touched = np.zeros((80, 2)), np.zeros((80, 1)), np.zeros((80, 3)), [False] * 3
    blow = np.zeros(80)
    force[:9], force[45], knock[20:30] = -3.0, 1.0, 500.0
    for first, last in ((0, 17), (17, 30), (30, 39), (39, 50), (50, 71), (71, 80)):
        run(w.base, force[first:last], knock[first:last], blow[first:last], out[first:last])
        pressing = w.island.flock.psi, w.strand(0).points.psi, w.strand(1).points.psi
        touched = [so_far or bool(psi.any()) for so_far, psi in zip(touched, pressing)]
    assert all(touched), touched
    print(one_way, hashlib.sha256(out.tobytes()).hexdigest())
"""


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_compiled_and_interpreted_strings_are_the_same_bits() -> None:
    def ran(**environment: str) -> str:
        everything = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        done = subprocess.run(
            [sys.executable, "-c", RUN], capture_output=True, text=True, env=everything, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert ran() == ran(NUMBA_DISABLE_JIT="1")
