"""The surfaces that a preset can put under its string: what each is called, its own keys, and its height over x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.physics.barrier import Polynomial, Profile, Table
from engine.preset.key import Key


@dataclass(frozen=True)
class Surface:
    """`make(start, *values)` takes barrier.from and the values of its own keys, in order; barrier.height is added."""

    formula: str
    make: Callable[..., Profile]
    keys: tuple[Key, ...] = ()


def own(profile: str, word: str, kind: str, meaning: str, unit: str, low: float, high: float) -> Key:
    """A key of one profile, which is required there."""
    return Key(f"barrier.{word}", kind, meaning, None, unit, low, high, required=True, profiles=(profile,))


SURFACES = {
    "flat": Surface("height", lambda start: Polynomial((0.0,))),
    "parabola": Surface(
        "height - curvature·(x - from)²",
        lambda start, curvature: Polynomial((0.0, 0.0, -curvature), start),
        (
            own(
                "parabola", "curvature", "number",
                "Of a parabola: how fast it falls away from its apex at `from`.",
                "1/m", -1e6, 1e6,
            ),
        ),
    ),
    "polynomial": Surface(
        "height + c0 + c1·x + c2·x² ...",
        lambda start, coefficients: Polynomial(coefficients),
        (own("polynomial", "coefficients", "numbers", "c0, c1, c2 ... of a polynomial, in m, 1, 1/m ...", "", 1, 16),),
    ),
    "table": Surface(
        "height + straight lines between given points",
        lambda start, table: Table(tuple(x for x, _ in table), tuple(h for _, h in table)),
        (
            own(
                "table", "table", "table",
                "[[x, height], ...] with x increasing, or the name of a CSV file of such rows beside the preset.",
                "m", 2, 3000,
            ),
        ),
    ),
}  # fmt: skip
