"""Power-law contact, solved without iteration: potential, psi, the gradient rule, the sweep over points.

    phi = K/(al+1) [eta]^(al+1),  psi = sqrt(2 phi),  F = g (psi+ + psi)/2,  psi+ = psi + (g/2)(eta+ - eta-)

with eta = barrier - string, the penetration. Energy is exact for every choice of g = psi'(eta) (papers 002 and 004;
engine/physics/README.md §2.2); g decides accuracy, and whether the contact sticks or pulls. The code has a = g/2.
"""

from __future__ import annotations

from math import gamma, inf, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import elementwise
from engine.compiled import inlined
from engine.elementary import power, power_of_normal
from engine.errors import PhysicsError
from engine.layout import Integers, Vector
from engine.nodes import FORMS, SHALLOWEST
from engine.physics.barrier import ContactPoints
from engine.physics.linear import product, solve, total
from engine.physics.problem import Contact
from engine.physics.string import Array

MOST_PRESSED = 256  # points of an equilibrium, which takes as long as their cube
PATIENCE = 4  # Newton steps without gain; each doubles the digits of what was found before

SHIPPED = 0  # non-adhesive: capped gradient, released whole, secant at entry
PLAIN = 1  # paper 002 eq. (26): for comparison only
ONSET = 2  # SHIPPED, with that secant for as long as a contact holds nothing
STEEP, SHORT = 1.5, 3.0  # exponent from which, and steps in contact below which, entry is better (§3)
SPEED = 0.5  # m/s at which a contact is said to last so long

LINEAR, QUARTER, HALF, GENERAL = FORMS


class Law(NamedTuple):
    """The contact law of one set of points, in the kernel's precision."""

    slope: Vector  # per point: a = slope * eta^power, half of psi'(eta)
    power: float  # (al - 1) / 2
    form: int  # LINEAR | QUARTER | HALF | GENERAL
    secant: float  # psi(eta) = secant * slope * eta^power * eta
    drag: float  # mu / 2k of Hunt and Crossley's damping
    zero: float
    half: float  # constants in the kernel's precision: a literal would widen float32 to float64
    one: float
    four: float
    grain: float  # share of psi below which what a release leaves is rounding
    slack: float  # the same of what a search for gradients leaves
    rule: int  # SHIPPED | PLAIN | ONSET


def law(
    points: ContactPoints,
    contact: Contact,
    rate: float,
    dtype: Any = np.float64,
    rule: int = SHIPPED,
    response: Array | None = None,
) -> Law:
    """The law of `points`, whose stiffness is in N/m^exponent each.

    Where it is known how far each point gives way to a newton within a step, the better of both secants is taken.
    """
    if response is not None and rule == SHIPPED and points.height.size:
        long = steps_in_contact(points, contact, response, rate) >= SHORT
        rule = ONSET if contact.exponent < STEEP or long else SHIPPED
    power = (contact.exponent - 1.0) / 2.0
    slope = 0.5 * np.sqrt(points.stiffness * (contact.exponent + 1.0) / 2.0)
    return Law(
        slope.astype(dtype),
        dtype(power),
        {0.0: LINEAR, 0.25: QUARTER, 0.5: HALF}.get(power, GENERAL),
        dtype(2.0 / (power + 1.0)),
        dtype(0.5 * contact.damping * rate),
        dtype(0.0),
        dtype(0.5),
        dtype(1.0),
        dtype(4.0),
        dtype(1e4) * np.finfo(dtype).eps,
        dtype(16.0 * np.sqrt(np.finfo(dtype).eps)),
        rule,
    )


def steps_in_contact(points: ContactPoints, contact: Contact, response: Array, rate: float) -> float:
    """How many steps the shortest contact lasts (§5.2), with the mass that a point's response in a step stands for."""
    over, swing = 1.0 / (contact.exponent + 1.0), SPEED / rate
    if not contact.stiffness > 0.0:
        return inf
    pressed = power(swing * swing / (2.0 * over * float((response * points.stiffness).max())), over)
    return lasting(contact.exponent) * 2.0 * pressed / swing


