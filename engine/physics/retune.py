"""A string whose tension, damping or barrier changes while it sounds: coefficients computed anew, in compiled code.

The state is kept as it is, so displacement and velocity are continuous and no click is heard; the work that the hand
does on the string is the change of energy at the moment of the change. Each new set of coefficients is passive, so a
string left alone afterwards can only lose.
"""

from __future__ import annotations

from math import factorial, pi
from typing import Any, NamedTuple

import numpy as np

from engine import elementwise
from engine.compiled import called_by_python, inlined, native
from engine.elementary import exp
from engine.layout import Matrix, Vector
from engine.pairs import look_ahead
from engine.physics import contact, finite_difference, meeting, modal
from engine.physics.contact import Law, Touch
from engine.physics.dispersion import REACH, Elastic, taps_of
from engine.physics.grid import ORIGIN, interpolate
from engine.physics.grid_contact import Touchable
from engine.physics.losses import far_taps, loss_taps
from engine.physics.modes import shape
from engine.physics.responses import answer_forces
from engine.physics.steps import one_step, two_steps
from engine.physics.string import Array
from engine.vectors import PADDING

# cos(sqrt(z)) = sum (-z)^n / (2n)!: to 1e-15 for z <= pi^2, and the right continuation (cosh) for overdamped modes.
TAYLOR = tuple((-1) ** n / factorial(2 * n) for n in range(16))
HIGHEST = 0.999 * pi * (0.999 * pi)  # (w k)^2 of the highest mode that may sound


class ModalTuning(NamedTuple):
    """What the coefficients of a modal string are made from; a padded entry a mode."""

    bend: Vector  # EI b^4 / rho, 1/s^2
    pull: Vector  # b^2 / rho: times the tension
    decay: Vector  # sigma, 1/s
    shrink: Vector  # exp(-sigma k)
    strike: Vector  # mode shape where the excitation is
    remainder: Matrix  # [K, K] as designed
    direct: Matrix  # [K, P]
    mass: float
    tension: float  # as designed, N
    step: float  # k


def modal_tuning(d: modal.Design) -> ModalTuning:
    """The recipe behind a design's coefficients."""
    string, b, k = d.problem.string, d.modes.wavenumber, 1.0 / d.rate

    def padded(array: Array, filling: float = 0.0) -> Array:
        return np.pad(array, (0, -array.size % PADDING), constant_values=filling)

    return ModalTuning(
        bend=padded(
            string.stiffness * (b * b * (b * b)) / string.density, 4.0 * HIGHEST / (k * k)
        ),  # padding lies above Nyquist
        pull=padded(b**2 / string.density),
        decay=padded(d.modes.decay),
        shrink=padded(elementwise.exp(-d.modes.decay * k)),
        strike=padded(shape(b, np.array([d.problem.excitation.position * string.length]))[0]),
        remainder=d.coefficients.remainder.copy(),
        direct=d.coefficients.direct.copy(),
        mass=0.5 * string.density * string.length,
        tension=string.tension,
        step=k,
    )


@called_by_python
def tune_modes(t: ModalTuning, tension: Any, damping: Any, c: modal.Coefficients, scratch: Any) -> None:
    """Coefficients for a tension (N) and an added decay rate (1/s)."""
    tune_poles(t, tension, damping, c)
    # What is left out gives way as strings do, by 1 / T; any share of it is passive.
    slack = t.tension / tension
    for n in range(c.remainder.shape[0]):
        for j in range(c.remainder.shape[1]):
            c.remainder[n, j] = t.remainder[n, j] * slack
        for j in range(c.direct.shape[1]):
            c.direct[n, j] = t.direct[n, j]
    answer_forces(c, scratch)


@native
def tune_poles(t: Any, tension: Any, damping: Any, c: Any) -> None:
    """What the modes themselves are at a tension and an added decay rate. Those driven past Nyquist fall silent."""
    k, fade = t.step, exp(-damping * t.step)
    gain, inertia = k * k / t.mass, 0.5 * t.mass / (k * k)
    for i in range(c.forward.size):
        sigma = t.decay[i] + damping
        z = (t.bend[i] + t.pull[i] * tension - sigma * sigma) * k * k
        r = t.shrink[i] * fade
        cosine = TAYLOR[15]
        for n in range(14, -1, -1):
            cosine = cosine * z + TAYLOR[n]
        sounding = 1.0 if z < HIGHEST else 0.0
        swing, square = 2.0 * r * cosine, r * r
        low = (1.0 + swing + square) * sounding + (1.0 - sounding)
        c.forward[i] = swing * sounding
        c.backward[i] = square * sounding
        c.spread[i] = 0.25 * gain * low * sounding
        c.inject[i] = c.spread[i] * t.strike[i]
        c.spring[i] = inertia * (1.0 - swing + square) / low * sounding


class GridTuning(NamedTuple):
    """What the coefficients of a finite-difference string are made from."""

    elastic: Elastic
    loss: Vector  # taps of 2 k S
    far: Vector  # the same beyond REACH
    weights: Matrix  # [K, N - 1] obstacles' weights squared and crossed: response per unit answer, flat [K, K]
    strike: Vector  # [TAPS] weights of the excitation
    decay: float  # s0 as realised
    answer: float  # k^2 / (rho h)


