"""The scheme of iterative.py over a barrier, compiled: there to tell what iterating costs, on equal terms.

Same design, linear step and signature as finite_difference.kernel; only the contact is solved by Newton's method.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import called_by_python, inlined
from engine.physics.contact import Law, Touch
from engine.physics.finite_difference import Coefficients, State, advance, hear, levels, strike
from engine.physics.grid import ORIGIN
from engine.physics.grid_contact import Touchable
from engine.physics.newton import potential

CONVERGED = 0  # in place of a number of iterations: until rounding is all that is left


@inlined
def newton(law: Law, slope: Any, start: Any, push: Any, response: Any, iterations: Any) -> Any:
    """r = push - response (phi(start + r) - phi(start)) / r, from r = push down to the root (see `apart`)."""
    stored, _ = potential(law, slope, start)
    r, taken = push, 0
    while taken < iterations or iterations == CONVERGED:
        end = start + r
        deepest = max(start, end)
        if abs(r) > 1e-5 * abs(deepest):
            phi, pull = potential(law, slope, end)
            force = (phi - stored) / r
            bend = (pull - force) / r
        else:  # the quotient cancels
            middle = start + law.half * r
            _, force = potential(law, slope, middle)
            bend = (law.half + law.power) * force / max(middle, law.half * deepest)
        following = r - (r - push + response * force) / (law.one + response * bend)
        taken += 1
        if iterations == CONVERGED and (following >= r or taken == 200):
            break
        r = following
    return r


@inlined
def meet_nodes(surface: Touchable, touch: Touch, x: Any, y: Any, w: Any, iterations: Any) -> Any:
    """Contact at the nodes over a barrier; the sum of its forces."""
    law, first, pressed = surface.law, surface.first_node + ORIGIN, surface.law.zero
    for k in range(surface.height.size):
        i, b = first + k, surface.height[k]
        touch.force[k] = law.zero
        if b > y[i] or b > w[i]:
            push = y[i] - w[i]
            change = push - newton(law, law.slope[k], b - y[i], push, surface.answer, iterations)
            touch.force[k] = change / surface.answer
            w[i] += change
            pressed += touch.force[k]
    return pressed


@called_by_python
def kernel(c: Coefficients, s: State, iterations: Any, force: Any, out: Any) -> None:
    """Advance force.size steps with `iterations` Newton steps a touching node (or CONVERGED)."""
    w, y, x = levels(s)
    for t in range(force.size):
        advance(c.stencil, x, y, w)
        strike(c.ports, w, force[t])
        pressed = meet_nodes(c.surface, s.touch, x, y, w, iterations)
        hear(c.ports, x, w, pressed, out[t])
        s.clock[0] += 1
        y, x, w = x, w, y
