"""Compiled design of a modal string is modal.design, to the last bit."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.compiled import INTERPRETED, called_by_python, plain
from engine.layout import Arena, lay, seen, size_of
from engine.physics import contact, designing, filling, modal
from engine.physics.barrier import Barrier, Obstacles, Polynomial, Profile, Table, bulges
from engine.physics.designing import Bench, bench_at
from engine.physics.excitation import Excitation
from engine.physics.hearing import on_body
from engine.physics.pressed import PARTIALS, Press, total
from engine.physics.pressed import sizes as press_sizes
from engine.physics.problem import PICKUP_KINDS, Contact, Pickup, Problem
from engine.physics.retune import modal_tuning
from engine.physics.string import Loss, String
from engine.synth.modal_string import resting

STEEL = String(0.88, 5.55e-4, 58.8, 7.95e-5, Loss(0.6, 6.5e-3, 1e-4, 5e-6))
LIMP = String(1.0, 1e-3, 90.0, 0.0, Loss(1.0))
PLUCK = Excitation(position=0.15)
EARS = (Pickup(0.1), Pickup(0.0, "body_force"), Pickup(1.0, "body_force"), Pickup(1.0, "bridge_force"))
JAWARI = Polynomial((0.0, 0.0, -0.75))
HUMP = Table((0.3, 0.35, 0.5), (-1e-4, 2e-4, 1e-4))


def over(profile: Profile, start: float, stop: float, points: int | None = None, height: float = 0.0) -> Barrier:
    return Barrier(profile, start, stop, points, height)


PROBLEMS = {
    "free": Problem(STEEL, None, Contact(), PLUCK, EARS),
    "jawari": Problem(STEEL, over(JAWARI, 0.0, 0.03), Contact(1e8, 1.0), PLUCK, EARS[1:2]),
    "raised jawari": Problem(STEEL, over(JAWARI, 0.0, 0.03, 7, 2e-5), Contact(1e8, 1.3), PLUCK, EARS[::2]),
    "hump": Problem(LIMP, over(HUMP, 0.3, 0.5, 9), Contact(1e7, 1.7, 0.3), PLUCK, EARS),
    "hard hump": Problem(STEEL, over(HUMP, 0.25, 0.6, 30), Contact(1e11, 2.5), PLUCK, EARS[:1]),
    "pins": Problem(STEEL, Obstacles((0.6, 0.2, 0.05), (-3e-4, 1e-5, -1e-4), -1e-5), Contact(1e6, 2.0), PLUCK, EARS),
    "soft": Problem(LIMP, over(JAWARI, 0.1, 0.2), Contact(0.0, 3.0), PLUCK, EARS[3:]),
}


@called_by_python
def designed(bench: Any, c: Any, t: Any, shape: Any, wave: Any, out: Any, gap: Any) -> None:
    """All of it; how far the barrier may be raised, or -1 where there are no modes."""
    b = bench_at(bench)
    designing.design(b)
    gap[0] = -1.0
    if b.modes > 0:
        filling.fill(b, c, t, shape, wave)
        filling.give_at_rest(b, c, out)
        gap[0] = filling.gap(b, c)


def bench_for(p: Problem, rate: float, band: float) -> Any:
    """Laid out for a problem, in its own memory."""
    s, under = p.string, p.barrier
    kind, origin, numbers = designing.profile(p)
    arena = Arena()
    start = arena.room(size_of(Bench))
    inner = start + Bench.press.offset  # type: ignore[attr-defined]
    many = under.points or 100 if isinstance(under, Barrier) else 3
    values: dict[str, Any] = designing.sizes(400, many, len(p.pickups), len(numbers))
    values |= {"numbers": np.array(numbers or [0.0]), "ears": np.array([e.at for e in p.pickups])}
    values |= {"kinds": np.array([PICKUP_KINDS.index(e.kind) for e in p.pickups])}
    write = lay(
        arena, Bench, start, rate=rate, band=band, **values,
        length=s.length, density=s.density, tension=s.tension, stiffness=s.stiffness,
        s0=s.loss.s0, s1=s.loss.s1, s2=s.loss.s2, s3=s.loss.s3, strike=p.excitation.position,
        surface=kind, origin=origin, height=under.height if under else 0.0,
        begin=under.start if isinstance(under, Barrier) else 0.0,
        stop=under.stop if isinstance(under, Barrier) else 0.0,
        bulge=bulges(under) if isinstance(under, Barrier) else 0.0,
        asked=(under.points or 0) if isinstance(under, Barrier) else 3,
        hard=p.contact.stiffness, exponent=p.contact.exponent, damping=p.contact.damping,
        lasting=contact.lasting(p.contact.exponent), pickups=len(p.pickups), bodies=len(on_body(p.pickups)),
    )  # fmt: skip
    pressing = lay(arena, Press, inner, **press_sizes(many))
    block = arena.sealed()
    write(block)
    pressing(block)
    return block


def emptied(group: Any) -> Any:
    """The same arrays, all zero."""
    if isinstance(group, tuple):
        return type(group)(*(emptied(part) for part in group))
    return np.zeros_like(group) if isinstance(group, np.ndarray) else group


def same(one: Any, other: Any, path: str) -> None:
    if isinstance(one, tuple):
        for name, left, right in zip(one._fields, one, other):  # type: ignore[attr-defined]
            same(left, right, f"{path}.{name}")
    elif isinstance(one, np.ndarray) and path not in ("c.inject", "c.grip", "c.resistance", "t.strike"):
        assert one.tobytes() == other.tobytes(), path


@pytest.mark.skipif(INTERPRETED, reason="vector code's plain twins take no memory of others")
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(("rate", "band"), [(96_000.0, 20_000.0), (47_952.0, 20_000.0), (16_000.0, 7_200.0)])
def test_it_is_what_design_makes(name: str, rate: float, band: float) -> None:
    p = PROBLEMS[name]
    d = modal.design(p, rate, band=band)
    c, t = d.coefficients, modal_tuning(d)
    mine, tuning, shape, wave = emptied(c), emptied(t), np.zeros_like(c.forward), np.zeros_like(c.forward)
    block, out, gap = bench_for(p, rate, band), np.zeros(d.width), np.zeros(1)
    designed(block.ctypes.data, mine, tuning, shape, wave, out, gap)
    b = seen(Bench, block.ctypes.data, block)
    assert (b.modes, b.points, b.rank) == (d.modes.wavenumber.size, d.points.height.size, c.mix.shape[0])
    same(mine, c, "c")
    same(tuning, t, "t")
    assert b.rule == c.law.rule or not b.points
    assert shape.tobytes() == t.strike.tobytes()
    assert wave[: b.modes].tobytes() == d.modes.wavenumber.tobytes()
    assert out.tobytes() == resting(d).tobytes()
    above = (modal.state(c).touch.now - c.height)[: b.points]
    assert gap[0] == max(0.0, float(above.min(initial=np.inf)))


def test_a_string_that_does_not_oscillate_has_no_modes() -> None:
    p = Problem(String(1.0, 1e-3, 90.0, 0.0, Loss(1e5)), None, Contact(), PLUCK, EARS[:1])
    empty, line, gap = modal.design(PROBLEMS["free"], 48e3), np.zeros(16), np.zeros(1)
    block = bench_for(p, 48e3, 2e4)
    designed(block.ctypes.data, empty.coefficients, modal_tuning(empty), line, line, line, gap)
    assert gap[0] == -1.0


numbers = st.lists(st.floats(-1e300, 1e300) | st.floats(-1.0, 1.0), max_size=30)


@given(numbers)
def test_a_sum_is_exact_but_for_one_rounding(values: list[float]) -> None:
    terms = np.array([*values, 0.0])
    assert plain(total)(terms, len(values), np.zeros(PARTIALS)) == fsum(values)


@given(st.lists(st.sampled_from([1.0, 2.0**-53, 2.0**-54, -(2.0**-54), 2.0**-106, -1.0, 1e16]), max_size=12))
def test_halves_of_a_last_place_are_rounded_as_they_should(values: list[float]) -> None:
    assert plain(total)(np.array([*values, 0.0]), len(values), np.zeros(PARTIALS)) == fsum(values)
