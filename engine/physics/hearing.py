"""What a pickup hears, made of what a string's kernel gives for it step by step.

    displacement, bridge_force    as given
    velocity                      the difference of its displacement
    air                           its second difference
    body_force, on a grid         as given
    body_force, of modes          -(h+ - 2 h + h-)/k^2 - carried

`body_force` is the force on a body that carries both an end of the string and its barrier: the string's pull less what
the barrier takes. Modes know it by what it does to momentum. Weighted with 1 at this end and 0 at the other, that is

    h = integral of rho (1 - x/L) u dx = sum c_i y_i,  c_i = rho/b_i,    h'' = -body + f (1 - x_f/L) - sum F_k x_k/L

where f is what plucks; the last two with their signs turned are `carried`, a column of the kernel's behind the pickups.
The pull less all contact forces would be the same of infinitely many modes. Those below 20 kHz take from a force beside
the bridge only a part to the end; the momentum reckons with that, the pull does not: 3 dB too much. A second difference
falls off as (sin x / x)^2, x = pi f k: -0.3 dB at a tenth of the rate, -1.2 dB at a fifth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.compiled import inlined
from engine.physics.problem import Pickup
from engine.physics.record import Run
from engine.physics.string import Array

AS_GIVEN, DIFFERENCE, REACTION, BEND = range(4)


def on_body(pickups: Sequence[Pickup]) -> list[Pickup]:
    """Those that hear a body's force: modes have a column for each of them, in this order."""
    return [pickup for pickup in pickups if pickup.kind == "body_force"]


def ways(pickups: Sequence[Pickup], modal: bool) -> list[int]:
    """What is to be made of each pickup."""
    known = {"velocity": DIFFERENCE, "body_force": REACTION if modal else AS_GIVEN, "air": BEND}
    return [known.get(pickup.kind, AS_GIVEN) for pickup in pickups]


def columns(pickups: Sequence[Pickup]) -> list[int]:
    """Where each pickup finds what contact and pluck carry, if it hears a body."""
    after, found = len(pickups), []
    for pickup in pickups:
        found.append(after)
        after += pickup.kind == "body_force"
    return found


@inlined
def gripped(end: Any, position: Any) -> Any:
    """The share of a force at `position` (of the length) that goes to an end, 0 or 1."""
    return 1.0 - abs(end - position)


@inlined
def derived(way: Any, after: Any, now: Any, before: Any, carried: Any, rate: Any) -> Any:
    """What is heard of three steps: a velocity between the last two, a body's force, or what air has, at the middle."""
    if way == REACTION:
        return ((now - before) - (after - now)) * (rate * rate) - carried
    if way == BEND:
        return ((after - now) - (now - before)) * (rate * rate)
    return (after - now) * rate


def heard(pickups: Sequence[Pickup], run: Run) -> Array:
    """What all pickups hear at the times of a run's steps, or of a piece of it: row n is what is heard at step n."""
    level = np.concatenate([run.before[None], run.start[None], run.log.out]).astype(np.float64)
    modal = level.shape[1] > len(pickups)
    before, now, after, found = level[:-2], level[1:-1], level[2:], []
    for i, (way, column) in enumerate(zip(ways(pickups, modal), columns(pickups), strict=True)):
        if way == DIFFERENCE:
            found.append((now[:, i] - before[:, i]) * run.rate)
        elif way == REACTION:
            bend = (now[:, i] - before[:, i]) - (after[:, i] - now[:, i])
            found.append(bend * (run.rate * run.rate) - after[:, column])
        elif way == BEND:
            found.append(((after[:, i] - now[:, i]) - (now[:, i] - before[:, i])) * (run.rate * run.rate))
        else:
            found.append(after[:, i] if pickups[i].kind == "body_force" else now[:, i])
    return np.stack(found, axis=1) if found else now[:, :0]
