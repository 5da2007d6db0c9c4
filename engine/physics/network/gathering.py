"""Design of strings that lie side by side: each is made as by itself, then they are interleaved."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from engine.aligned import zeros
from engine.errors import PhysicsError
from engine.lanes import LANES, MOST_ROWS, TOGETHER
from engine.physics.network.meetings import OBSTACLE, STAYING
from engine.physics.network.parts import Body, Network, Strung
from engine.physics.network.weaving import Woven, weave
from engine.physics.string import Array


def gather(strings: Sequence[Strung], body: Body, rate: float, band: float = inf) -> dict[str, Any]:
    """The flock of these strings over such a body, by the fields of memory.Flock."""
    if len(strings) > LANES:
        raise PhysicsError("strings", len(strings), f"at most {LANES} lie side by side", "let some be by themselves")
    w = weave(Network(tuple(strings), body), rate, band)
    refuse_unlike(w)
    strands = [w.strand(n) for n in range(len(strings))]
    points, directions = len(w.points[0]), len(body.directions)
    lengths = np.array([planes.plane.size for planes in w.planes] + [0] * (LANES - len(strands)))
    modes, first = int(lengths.max()), strands[0].points
    rows, flat = points + 1, LANES * points
    tables = {"even": (modes, LANES), "odd": (modes, LANES), "both": (2, rows * LANES), "pend": (2, rows, LANES)}
    tables |= dict.fromkeys(("open", "psi"), (flat,)) | dict.fromkeys(("free", "now", "before"), (flat + LANES,))
    law = points > 0
    return {
        **{name: zeros(shape) for name, shape in tables.items()},
        "strings": len(strings),
        "reach": lengths.reshape(-1, TOGETHER).max(axis=1),
        "forward": side_by_side((modes,), [s.bank.forward[:modes] for s in strands]),
        "backward": side_by_side((modes,), [s.bank.backward[:modes] for s in strands]),
        "rows": side_by_side(
            (rows, modes), [s.bank.rows[:rows, :modes] * np.sqrt(s.bank.spread[:modes]) for s in strands]
        ),
        "scale": side_by_side((modes,), [np.sqrt(s.bank.spread[:modes]) for s in strands]),
        "response": side_by_side((rows, rows), [s.bank.response[:rows, :rows] for s in strands]),
        "ahead": side_by_side((rows, rows), [s.bank.ahead[:rows, :rows] for s in strands]),
        "touched": np.zeros(2, np.int64),
        "weight": side_by_side((directions,), [s.ends.weight[0] for s in strands]),
        "tension": sum(s.ends.tension[0] * (s.ends.weight[0][:, None] * s.ends.weight[0]) for s in strands),
        "carried": side_by_side((directions, rows), [s.ends.carried[:, :rows] for s in strands]).reshape(
            directions, -1
        ),
        "lean": side_by_side((directions, points), [s.ends.lean[:, :points] for s in strands]).reshape(
            directions, flat
        ),
        "load": sum(s.ends.load for s in strands),
        "slope": side_by_side((points,), [s.points.slope for s in strands]).reshape(-1),
        "power": float(first.power[0]) if law else 0.0,
        "form": int(first.form[0]) if law else 0,
        "secant": float(first.secant[0]) if law else 0.0,
        "drag": float(first.drag[0]) if law else 0.0,
        "level": side_by_side((points,), [s.points.level for s in strands]).reshape(-1),
        "drawn": zeros(LANES),
        "pulled": zeros(directions),
        "lost": zeros(1),
    }


def side_by_side(shape: tuple[int, ...], parts: list[Any]) -> Array:
    """parts[s][...] is made[..., s]; what is shorter is zero, and so are lanes without a string."""
    made = zeros((*shape, LANES))
    for s, part in enumerate(parts):
        here: tuple[Any, ...] = (*(slice(n) for n in np.shape(part)), s)
        made[here] = part
    return made


def refuse_unlike(w: Woven) -> None:
    """Lanes take one plane over still barriers of one law at or below rest, each string over as many points."""
    points = [point for own in w.points for point in own]
    laws = {(point.law.exponent, point.law.damping) for point in points}
    still = all(p.kind == OBSTACLE and p.travel == STAYING and p.low <= 0.0 and p.hammer < 0 for p in points)
    simple = all(len(s.planes) == 1 and s.stretching == 0.0 and not s.listening for s in w.network.strings)
    counts = {len(own) for own in w.points}
    if len(laws) > 1 or len(counts) > 1 or max(counts) >= MOST_ROWS or not still or not simple:
        limit = f"strings side by side have one plane over as many points each of one law, at most {MOST_ROWS - 1}"
        raise PhysicsError("strings", len(w.network.strings), limit, "let them be by themselves")
