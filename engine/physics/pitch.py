"""What the pitch of a note is: said once, for who tunes strings and for who judges them.

A string in tune has its partials in known places, the first at the pitch. On a body each of them is bent by itself, the
first often by most, where nobody hears it: beside a mode of the body, or below what the body radiates. So a note is off
by the mean of its first partials' departures from their places, weighted by the power with which they are heard. What
touches a string in each period makes its partials harmonic, as stiffness does not: there they are in tune between both.

Each partial is looked at under Hann's window of 0.2 s, from 0.1 to 1 s after the stroke, when the attack is over, and
so often that nothing which a look sees turns by half a turn until the next. Of its amplitudes z, the angle of
sum conj(z_n) z_n+1 is its mean frequency, weighted by power (Miller and Rochwarger, IEEE Trans. Inf. Theory 18, 1972):
strings that beat count by how strong they are, where a phase at two moments would be that of the one or the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

from engine.elementary import cos, sin

PARTIALS, HIGHEST = 8, 5_000.0  # at most so many, none but the first above so many Hz
FROM, UNTIL = 0.1, 1.0  # s
LOOK, APART = 0.2, 0.05  # s that a look takes, and from one to the next: it sees what is less than 10 Hz off


def places(pitch: float, inharmonicity: float) -> list[float]:
    """Where the partials of a string in tune are, Hz."""
    along = [(n, sqrt((1.0 + inharmonicity * n * n) / (1.0 + inharmonicity))) for n in range(1, PARTIALS + 1)]
    return [n * pitch * stiffly for n, stiffly in along if n == 1 or n * pitch * stiffly <= HIGHEST]


def departure(found: float, n: int, place: float, pitch: float, touched: bool) -> float:
    """Of partial n, found at so many Hz, from its place, as a share of it."""
    low, high = (min(n * pitch, place), max(n * pitch, place)) if touched else (place, place)
    return min(found / low, 1.0) + max(found / high, 1.0) - 2.0


def mean(departures: Sequence[float], powers: Sequence[float]) -> float:
    """Of a note, from those of its partials; 0 where nothing sounds."""
    whole = fsum(powers)
    return fsum(off * power for off, power in zip(departures, powers, strict=True)) / whole if whole > 0.0 else 0.0


def angle(along: float, across: float) -> float:
    """Of a direction, rad: atan2, by our own sine, so that every system has the same."""
    length, found = sqrt(along * along + across * across), 0.0
    for _ in range(60):  # each takes most of what is missing, whatever it is but half a turn
        off = (across * cos(found) - along * sin(found)) / length if length > 0.0 else 0.0
        found += off
        if abs(off) < 1e-15:
            break
    return found
