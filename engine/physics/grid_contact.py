"""The contact of a string on a grid: with a barrier at its nodes, with obstacles between two nodes each."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.compiled import inlined, native
from engine.elementary import power_of_normal
from engine.layout import Integers, Matrix, Vector
from engine.physics import contact
from engine.physics.contact import Law, Touch
from engine.physics.dispersion import REACH

FEW = 2  # nodes whose powers take no longer one by one
AT_ONCE = 8


class Touchable(NamedTuple):
    """What the string can touch: K consecutive nodes over a barrier, or K obstacles between two nodes each."""

    height: Vector
    law: Law
    answer: float  # displacement of a node per newton: Cc
    first_node: int
    obstacle_node: Integers  # empty over a barrier
    obstacle: Matrix  # [K, 2] weights
    response: Matrix  # [K, K] displacement at an obstacle per newton at another


@inlined
def read_points(surface: Touchable, u: Any, out: Any) -> None:
    """Displacement at the obstacles; nodes need no reading."""
    for k in range(surface.obstacle_node.size):
        i = surface.obstacle_node[k] + REACH
        out[k] = surface.obstacle[k, 0] * u[i] + surface.obstacle[k, 1] * u[i + 1]


@inlined
def meet_nodes(surface: Touchable, touch: Touch, x: Any, y: Any, w: Any) -> Any:
    """Contact at the nodes over a barrier: each on its own, since a node's force moves no other node. Their sum."""
    law, zero, height, psi = surface.law, surface.law.zero, surface.height, touch.psi
    first = surface.first_node + REACH
    now, before, after = x[first:], y[first:], w[first:]
    near = 0
    for k in range(height.size):
        touch.force[k] = zero
        near += (height[k] > now[k]) | (height[k] > after[k]) | (psi[k] > zero)
    pressed = zero
    if not near:
        return pressed
    powers = near > FEW and law.form == contact.GENERAL and law.rule == contact.SHIPPED
    if powers:
        find_powers(surface, touch, now, after)
    for k in range(height.size):
        b = height[k]
        if b > now[k] or b > after[k] or psi[k] > zero:
            eta, eta_before, push = b - now[k], b - before[k], before[k] - after[k]
            if powers:
                middle = middle_of(law, b, now[k], after[k])
                a = gradient(law, touch.force[k], eta, middle, eta_before, push, psi[k], surface.answer)
                force, psi[k], lost = contact.given(law, a, eta, push, psi[k], surface.answer)
            else:
                force, psi[k], lost = contact.respond(law, law.slope[k], eta, eta_before, push, psi[k], surface.answer)
            after[k] += surface.answer * force
            touch.force[k] = force
            touch.lost[0] += lost
            pressed += force
        else:
            touch.force[k] = zero
    return pressed


@native
def find_powers(surface: Touchable, touch: Touch, now: Any, after: Any) -> None:
    """Slope times the power that each node's contact takes, from the first that may touch to the last.

    A power takes longer than the rest of a contact, and longer alone than among others: whole vectors of them are
    taken, of nodes that do not touch, too.
    """
    law, height, psi = surface.law, surface.height, touch.psi
    first, last = 0, height.size - 1
    while first < last and height[first] <= now[first] and height[first] <= after[first] and psi[first] <= law.zero:
        first += 1
    while last > first and height[last] <= now[last] and height[last] <= after[last] and psi[last] <= law.zero:
        last -= 1
    many = last - first + 1
    if height.size >= AT_ONCE:
        many = min((many + AT_ONCE - 1) // AT_ONCE * AT_ONCE, height.size)
        first = min(first, height.size - many)
    # Of slices the compiler knows that no index is below zero: it loads whole vectors.
    height, now, after = height[first:], now[first:], after[first:]
    slope, found = law.slope[first:], touch.force[first:]
    for k in range(many):
        eta, middle = height[k] - now[k], middle_of(law, height[k], now[k], after[k])
        base = max(eta if eta > law.zero else middle, law.slope.dtype.type(contact.SHALLOWEST))
        found[k] = slope[k] * law.slope.dtype.type(power_of_normal(base, law.power))


@inlined
def middle_of(law: Law, height: Any, now: Any, after: Any) -> Any:
    """How deep the string would be halfway through the step, without contact."""
    return height - law.half * (now + after)


@inlined
def gradient(law: Law, steep: Any, eta: Any, middle: Any, eta_before: Any, push: Any, psi: Any, response: Any) -> Any:
    """contact.half_gradient of a law whose slope times power is known."""
    if psi <= law.zero:
        if push <= law.zero:
            return law.zero
        if eta > law.zero:
            return steep
        if middle > law.zero and eta_before <= law.zero:
            return law.secant * steep * middle / max(push, middle)
        return law.zero
    if eta <= law.zero and push >= law.zero:
        return law.zero
    cap = contact.largest(law, push, psi, response)
    return min(steep, cap) if eta > law.zero else cap


@inlined
def meet_obstacles(surface: Touchable, free: Any, touch: Touch, w: Any, forward: Any) -> Any:
    """Contact at obstacles, which may share nodes; the sum of their forces."""
    pressed = surface.law.zero
    read_points(surface, w, free)
    pushed = contact.sweep(surface.law, surface.height, surface.response, free, touch, forward)
    for j in range(pushed):
        k = touch.pushed[j]
        i = surface.obstacle_node[k] + REACH
        step = surface.answer * touch.force[k]
        w[i] += step * surface.obstacle[k, 0]
        w[i + 1] += step * surface.obstacle[k, 1]
        pressed += touch.force[k]
    for k in range(surface.height.size):
        touch.before[k] = touch.now[k]
    read_points(surface, w, touch.now)
    return pressed