def lasting(exponent: float) -> float:
    """Half of how long a contact lasts, in times that its speed takes to press it in as far as it goes (§5.2)."""
    over = 1.0 / (exponent + 1.0)
    return sqrt(pi) * gamma(1.0 + over) / gamma(0.5 + over)


def psi_at(penetration: Array, points: ContactPoints, exponent: float) -> Array:
    """psi = sqrt(2 phi) at a penetration."""
    eta = np.clip(penetration, 0.0, None)
    return np.sqrt(2.0 * points.stiffness / (exponent + 1.0)) * elementwise.power(eta, (exponent + 1.0) / 2.0)


def force_of(psi: Array, points: ContactPoints, exponent: float) -> Array:
    """F = K [eta]^al at the penetration that stores psi^2 / 2."""
    on, force = psi > 0.0, np.zeros(psi.size)
    stiffness, order = points.stiffness[on], exponent + 1.0
    eta = elementwise.power(0.5 * order * (psi[on] * psi[on]) / stiffness, 1.0 / order)
    force[on] = stiffness * elementwise.power(eta, exponent)
    return force


@inlined
def raised(eta: Any, law: Law) -> Any:
    """eta^power for eta > 0."""
    if law.form == LINEAR:
        return law.one
    if law.form == QUARTER:
        return np.sqrt(np.sqrt(eta))
    if law.form == HALF:
        return np.sqrt(eta)
    return law.slope.dtype.type(power_of_normal(max(eta, law.slope.dtype.type(SHALLOWEST)), law.power))


@inlined
def half_gradient(law: Law, slope: Any, eta: Any, eta_before: Any, push: Any, psi: Any, response: Any) -> Any:
    """a = g/2 by the rule of §2.2.

    push is D = eta* - eta-, the change over two steps without contact force; response is eta's answer to unit force.
    """
    if law.rule == PLAIN:
        return slope * raised(eta, law) if eta > law.zero else law.zero
    if psi <= law.zero:
        if push <= law.zero:
            return law.zero
        if eta > law.zero and (law.rule == SHIPPED or eta_before > law.zero):
            return slope * raised(eta, law)
        # First step into the barrier, where psi' is still zero: the secant of psi towards the predicted middle. From
        # above only (eta- <= 0), which bounds it: middle <= push / 2.
        middle = law.half * (eta + eta_before + push)
        if middle > law.zero and eta_before <= law.zero:
            return law.secant * slope * raised(middle, law) * middle / max(push, middle)
        return law.zero
    if eta <= law.zero and push >= law.zero:
        return law.zero
    cap = largest(law, push, psi, response)
    if eta > law.zero:
        return min(slope * raised(eta, law), cap)
    return cap


@inlined
def largest(law: Law, push: Any, psi: Any, response: Any) -> Any:
    """The largest a that leaves psi+ >= 0 (the root of psi+ = 0), of psi > 0; written so that nothing cancels."""
    twice = psi + psi
    reach = np.sqrt(push * push + response * twice * twice)
    return twice / (reach - push) if push < law.zero else (reach + push) / (response * twice)


@inlined
def respond(law: Law, slope: Any, eta: Any, eta_before: Any, push: Any, psi: Any, response: Any) -> Any:
    """One point over one step: (force, psi+, energy lost to contact damping)."""
    a = half_gradient(law, slope, eta, eta_before, push, psi, response)
    return given(law, a, eta, push, psi, response)


