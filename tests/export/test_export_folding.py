"""What an image leaves out: opening makes the bits that design made, and nothing else is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from export.exporting import NETWORK, RATE, image_of, rack
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.compiled import INTERPRETED
from engine.errors import PhysicsError
from engine.export import image
from engine.export.folding import Folded, Folder
from engine.layout import rows_of
from engine.physics.modes import modes, pickup_row, poles, shape
from engine.physics.problem import Pickup
from engine.physics.string import Loss, String
from engine.synth import unfolding as u
from engine.synth.unfolding import Column, Wire

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
NAMES = ("sitar-string", "tanpura", "prepared", NETWORK)


def made(kind: int, string: String, rate: float, wave: Any, decay: Any, by: float, at: float) -> Any:
    """A column by itself, behind the wavenumbers and decay rates that it follows from."""
    memory = np.concatenate([wave, decay, np.zeros(wave.size)])
    wires, columns = rows_of(Wire, 1), rows_of(Column, 1)
    loss, size = string.loss, wave.nbytes
    numbers = (np.pi / string.length, string.density, string.tension, string.stiffness)
    wires[0] = (*numbers, loss.s0, loss.s1, loss.s2, loss.s3, rate, 0, size)
    columns[0] = (kind, 0, 2 * size, wave.size, by, at)
    u.unfolded(memory.ctypes.data, wires.ctypes.data, columns.ctypes.data)
    return memory[2 * wave.size :]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.floats(0.1, 3.0), st.floats(1e-4, 1e-2), st.floats(1.0, 500.0), st.floats(0.0, 1e-3),
    st.floats(0.0, 20.0), st.floats(0.0, 1.0), st.floats(0.0, 1e-2), st.floats(0.0, 1e-4),
    st.sampled_from([44_100.0, 88_200.0, 96_000.0, 384_000.0]), st.floats(0.01, 0.99),
)  # fmt: skip
def test_a_column_is_what_design_makes_of_any_string(
    length: float, density: float, tension: float, stiffness: float,
    s0: float, s1: float, s2: float, s3: float, rate: float, place: float,
) -> None:  # fmt: skip
    string = String(length, density, tension, stiffness, Loss(s0, s1, s2, s3))
    try:
        m = modes(string, rate, min(20_000.0, 0.45 * rate))
    except PhysicsError:
        return
    r, o, a_star, _, c = poles(m, rate)
    b, k, mass, at = m.wavenumber, 1.0 / rate, 0.5 * density * length, place * length
    gain, seen = k * k / mass * c, shape(b, np.array([at]))[0]
    ends = [pickup_row(string, b, Pickup(end, kind)) for kind in ("body_force", "bridge_force") for end in (0.0, 1.0)]
    wanted = {
        u.WAVE: (b, 1.0, 0.0),
        u.DECAY: (m.decay, 1.0, 0.0),
        u.FORWARD: (2.0 * r * o, 1.0, 0.0),
        u.BACKWARD: (r**2, 1.0, 0.0),
        u.SPREAD: (gain, mass, 0.0),
        u.SPRING: (4.0 * mass * a_star / (k * k) / 8.0, mass, 0.0),
        u.SINE: (seen, 1.0, at),
        u.STRUCK: (gain * seen, mass, at),
        u.PULL: (b**2 / density, 1.0, 0.0),
        u.BEND: (stiffness * (b * b * (b * b)) / density, 1.0, 0.0),
    }
    wanted |= {
        kind: (row, 1.0, length) for kind, row in zip((u.MOMENTUM, u.FAR_MOMENTUM, u.SUPPORT, u.FAR_SUPPORT), ends)
    }
    for kind, (column, by, where) in wanted.items():
        found = made(kind, string, rate, b, m.decay, by, where)
        assert found.tobytes() == column.tobytes(), kind


@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_out_is_made_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the columns alone, over a memory in which they are zero; and it is most of what strings are."""
    before: list[Any] = []
    cleared = Folder.cleared

    def watched(self: Folder) -> Folded:
        before.append(self.block.copy())
        return cleared(self)

    monkeypatch.setattr(Folder, "cleared", watched)
    rest = image.at_rest(rack(name), RATE, (40, 52), shown=False)
    block, wires, columns = rest.block, image._rows(Wire, rest.folded.wires), image._rows(Column, rest.folded.columns)
    fixed = ~rest.changing
    assert np.count_nonzero(block.view(np.int64)[fixed]) < 0.5 * np.count_nonzero(before[0].view(np.int64)[fixed])
    size = block.nbytes
    room = np.zeros(size + 64, np.uint8)
    memory = room[-room.ctypes.data % 64 :][:size]
    memory[:] = block
    machines = memory.ctypes.data
    for n in range(columns.size):
        wire = wires[columns[n].wire : columns[n].wire + 1] if columns[n].kind < u.COPY else wires[:1]
        u.unfolded(machines, wire.ctypes.data, columns[n : n + 1].ctypes.data)
    assert np.array_equal(memory, before[0])


def test_rates_add_little() -> None:
    """What follows from a few numbers is not there twice, nor once."""
    one = len(image_of("prepared"))
    two = len(image.image(rack("prepared"), (RATE, 44_100.0)))
    assert two < 2.1 * one < 2e6
