"""The modal string with implicit contact: the two-point and three-point schemes of paper 004, errata E10-E17 mended.

    two-point    s = y+ - y  = 2C(q - A y) + xi C (V'F + f),        C = 1/(1 + a* + b*),  q+ = s - q     (15)-(29)
    three-point  s = y+ - y- = 2R cos(w k) y - (1 + R^2) y- + xi (1 + R^2)(V'F + f)                      (35)-(42)

with xi = k^2 / 2m and F the discrete gradient over y+ - y (two-point) or y+ - y- (three-point). Both are prewarped:
every mode has its exact frequency and decay. Elastic contact only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import inf
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.errors import PhysicsWarning
from engine.physics.modes import poles, shape
from engine.physics.problem import Problem
from engine.physics.record import Run, log
from engine.physics.reference.implicit_contact import Tally, together
from engine.physics.reference.modal_string import ModalString, at_rest, freely, hear, modal_string, sines
from engine.physics.string import Array

WORST_CONDITION = 1e12


class Step(NamedTuple):
    """One step: the modes' next pair of values, and what the step did to energies (J)."""

    pair: tuple[Array, Array]
    kinetic: float
    potential: float
    contact: float
    lost: float
    work: float
    force: Array


class Scheme(Protocol):
    """A pair of modal values and a rule that takes it a step on."""

    response: Array  # W: [K, K] displacement per newton
    halfway: bool  # whether forces act between two steps

    def start(self, y: Array, released: bool) -> tuple[Array, Array]: ...

    def step(self, pair: tuple[Array, Array], f: tuple[float, float], solve: Solver) -> Step: ...

    def displacement(self, pair: tuple[Array, Array]) -> Array: ...

    @property
    def spring(self) -> Array: ...


# (penetration before, its change without contact force) -> forces
Solver = Callable[[Array, Array], Array]


class TwoPoint:
    """(y, q) at whole steps; force and contact act halfway between two; energies are those of the step's end."""

    def __init__(self, s: ModalString) -> None:
        _, _, self.a, self.b, self.c = poles(s.modes, s.rate)
        self.string, self.xi, self.halfway = s, 0.5 / (s.rate**2 * s.mass), True
        self.response = self.xi * (s.touching * self.c) @ s.touching.T

    @property
    def spring(self) -> Array:
        """k*, N/m, of paper 004 eq. (20)."""
        return 2.0 * self.a / self.xi

    def start(self, y: Array, released: bool) -> tuple[Array, Array]:
        """q that gives zero velocity at t = 0: exactly for a released mode, to the solver's zero at equilibrium."""
        if not released:
            return y, np.zeros_like(y)
        return y, (freely(self.string, y, 1.0) - y) / (2.0 * self.c) + self.a * y

    def step(self, pair: tuple[Array, Array], f: tuple[float, float], solve: Solver) -> Step:
        """Equations (23)-(28), with the factor 2 of E12; the external force is the mean of both ends'."""
        (y, q), s, middle = pair, self.string, 0.5 * (f[0] + f[1])
        free = 2.0 * self.c * (q - self.a * y) + self.xi * self.c * middle * s.striking
        force = solve(s.points.height - s.touching @ y, -(s.touching @ free))
        shift = free + self.xi * self.c * (force @ s.touching)
        after, momentum = y + shift, shift - q
        return Step(
            (after, momentum),
            float(momentum @ momentum) / self.xi,
            float(after @ (self.a * after)) / self.xi,
            float(s.springs.potential(s.points.height - s.touching @ after).sum()),
            float(shift @ (self.b * shift)) / self.xi,  # E14
            middle * float(s.striking @ shift),
            force,
        )

    def displacement(self, pair: tuple[Array, Array]) -> Array:
        return pair[0]


