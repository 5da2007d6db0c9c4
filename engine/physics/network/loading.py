"""What a body takes of strings that drive it one-way: it does nothing to them, so their modes have it from the start.

On a bridge that moves a mode's pole s goes to s - a^2 (T/L) Y(s), to the first order in the body's mobility Y. Taken at
the mode's own frequency w, with Re Y >= 0, that only adds to its decay. Im Y bends it: who tunes by ear takes that off
(unison.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import PhysicsError
from engine.physics.modes import Modes
from engine.physics.network.parts import Body, Strung, seen_from
from engine.physics.string import Array

if TYPE_CHECKING:
    from engine.physics.network.weaving import Planes


def loaded(planes: Planes, strung: Strung, body: Body) -> Planes:
    """The string's modes with what the body takes of them."""
    m = planes.modes
    w, real, imaginary = m.frequency, np.zeros(m.frequency.size), np.zeros(m.frequency.size)
    weight = np.array([[strung.weight * seen_from(d, own) for d in body.directions] for own in planes.angles], float)[
        planes.plane
    ]
    for mode in body.modes:
        moved = np.zeros(w.size)
        for d, share in enumerate(mode.shape):
            moved = moved + weight[:, d] * share
        own = 2.0 * np.pi * mode.frequency
        away, lost = own * own - w * w, w * (own / mode.quality)
        scale = moved * moved * w / (mode.mass * (away * away + lost * lost))
        real, imaginary = real + scale * lost, imaginary + scale * away
    stiffness = np.array([own.tension / own.length for own in planes.strings])[planes.plane]
    frequency, decay = w - stiffness * imaginary, m.decay + stiffness * real
    if not (frequency > 0.0).all():
        limit = "takes the strings' lowest modes below 0 Hz, to the first order"
        raise PhysicsError("coupling", "one-way", f"this light a body {limit}", "take two-way, or a heavier body")
    return planes._replace(modes=Modes(m.wavenumber, frequency, decay))


def rebent(values: dict[str, Any], planes: Planes, strung: Strung) -> None:
    """Have the recipe of a loaded string give these modes again at its own tension."""
    m, r = planes.modes, values["recipe"]
    count = m.frequency.size
    own: Array = m.frequency * m.frequency + m.decay * m.decay
    r["bend"][:count] = own - r["pull"][:count] * strung.string.tension
