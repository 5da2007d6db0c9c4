"""What an instrument may cost: a preset that asks for more than a machine has is refused before it takes it.

Sizes are counted in float64 numbers, time in what a model step takes. Both limits lie far above whatever could still
be played in real time.
"""

from __future__ import annotations

from typing import TypeVar

from engine.errors import PhysicsError
from engine.physics import finite_difference, modal

Design = modal.Design | finite_difference.Design
Numbered = TypeVar("Numbered", bound=Design)

MOST_BYTES = 160_000_000
MOST_SOLVED = 128 * 100**3  # points pressed at rest, cubed: 100 of them at every key
EASY, MOST = 10_000.0, 25_000.0  # ns a step: for all strings that are rehearsed; beyond EASY fewer are, down to OCTAVES
FEWEST = 12  # keys from one rehearsal to the next
REMEDY = "lower barrier.points, the number of obstacles or pickups, or polyphony"
_OVERHEAD, _ENTRY, _NODE, _POINT = 20.0, 0.05, 0.1, 0.05  # ns a step: a string, a mode and row, a node, points squared
_KEY_ROWS, _VOICE_ROWS = 20, 10  # arrays as long as the string has modes or nodes


class Budget:
    """Memory for all keys and voices, summed while the keys are designed."""

    def __init__(self, voices: int) -> None:
        self._voices, self._keys, self._voice, self._solved = voices, 0, 0, 0

    def spend(self, design: Design | None) -> None:
        """Count a key; refuse the instrument once it is too large."""
        if design is None:
            return
        size, coupled, rows = sizes(design)
        self._keys += size * (rows + _KEY_ROWS) + 2 * coupled * (coupled + rows)
        self._voice = max(self._voice, size * _VOICE_ROWS + coupled * (coupled + rows))
        self._solved += int((design.points.height > 0.0).sum()) ** 3
        if self._solved > MOST_SOLVED:
            limit = "takes too long to find where its strings rest on the barrier"
            raise PhysicsError("instrument", f"{self._solved:.2g} steps or more", limit, f"{REMEDY}, or barrier.height")
        needed = 8 * (self._keys + self._voices * self._voice)
        if needed > MOST_BYTES:
            limit = f"asks for more than {MOST_BYTES / 1e6:g} MB of memory"
            raise PhysicsError("instrument", f"{needed / 1e6:.0f} MB or more", limit, REMEDY)

    def lasts_for(self, voices: int) -> int:
        """How many voices there may be, up to so many."""
        return min(voices, int(MOST_BYTES / 8 - self._keys) // max(self._voice, 1))


def sizes(design: Design) -> tuple[int, int, int]:
    """Of a string: its modes or nodes, the contact points that move each other, and the rows of its table."""
    if isinstance(design, modal.Design):
        c = design.coefficients
        return c.forward.size, c.height.size, len(c.rows)
    return design.coefficients.rest.size, design.coefficients.surface.obstacle_node.size, 0


def step_time(design: Design) -> float:
    """About how long one step of a string takes, ns."""
    size, coupled, rows = sizes(design)
    each = _ENTRY * (rows + 3) if isinstance(design, modal.Design) else _NODE
    return _OVERHEAD + each * size + _POINT * coupled * coupled


def thinned(ready: dict[int, Numbered]) -> dict[int, Numbered]:
    """The keys that are rehearsed: all of them, or where that takes long, every second, every third ..."""
    for apart in range(1, FEWEST + 1):
        chosen = dict(list(ready.items())[::apart])
        taken = sum(step_time(design) for design in chosen.values())
        if taken <= EASY:
            return chosen
    if taken > MOST:
        limit = f"takes {taken / MOST:.1f} times as long to bring to one loudness as is sensible"
        raise PhysicsError("instrument", f"{taken / 1e3:.0f} µs a step", limit, REMEDY)
    return chosen