class ThreePoint:
    """(y-, y); force and contact act at the whole step; energies lie between two, as in record.py."""

    def __init__(self, s: ModalString) -> None:
        r, o, _, _, _ = poles(s.modes, s.rate)
        self.string, self.xi, self.halfway = s, 0.5 / (s.rate**2 * s.mass), False
        self.now, self.before = 2.0 * r * o, 1.0 + r**2
        self.stretch = 2.0 - 2.0 * self.now / self.before  # k* k^2 / m, eq. (36)
        self.drag = (1.0 - r**2) / self.before  # r* k / 2m
        self.response = self.xi * (s.touching * self.before) @ s.touching.T

    @property
    def spring(self) -> Array:
        """k*, N/m, of paper 004 eq. (36)."""
        return 0.5 * self.stretch / self.xi

    def start(self, y: Array, released: bool) -> tuple[Array, Array]:
        return (freely(self.string, y, -1.0) if released else y), y

    def step(self, pair: tuple[Array, Array], f: tuple[float, float], solve: Solver) -> Step:
        """Equations (38)-(39)."""
        (earlier, y), s = pair, self.string
        free = self.now * y - self.before * earlier + self.xi * self.before * f[0] * s.striking
        force = solve(s.points.height - s.touching @ earlier, -(s.touching @ free))
        span = free + self.xi * self.before * (force @ s.touching)
        after = earlier + span
        stored = [s.springs.potential(s.points.height - s.touching @ level).sum() for level in (after, y)]
        return Step(
            (y, after),
            0.25 * float((after - y) @ (after - y)) / self.xi,
            0.25 * float(after @ (self.stretch * y)) / self.xi,
            0.5 * float(stored[0] + stored[1]),
            0.25 * float(span @ (self.drag * span)) / self.xi,  # E15
            0.5 * f[0] * float(s.striking @ span),
            force,
        )

    def displacement(self, pair: tuple[Array, Array]) -> Array:
        return pair[1]


def run_two_point(
    problem: Problem,
    rate: float,
    force: Array,
    *,
    at: NDArray[np.int64],
    initial: Callable[[Array], Array] | None = None,
    band: float = inf,
    damped: bool = True,
    tally: Tally | None = None,
) -> Run:
    """A metered run of the two-point scheme from rest, or from the shape `initial`.

    Against record.py's convention the energies of row n are those at the whole step n + 1, and the contact force of
    row n acts halfway between n and n + 1. `damped=False` is Newton's method as in the paper; `tally` counts its steps.
    """
    s = modal_string(problem, rate, band)
    return _run(s, TwoPoint(s), force, at, initial, damped, tally or Tally())


def run_three_point(
    problem: Problem,
    rate: float,
    force: Array,
    *,
    at: NDArray[np.int64],
    initial: Callable[[Array], Array] | None = None,
    band: float = inf,
    damped: bool = True,
    tally: Tally | None = None,
) -> Run:
    """A metered run of the three-point scheme from rest, or from the shape `initial`; conventions of record.py."""
    s = modal_string(problem, rate, band)
    return _run(s, ThreePoint(s), force, at, initial, damped, tally or Tally())


def _run(
    s: ModalString,
    scheme: Scheme,
    force: Array,
    at: NDArray[np.int64],
    initial: Callable[[Array], Array] | None,
    damped: bool,
    tally: Tally,
) -> Run:
    _warn_of_dependence(scheme.response)
    y = at_rest(s, scheme.spring) if initial is None else sines(s, initial)
    pair = scheme.start(y, initial is not None)
    released = freely(s, y, -1.0) if initial is not None else y
    none = np.zeros(s.points.height.size)
    before, start = (hear(s, level, none, 0.0) for level in (released, y))
    book = log(force.size, start.size, none.size, y.size, at)
    guess, f, felt = none, np.append(force, 0.0), hear(s, y, none, 0.0)

    def solve(start: Array, free: Array) -> Array:
        nonlocal guess
        if start.size:
            guess = tally.add(together(s.springs, start, free, scheme.response, guess, damped=damped))
        return guess

    for n in range(force.size):
        book.shapes[at == n] = scheme.displacement(pair)
        pair, kinetic, potential, stored, lost, work, pushed = scheme.step(pair, (f[n], f[n + 1]), solve)
        book.kinetic[n], book.potential[n], book.contact[n] = kinetic, potential, stored
        book.lost[n], book.work[n], book.force[n] = lost, work, pushed
        earlier, middle = felt, 0.5 * (f[n] + f[n + 1]) if scheme.halfway else f[n]
        felt = hear(s, scheme.displacement(pair), pushed, float(middle))
        book.out[n] = felt
        if scheme.halfway:  # what acted at step n is the mean of before and after it
            book.out[n, len(s.heard) :] = 0.5 * (earlier + felt)[len(s.heard) :]
    tally.report()
    np.cumsum(book.lost, out=book.lost)
    np.cumsum(book.work, out=book.work)
    x = np.linspace(0.0, s.problem.string.length, 2 * y.size + 1)
    return Run(s.rate, s.points, before, start, book, x, book.shapes @ shape(s.modes.wavenumber, x).T)


def _warn_of_dependence(response: Array) -> None:
    """Points closer than L / (M + 1) move dependently: W is then singular in effect (as in paper 004 Fig. 3)."""
    if response.size == 0:
        return
    condition = float(np.linalg.cond(response))
    if condition > WORST_CONDITION:
        warnings.warn(
            f"barrier.points = {len(response)}: more points than the modes can tell apart (condition {condition:.1g}); "
            "spread them, take fewer, or raise the sample rate",
            PhysicsWarning,
            stacklevel=4,
        )
