"""What excites a network that plays as described, step by step."""

from __future__ import annotations

import numpy as np

from engine.physics.excitation import pulse
from engine.physics.network.parts import Network
from engine.physics.string import Array


def pushes(network: Network, rate: float, steps: int) -> tuple[Array, Array, Array]:
    """On strings, on the bridge, and on the body elsewhere; N, of every step."""
    force = np.zeros((steps, len(network.strings)))
    for n, strung in enumerate(network.strings):
        if strung.excitation is not None:
            force[:, n] = pulse(strung.excitation, rate, steps)
    knock, blow = np.zeros((steps, len(network.body.directions))), np.zeros(steps)
    if network.knock is not None:
        knock[:, 0] = pulse(network.knock, rate, steps)
    if network.struck is not None:
        blow[:] = pulse(network.struck, rate, steps)
    return force, knock, blow