def grid_tuning(d: finite_difference.Design) -> GridTuning:
    """The recipe behind a design's coefficients."""
    string, g, k = d.problem.string, d.grid, 1.0 / d.rate
    surface, ports = d.coefficients.surface, d.coefficients.ports
    strike = np.zeros(ports.inject.size)
    near = min(strike.size, g.intervals - 1)
    interpolate(d.problem.excitation.position * string.length, g.spacing, g.intervals, strike[:near])
    _, far = far_taps(g.loss)
    return GridTuning(
        elastic=g.elastic,
        loss=loss_taps(g.loss) * (2.0 * k),
        far=far * (2.0 * k),
        weights=surface.response / finite_difference.node_answer(string, g, d.rate),
        strike=strike,
        decay=g.loss.s0,
        answer=k * k / string.density / g.spacing,
    )


@called_by_python
def tune_grid(t: GridTuning, tension: Any, damping: Any, c: finite_difference.Coefficients) -> Any:
    """Coefficients for a tension (N) and an added decay rate (1/s); the new answer of a node per newton."""
    k, s0 = t.elastic.step, t.decay + damping
    scale = 1.0 / (1.0 + s0 * k)
    now, before, force = c.stencil.now, c.stencil.before, c.meter.elastic
    taps_of(t.elastic, tension, now, before, force)
    for j in range(REACH + 1):
        now[j] = -(force[j] + t.loss[j]) * scale
        before[j] = t.loss[j] * scale
        force[j] *= c.meter.inertia
    now[0] += 2.0 * scale
    before[0] -= (1.0 - s0 * k) * scale
    for j in range(t.far.size):
        c.stencil.far[j] = t.far[j] * scale
    answer = t.answer * scale
    for j in range(c.ports.inject.size):
        c.ports.inject[j] = t.strike[j] * answer
    response = c.surface.response
    for i in range(response.shape[0]):
        for j in range(response.shape[1]):
            response[i, j] = t.weights[i, j] * answer
    return answer


@called_by_python
def lift_points(law: Law, touch: Touch, height: Any, response: Any, by: Any) -> None:
    """Raise a barrier under points whose displacement is known: psi moves with it, which is the work done."""
    for k in range(law.slope.size):
        eta = height[k] - touch.now[k]
        touch.psi[k] = lifted(law, law.slope[k], eta, touch.psi[k], touch.force[k], response[k, k], by)
        height[k] += by


@native
def run_under_moving(c: modal.Coefficients, s: modal.State, at: Any, to: Any, left: Any, force: Any, out: Any) -> Any:
    """modal.kernel under a barrier that has been lifted to `at` and is lifted on, before every step.

    At an even pace to where it is to be, `left` steps from now; how far it is lifted then. The pass over the modes of
    a pair is one as ever, since it knows nothing of barriers: what contact does waits until the pair is over.
    """
    t = 0
    while t < force.size:
        first, end = 1 - (s.clock[0] & 1), 2
        if first == 0 and t + 1 < force.size:
            two_steps(c, s, force[t], force[t + 1])
        else:
            end = first + 1
            one_step(c, s, force[t], first)
        look_ahead(c.mix, s.both, c.rest_psi.size, c.height, s.touch.now, s.touch.psi, s.free)  # for the points
        for half in range(first, end):
            if half == 1 and s.owed[0]:
                meeting.come_after(c, s)
            goal = at + (to - at) / (left - t)
            if goal != at:
                lift_points(c.law, s.touch, c.height, c.response, goal - at)
                at = goal
            meeting.meet(c, s, half, force[t], out[t])
            s.clock[0] += 1
            t += 1
        if end == 2:
            meeting.settle(c, s)
    return at


@called_by_python
def lift_nodes(surface: Touchable, touch: Touch, newest: Any, by: Any) -> None:
    """The same under the nodes of a grid."""
    for k in range(surface.height.size):
        eta = surface.height[k] - newest[surface.first_node + ORIGIN + k]
        touch.psi[k] = lifted(surface.law, surface.law.slope[k], eta, touch.psi[k], touch.force[k], surface.answer, by)
        surface.height[k] += by


@inlined
def lifted(law: Law, slope: Any, eta: Any, psi: Any, force: Any, response: Any, by: Any) -> Any:
    """psi after the barrier has moved: rebased at frozen displacement (§2.7), never below zero.

    A contact too stiff for its string to be frozen would take any amount of energy that way. What a hand can put in is
    bounded: the last step's force times the way, and what it takes to have the string's own inertia follow.
    """
    after = psi + psi_of(law, slope, eta + by) - psi_of(law, slope, eta)
    if by > law.zero:
        after = min(after, np.sqrt(psi * psi + (force + force) * by + by * by / response))
    return max(after, law.zero)


@inlined
def psi_of(law: Law, slope: Any, eta: Any) -> Any:
    """psi(eta)."""
    return law.secant * slope * contact.raised(eta, law) * eta if eta > law.zero else law.zero