@inlined
def given(law: Law, a: Any, eta: Any, push: Any, psi: Any, response: Any) -> Any:
    """The same where half the gradient is known."""
    if a == law.zero:
        return law.zero, psi, law.zero
    r = a * a
    gamma = law.zero
    if law.drag > law.zero and eta > law.zero and psi > law.zero:
        # Hunt-Crossley in the quadratised variables; limited where a receding contact would begin to pull.
        gamma = law.drag * psi
        if push < law.zero:
            gamma = min(gamma, -psi / push - law.half * a)
        r += (a + a) * gamma
    force = (a * (psi + psi) + r * push) / (law.one + r * response)
    shift = push - response * force  # eta+ - eta-
    after = psi + a * shift
    if law.rule != PLAIN:
        # True but for rounding: the force never pulls, and a release leaves nothing. What rounding leaves would be
        # taken for a contact in progress.
        force = max(force, law.zero)
        if after <= law.grain * psi or (eta <= law.zero and push < law.zero):
            after = law.zero
    return force, after, a * gamma * shift * shift


@inlined
def linear(law: Law, slope: Any, eta: Any, eta_before: Any, push: Any, psi: Any, response: Any) -> Any:
    """One point of a linear law without damping over one step, in closed form: (force, psi+).

    It is exact to the law, psi+ = psi(middle of eta+ and eta), from where the contact begins to where it ends, while
    `respond` guesses how it begins: that is heard, as noise. While a contact lasts no root and no division wait for
    `push`.
    """
    a = slope
    r = a * a * response
    if psi > law.zero:
        left = eta <= law.zero and eta_before <= law.zero
        after = ((law.one - r) * psi + a * push) * (law.one / (law.one + r))
        if not left and after > law.grain * psi:
            return a * (psi + after), after
        if left and push >= law.zero:
            return law.zero, psi
        twice = psi + psi
        reach = np.sqrt(push * push + response * twice * twice)
        force = psi * twice / (reach - push) if push < law.zero else (reach + push) / (response + response)
        return force, law.zero
    gap = max(-(eta + eta_before), law.zero)
    if push <= gap:
        return law.zero, psi
    # psi+ = a (s - gap) and s = D - W psi+^2 / s: a quadratic equation, of which nothing cancels.
    high = push + (r + r) * gap
    s = (high + np.sqrt(push * push + law.four * r * gap * (push - gap))) * law.half / (law.one + r)
    a *= (s - gap) / s
    s = push / (law.one + a * a * response)
    return a * (a * s), a * s


@inlined
def met(law: Law, slope: Any, eta: Any, eta_before: Any, push: Any, psi: Any, response: Any) -> Any:
    """One point by itself over one step: (force, psi+, energy lost to contact damping)."""
    if law.form != LINEAR or law.rule == PLAIN or law.drag > law.zero:
        return respond(law, slope, eta, eta_before, push, psi, response)
    force, after = linear(law, slope, eta, eta_before, push, psi, response)
    return force, after, law.zero


class Touch(NamedTuple):
    """What a set of contact points remembers, one entry a point, and the sweep's list of points that pushed."""

    now: Vector  # string displacement at the points, step n
    before: Vector  # step n - 1
    psi: Vector
    force: Vector  # N, of the last step
    pushed: Integers
    lost: Vector  # one entry: energy lost to contact damping so far, J


def touch(count: int, dtype: Any) -> Touch:
    """The memory of `count` points at rest, touching nothing."""
    now, before, psi, force = (np.zeros(count, dtype) for _ in range(4))
    return Touch(now, before, psi, force, np.zeros(count, np.int64), np.zeros(1, dtype))


