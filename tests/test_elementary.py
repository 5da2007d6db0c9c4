"""The project's own exp, log, pow, sin and their kin: against mpmath, at their special values, and compiled."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import elementary, elementwise
from engine.compiled import called_by_python
from engine.machine_code import INTERPRETED

mpmath.mp.prec = 1400  # an angle of 1e308 needs as many bits to know where on the circle it is
INF, NAN = math.inf, math.nan
LIMIT = 0.8  # units in the last place
ONE_ARGUMENT: dict[str, Callable[[Any], Any]] = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "sinh": mpmath.sinh,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "log10": mpmath.log10,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
}


def bits(x: float) -> bytes:
    return struct.pack("<d", x)


def error(found: float, wanted: Any) -> float:
    """In units of the last place that a double of this size has; beyond the largest, infinity is right."""
    if wanted == 0:
        return 0.0 if found == 0.0 else INF
    if abs(wanted) >= mpmath.mpf(2) ** 1024 * (1 - mpmath.mpf(2) ** -54):
        return 0.0 if found == math.copysign(INF, wanted) else INF
    unit = mpmath.ldexp(1, max(mpmath.frexp(wanted)[1] - 53, -1074))
    return float(abs(mpmath.mpf(found) - wanted) / unit)


def spread(random: np.random.Generator, low: float, high: float, count: int) -> Any:
    """Of all sizes between two powers of two, of both signs."""
    return np.exp2(random.uniform(low, high, count)) * random.choice([-1.0, 1.0], count)


def arguments(name: str, count: int) -> list[float]:
    """The whole range, and closer where the function turns, cancels or ends."""
    r = np.random.default_rng(7)
    if name in ("exp", "exp2", "sinh"):
        end = 1074.0 if name == "exp2" else 745.0
        found = [r.uniform(-end, end, count), spread(r, -60, 5, count), r.uniform(-end, -0.95 * end, count)]
    elif name.startswith("log"):
        near = 1.0 + spread(r, -52, -1, count)
        found = [np.abs(spread(r, -1074, 1023, count)), near, r.uniform(0.5, 2.0, count)]
    else:
        turns = [float(n * mpmath.pi / 2) for n in r.integers(1, 5_000_000, count)]
        found = [r.uniform(-0.8, 0.8, count), r.uniform(-20.0, 20.0, count), spread(r, -60, 23, count)]
        found += [np.array(turns), spread(r, 23, 1023, count)]
        found += [np.array([6381956970095103.0 * 2.0**797])]  # the double that is nearest to a number of quarter turns
    return [float(x) for x in np.concatenate(found)]


@pytest.mark.interpreted
@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_within_a_unit_in_the_last_place(name: str) -> None:
    function = getattr(elementary, name)
    for x in arguments(name, 60 if INTERPRETED else 400):
        off = error(function(x), ONE_ARGUMENT[name](mpmath.mpf(x)))
        assert off <= LIMIT, f"{name}({x!r}) is {off:.3f} units off"


def pairs(count: int) -> list[tuple[float, float]]:
    """Bases and exponents whose power is a double, or nearly."""
    r = np.random.default_rng(8)
    base = np.concatenate([np.abs(spread(r, -60, 60, count)), 1.0 + spread(r, -45, -1.1, count)])
    exponent = r.uniform(-745.0, 710.0, base.size) / np.log(base)
    contact = zip(np.abs(spread(r, -50, -3, count)), r.uniform(0.0, 5.0, count))
    return [(float(x), float(y)) for x, y in [*zip(base, exponent), *contact]]


@pytest.mark.interpreted
def test_power_within_a_unit_in_the_last_place() -> None:
    for x, y in pairs(60 if INTERPRETED else 400):
        off = error(elementary.power(x, y), mpmath.mpf(x) ** mpmath.mpf(y))
        assert off <= LIMIT, f"{x!r} ** {y!r} is {off:.3f} units off"


@pytest.mark.interpreted
def test_powers_that_are_doubles_are_met() -> None:
    for n in range(-1074, 1024):
        assert elementary.exp2(float(n)) == math.ldexp(1.0, n) == elementary.power(2.0, float(n))
        assert elementary.log2(math.ldexp(1.0, n)) == n
    for n in range(23):
        assert elementary.log10(10.0**n) == n
        assert elementary.power(10.0, float(n)) == 10.0**n
    assert elementary.power(-3.0, 3.0) == -27.0
    assert elementary.power(1.5, 2.0) == 2.25
    assert elementary.power(0.25, 0.5) == 0.5


SPECIAL = [
    *[("exp", 0.0, 1.0), ("exp", -0.0, 1.0), ("exp", INF, INF), ("exp", -INF, 0.0), ("exp", NAN, NAN)],
    *[("exp", 1e300, INF), ("exp", -1e300, 0.0), ("exp", 710.0, INF), ("exp", 5e-324, 1.0), ("exp", -745.0, 5e-324)],
    *[("exp2", 0.0, 1.0), ("exp2", INF, INF), ("exp2", -INF, 0.0), ("exp2", NAN, NAN), ("exp2", 1024.0, INF)],
    *[("exp2", -1074.0, 5e-324), ("exp2", -1076.0, 0.0), ("exp2", 1e300, INF), ("exp2", -5e-324, 1.0)],
    *[("sinh", 0.0, 0.0), ("sinh", -0.0, -0.0), ("sinh", INF, INF), ("sinh", -INF, -INF), ("sinh", NAN, NAN)],
    *[("sinh", 5e-324, 5e-324), ("sinh", 1e300, INF), ("sinh", -1e300, -INF), ("sinh", -800.0, -INF)],
    *[("log", 0.0, -INF), ("log", -0.0, -INF), ("log", 1.0, 0.0), ("log", INF, INF), ("log", NAN, NAN)],
    *[("log", -1.0, NAN), ("log", -INF, NAN), ("log2", 0.0, -INF), ("log2", 5e-324, -1074.0), ("log10", -1.0, NAN)],
    *[("log2", INF, INF), ("log10", INF, INF), ("log10", 1.0, 0.0), ("log2", NAN, NAN)],
    *[(name, x, NAN) for name in ("sin", "cos", "tan") for x in (INF, -INF, NAN)],
    *[(name, x, x) for name in ("sin", "tan") for x in (0.0, -0.0, 5e-324, -1e-310, 1e-200)],
    *[("cos", x, 1.0) for x in (0.0, -0.0, 5e-324, -1e-200)],
]


@pytest.mark.interpreted
@pytest.mark.parametrize(("name", "x", "wanted"), SPECIAL)
def test_special_values(name: str, x: float, wanted: float) -> None:
    found = getattr(elementary, name)(x)
    assert math.isnan(found) if math.isnan(wanted) else bits(found) == bits(wanted)


@pytest.mark.interpreted
@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 5e-324, 1e308, -1e308, INF, -INF, NAN])
@pytest.mark.parametrize(
    "y", [0.0, -0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 0.75, -0.75, 1e308, -1e308, 2.0**53 - 1, INF, -INF, NAN]
)
def test_power_has_the_special_values_of_c(x: float, y: float) -> None:
    """And elsewhere those of a library, whose own last bit depends on its version."""
    with np.errstate(all="ignore"):
        wanted = float(np.power(x, y))
    found = elementary.power(x, y)
    if math.isnan(wanted):
        assert math.isnan(found)
    elif math.isfinite(wanted) and wanted not in (0.0, 1.0, -1.0):
        assert abs(found - wanted) <= math.ulp(wanted)
    else:
        assert bits(found) == bits(wanted)


doubles = st.floats(width=64)


@pytest.mark.interpreted
@given(x=doubles)
@settings(deadline=None)
def test_symmetry(x: float) -> None:
    for name, sign in (("sin", -1.0), ("tan", -1.0), ("sinh", -1.0), ("cos", 1.0)):
        function = getattr(elementary, name)
        one, other = function(x), sign * function(-x)
        assert bits(one) == bits(other) or (math.isnan(one) and math.isnan(other))


@called_by_python
def compiled(x: Any, y: Any, out: Any) -> None:
    for i in range(x.size):
        out[i, 0] = elementary.exp(x[i])
        out[i, 1] = elementary.exp2(x[i])
        out[i, 2] = elementary.sinh(x[i])
        out[i, 3] = elementary.log(x[i])
        out[i, 4] = elementary.log2(x[i])
        out[i, 5] = elementary.log10(x[i])
        out[i, 6] = elementary.sin(x[i])
        out[i, 7] = elementary.cos(x[i])
        out[i, 8] = elementary.tan(x[i])
        out[i, 9] = elementary.power(x[i], y[i])


@given(x=st.lists(doubles, min_size=1, max_size=9), y=doubles)
@settings(deadline=None, max_examples=300)
def test_compiled_and_interpreted_are_the_same_bits(x: list[float], y: float) -> None:
    values = np.array(x)
    out = np.zeros((values.size, 10))
    compiled(values, np.full(values.size, y), out)
    for i, value in enumerate(x):
        plain = [getattr(elementary, name)(value) for name in ONE_ARGUMENT] + [elementary.power(value, y)]
        for one, other in zip(out[i], plain):
            assert bits(one) == bits(other) or (math.isnan(one) and math.isnan(other))


@pytest.mark.parametrize("name", ["exp", "sin", "cos"])
def test_arrays_are_the_same_bits_as_single_numbers(name: str) -> None:
    x = np.random.default_rng(9).uniform(-700.0, 700.0, (7, 31))
    given_to = x.copy()
    found = getattr(elementwise, name)(given_to.T)
    assert (given_to == x).all()
    assert found.shape == (31, 7)
    assert found.tolist() == [[getattr(elementary, name)(v) for v in row] for row in x.T.tolist()]


def test_powers_of_arrays() -> None:
    x, y = np.random.default_rng(9).uniform(0.0, 2.0, (2, 40))
    assert elementwise.power(x, 0.3).tolist() == [elementary.power(v, 0.3) for v in x.tolist()]
    assert elementwise.power(10.0, y).tolist() == [elementary.power(10.0, v) for v in y.tolist()]
    assert float(elementwise.power(2.0, 0.5)) == 2.0**0.5


@called_by_python
def raised_together(x: Any, y: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = elementary.power_of_normal(x[i], y)


@pytest.mark.parametrize("exponent", [-0.7, 0.05, 0.15, 0.65, 1.25, 2.0])
@pytest.mark.parametrize("count", [1, 7, 64])
def test_powers_taken_together_are_powers(exponent: float, count: int) -> None:
    """To 5e-15 of themselves, each with the bits that it has alone and interpreted."""
    x = 10.0 ** np.random.default_rng(count).uniform(-9.0, 2.0, count)
    x[0] = 2.0**-0.5
    together = np.zeros(count)
    raised_together(x, exponent, together)
    for base, found in zip(x.tolist(), together.tolist(), strict=True):
        assert bits(found) == bits(float(elementary.power_of_normal(base, exponent)))
        assert abs(mpmath.mpf(found) / mpmath.power(mpmath.mpf(base), mpmath.mpf(exponent)) - 1) <= 5e-15
