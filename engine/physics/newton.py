"""Contact of many points solved all at once by Newton's method, compiled: what reference/implicit_contact.py does.

    r = way - S F(r),   F_k(r) = [phi_k(start_k + r_k) - phi_k(start_k)] / r_k           004 (27)-(28), 002 (41)

r is the change of penetration over a step, `way` what it would be without force, S >= 0 how points answer each other. F
is the discrete gradient, by which energy is exact with no psi and no rule for g. S times f - F(r(f)) is the gradient of
a convex energy of f: Newton's step is halved for as long as that energy rises at its end, and finds the only solution
from anywhere. A singular S, of points closer than the modes can tell apart, does no harm.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from engine.aligned import zeros
from engine.compiled import called_by_python, inlined, native
from engine.layout import Integers, Matrix, Vector
from engine.physics.contact import LINEAR, Law, raised

MOST = 60  # Newton steps in one of time; seen: at most 12
HALVINGS = 30  # of one Newton step
NEAR_QUOTIENT = 1e-5  # relative: below that phi(eta+) - phi(eta) loses more digits than its middle is wrong by
SOLVED = 1e-3  # of the law's grain: ten times a rounding, which is all that is left of the equations when they hold


class Solver(NamedTuple):
    """Room for a step of time: an entry for each point that may touch in it, and how these answer each other."""

    near: Integers  # which they are
    start: Vector  # penetration before the step
    way: Vector  # change of penetration without this step's force
    change: Vector  # with it: r
    force: Vector  # f, N: what is sought
    given: Vector  # F(r)
    bend: Vector  # dF/dr >= 0
    step: Vector  # Newton's, of f
    lever: Vector  # what it takes off r
    lost: Vector  # by contact damping in this step, J
    right: Vector  # of the linear system
    on: Integers  # those whose force changes with r
    coupling: Matrix  # S
    factor: Matrix  # of the linear system


def solver(count: int, dtype: Any) -> Solver:
    """Room for so many points."""
    made = {name: zeros(count, dtype) for name in Solver._fields}
    lists = {name: np.zeros(count, np.int64) for name in ("near", "on")}
    tables = {name: zeros((count, count), dtype) for name in ("coupling", "factor")}
    return Solver(**(made | lists | tables))


# --- one point --------------------------------------------------------------------------------------------------------


@inlined
def potential(law: Law, slope: Any, eta: Any) -> Any:
    """phi and phi' at a penetration, from psi = sqrt(2 phi) and psi' = 2 slope eta^power."""
    if eta <= law.zero:
        return law.zero, law.zero
    half = slope * raised(eta, law)
    psi = law.secant * half * eta
    return law.half * psi * psi, (half + half) * psi


@inlined
def quotient(law: Law, slope: Any, start: Any, r: Any) -> Any:
    """The discrete gradient F over r from `start`, and its slope dF/dr."""
    end = start + r
    deepest = max(start, end)
    if deepest <= law.zero:
        return law.zero, law.zero
    if law.form == LINEAR:  # nothing cancels in these
        both = (slope + slope) * slope  # K/2
        if start > law.zero and end > law.zero:
            return both * (start + end), both
        force = both * deepest * deepest / abs(r)
        return force, (force if end <= law.zero else (both + both) * end - force) / abs(r)
    if abs(r) <= NEAR_QUOTIENT * deepest:  # wrong by (r / end)^2 / 24
        middle = start + law.half * r
        _, force = potential(law, slope, middle)
        return force, (law.half + law.power) * force / max(middle, law.half * deepest)
    stored, _ = potential(law, slope, start)
    reached, pull = potential(law, slope, end)
    force = (reached - stored) / r
    return force, max((pull - force) / r, law.zero)


@inlined
def push(law: Law, slope: Any, start: Any, r: Any) -> Any:
    """A point's force over r, its slope, and what Hunt and Crossley's damping takes of the energy.

    The damping is that of the penetration before the step. It may take all of the force and no more: F is never below
    zero and rises with r, as the search for the solution asks.
    """
    force, bend = quotient(law, slope, start, r)
    if law.drag == law.zero or start <= law.zero:
        return force, bend, law.zero
    _, pull = potential(law, slope, start)
    damping = (law.drag + law.drag) * pull
    whole = force + damping * r
    if whole <= law.zero:
        return law.zero, law.zero, -force * r
    return whole, bend + damping, damping * r * r


# --- all points -------------------------------------------------------------------------------------------------------


@native
def meet(law: Law, s: Solver, n: Any) -> None:
    """Forces, slopes and losses at the present r."""
    for i in range(n):
        s.given[i], s.bend[i], s.lost[i] = push(law, law.slope[s.near[i]], s.start[i], s.change[i])


@inlined
def wrong(law: Law, s: Solver, n: Any) -> Any:
    """F - f into `step` and what that takes off r into `lever`; how wrong the equations are, relative."""
    most = law.zero
    for i in range(n):
        s.step[i] = s.given[i] - s.force[i]
    for i in range(n):
        moved = law.zero
        for j in range(n):
            moved += s.coupling[i, j] * s.step[j]
        s.lever[i] = moved
        size = abs(s.start[i]) + abs(s.way[i]) + abs(s.change[i])
        if abs(moved) > most * size:
            most = abs(moved) / size
    return most


@inlined
def resolve(law: Law, s: Solver, n: Any) -> None:
    """Newton's step (1 + F' S)^-1 (F - f) from F - f, by Woodbury's identity on the points that answer.

    With G = F' there it is F - f - x, (1/G + S) x = S (F - f): symmetric, definite, and no worse for an S that is
    singular.
    """
    on = 0
    for i in range(n):
        if s.bend[i] * s.coupling[i, i] > law.grain:
            s.right[on] = s.lever[i]
            s.on[on] = i
            for j in range(on + 1):
                s.factor[on, j] = s.coupling[i, s.on[j]]
            s.factor[on, on] += law.one / s.bend[i]
            on += 1
    solve_symmetric(s.factor, s.right, on)
    for j in range(on):
        s.step[s.on[j]] -= s.right[j]
    for i in range(n):
        moved = law.zero
        for j in range(n):
            moved += s.coupling[i, j] * s.step[j]
        s.lever[i] = moved


@native
def solve_symmetric(a: Any, x: Any, n: Any) -> None:
    """x := a^-1 x of n unknowns; of a, definite, the lower half is given: a = L D L', whose L and 1/D replace it."""
    for i in range(n):
        pivot = a[i, i]
        for j in range(i):
            rest = a[i, j]
            for m in range(j):
                rest -= a[i, m] * a[j, m]
            a[i, j] = rest  # L D, until all of the row is known
        for j in range(i):
            rest = a[i, j]
            a[i, j] = rest * a[j, j]
            pivot -= rest * a[i, j]
            x[i] -= a[i, j] * x[j]
        a[i, i] = 1.0 / pivot
    for i in range(n):
        x[i] *= a[i, i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= a[j, i] * x[j]


@inlined
def downhill(law: Law, s: Solver, n: Any) -> Any:
    """How steeply the energy of f rises along the step: what it takes off r, times f - F."""
    rise = law.zero
    for i in range(n):
        rise += s.lever[i] * (s.force[i] - s.given[i])
    return rise


@called_by_python
def solve(law: Law, s: Solver, n: Any) -> None:
    """f and r of the n near points, from the f that is there; `given` is F >= 0 of that r, converged or not."""
    for i in range(n):
        s.change[i] = s.way[i]
        for j in range(n):
            s.change[i] -= s.coupling[i, j] * s.force[j]
    meet(law, s, n)
    last = law.one
    for _ in range(MOST):
        left = wrong(law, s, n)
        if left <= SOLVED * law.grain or (left <= law.grain and left >= last):
            break
        last = left
        resolve(law, s, n)
        limit, part = -0.9 * downhill(law, s, n), law.one
        take(s, part, n)
        meet(law, s, n)
        for _ in range(HALVINGS):
            if not downhill(law, s, n) > limit:
                break
            part *= law.half
            take(s, -part, n)
            meet(law, s, n)


@inlined
def take(s: Solver, part: Any, n: Any) -> None:
    """Go so much of Newton's step."""
    for i in range(n):
        s.force[i] += part * s.step[i]
        s.change[i] -= part * s.lever[i]
