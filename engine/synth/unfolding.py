"""What an image leaves out, since it follows from a few numbers: columns of a string's modes, made when it is opened.

Each is what design (physics/modes.py, physics/modal.py, physics/network/weaving.py) makes, by the same operations in
the same order, so that it is the same to the last bit; export/folding.py leaves out nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.compiled import called_by_python, copy, floats, native
from engine.elementary import cos, exp, sin
from engine.layout import record
from engine.opened import at
from engine.physics.network import stranding
from engine.physics.network.memory import Strand, strand
from engine.physics.responses import answer_forces
from engine.synth import modal_string
from engine.synth.memory import Machine, machine

(
    WAVE,
    BEND,
    PULL,
    DECAY,
    SHRINK,
    FORWARD,
    BACKWARD,
    SPREAD,
    SPRING,
    SINE,
    STRUCK,
    MOMENTUM,
    FAR_MOMENTUM,
    SUPPORT,
    FAR_SUPPORT,
    COPY,
    ANSWERS,
    LINKED_ANSWERS,
) = range(18)


@record
class Wire:
    """A string, or one plane of it, by the numbers that its modes follow from."""

    step: float  # pi / L, 1/m
    density: float
    tension: float
    stiffness: float
    s0: float
    s1: float
    s2: float
    s3: float
    rate: float  # Hz, of the model
    wave: int  # where its wavenumbers are, bytes into the memory
    decay: int  # and its decay rates


@record
class Column:
    """Numbers of a string's modes, one after the other, which opening makes again."""

    kind: int  # as above
    wire: int
    place: int  # bytes into the memory
    count: int
    by: float  # what they are multiplied by
    at: float  # m: where the modes are seen


wire_at, column_at = at(Wire), at(Column)


@native
def unfold(where: Any, w: Wire, c: Column) -> None:
    """Fill a column; or the tables of a string that follow from its columns."""
    if c.kind == ANSWERS:
        answer(machine(where + c.place), c.wire)
        return
    if c.kind == LINKED_ANSWERS:
        answer_linked(strand(where + c.place))
        return
    out = floats(where + c.place, c.count)
    if c.kind == COPY:
        copy(floats(where + c.wire, c.count), out)
        return
    wave, decay = floats(where + w.wave, c.count), floats(where + w.decay, c.count)
    for i in range(c.count):
        if c.kind == WAVE:
            out[i] = (i + 1.0) * w.step
        elif c.kind == DECAY:
            b = wave[i]
            out[i] = w.s0 + b * (w.s1 + b * (w.s2 + b * w.s3))
        elif c.kind <= SHRINK:
            out[i] = constant(w, c, wave[i], decay[i])
        elif c.kind <= SPRING or c.kind == STRUCK:
            out[i] = pole(w, c, wave[i], decay[i])
        else:
            out[i] = row(w, c, wave[i])


@native
def constant(w: Wire, c: Column, b: Any, decay: Any) -> Any:
    """What a mode's coefficients are made of again (retune.ModalTuning)."""
    if c.kind == BEND:
        return w.stiffness * (b * b * (b * b)) / w.density
    if c.kind == PULL:
        return b * b / w.density * c.by
    return exp(-decay * (1.0 / w.rate))


@native
def pole(w: Wire, c: Column, b: Any, decay: Any) -> Any:
    """A mode's coefficients (modes.poles); c.by is the mass."""
    k = 1.0 / w.rate
    undamped = b * np.sqrt((w.tension + w.stiffness * (b * b)) / w.density)
    r, o = exp(-decay / w.rate), cos(np.sqrt(undamped * undamped - decay * decay) / w.rate)
    low = 1.0 + 2.0 * r * o + r * r
    if c.kind == FORWARD:
        return 2.0 * r * o
    if c.kind == BACKWARD:
        return r * r
    if c.kind == SPRING:
        return 0.5 * c.by * ((1.0 - 2.0 * r * o + r * r) / low) / (k * k)
    spread = k * k / c.by * (low / 4.0)
    return spread * sin(c.at * b) if c.kind == STRUCK else spread


@native
def row(w: Wire, c: Column, b: Any) -> Any:
    """How a mode is seen: at a place, or by the end that it pulls at (modes.pickup_row)."""
    if c.kind == SINE:
        return c.by * sin(c.at * b)
    if c.kind == MOMENTUM:
        return w.density / b
    if c.kind == FAR_MOMENTUM:
        return -(w.density / b) * cos(b * c.at)
    pull = w.tension * b + w.stiffness * (b * b * b)
    return pull if c.kind == SUPPORT else -pull * cos(b * c.at)


@native
def answer(m: Machine, key: Any) -> None:
    """The tables of a modal string."""
    c, scratch = modal_string.of_key(m, key).c, m.scratch[0]
    answer_forces(c, scratch)
    for i in range(scratch.size):
        scratch[i] = 0.0


@native
def answer_linked(s: Strand) -> None:
    """Those of a string on a bridge."""
    stranding.answer(s.bank, s.recipe.gain, s.recipe.scratch)


@called_by_python
def unfolded(where: Any, wire: Any, column: Any) -> None:
    """For Python: one column, both by their addresses."""
    unfold(where, wire_at(wire), column_at(column))