@inlined
def sweep(law: Law, height: Any, response: Any, free: Any, touch: Touch, forward: Any) -> Any:
    """The alternating triangular sweep (§2.3): forces of all coupled points; how many pushed.

    response[j, k] is the displacement at k per unit force at j, free[k] the displacement without contact force.
    Each point is solved on its own with twice the earlier points' effect taken off its push. By the symmetry of
    `response` the work then sums to F.D - F'WF exactly, so energy is conserved with no matrix solve.
    """
    count = height.size
    near = 0
    for k in range(count):
        touch.force[k] = law.zero
        near |= (height[k] > touch.now[k]) | (height[k] > free[k]) | (touch.psi[k] > law.zero)
    pushed = 0
    if near:
        for j in range(count):
            k = j if forward else count - 1 - j
            eta = height[k] - touch.now[k]
            if not (eta > law.zero or height[k] > free[k] or touch.psi[k] > law.zero):
                continue
            push = touch.before[k] - free[k]
            for i in range(pushed):
                earlier = touch.pushed[i]
                push -= (response[earlier, k] + response[earlier, k]) * touch.force[earlier]
            force, psi, lost = respond(
                law, law.slope[k], eta, height[k] - touch.before[k], push, touch.psi[k], response[k, k]
            )
            touch.psi[k] = psi
            touch.lost[0] += lost
            if force != law.zero:
                touch.force[k] = force
                touch.pushed[pushed] = k
                pushed += 1
    return pushed


def pressing(points: ContactPoints) -> NDArray[np.bool_]:
    """The points above the rest line: what pushes a string up lifts it everywhere, so the others stay free."""
    up = points.height > 0.0
    if up.sum() > MOST_PRESSED:
        limit = f"presses the resting string at {up.sum()} contact points, at most {MOST_PRESSED} are solved"
        raise PhysicsError("barrier.height", float(points.height.max()), limit, "lower it, or lower barrier.points")
    return up


def equilibrium(compliance: Array, points: ContactPoints, exponent: float) -> Array:
    """Static forces F = K [height - S F]^al of a barrier that crosses the rest line."""
    force, up = np.zeros(points.height.size), pressing(points)
    if up.any():
        force[up] = _solve(compliance[np.ix_(up, up)], points.height[up], points.stiffness[up], exponent)
    return force


def _solve(compliance: Array, height: Array, stiffness: Array, exponent: float) -> Array:
    """The forces where all points are above the rest line, by damped Newton.

    The residual is the gradient of a convex energy in the metric of S, so the energy guards each step; and where a very
    stiff contact lets no residual fall to rounding, the search ends when neither energy nor residual falls any more.
    """
    force, idle, least = np.zeros(height.size), 0, inf

    def stored(force: Array) -> float:
        moved = product(force, compliance)  # which is symmetric, and this way round faster
        contact = stiffness * elementwise.power(np.clip(height - moved, 0.0, None), exponent + 1.0) / (exponent + 1.0)
        return total(0.5 * force * moved + contact)

    for _ in range(2 * MOST_PRESSED):
        eta = np.clip(height - product(force, compliance), 0.0, None)
        spring = stiffness * elementwise.power(eta, exponent)
        step = spring - force
        residual = float(np.abs(step).max())
        if residual <= 1e-14 * (np.abs(force).max() + np.abs(spring).max()):
            break
        step = _newton(compliance, exponent * stiffness * elementwise.power(eta, exponent - 1.0) * (eta > 0.0), step)
        if not np.isfinite(step).all():  # so stiff that points beside each other are one
            break
        before, part = stored(force), 1.0
        while (after := stored(force + part * step)) > before * (1.0 + 1e-12) and part > 1e-6:
            part *= 0.5
        force = force + part * step
        fell = after < before * (1.0 - 1e-12) or residual < 0.5 * least
        idle, least = 0 if fell else idle + 1, min(least, residual)
        if idle == PATIENCE:
            break
    return force


def _newton(compliance: Array, slope: Array, step: Array) -> Array:
    """The solution of (1 + G S) x = step, where springs of stiffness G = diag(slope) move each other by S.

    With x = sqrt(G) y the matrix is symmetric and at least one, however stiff the springs; slack ones have x = step.
    """
    on = np.flatnonzero(slope > 0.0)
    slack = step.copy()
    slack[on] = 0.0
    x, root = step[on] - slope[on] * product(slack, compliance)[on], np.sqrt(slope[on])
    matrix = compliance[np.ix_(on, on)] * root * root[:, None]
    matrix.flat[:: on.size + 1] += 1.0
    x /= root
    solve(matrix, x)
    slack[on] = root * x
    return slack
